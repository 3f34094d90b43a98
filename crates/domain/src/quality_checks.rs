//! The checks of quality runs.

use crate::string_enum::string_enum;

string_enum! {
    /// The status of a check.
    CheckStatus {
        /// Waiting to start.
        Queued = "queued",
        /// In progress.
        Running = "running",
        /// The data meets the requirement.
        Passed = "passed",
        /// The data does not meet the requirement.
        Failed = "failed",
        /// The check itself failed, so there is no result.
        Error = "error",
    }
}

string_enum! {
    /// How a check is performed.
    CheckKind {
        /// A program reads the data.
        Automated = "automated",
        /// A program builds and starts an environment.
        Environment = "environment",
        /// A program runs tasks.
        Task = "task",
        /// A person reviews the data.
        Review = "review",
    }
}

string_enum! {
    /// The subject of a check.
    CheckScope {
        /// The whole listing.
        Listing = "listing",
        /// A single asset.
        Asset = "asset",
    }
}

/// The part of a check's outcome that the verdict of a run needs.
#[derive(Clone, Copy, Debug)]
pub struct CheckOutcome {
    /// Whether the run fails if this check does not pass.
    pub is_mandatory: bool,
    /// Status of the check.
    pub status: CheckStatus,
}
