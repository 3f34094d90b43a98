//! Predicts the result of a bulk change of a field before it is started.

use std::collections::BTreeMap;

use super::{Vendor, apply::edit, check_action, check_number, resolve};
use crate::{
    domain::{
        bulk_changes::{BulkAction, SkipReason},
        inventory::Asset,
    },
    error::Result,
    market::Reader,
    operations::listing_attachments::Chosen,
    store::{
        self,
        bulk_changes::{EditedField, ListingOfAsset},
    },
};

/// Maximum number of assets that are read at once, and that are read to find the first ones that would be changed.
const MAX_LOOKED_AT: usize = 500;

/// The result that a bulk change of a field would have.
#[derive(Clone, Debug, Default)]
pub struct Forecast {
    /// Number of assets that would be changed.
    pub changed: u64,
    /// Numbers of those that would be skipped, by reason.
    pub skipped: BTreeMap<SkipReason, u64>,
    /// The first assets that would be changed: as they are, and as they would be.
    pub first: Vec<(Asset, Asset)>,
    /// The listings with these assets, for a change of prices.
    pub listings: Vec<ListingOfAsset>,
    /// Number of chosen assets on listings in the catalog, for a change of prices: buyers see the new prices at once.
    pub live: u64,
}

/// Maximum number of listings that are returned.
const MAX_LISTINGS: usize = 100;

/// Returns the result of a change of a field of the chosen assets; `None` for other actions. `limit` is the number of assets that
/// are shown. Fails like [`start`](super::start) if the change could not be started.
pub fn forecast(
    reader: &Reader,
    vendor: &Vendor,
    (chosen, shown): (&Chosen, Option<u64>),
    action: &BulkAction,
    limit: usize,
) -> Result<Option<Forecast>> {
    let (rows, team) = (reader.rows, vendor.team_row_id());
    check_action(rows, team, action)?;
    let field = match action {
        BulkAction::Tag { .. } => EditedField::DomainTags,
        BulkAction::Describe { description } => EditedField::Description(description.as_deref()),
        BulkAction::Price { cents } => EditedField::Price(*cents),
        BulkAction::Move { .. } | BulkAction::Attach { .. } | BulkAction::Check | BulkAction::Delete => {
            return Ok(None);
        }
    };
    let chosen = resolve(rows, team, chosen)?;
    let mut found = Forecast::default();
    // One asset represents all assets for which the change has the same result.
    let alike = store::bulk_changes::count_alike(rows, &chosen, &field)?;
    check_number(alike.iter().map(|(_, count)| count).sum(), shown)?;
    // Each of many assets can have different tags, so the examples are not all in memory at the same time.
    for part in alike.chunks(MAX_LOOKED_AT) {
        let counts: BTreeMap<_, _> = part.iter().copied().collect();
        let examples: Vec<_> = counts.keys().copied().collect();
        for mut asset in store::bulk_changes::list_by_row_id(rows, &examples)? {
            let count = counts.get(&asset.row_id).copied().unwrap_or_default();
            match edit(&mut asset, action) {
                Ok(()) => found.changed += count,
                Err(reason) => *found.skipped.entry(reason).or_default() += count,
            }
        }
    }
    if found.changed > 0 {
        for before in store::bulk_changes::list_first(rows, &chosen, MAX_LOOKED_AT)? {
            let mut after = before.clone();
            if edit(&mut after, action).is_ok() {
                found.first.push((before, after));
            }
            if found.first.len() == limit {
                break;
            }
        }
    }
    if found.changed > 0 && matches!(action, BulkAction::Price { .. }) {
        let first: Vec<_> = found.first.iter().map(|(asset, _)| asset.row_id).collect();
        found.listings = store::bulk_changes::list_listings(rows, &first, MAX_LISTINGS)?;
        found.live = store::bulk_changes::count_live(rows, &chosen)?;
    }
    Ok(Some(found))
}
