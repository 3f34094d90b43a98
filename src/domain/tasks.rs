//! Tasks: the words of their versions, builds, columns and checks.

use serde_json::Value;

use super::{time::Timestamp, vocabulary::vocabulary};

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

vocabulary! {
    /// How far a reading of the quality of all of a team's tasks is.
    RefreshStatus {
        /// Waiting.
        Queued = "queued",
        /// Under way.
        Running = "running",
        /// Done.
        Completed = "completed",
        /// Ended by a fault.
        Failed = "failed",
    }
}

vocabulary! {
    /// Why a task was not imported.
    SkipReason {
        /// It has no version yet.
        NoVersion = "no_version",
        /// Its latest version has no build.
        NoBuild = "no_build",
        /// The latest build of its latest version did not succeed, or has not yet.
        BuildNotSucceeded = "build_not_succeeded",
        /// It was deleted.
        Deleted = "deleted",
        /// The team may see it but does not own it.
        Foreign = "foreign",
    }
}

/// A column of a taskset's table.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Column {
    /// Its name, as values use it.
    pub name: String,
    /// Its name for people.
    pub label: String,
    /// What it holds.
    pub kind: ColumnKind,
    /// What a derived column shows.
    pub derives: Option<DerivedColumn>,
}

/// A graded run, as far as derived columns need it.
#[derive(Clone, Copy, Debug)]
pub struct Graded {
    /// 0 to 1.
    pub reward: f64,
    /// When it was graded.
    pub at: Timestamp,
}

/// What a derived column shows of a task's graded runs: nothing where there are none to speak of.
pub fn derive(column: DerivedColumn, runs: &[Graded]) -> Option<Value> {
    match column {
        DerivedColumn::Runs => Some(Value::from(runs.len())),
        _ if runs.is_empty() => None,
        DerivedColumn::AverageReward => {
            let sum: f64 = runs.iter().map(|run| run.reward).sum();
            // Four decimals say enough, and hide the noise of adding decimals in binary.
            Some(Value::from((sum / runs.len() as f64 * 1e4).round() / 1e4))
        }
        DerivedColumn::BestReward => Some(Value::from(runs.iter().map(|run| run.reward).fold(0.0, f64::max))),
        DerivedColumn::LastRunAt => runs.iter().map(|run| run.at).max().map(|at| Value::from(at.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derived_columns() {
        let run = |reward, at| Graded { reward, at: Timestamp(at) };
        let runs = [run(0.1, 0), run(0.2, 2_000_000), run(0.0, 1_000_000)];
        assert_eq!(derive(DerivedColumn::Runs, &runs), Some(Value::from(3)));
        assert_eq!(derive(DerivedColumn::AverageReward, &runs), Some(Value::from(0.1)));
        assert_eq!(derive(DerivedColumn::BestReward, &runs), Some(Value::from(0.2)));
        assert_eq!(derive(DerivedColumn::LastRunAt, &runs), Some(Value::from("1970-01-01T00:00:02.000Z")));
        assert_eq!(derive(DerivedColumn::Runs, &[]), Some(Value::from(0)));
        assert_eq!(derive(DerivedColumn::BestReward, &[]), None);
    }
}
