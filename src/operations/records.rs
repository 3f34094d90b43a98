//! Records of all teams, for operators.

use uuid::Uuid;

use super::access::Platform;
use crate::{
    domain::time::Timestamp,
    error::{Error, Result},
    market::Reader,
    store::{
        self,
        records::{
            Filters, Record, RecordId, Records,
            any_record::{self, AnyRecord, NamedIds, Names},
            pages::{PageRequest, RowPage, TeamPage, TeamPageRequest},
        },
    },
};

pub use store::records::any_record::MAX_NAMED;

/// Returns the record with this ID.
pub fn find<R: Record>(rows: &store::Reader, _: Platform, id: &R::Id) -> Result<R> {
    R::RECORDS.find(rows, id)?.ok_or_else(|| Error::not_found(R::RECORDS.name))
}

/// Returns a page of the records that the filters allow at this time, newest first.
pub fn page<R: Record>(
    rows: &store::Reader,
    _: Platform,
    now: Timestamp,
    filters: &Filters,
    request: PageRequest,
) -> Result<RowPage<R>> {
    R::RECORDS.page(rows, now, filters, request)
}

/// Returns the record of a resource with this ID, with all its columns.
pub fn find_any(
    rows: &store::Reader,
    _: Platform,
    records: &Records,
    id: &impl RecordId,
) -> Result<AnyRecord> {
    records.find(rows, id)?.ok_or_else(|| Error::not_found(records.name))
}

/// Returns a page of the records of a resource that the filters allow, newest first, which can be left in both directions.
pub fn page_of_any(
    reader: &Reader,
    _: Platform,
    records: &Records,
    filters: &Filters,
    request: TeamPageRequest,
) -> Result<TeamPage<AnyRecord>> {
    records.page_from(reader.rows, reader.now, filters, request)
}

/// Returns the names of the teams and the titles of the listings with these IDs.
pub fn names(rows: &store::Reader, _: Platform, ids: &[Uuid]) -> Result<Names> {
    any_record::names(rows, ids)
}

/// Whether a filter refers to records that have names, so that it takes a part of a name instead of an ID.
pub fn is_named(filter: &str) -> bool {
    any_record::is_named(filter)
}

/// Returns the value of a filter for a typed text. An ID stays as it is. Another text becomes the IDs of the records
/// with this name, or else of the records whose names contain its words, among the newest 10,000. A text that names no
/// record matches nothing.
pub fn filter_value(
    rows: &store::Reader,
    platform: Platform,
    filter: &str,
    typed: &str,
) -> Result<serde_json::Value> {
    let Some(NamedIds { ids, .. }) = named(rows, platform, filter, typed)? else {
        return Ok(typed.into());
    };
    Ok(ids.iter().map(Uuid::to_string).collect::<Vec<_>>().into())
}

/// Returns the records that a text in a filter names; `None` if the text is an ID, or if the filter takes no names.
pub fn named(rows: &store::Reader, _: Platform, filter: &str, typed: &str) -> Result<Option<NamedIds>> {
    if !is_named(filter) || Uuid::try_parse(typed).is_ok() {
        return Ok(None);
    }
    any_record::ids_named(rows, filter, typed).map(Some)
}
