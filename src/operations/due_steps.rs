//! What each due step does. The steps are carried out by [`crate::market`], in the order of their times.

use super::{asset_types, grants, keys};
use crate::{
    domain::{
        due_steps::{DueStep, StepKind},
        row_ids::{GrantRowId, KeyRowId},
    },
    error::{Error, Result},
    market::Writer,
    string_enum::StringEnum,
};

/// Carries out a step.
pub fn run_step(writer: &mut Writer, step: &DueStep) -> Result<()> {
    match step.kind {
        StepKind::AssetTypeRetires => asset_types::retire_when_due(writer, step.subject),
        StepKind::GrantExpires => grants::expire(writer, GrantRowId(step.subject.0)),
        StepKind::KeyExpires => keys::expire(writer, KeyRowId(step.subject.0)),
        other => Err(Error::internal(format!("no operation carries out {}", other.as_str()))),
    }
}
