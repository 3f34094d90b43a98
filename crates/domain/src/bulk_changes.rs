//! Changes of many assets at once: what they do, their states, and why assets are left as they are.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{assets::Kind, state_machine::state_machine};
use crate::string_enum::string_enum;

/// Maximum number of assets that a bulk change selects.
pub const MAX_ASSETS: u64 = 100_000;

/// Maximum number of assets that one transaction changes. A bulk change of more assets is a job.
pub const MAX_PER_TRANSACTION: u64 = 1_000;

/// Maximum number of bulk changes of a team that run, or wait for each other.
pub const MAX_RUNNING: u64 = 3;

/// Maximum number of examples that are kept for each reason.
pub const MAX_EXAMPLES: usize = 100;

string_enum! {
    /// What a bulk change does.
    BulkActionKind {
        /// Moves the assets to a group.
        Move = "move",
        /// Adds and removes domain tags.
        Tag = "tag",
        /// Sets the description.
        Describe = "describe",
        /// Sets the asking price.
        Price = "price",
        /// Attaches the assets to a listing.
        Attach = "attach",
        /// Starts quality runs.
        Check = "check",
        /// Deletes the assets with their data.
        Delete = "delete",
    }
}

/// What a bulk change does, with its parameters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "action", rename_all = "snake_case")]
pub enum BulkAction {
    /// Moves the assets to a group.
    Move {
        /// ID of the group.
        group: Uuid,
    },
    /// Adds and removes domain tags.
    Tag {
        /// Slugs of the tags to add.
        add: Vec<String>,
        /// Slugs of the tags to remove.
        remove: Vec<String>,
    },
    /// Sets the description.
    Describe {
        /// The description; `None` removes it.
        description: Option<String>,
    },
    /// Sets the asking price.
    Price {
        /// The price in cents; `None` removes it.
        cents: Option<i64>,
    },
    /// Attaches the assets to a listing.
    Attach {
        /// ID of the listing.
        listing: Uuid,
    },
    /// Starts quality runs.
    Check,
    /// Deletes the assets with their data.
    Delete,
}

impl BulkActionKind {
    /// Whether it edits a field of assets. Its result is known in advance.
    pub const fn edits_field(self) -> bool {
        matches!(self, BulkActionKind::Tag | BulkActionKind::Describe | BulkActionKind::Price)
    }
}

impl BulkAction {
    /// Returns what is done, without the parameters.
    pub const fn kind(&self) -> BulkActionKind {
        match self {
            BulkAction::Move { .. } => BulkActionKind::Move,
            BulkAction::Tag { .. } => BulkActionKind::Tag,
            BulkAction::Describe { .. } => BulkActionKind::Describe,
            BulkAction::Price { .. } => BulkActionKind::Price,
            BulkAction::Attach { .. } => BulkActionKind::Attach,
            BulkAction::Check => BulkActionKind::Check,
            BulkAction::Delete => BulkActionKind::Delete,
        }
    }

    /// Whether a vendor can do this with an asset of a kind at all.
    pub const fn is_for(&self, kind: Kind) -> bool {
        match self {
            BulkAction::Tag { .. } | BulkAction::Describe { .. } | BulkAction::Price { .. } => {
                kind.is_edited_by_vendors()
            }
            BulkAction::Check | BulkAction::Delete => kind.supports_proposals(),
            BulkAction::Move { .. } | BulkAction::Attach { .. } => true,
        }
    }
}

string_enum! {
    /// The status of a bulk change.
    BulkChangeStatus {
        /// Assets are left to change.
        Running = "running",
        /// All assets were looked at.
        Completed = "completed",
        /// The team canceled it. What was changed before stays.
        Cancelled = "cancelled",
        /// An internal error ended it. What was changed before stays.
        Failed = "failed",
    }
}

string_enum! {
    /// What ends a bulk change.
    BulkChangeOperation {
        /// The last asset was looked at.
        Complete = "complete",
        /// The team, or the platform, cancels it.
        Cancel = "cancel",
        /// Its job was given up.
        Fail = "fail",
    }
}

state_machine! {
    BulkChangeStatus by BulkChangeOperation, not requested: Complete, Fail;
    Running: Complete => Completed, Cancel => Cancelled, Fail => Failed;
}

