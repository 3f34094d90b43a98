//! Tasks: string enums for versions, builds, columns, and QA checks; and derived columns.

use serde_json::Value;

use super::time::Timestamp;
use crate::string_enum::string_enum;

string_enum! {
    /// The state of a task version.
    VersionState {
        /// Not submitted yet.
        Draft = "draft",
        /// Submitted for review.
        Submitted = "submitted",
        /// The version in use.
        Live = "live",
        /// Replaced by a later version.
        Superseded = "superseded",
    }
}

string_enum! {
    /// The review stage of a task version.
    VersionStage {
        /// The vendor is writing the version.
        Authoring = "authoring",
        /// In review by the vendor.
        InternalReview = "internal_review",
        /// In review by the platform.
        PlatformReview = "platform_review",
        /// Accepted by the platform.
        Accepted = "accepted",
    }
}

string_enum! {
    /// The status of an environment build.
    BuildStatus {
        /// Waiting to start.
        Queued = "queued",
        /// In progress.
        Running = "running",
        /// The build succeeded, and the environment can be used.
        Succeeded = "succeeded",
        /// The build failed.
        Failed = "failed",
    }
}

string_enum! {
    /// The type of a column in a taskset table.
    ColumnKind {
        /// Text.
        Text = "text",
        /// A number.
        Number = "number",
        /// A boolean.
        Boolean = "boolean",
        /// A value that the server computes for each task.
        Derived = "derived",
    }
}

string_enum! {
    /// The aggregate of a derived column, over the graded traces of a task's latest version.
    DerivedColumn {
        /// Mean reward.
        AverageReward = "average_reward",
        /// Highest reward.
        BestReward = "best_reward",
        /// Number of graded traces.
        Runs = "runs",
        /// Time at which the newest trace was graded.
        LastRunAt = "last_run_at",
    }
}

string_enum! {
    /// A QA agent of the platform that checks graded runs.
    QaAgent {
        /// Looks for rewards that were given but not earned.
        FalsePositive = "false_positive",
        /// Looks for rewards that were earned but not given.
        FalseNegative = "false_negative",
        /// Looks for runs that exploit the grader instead of solving the task.
        RewardHacking = "reward_hacking",
        /// Compares the prompt with what is graded.
        PromptAlignment = "prompt_alignment",
        /// Explains why runs failed.
        FailureAnalysis = "failure_analysis",
    }
}

string_enum! {
    /// The verdict of a QA agent.
    QaVerdict {
        /// No problem found.
        Pass = "pass",
        /// A possible problem that deserves a review.
        Concern = "concern",
        /// A problem found.
        Fail = "fail",
    }
}

string_enum! {
    /// The status of a refresh of the quality of all tasks of a team.
    RefreshStatus {
        /// Waiting to start.
        Queued = "queued",
        /// In progress.
        Running = "running",
        /// Finished successfully.
        Completed = "completed",
        /// Finished with an error.
        Failed = "failed",
    }
}

string_enum! {
    /// The reason why a task was not imported.
    SkipReason {
        /// The task has no version yet.
        NoVersion = "no_version",
        /// The latest version of the task has no build.
        NoBuild = "no_build",
        /// The latest build of the latest version has not succeeded.
        BuildNotSucceeded = "build_not_succeeded",
        /// The task was deleted.
        Deleted = "deleted",
        /// The task belongs to another team, although this team can see it.
        Foreign = "foreign",
    }
}

impl BuildStatus {
    /// Returns the statuses that can follow. A build that has ended stays as it is.
    pub const fn next(self) -> &'static [BuildStatus] {
        match self {
            BuildStatus::Queued => &[BuildStatus::Running, BuildStatus::Succeeded, BuildStatus::Failed],
            BuildStatus::Running => &[BuildStatus::Succeeded, BuildStatus::Failed],
            BuildStatus::Succeeded | BuildStatus::Failed => &[],
        }
    }
}

/// A column of a taskset table.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
pub struct Column {
    /// Identifier of the column, used as the key of its values.
    pub name: String,
    /// Display name of the column.
    pub label: String,
    /// Type of the column.
    pub kind: ColumnKind,
    /// The aggregate that the column shows. Derived columns only.
    pub derives: Option<DerivedColumn>,
}

impl Column {
    /// Whether a task can have this value in the column. `null` is not a value; derived columns have no values.
    pub fn accepts(&self, value: &Value) -> bool {
        match self.kind {
            ColumnKind::Derived => false,
            _ if value.is_null() => true,
            ColumnKind::Text => value.is_string(),
            ColumnKind::Number => value.is_number(),
            ColumnKind::Boolean => value.is_boolean(),
        }
    }
}

/// A graded run, reduced to what derived columns need.
#[derive(Clone, Copy, Debug)]
pub struct GradedRun {
    /// Reward from 0 to 1.
    pub reward: f64,
    /// Time of grading.
    pub graded_at: Timestamp,
}

/// Returns the mean of rewards. Rounding to four decimals hides the rounding errors of the sum.
pub fn mean_reward(rewards: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = rewards.len() as f64;
    (rewards.sum::<f64>() / count * 1e4).round() / 1e4
}

/// Computes the value of a derived column. Returns `None` if there are no graded runs, except for the count.
pub fn derived_value(column: DerivedColumn, runs: &[GradedRun]) -> Option<Value> {
    match column {
        DerivedColumn::Runs => Some(Value::from(runs.len())),
        _ if runs.is_empty() => None,
        DerivedColumn::AverageReward => Some(Value::from(mean_reward(runs.iter().map(|run| run.reward)))),
        DerivedColumn::BestReward => Some(Value::from(runs.iter().map(|run| run.reward).fold(0.0, f64::max))),
        DerivedColumn::LastRunAt => {
            runs.iter().map(|run| run.graded_at).max().map(|at| Value::from(at.to_string()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares what every status of a build allows with a committed snapshot.
    #[test]
    fn every_change_of_a_build_in_every_status() {
        use crate::string_enum::StringEnum;
        let rows = BuildStatus::ALL.iter().map(|from| {
            let to: Vec<&str> = BuildStatus::ALL
                .iter()
                .map(|to| if from.next().contains(to) { to.as_str() } else { "refused" })
                .collect();
            format!("{}: {}", from.as_str(), to.join(", "))
        });
        insta::assert_snapshot!(rows.collect::<Vec<_>>().join("\n"));
    }

    #[test]
    fn derived_columns_aggregate_graded_runs() {
        let run = |reward, at| GradedRun { reward, graded_at: Timestamp(at) };
        let runs = [run(0.1, 0), run(0.2, 2_000_000), run(0.0, 1_000_000)];
        assert_eq!(derived_value(DerivedColumn::Runs, &runs), Some(Value::from(3)));
        assert_eq!(derived_value(DerivedColumn::AverageReward, &runs), Some(Value::from(0.1)));
        assert_eq!(derived_value(DerivedColumn::BestReward, &runs), Some(Value::from(0.2)));
        assert_eq!(
            derived_value(DerivedColumn::LastRunAt, &runs),
            Some(Value::from("1970-01-01T00:00:02.000Z"))
        );
        assert_eq!(derived_value(DerivedColumn::Runs, &[]), Some(Value::from(0)));
        assert_eq!(derived_value(DerivedColumn::BestReward, &[]), None);
    }
}
