//! Implements each due step. The steps are carried out by [`crate::market`], in the order of their times.

use super::{asset_types, grants, keys, ledger, offers, opportunities, purchases};
use crate::{
    domain::{
        due_steps::{DueStep, StepKind},
        row_ids::{GrantRowId, KeyRowId, LedgerEntryRowId, OfferRowId, PurchaseRowId},
    },
    error::Result,
    market::Writer,
};

/// Carries out a step.
pub fn run_step(writer: &mut Writer, step: &DueStep) -> Result<()> {
    let row_id = step.subject.0;
    match step.kind {
        StepKind::AssetTypeRetires => asset_types::retire_when_due(writer, step.subject),
        StepKind::DeadlinePasses => opportunities::pass_deadline(writer, step.subject),
        StepKind::GrantExpires => grants::expire(writer, GrantRowId(row_id)),
        StepKind::HoldEnds => ledger::end_hold(writer, LedgerEntryRowId(row_id)),
        StepKind::KeyExpires => keys::expire(writer, KeyRowId(row_id)),
        StepKind::OfferExpires => offers::expire(writer, OfferRowId(row_id)),
        StepKind::PurchaseExpires => purchases::expire(writer, PurchaseRowId(row_id)),
    }
}
