//! Records of all teams, for operators.

use super::access::Platform;
use crate::{
    domain::time::Timestamp,
    error::{Error, Result},
    store::{
        self,
        records::{
            Filters, Record,
            pages::{PageRequest, RowPage},
        },
    },
};

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
