//! The queue of listings to update in the search index. Each listing has at most one row, with the number of
//! its latest change.

use super::{Reader, Writer};
use crate::{domain::listings::ListingRowId, error::Result};

/// Queues a listing for the index. Call it in the transaction that changes the listing. Further calls in the
/// same transaction do nothing, since other transactions see only the final state.
pub fn enqueue(writer: &Writer, listing: ListingRowId) -> Result<()> {
    const SQL: &str = "INSERT INTO index_queue (listing, change) VALUES (?1, ?2)
         ON CONFLICT (listing) DO UPDATE SET change = excluded.change";
    if writer.queued_listings.borrow().contains_key(&listing) {
        return Ok(());
    }
    // No other transaction writes during this one, so the latest change number is read only once.
    let change = 1 + writer.last_change.get().map_or_else(|| last_change(writer), Ok)?;
    writer.execute(SQL, (listing, change))?;
    writer.last_change.set(Some(change));
    writer.queued_listings.borrow_mut().insert(listing, change);
    Ok(())
}

/// Queues the listings of a query for the index: it returns their row IDs.
pub(in crate::store) fn enqueue_all(
    writer: &Writer,
    listings: &str,
    parameters: impl rusqlite::Params,
) -> Result<()> {
    for listing in writer.query_all(listings, parameters, |row| row.get(0))? {
        enqueue(writer, listing)?;
    }
    Ok(())
}

/// Returns the oldest changes after `change`: each listing with the number of its latest change, in ascending
/// order.
pub fn list_after(reader: &Reader, change: i64, limit: usize) -> Result<Vec<(ListingRowId, i64)>> {
    const SQL: &str = "SELECT listing, change FROM index_queue WHERE change > ?1 ORDER BY change LIMIT ?2";
    reader.query_all(SQL, (change, limit as i64), |row| Ok((row.get(0)?, row.get(1)?)))
}

/// Returns the number of the latest change; 0 before the first.
pub fn last_change(reader: &Reader) -> Result<i64> {
    reader.query_one("SELECT coalesce(max(change), 0) FROM index_queue", [], |row| row.get(0))
}
