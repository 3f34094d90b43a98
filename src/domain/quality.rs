//! Quality runs and their checks, and what follows from them.

use super::vocabulary::vocabulary;

vocabulary! {
    /// How far a run is.
    RunStatus {
        /// Waiting.
        Queued = "queued",
        /// Under way.
        Running = "running",
        /// Done; the verdict stands beside it.
        Completed = "completed",
        /// The run itself broke.
        Error = "error",
        /// It was called off.
        Cancelled = "cancelled",
    }
}

vocabulary! {
    /// The result of a check.
    CheckStatus {
        /// Waiting.
        Queued = "queued",
        /// Under way.
        Running = "running",
        /// Found in order.
        Passed = "passed",
        /// Found wanting.
        Failed = "failed",
        /// The check itself broke.
        Error = "error",
    }
}

vocabulary! {
    /// Who or what does a check.
    CheckKind {
        /// A program that reads the data.
        Automated = "automated",
        /// A program that builds and starts an environment.
        Environment = "environment",
        /// A program that runs tasks.
        Task = "task",
        /// A person.
        Review = "review",
    }
}

vocabulary! {
    /// What a check looks at.
    CheckScope {
        /// The whole listing.
        Listing = "listing",
        /// One asset.
        Asset = "asset",
    }
}

vocabulary! {
    /// How far a copy into the platform's hub is.
    IngestStatus {
        /// Waiting.
        Pending = "pending",
        /// Under way.
        Running = "running",
        /// Done.
        Completed = "completed",
        /// Ended by a fault.
        Failed = "failed",
    }
}

/// What the verdict of a run is made of: one check.
#[derive(Clone, Copy, Debug)]
pub struct Outcome {
    /// Whether the run fails with it.
    pub is_mandatory: bool,
    /// Its result.
    pub status: CheckStatus,
}

/// Whether a completed run passed: every mandatory check did. Runs in any other state have no verdict and did not pass.
pub fn passed(status: RunStatus, checks: impl IntoIterator<Item = Outcome>) -> bool {
    status == RunStatus::Completed
        && checks.into_iter().all(|check| !check.is_mandatory || check.status == CheckStatus::Passed)
}

/// Whether a run in this state keeps what it was charged: one that broke gives it back.
pub const fn keeps_charge(status: RunStatus) -> bool {
    !matches!(status, RunStatus::Error | RunStatus::Cancelled)
}

#[cfg(test)]
mod tests {
    use super::super::vocabulary::Vocabulary;
    use super::*;

    #[test]
    fn only_mandatory_checks_of_completed_runs_decide() {
        let check = |is_mandatory, status| Outcome { is_mandatory, status };
        for run in RunStatus::ALL {
            for status in CheckStatus::ALL {
                let is_good = *run == RunStatus::Completed && *status == CheckStatus::Passed;
                assert_eq!(passed(*run, [check(true, *status)]), is_good, "{run:?} {status:?}");
                assert_eq!(passed(*run, [check(false, *status)]), *run == RunStatus::Completed);
            }
        }
    }
}
