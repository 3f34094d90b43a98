//! Predicts what a deletion of many assets deletes and keeps.

use std::collections::BTreeMap;

use uuid::Uuid;

use super::apply;
use crate::{
    domain::bulk_changes::SkipReason,
    error::Result,
    store::{self, bulk_changes::ChosenAssets},
};

/// Some of the chosen assets: their number, and the IDs and the titles of the first of them.
#[derive(Clone, Debug, Default)]
pub struct NamedAssets {
    /// Number of assets.
    pub count: u64,
    /// IDs and titles of the first ones.
    pub first: Vec<(Uuid, String)>,
}

/// What a deletion of the chosen assets would do.
#[derive(Clone, Debug, Default)]
pub struct Deletion {
    /// The assets that would be deleted.
    pub deleted: NamedAssets,
    /// Number of those with linked data, which would be deleted, too.
    pub with_data: u64,
    /// The assets that would be kept, by reason.
    pub kept: BTreeMap<SkipReason, NamedAssets>,
}

/// Returns what a deletion would do, with at most `limit` titles of each part.
pub(super) fn predict(rows: &store::Reader, chosen: &ChosenAssets, limit: usize) -> Result<Deletion> {
    let mut found = Deletion::default();
    store::bulk_changes::for_each_to_delete(rows, chosen, |asset| {
        let named = match apply::deletion_refusal(asset.kind, &asset.listings) {
            Some(reason) => found.kept.entry(reason).or_default(),
            None => {
                found.with_data += u64::from(asset.has_data);
                &mut found.deleted
            }
        };
        named.count += 1;
        if named.first.len() < limit {
            named.first.push((asset.id, asset.title));
        }
    })?;
    Ok(found)
}
