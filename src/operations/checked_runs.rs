//! Quality runs with their verdicts, and with checks that newer runs have replaced.

use std::collections::HashMap;

use uuid::Uuid;

use crate::{
    domain::{quality_checks::CheckOutcome, quality_runs::is_run_passed},
    store::{quality_checks::CheckRow, quality_runs::RunRow},
};

/// A run with its verdict and its checks.
#[derive(Debug)]
pub struct CheckedRun {
    /// The run.
    pub run: RunRow,
    /// Whether the run completed and every mandatory check of it passed.
    pub has_passed: bool,
    /// The checks to show.
    pub checks: Vec<CheckRow>,
}

impl CheckedRun {
    /// Creates a run with its own checks, from which its verdict follows.
    pub fn new(run: RunRow, checks: Vec<CheckRow>) -> CheckedRun {
        let outcomes = checks
            .iter()
            .map(|check| CheckOutcome { is_mandatory: check.is_mandatory, status: check.status });
        CheckedRun { has_passed: is_run_passed(run.status, outcomes), run, checks }
    }

    /// Replaces the checks of assets by those of newer runs of the assets themselves. The verdict stays.
    pub fn replace_checks(&mut self, newer: Vec<(Uuid, Vec<CheckRow>)>) {
        let position: HashMap<Uuid, usize> =
            newer.iter().enumerate().map(|(index, (asset, _))| (*asset, index)).collect();
        let mut newer: Vec<Vec<CheckRow>> = newer.into_iter().map(|(_, checks)| checks).collect();
        let mut shown = Vec::with_capacity(self.checks.len());
        for check in self.checks.drain(..) {
            match check.asset.as_ref().and_then(|asset| position.get(&asset.id)) {
                // The new checks take the place of the asset's first check.
                Some(index) => shown.append(&mut newer[*index]),
                None => shown.push(check),
            }
        }
        // Assets that the run did not check.
        shown.extend(newer.into_iter().flatten());
        self.checks = shown;
    }
}
