//! Quality runs and their verdicts. Their checks are in `quality_checks`.

use super::{
    quality_checks::{CheckOutcome, CheckStatus},
    state_machine::state_machine,
};
use crate::string_enum::string_enum;

string_enum! {
    /// The status of a quality run.
    RunStatus {
        /// Waiting to start.
        Queued = "queued",
        /// In progress.
        Running = "running",
        /// Finished. Whether the run passed is reported separately.
        Completed = "completed",
        /// The run itself failed, so there is no verdict.
        Error = "error",
        /// Canceled before it finished.
        Cancelled = "cancelled",
    }
}

string_enum! {
    /// The outcome of the latest quality run of an asset.
    RunOutcome {
        /// It is completed, and every mandatory check passed.
        Passed = "passed",
        /// It is completed, and a mandatory check did not pass.
        Failed = "failed",
        /// It has not ended.
        InProgress = "in_progress",
        /// It failed itself, so there is no verdict.
        Error = "error",
        /// It was canceled before it finished.
        Cancelled = "cancelled",
        /// There never was a run.
        None = "none",
    }
}

string_enum! {
    /// Who or what started a run.
    RunTrigger {
        /// The submission of a listing.
        Submission = "submission",
        /// The vendor's team, over the API.
        Team = "team",
        /// The platform.
        Platform = "platform",
    }
}

string_enum! {
    /// An operation on a quality run that exists.
    RunOperation {
        /// Cancels the run before it has finished.
        Cancel = "cancel",
    }
}

state_machine! {
    /// What has ended stays as it is.
    RunStatus by RunOperation;
    Queued: Cancel => Cancelled;
    Running: Cancel => Cancelled;
}

/// Whether a run passed: it is completed, and every mandatory check passed. Other runs have no verdict.
pub fn is_run_passed(status: RunStatus, checks: impl IntoIterator<Item = CheckOutcome>) -> bool {
    status == RunStatus::Completed
        && checks.into_iter().all(|check| !check.is_mandatory || check.status == CheckStatus::Passed)
}

/// Whether the charge of a run that ends or ended with this status is kept. The charge is refunded if the run failed, or was
/// canceled before it began to compute.
pub const fn is_charge_kept(status: RunStatus, has_begun: bool) -> bool {
    match status {
        RunStatus::Error => false,
        RunStatus::Cancelled => has_begun,
        RunStatus::Queued | RunStatus::Running | RunStatus::Completed => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::string_enum::StringEnum;

    #[test]
    fn verdict_depends_on_mandatory_checks_of_completed_runs() {
        let check = |is_mandatory, status| CheckOutcome { is_mandatory, status };
        for run in RunStatus::ALL {
            for status in CheckStatus::ALL {
                let is_passed = *run == RunStatus::Completed && *status == CheckStatus::Passed;
                assert_eq!(is_run_passed(*run, [check(true, *status)]), is_passed, "{run:?} {status:?}");
                assert_eq!(is_run_passed(*run, [check(false, *status)]), *run == RunStatus::Completed);
            }
        }
    }
}
