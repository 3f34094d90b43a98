//! Applies a bulk change to the assets of one transaction. An asset that cannot be changed is skipped with its reason.

use std::collections::{BTreeSet, HashMap};

use uuid::Uuid;

use crate::{
    domain::{
        assets::Kind,
        bulk_changes::{BulkAction, MAX_PER_TRANSACTION, SkipReason},
        inventory::{Asset, MAX_DOMAIN_TAGS},
        listing_lifecycle::Operation,
        listings::{Actor, AttachSkip, ListingStatus},
        money::Cents,
        quality_runs::RunTrigger,
        row_ids::AssetRowId,
    },
    error::{Error, Result, StateCode},
    market::Writer,
    operations::{
        access::Vendor, asset_events, assets, linked_data, listing_assets, listing_changes, quality_runs,
    },
    store::{self, bulk_changes::BulkChange, listing_assets::Candidates},
};

/// Whether the assets of the next transactions are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GoOn {
    /// They are.
    Yes,
    /// All of them are skipped for this reason.
    No(SkipReason),
}

/// Why an asset is skipped, or what else went wrong.
type Skippable<T> = Result<std::result::Result<T, SkipReason>>;

/// Changes assets, and counts them in the change.
pub(super) fn apply(
    writer: &mut Writer,
    vendor: &Vendor,
    change: &mut BulkChange,
    assets: Vec<Asset>,
) -> Result<GoOn> {
    match change.action.clone() {
        BulkAction::Move { group } => move_all(writer, vendor, change, group, assets),
        BulkAction::Attach { listing } => attach_all(writer, vendor, change, listing, &assets),
        BulkAction::Check => check_all(writer, change, &assets),
        BulkAction::Delete => change_each(writer, change, assets, delete),
        action @ (BulkAction::Tag { .. } | BulkAction::Describe { .. } | BulkAction::Price { .. }) => {
            change_each(writer, change, assets, |writer, mut asset| match edit(&mut asset, &action) {
                Ok(()) => store::assets::update(writer.rows, &asset).map(Ok),
                Err(reason) => Ok(Err(reason)),
            })
        }
    }
}

/// Changes one asset after the other, and appends one event for those that were changed.
fn change_each(
    writer: &mut Writer,
    change: &mut BulkChange,
    assets: Vec<Asset>,
    mut change_one: impl FnMut(&mut Writer, Asset) -> Skippable<()>,
) -> Result<GoOn> {
    let mut changed = Vec::new();
    for asset in assets {
        let id = asset.id;
        let outcome = change_one(writer, asset)?;
        if outcome.is_ok() {
            changed.push(id);
        }
        count(change, id, outcome);
    }
    asset_events::changed_together(writer, change.team, (change.id, change.action.kind()), &changed)?;
    Ok(GoOn::Yes)
}

fn count(change: &mut BulkChange, asset: Uuid, changed: std::result::Result<(), SkipReason>) {
    match changed {
        Ok(()) => change.changed += 1,
        Err(reason) => change.skipped.add(reason, asset),
    }
}

fn skip_all(change: &mut BulkChange, assets: &[Asset], reason: SkipReason) -> GoOn {
    for asset in assets {
        change.skipped.add(reason, asset.id);
    }
    GoOn::No(reason)
}

fn move_all(
    writer: &mut Writer,
    vendor: &Vendor,
    change: &mut BulkChange,
    group: Uuid,
    assets: Vec<Asset>,
) -> Result<GoOn> {
    let Some(group) = store::groups::find(writer.rows, vendor.team_row_id(), group)? else {
        return Ok(skip_all(change, &assets, SkipReason::TargetGone));
    };
    change_each(writer, change, assets, |writer, mut asset| {
        if asset.group.0 == group.row_id {
            return Ok(Err(SkipReason::Unchanged));
        }
        asset.group = (group.row_id, group.id);
        store::assets::update(writer.rows, &asset).map(Ok)
    })
}

/// Changes a field of an asset. Fields that are locked can only be changed where they come from.
pub(super) fn edit(asset: &mut Asset, action: &BulkAction) -> std::result::Result<(), SkipReason> {
    if !action.is_for(asset.kind) {
        return Err(SkipReason::WrongKind);
    }
    let (field, is_changed) = match action {
        BulkAction::Tag { add, remove } => {
            let tags = tags_after(&asset.domain_tags, add, remove);
            let is_changed = tags != asset.domain_tags;
            asset.domain_tags = tags;
            ("domain_tags", is_changed)
        }
        BulkAction::Describe { description } => {
            let is_changed = *description != asset.description;
            asset.description.clone_from(description);
            ("description", is_changed)
        }
        BulkAction::Price { cents } => {
            let price = cents.map(Cents);
            let is_changed = price != asset.price;
            asset.price = price;
            ("price_usd", is_changed)
        }
        BulkAction::Move { .. } | BulkAction::Attach { .. } | BulkAction::Check | BulkAction::Delete => {
            return Err(SkipReason::WrongKind);
        }
    };
    if !is_changed {
        return Err(SkipReason::Unchanged);
    }
    if asset.locks.contains_key(field) {
        return Err(SkipReason::Locked);
    }
    if matches!(action, BulkAction::Tag { .. }) && asset.domain_tags.len() > MAX_DOMAIN_TAGS {
        return Err(SkipReason::TooManyTags);
    }
    Ok(())
}

