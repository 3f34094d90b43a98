//! The histories of listings.

use super::{
    Reader, Writer,
    row::{self, FromRow},
};
use crate::{
    domain::{
        listings::{Actor, Event, LifecycleStage, ListingRowId},
        time::Timestamp,
    },
    error::Result,
    string_enum::StringEnum,
};

/// An event in the history of a listing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromRow)]
#[row(by_position)]
pub struct HistoryEvent {
    /// What happened.
    pub event: Event,
    /// Who caused the event.
    pub actor: Actor,
    /// Time of the event.
    pub occurred_at: Timestamp,
    /// Stage before the event; `None` for the creation of the listing.
    pub from: Option<LifecycleStage>,
    /// Stage after the event.
    pub to: LifecycleStage,
}

/// Adds an event to the history of a listing.
pub fn insert(writer: &Writer, listing: ListingRowId, event: &HistoryEvent) -> Result<()> {
    const SQL: &str = "INSERT INTO listing_history (listing, event, actor, occurred_at, from_stage, to_stage)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    writer.run(SQL, (listing, event.event, event.actor, event.occurred_at, event.from, event.to))
}

/// Returns the history of a listing, newest event first.
pub fn list(reader: &Reader, listing: ListingRowId) -> Result<Vec<HistoryEvent>> {
    const SQL: &str = "SELECT event, actor, occurred_at, from_stage, to_stage FROM listing_history
         WHERE listing = ?1 ORDER BY occurred_at DESC, id DESC";
    reader.query_all(SQL, [listing], HistoryEvent::from_row)
}

/// Returns the newest event of these kinds in the history of a listing, with its time.
pub fn find_newest(
    reader: &Reader,
    listing: ListingRowId,
    kinds: &[Event],
) -> Result<Option<(Event, Timestamp)>> {
    const SQL: &str = "SELECT event, occurred_at FROM listing_history
         WHERE listing = ?1 AND event IN (SELECT value FROM json_each(?2))
         ORDER BY occurred_at DESC, id DESC LIMIT 1";
    let kinds: Vec<&str> = kinds.iter().map(|kind| kind.as_str()).collect();
    let read = |row: &rusqlite::Row| Ok((row.get(0)?, row.get(1)?));
    reader.query_first(SQL, (listing, row::to_json(&kinds)?), read)
}

/// Returns the latest times at which a listing was published, newest first.
pub fn list_publications(reader: &Reader, listing: ListingRowId, limit: usize) -> Result<Vec<Timestamp>> {
    const SQL: &str = "SELECT occurred_at FROM listing_history WHERE listing = ?1 AND event = 'published'
         ORDER BY occurred_at DESC, id DESC LIMIT ?2";
    reader.query_all(SQL, (listing, limit as i64), |row| row.get(0))
}
