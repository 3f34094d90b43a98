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
