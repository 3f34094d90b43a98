//! By which values published listings were ordered before these values changed.

use std::collections::BTreeMap;

use super::{Reader, row};
use crate::{
    domain::{listings::ListingRowId, money::Cents},
    error::Result,
};

/// The values of a listing by which the catalog orders, and which can change while it is published.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SortValues {
    /// Whether the listing was certified.
    pub is_certified: bool,
    /// Position among the featured listings, from 1.
    pub featured: Option<u32>,
    /// Buy-now price.
    pub price: Option<Cents>,
}

/// Returns the values as of a change (see [`index_queue`](super::index_queue)) of the listings whose values have
/// changed since then. Reads at most `limit` changes, the oldest ones.
pub fn list_as_of(reader: &Reader, change: u64, limit: usize) -> Result<BTreeMap<ListingRowId, SortValues>> {
    const SQL: &str = "SELECT listing, certified, featured, price_cents FROM listing_sort_changes
         WHERE change > ?1 ORDER BY change LIMIT ?2";
    // No change has a number that does not fit.
    let change = i64::try_from(change).unwrap_or(i64::MAX);
    let changes = reader.query_all(SQL, (change, limit as i64), |row| {
        let values = SortValues {
            is_certified: row.get(1)?,
            featured: row.get(2)?,
            price: row::optional_cents(row, 3)?,
        };
        Ok((row.get::<_, ListingRowId>(0)?, values))
    })?;
    let mut values = BTreeMap::new();
    for (listing, before) in changes {
        values.entry(listing).or_insert(before);
    }
    Ok(values)
}
