//! What a bulk change of a field would do, before it is started.

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
    store::{self, bulk_changes::EditedField},
};

/// Number of assets that are looked at to find the first ones that would be changed.
const MAX_LOOKED_AT: usize = 500;

/// What a bulk change of a field would do.
#[derive(Clone, Debug, Default)]
pub struct Forecast {
    /// Number of assets that would be changed.
    pub changed: u64,
    /// Numbers of those that would be skipped, by reason.
    pub skipped: BTreeMap<SkipReason, u64>,
    /// The first assets that would be changed: as they are, and as they would be.
    pub first: Vec<(Asset, Asset)>,
}

/// Returns what a change of a field of the chosen assets would do; `None` for other actions. `limit` is the number of assets that
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
    // Assets that are alike in what the change depends on are judged by one of them.
    let alike = store::bulk_changes::count_alike(rows, &chosen, &field)?;
    check_number(alike.iter().map(|(_, count)| count).sum(), shown)?;
    let examples: Vec<_> = alike.iter().map(|(example, _)| *example).collect();
    let examples: BTreeMap<_, _> = store::bulk_changes::list_by_row_id(rows, &examples)?
        .into_iter()
        .map(|asset| (asset.row_id, asset))
        .collect();
    for (example, count) in &alike {
        let Some(mut asset) = examples.get(example).cloned() else { continue };
        match edit(&mut asset, action) {
            Ok(()) => found.changed += count,
            Err(reason) => *found.skipped.entry(reason).or_default() += count,
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
    Ok(Some(found))
}
