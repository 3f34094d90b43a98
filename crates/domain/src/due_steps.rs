//! Steps that become due at a time: changes of a market that time alone causes.

use super::{
    row_ids::{self, GrantRowId, KeyRowId, LedgerEntryRowId, OfferRowId, OpportunityRowId, PurchaseRowId},
    time::Timestamp,
};
use crate::string_enum::string_enum;

string_enum! {
    /// The kind of a due step.
    StepKind {
        /// An asset kind retires.
        AssetTypeRetires = "asset_type_retires",
        /// The deadline of an opportunity passes.
        DeadlinePasses = "deadline_passes",
        /// An upload grant expires.
        GrantExpires = "grant_expires",
        /// The hold of a sale's earnings ends.
        HoldEnds = "hold_ends",
        /// An API key expires.
        KeyExpires = "key_expires",
        /// An offer expires.
        OfferExpires = "offer_expires",
        /// A purchase that is not paid expires.
        PurchaseExpires = "purchase_expires",
    }
}

/// The row ID of the record that a step changes. The kind of the step determines the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct StepSubject(pub i64);

row_ids::column!(StepSubject);

row_ids::subject!(
    StepSubject: GrantRowId, KeyRowId, LedgerEntryRowId, OfferRowId, OpportunityRowId, PurchaseRowId
);

/// A step that is scheduled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DueStep {
    /// Time at which the step is due. It is the time of everything that the step writes.
    pub due_at: Timestamp,
    /// Kind of the step.
    pub kind: StepKind,
    /// The record that it changes.
    pub subject: StepSubject,
    /// Whether the step notifies nobody, since it was overdue when the market was upgraded.
    pub is_quiet: bool,
}
