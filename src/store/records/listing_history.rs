//! The history of a listing, as operators see it.

use uuid::Uuid;

use super::{
    Reader, Record,
    pages::{PageQuery, PageRequest, RowPage},
};
use crate::{
    error::Result,
    store::listing_history::{self, HistoryEvent},
};

/// An event in the history of a listing.
#[derive(Clone, Copy, Debug)]
pub struct HistoryRecord {
    /// What happened.
    pub event: HistoryEvent,
    /// Number of the event; increases with the commits.
    pub number: i64,
}

/// Whose history to list.
#[derive(Clone, Copy, Debug)]
pub struct HistoryFilter {
    /// ID of the listing.
    pub listing: Uuid,
}

const COLUMNS: &str = "h.event, h.actor, h.occurred_at, h.from_stage, h.to_stage, h.id";

fn read(row: &rusqlite::Row) -> rusqlite::Result<HistoryRecord> {
    Ok(HistoryRecord { event: listing_history::read_event(row)?, number: row.get("id")? })
}

impl Record for HistoryRecord {
    type Id = i64;
    type Filter = HistoryFilter;

    const NAME: &'static str = "event of the history";

    fn find(reader: &Reader, number: &i64) -> Result<Option<HistoryRecord>> {
        let sql = format!("SELECT {COLUMNS} FROM listing_history h WHERE h.id = ?1");
        reader.query_first(&sql, [number], read)
    }

    fn page(reader: &Reader, filter: &HistoryFilter, request: PageRequest) -> Result<RowPage<HistoryRecord>> {
        PageQuery::new(COLUMNS, "listing_history h", "h.id")
            .refers_to("h.listing", "listings", Some(filter.listing))
            .fetch(reader, request, read)
    }
}