string_enum! {
    /// Why a bulk change leaves an asset as it is.
    SkipReason {
        /// The asset is like that already.
        Unchanged = "unchanged",
        /// The field was set by the API, or was read from linked data.
        Locked = "locked",
        /// The kind of the asset does not allow it.
        WrongKind = "wrong_kind",
        /// The asset would have more domain tags than it can.
        TooManyTags = "too_many_tags",
        /// The asset is on a listing that is in review or published.
        InUse = "in_use",
        /// The asset is on the listing already.
        AlreadyAttached = "already_attached",
        /// The kind of the asset accepts no new listings.
        KindRetired = "kind_retired",
        /// The asset lacks what a listing needs.
        Incomplete = "incomplete",
        /// The listing, as it is now, does not accept the asset.
        ListingRefuses = "listing_refuses",
        /// The asset has no linked data.
        NoData = "no_data",
        /// The server has no files of the asset that can be checked.
        NotReadable = "not_readable",
        /// A quality run of the asset is in progress.
        RunInProgress = "run_in_progress",
        /// The credits of the team do not suffice.
        InsufficientCredits = "insufficient_credits",
        /// The asset was deleted since.
        Gone = "gone",
        /// What the asset was to be moved to does not exist any more.
        TargetGone = "target_gone",
    }
}

/// The assets that were skipped for one reason.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkippedAssets {
    /// Number of assets.
    pub count: u64,
    /// IDs of the first of them.
    pub examples: Vec<Uuid>,
}

/// The assets that were skipped, by reason.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Skipped(BTreeMap<SkipReason, SkippedAssets>);

impl Skipped {
    /// Adds an asset.
    pub fn add(&mut self, reason: SkipReason, asset: Uuid) {
        let skipped = self.0.entry(reason).or_default();
        skipped.count += 1;
        if skipped.examples.len() < MAX_EXAMPLES {
            skipped.examples.push(asset);
        }
    }

    /// Adds a number of assets that nobody can look at.
    pub fn add_unnamed(&mut self, reason: SkipReason, count: u64) {
        if count > 0 {
            self.0.entry(reason).or_default().count += count;
        }
    }

    /// Returns the number of all assets.
    pub fn total(&self) -> u64 {
        self.0.values().map(|skipped| skipped.count).sum()
    }

    /// Returns the reasons with their assets.
    pub fn by_reason(&self) -> impl Iterator<Item = (SkipReason, &SkippedAssets)> {
        self.0.iter().map(|(reason, skipped)| (*reason, skipped))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{state_machine::StateMachine, string_enum::StringEnum};

    #[test]
    fn examples_are_limited_and_numbers_are_not() {
        let mut skipped = Skipped::default();
        for number in 0..150 {
            skipped.add(SkipReason::Locked, Uuid::from_u128(number));
        }
        skipped.add_unnamed(SkipReason::Gone, 0);
        skipped.add_unnamed(SkipReason::Gone, 2);
        assert_eq!(skipped.total(), 152);
        let numbers: Vec<_> = skipped
            .by_reason()
            .map(|(reason, skipped)| (reason, skipped.count, skipped.examples.len()))
            .collect();
        assert_eq!(numbers, [(SkipReason::Locked, 150, 100), (SkipReason::Gone, 2, 0)]);
        let text = serde_json::to_string(&skipped).unwrap();
        assert!(text.starts_with(r#"{"locked":{"count":150,"#), "{text}");
        assert_eq!(serde_json::from_str::<Skipped>(&text).unwrap(), skipped);
    }

    #[test]
    fn only_a_running_change_ends() {
        for status in BulkChangeStatus::ALL {
            let ends = BulkChangeOperation::ALL.iter().filter(|operation| status.allows(**operation)).count();
            assert_eq!(ends, if *status == BulkChangeStatus::Running { 3 } else { 0 });
        }
    }

    #[test]
    fn actions_keep_their_parameters() {
        let actions = [
            BulkAction::Move { group: Uuid::from_u128(1) },
            BulkAction::Tag { add: vec!["legal".to_owned()], remove: Vec::new() },
            BulkAction::Describe { description: None },
            BulkAction::Price { cents: Some(100) },
            BulkAction::Attach { listing: Uuid::from_u128(2) },
            BulkAction::Check,
            BulkAction::Delete,
        ];
        for (action, kind) in actions.into_iter().zip(BulkActionKind::ALL) {
            let text = serde_json::to_string(&action).unwrap();
            assert!(text.contains(&format!("\"action\":\"{}\"", kind.as_str())), "{text}");
            assert_eq!((action.kind(), serde_json::from_str::<BulkAction>(&text).unwrap()), (*kind, action));
        }
    }
}
