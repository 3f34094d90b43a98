//! Which listings the index must hold anew. A listing has one row, with the number of its latest change.

use super::{Reader, Writer};
use crate::{domain::listings::ListingNumber, error::Result};

/// Notes, in the transaction that changes a listing, that the index must hold it anew. Once a transaction is enough, since
/// nobody sees what is between.
pub fn enqueue(writer: &Writer, listing: ListingNumber) -> Result<()> {
    const SQL: &str = "INSERT INTO index_queue (listing, change)
         VALUES (?1, (SELECT coalesce(max(change), 0) + 1 FROM index_queue))
         ON CONFLICT (listing) DO UPDATE SET change = excluded.change
         RETURNING change";
    if !writer.queued.borrow_mut().insert(listing.0) {
        return Ok(());
    }
    let change = writer.one(SQL, [listing.0], |row| row.get(0))?;
    writer.change.set(Some(change));
    Ok(())
}

/// Queues every listing of a team: its name or tier changed.
pub fn enqueue_team(writer: &Writer, team: crate::domain::teams::TeamNumber) -> Result<()> {
    for listing in writer.all("SELECT id FROM listings WHERE team = ?1 ORDER BY id", [team.0], |row| row.get(0))? {
        enqueue(writer, ListingNumber(listing))?;
    }
    Ok(())
}

/// The oldest changes after `change`: listings with the number of their latest change, in the order of the numbers.
pub fn after(reader: &Reader, change: i64, limit: usize) -> Result<Vec<(ListingNumber, i64)>> {
    const SQL: &str = "SELECT listing, change FROM index_queue WHERE change > ?1 ORDER BY change LIMIT ?2";
    reader.all(SQL, (change, limit as i64), |row| Ok((ListingNumber(row.get(0)?), row.get(1)?)))
}

/// The number of the latest change, 0 before the first.
pub fn last(reader: &Reader) -> Result<i64> {
    reader.one("SELECT coalesce(max(change), 0) FROM index_queue", [], |row| row.get(0))
}