fn tags_after(tags: &[String], add: &[String], remove: &[String]) -> Vec<String> {
    let mut after: Vec<String> = tags.iter().filter(|tag| !remove.contains(tag)).cloned().collect();
    for tag in add {
        if !after.contains(tag) {
            after.push(tag.clone());
        }
    }
    after
}

fn attach_all(
    writer: &mut Writer,
    vendor: &Vendor,
    change: &mut BulkChange,
    listing: Uuid,
    assets: &[Asset],
) -> Result<GoOn> {
    let (rows, team) = (writer.rows, vendor.team_row_id());
    let found = store::listings::find(rows, listing)?.filter(|listing| listing.team == team);
    let Some(listing) = found else { return Ok(skip_all(change, assets, SkipReason::TargetGone)) };
    let Ok(allowed) = listing_changes::check(&listing, Operation::Attach) else {
        return Ok(skip_all(change, assets, SkipReason::ListingRefuses));
    };
    let candidates = Candidates::new(rows)?;
    let ids: BTreeSet<Uuid> = assets.iter().map(|asset| asset.id).collect();
    candidates.add_ids(team, &ids)?;
    let target = listing_assets::target(&listing, &store::taxonomy::deprecations(rows)?, false);
    let refused = candidates.list_refused(&target)?;
    let attached = rows.in_savepoint(|| {
        listing_assets::attach_candidates(writer, Actor::Team, (&listing, allowed), &candidates, &target)
    })?;
    match attached {
        Ok(counts) => change.changed += counts.attached,
        // A job cannot ask, and continues without these.
        Err(Error::Conflict(_) | Error::InvalidState(..)) if change.selected > MAX_PER_TRANSACTION => {
            skip_all(change, assets, SkipReason::ListingRefuses);
            return Ok(GoOn::Yes);
        }
        Err(error) => return Err(error),
    }
    let by_row_id: HashMap<AssetRowId, Uuid> = assets.iter().map(|asset| (asset.row_id, asset.id)).collect();
    for (reason, row_id) in refused {
        let reason = match reason {
            AttachSkip::NotFound => SkipReason::Gone,
            AttachSkip::AlreadyAttached => SkipReason::AlreadyAttached,
            AttachSkip::Deprecated => SkipReason::KindRetired,
            AttachSkip::NotListable => SkipReason::Incomplete,
        };
        if let Some(id) = by_row_id.get(&row_id) {
            change.skipped.add(reason, *id);
        }
    }
    Ok(GoOn::Yes)
}

fn check_all(writer: &mut Writer, change: &mut BulkChange, assets: &[Asset]) -> Result<GoOn> {
    for (position, asset) in assets.iter().enumerate() {
        match start_run(writer, asset)? {
            Err(SkipReason::InsufficientCredits) => {
                return Ok(skip_all(change, &assets[position..], SkipReason::InsufficientCredits));
            }
            started => count(change, asset.id, started),
        }
    }
    Ok(GoOn::Yes)
}

fn start_run(writer: &mut Writer, asset: &Asset) -> Skippable<()> {
    if !BulkAction::Check.is_for(asset.kind) {
        return Ok(Err(SkipReason::WrongKind));
    }
    let rows = writer.rows;
    let started = rows.in_savepoint(|| quality_runs::start_asset_run(writer, asset, RunTrigger::Team))?;
    match started {
        Ok(_) => Ok(Ok(())),
        Err(Error::InvalidState(StateCode::DataNotAttached, _)) => Ok(Err(SkipReason::NoData)),
        Err(Error::InvalidState(StateCode::DataNotReadable, _)) => Ok(Err(SkipReason::NotReadable)),
        Err(Error::InvalidState(StateCode::RunInProgress, _)) => Ok(Err(SkipReason::RunInProgress)),
        Err(Error::InvalidState(StateCode::InsufficientCredits, _)) => {
            Ok(Err(SkipReason::InsufficientCredits))
        }
        Err(error) => Err(error),
    }
}

/// Returns why an asset of a kind, on listings in these states, is not deleted; `None` if it is.
pub(super) fn deletion_refusal(kind: Kind, listings: &[ListingStatus]) -> Option<SkipReason> {
    if !BulkAction::Delete.is_for(kind) {
        return Some(SkipReason::WrongKind);
    }
    listings.iter().any(|status| assets::keeps_assets(*status)).then_some(SkipReason::InUse)
}

/// Deletes an asset with its linked data, unless it is in use.
fn delete(writer: &mut Writer, asset: Asset) -> Skippable<()> {
    let listings = store::listings::listings_with_asset(writer.rows, asset.row_id)?;
    let states: Vec<ListingStatus> = listings.iter().map(|listing| listing.status).collect();
    if let Some(reason) = deletion_refusal(asset.kind, &states) {
        return Ok(Err(reason));
    }
    let asset = if asset.data.is_some() { linked_data::detach_silently(writer, asset)? } else { asset };
    assets::delete_silently(writer, &asset).map(Ok)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_added_and_removed_once() {
        let tags = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        let after = tags_after(&tags(&["a", "b"]), &tags(&["b", "c"]), &tags(&["a", "x"]));
        assert_eq!(after, tags(&["b", "c"]));
        assert_eq!(tags_after(&[], &[], &tags(&["a"])), Vec::<String>::new());
    }
}
