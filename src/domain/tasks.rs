//! Tasks: the words of their versions, builds, columns and checks.

use super::vocabulary::vocabulary;

vocabulary! {
    /// The state of a task version.
    VersionState {
        /// Being written.
        Draft = "draft",
        /// Handed in.
        Submitted = "submitted",
        /// In use.
        Live = "live",
        /// Replaced by a later version.
        Superseded = "superseded",
    }
}

vocabulary! {
    /// How far the review of a task version is.
    VersionStage {
        /// Being written.
        Authoring = "authoring",
        /// With the vendor's reviewers.
        InternalReview = "internal_review",
        /// With the platform's reviewers.
        PlatformReview = "platform_review",
        /// Accepted.
        Accepted = "accepted",
    }
}

vocabulary! {
    /// How a build went.
    BuildStatus {
        /// Waiting.
        Queued = "queued",
        /// Under way.
        Running = "running",
        /// It can be used.
        Succeeded = "succeeded",
        /// It cannot.
        Failed = "failed",
    }
}

vocabulary! {
    /// What a column of a taskset's table holds.
    ColumnKind {
        /// Words.
        Text = "text",
        /// A number.
        Number = "number",
        /// Yes or no.
        Boolean = "boolean",
        /// Something that the server works out for each task.
        Derived = "derived",
    }
}

vocabulary! {
    /// What a derived column shows, over the graded traces of a task's latest version.
    DerivedColumn {
        /// Mean reward.
        AverageReward = "average_reward",
        /// Best reward.
        BestReward = "best_reward",
        /// How many there are.
        Runs = "runs",
        /// When the newest was graded.
        LastRunAt = "last_run_at",
    }
}

vocabulary! {
    /// An agent of the platform that checks graded runs.
    QaAgent {
        /// Looks for rewards that were not earned.
        FalsePositive = "false_positive",
        /// Looks for rewards that were withheld.
        FalseNegative = "false_negative",
        /// Looks for tricks.
        RewardHacking = "reward_hacking",
        /// Compares the prompt with what is graded.
        PromptAlignment = "prompt_alignment",
        /// Explains failures.
        FailureAnalysis = "failure_analysis",
    }
}

vocabulary! {
    /// What such an agent concludes.
    QaVerdict {
        /// In order.
        Pass = "pass",
        /// Worth a look.
        Concern = "concern",
        /// Not in order.
        Fail = "fail",
    }
}
