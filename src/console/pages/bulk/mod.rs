//! Changes of many assets at once: the form that starts one, its result or how far it is, and the list.

mod assets;
mod deletion;
pub mod list;
pub mod new;
pub mod result;
mod review;

use crate::{
    console::prelude::*,
    domain::bulk_changes::{BulkActionKind, BulkChangeStatus, SkipReason},
    store::bulk_changes::BulkChange,
};

/// Path of the form.
const NEW: &str = "/inventory/changes/new";

/// Puts a page below those that lead to it.
fn below_inventory(content: Content) -> Content {
    content
        .with_parent("Inventory", paths::INVENTORY)
        .with_parent("Changes of many assets", paths::BULK_CHANGES)
        .narrow()
}

/// Returns the label of an action on a number of assets, such as "Tag 412 assets".
fn phrase(action: BulkActionKind, number: u64) -> String {
    let assets = text::counted(number, "asset", "assets");
    match action {
        BulkActionKind::Move => format!("Move {assets}"),
        BulkActionKind::Tag => format!("Tag {assets}"),
        BulkActionKind::Describe => format!("Describe {assets}"),
        BulkActionKind::Price => format!("Set the price of {assets}"),
        BulkActionKind::Attach => format!("Attach {assets} to a listing"),
        BulkActionKind::Check => format!("Check {assets}"),
        BulkActionKind::Delete => format!("Delete {assets}"),
    }
}

/// Returns the word for what was done to an asset.
const fn done(action: BulkActionKind) -> &'static str {
    match action {
        BulkActionKind::Move => "moved",
        BulkActionKind::Tag | BulkActionKind::Describe | BulkActionKind::Price => "changed",
        BulkActionKind::Attach => "attached",
        BulkActionKind::Check => "being checked",
        BulkActionKind::Delete => "deleted",
    }
}

const fn state(status: BulkChangeStatus) -> (Tone, &'static str) {
    match status {
        BulkChangeStatus::Running => (Tone::Waiting, "In progress"),
        BulkChangeStatus::Completed => (Tone::Good, "Done"),
        BulkChangeStatus::Cancelled => (Tone::Neutral, "Canceled"),
        BulkChangeStatus::Failed => (Tone::Bad, "Failed"),
    }
}

/// Returns the numbers of a change, such as "412 changed, 3 skipped".
fn numbers(change: &BulkChange) -> String {
    let changed = format!("{} {}", text::grouped(change.changed), done(change.action.kind()));
    let already = change.skipped.by_reason().find(|(why, _)| *why == SkipReason::Unchanged);
    let already = already.map_or(0, |(_, skipped)| skipped.count);
    let mut parts = vec![changed];
    if already > 0 {
        parts.push(format!("already so: {}", text::grouped(already)));
    }
    match change.skipped.total() - already {
        0 => {}
        skipped => parts.push(format!("{} skipped", text::grouped(skipped))),
    }
    parts.join(", ")
}

/// Says why assets were skipped.
const fn reason(reason: SkipReason) -> &'static str {
    match reason {
        SkipReason::Unchanged => "Already so",
        SkipReason::Locked => "Locked: the value was set by the API, or read from linked data",
        SkipReason::WrongKind => "This kind of asset does not allow it",
        SkipReason::TooManyTags => "It would have too many tags",
        SkipReason::InUse => {
            "On a listing that is in review or in the catalog: withdraw it, or take it out of the catalog first"
        }
        SkipReason::AlreadyAttached => "On the listing already",
        SkipReason::KindRetired => "This kind of asset accepts no new listings",
        SkipReason::Incomplete => "Not complete: add what the asset lacks first",
        SkipReason::ListingRefuses => "The listing does not accept it as it is now",
        SkipReason::NoData => "No linked data to check: add a file or a repository first",
        SkipReason::NotReadable => "The market has no files of it that can be checked",
        SkipReason::RunInProgress => "A check is in progress already",
        SkipReason::InsufficientCredits => "Not enough credits",
        SkipReason::Gone => "Deleted in the meantime",
        SkipReason::TargetGone => "The group or the listing does not exist any more",
    }
}
