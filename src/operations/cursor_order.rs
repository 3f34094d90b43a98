//! The sort order of a walk through the catalog: all pages use the values of the first page, so that a listing that stays
//! published is on exactly one page.

use std::collections::BTreeMap;

use marketplace_index::SortValues;

use super::retention::in_batches;
use crate::{
    domain::{browse::SortOrder, time::Timestamp},
    error::{Error, Result},
    market::{Market, Reader},
    store::{self, sort_changes::ChangingSort},
};

/// Maximum number of listings that have changed since the first page of a walk. Later pages order them by their
/// earlier values. If more have changed, the cursors are no longer valid.
const MAX_REORDERED_LISTINGS: usize = 4_000;

/// Number of days for which the earlier sort values of listings are stored. A cursor can expire when its walk
/// has taken longer.
const RETENTION_DAYS: i64 = 1;

/// Maximum number of changes that one transaction of a cleanup looks at.
const MAX_PRUNED_PER_BATCH: u32 = 1_000;

/// Returns earlier sort values of the listings that have changed since the first page of a walk, if the sort order uses these
/// values. The first page was made as of a change number.
///
/// Returns [`Error::InvalidCursor`] if there are too many such listings, or the walk began too long ago.
pub(super) fn sort_values_of_first_page(
    reader: &Reader,
    sort: SortOrder,
    as_of: u64,
) -> Result<BTreeMap<u64, SortValues>> {
    let sort = match sort {
        SortOrder::Recommended => ChangingSort::Recommended,
        SortOrder::PriceLow | SortOrder::PriceHigh => ChangingSort::Price,
        SortOrder::Recent => return Ok(BTreeMap::new()),
    };
    let changed = store::sort_changes::find_as_of(reader.rows, sort, as_of, MAX_REORDERED_LISTINGS)?
        .ok_or(Error::InvalidCursor)?;
    let convert = |values: store::sort_changes::SortValues| SortValues {
        certified: values.is_certified,
        featured: values.featured,
        price: values.price.and_then(|price| u64::try_from(price.0).ok()),
    };
    Ok(changed.into_iter().map(|(listing, values)| (listing.0 as u64, convert(values))).collect())
}

/// Returns when the first sort values are needed no longer; `None` if none are stored.
pub(super) fn next_prune_at(reader: &Reader) -> Result<Option<Timestamp>> {
    Ok(store::sort_changes::first_changed_at(reader.rows)?.map(|at| at.plus_days(RETENTION_DAYS)))
}

/// Deletes sort values that only expired cursors need, in transactions of bounded size. Returns their number.
pub(super) fn prune_sort_changes(market: &Market) -> Result<u64> {
    in_batches(market, 1, |writer| {
        let since: Timestamp = writer.now.plus_days(-RETENTION_DAYS);
        store::sort_changes::prune(writer.rows, since, MAX_PRUNED_PER_BATCH)
    })
}
