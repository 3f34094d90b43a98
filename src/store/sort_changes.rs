//! Earlier sort values of published listings whose values have changed. Later pages of a walk through the catalog
//! order listings by the values as of its first page.

use std::collections::BTreeMap;

use super::{
    Reader, Writer, index_queue,
    row::{ColumnIndexes, FromColumns, FromRow},
};
use crate::{
    domain::{listings::ListingRowId, money::Cents, time::Timestamp},
    error::Result,
};

/// The values of a listing by which the catalog orders, and which can change while it is published.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromRow)]
#[row(by_position)]
pub struct SortValues {
    /// Whether the listing was certified.
    pub is_certified: bool,
    /// Position among the featured listings, from 1.
    pub featured: Option<u32>,
    /// Buy-now price.
    pub price: Option<Cents>,
}

/// A sort order of published listings by values that can change. `recent` is not among them, since the date of
/// publication never changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangingSort {
    /// By featured place and certification.
    Recommended,
    /// By price, in either direction.
    Price,
}

impl ChangingSort {
    const ALL: [ChangingSort; 2] = [ChangingSort::Recommended, ChangingSort::Price];

    /// Returns the name in the database.
    const fn as_str(self) -> &'static str {
        match self {
            ChangingSort::Recommended => "recommended",
            ChangingSort::Price => "price",
        }
    }

    /// Whether listings with these values may be in different places.
    fn distinguishes(self, left: &SortValues, right: &SortValues) -> bool {
        match self {
            ChangingSort::Recommended => {
                (left.is_certified, left.featured) != (right.is_certified, right.featured)
            }
            ChangingSort::Price => left.price != right.price,
        }
    }
}

/// Queues a listing for the index and runs `change`, which may change its sort values. Records the earlier ones if the listing is
/// published.
pub(super) fn recording(
    writer: &Writer,
    listing: ListingRowId,
    at: Timestamp,
    change: impl FnOnce() -> Result<()>,
) -> Result<()> {
    // First, because recorded values have the number that the change has in the queue.
    index_queue::enqueue(writer, listing)?;
    let before = published_values(writer, listing)?;
    change()?;
    let Some(before) = before else { return Ok(()) };
    let Some(after) = published_values(writer, listing)? else { return Ok(()) };
    for sort in ChangingSort::ALL {
        if sort.distinguishes(&before, &after) {
            record(writer, sort, listing, &before, at)?;
        }
    }
    Ok(())
}

fn published_values(reader: &Reader, listing: ListingRowId) -> Result<Option<SortValues>> {
    const SQL: &str = "SELECT certified_at IS NOT NULL, featured, price_cents FROM listings
         WHERE id = ?1 AND catalog_status = 'published'";
    reader.query_first(SQL, [listing], SortValues::from_row)
}

fn record(
    writer: &Writer,
    sort: ChangingSort,
    listing: ListingRowId,
    before: &SortValues,
    at: Timestamp,
) -> Result<()> {
    // If a transaction has several changes, the first one has the values that other transactions saw.
    const INSERT: &str = "INSERT INTO listing_sort_changes
             (sort, listing, change, certified, featured, price_cents, changed_at, is_latest)
         SELECT ?1, listing, change, ?3, ?4, ?5, ?6, 1 FROM index_queue WHERE listing = ?2
         ON CONFLICT DO NOTHING";
    const REPLACED: &str = "UPDATE listing_sort_changes SET is_latest = 0
         WHERE sort = ?1 AND listing = ?2 AND change = (
             SELECT max(change) FROM listing_sort_changes WHERE sort = ?1 AND listing = ?2
                 AND change < (SELECT change FROM index_queue WHERE listing = ?2))";
    let SortValues { is_certified, featured, price } = before;
    writer.execute(INSERT, (sort.as_str(), listing, is_certified, featured, price, at))?;
    writer.run(REPLACED, (sort.as_str(), listing))
}

/// Returns the values as of a change (see [`index_queue`]) of the listings whose values in a sort have changed since then.
/// Returns `None` if there are more than `limit` such listings, or if some of the changes have been deleted.
///
/// Costs a few lookups per listing, however often it changed.
pub fn find_as_of(
    reader: &Reader,
    sort: ChangingSort,
    change: u64,
    limit: usize,
) -> Result<Option<BTreeMap<ListingRowId, SortValues>>> {
    // The cross join keeps SQLite from reading all changes of a listing.
    const SQL: &str = "SELECT earliest.listing, earliest.certified, earliest.featured, earliest.price_cents
         FROM listing_sort_changes latest CROSS JOIN listing_sort_changes earliest
         WHERE latest.sort = ?1 AND latest.change > ?2 AND latest.is_latest
             AND earliest.sort = ?1 AND earliest.listing = latest.listing AND earliest.change = (
                 SELECT min(change) FROM listing_sort_changes
                 WHERE sort = ?1 AND listing = latest.listing AND change > ?2)
         LIMIT ?3";
    // No change has a number that does not fit.
    let change = i64::try_from(change).unwrap_or(i64::MAX);
    let pruned: i64 = reader.query_one("SELECT through FROM pruned_sort_changes", [], |row| row.get(0))?;
    if change < pruned {
        return Ok(None);
    }
    let parameters = (sort.as_str(), change, limit as i64 + 1);
    let changed = reader.query_all(SQL, parameters, |row| {
        Ok((row.get(0)?, SortValues::from_columns(row, &mut ColumnIndexes(1))?))
    })?;
    Ok((changed.len() <= limit).then(|| changed.into_iter().collect()))
}

/// Returns the time of the first change that is stored.
pub fn first_changed_at(reader: &Reader) -> Result<Option<Timestamp>> {
    reader.query_one("SELECT min(changed_at) FROM listing_sort_changes", [], |row| row.get(0))
}

/// Deletes changes before `since`, among the oldest `limit` changes, and changes with lower numbers. Returns
/// the number of deleted rows; 0 if none are left.
pub fn prune(writer: &Writer, since: Timestamp, limit: u32) -> Result<usize> {
    const THROUGH: &str = "SELECT max(change) FROM (
             SELECT change, changed_at FROM listing_sort_changes ORDER BY change LIMIT ?1)
         WHERE changed_at < ?2";
    let through: Option<i64> = writer.query_one(THROUGH, (limit, since), |row| row.get(0))?;
    let Some(through) = through else { return Ok(0) };
    writer.execute("UPDATE pruned_sort_changes SET through = ?1", [through])?;
    writer.execute("DELETE FROM listing_sort_changes WHERE change <= ?1", [through])
}

#[cfg(test)]
mod tests;
