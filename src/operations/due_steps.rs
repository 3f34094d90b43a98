//! What each due step does. The steps are carried out by [`crate::market`], in the order of their times.

use super::{ledger, offers, opportunities, purchases, taxonomy};
use crate::{
    domain::{
        due_steps::{DueStep, StepKind},
        row_ids::{LedgerEntryRowId, OfferRowId, PurchaseRowId},
    },
    error::{Error, Result},
    market::Writer,
    string_enum::StringEnum,
};

/// Carries out a step.
pub fn run_step(writer: &mut Writer, step: &DueStep) -> Result<()> {
    match step.kind {
        StepKind::AssetTypeRetires => taxonomy::retire_asset_type(writer, step.subject),
        StepKind::DeadlinePasses => opportunities::pass_deadline(writer, step.subject),
        StepKind::HoldEnds => ledger::end_hold(writer, LedgerEntryRowId(step.subject.0)),
        StepKind::OfferExpires => offers::expire(writer, OfferRowId(step.subject.0)),
        StepKind::PurchaseExpires => purchases::expire(writer, PurchaseRowId(step.subject.0)),
        other => Err(Error::internal(format!("no operation carries out {}", other.as_str()))),
    }
}
