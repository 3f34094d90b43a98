//! The `marketplace job` command.

use super::prelude::*;
use crate::domain::jobs::{JobKind, JobState};

/// Manage background jobs that have not completed.
#[derive(Debug, Subcommand)]
pub enum JobCommand {
    /// List jobs, newest first. A job that completes is deleted.
    #[command(after_help = "Example:\n  marketplace job list --state failed")]
    List {
        /// What the jobs do.
        #[arg(long, value_parser = parse_value::<JobKind>)]
        kind: Option<JobKind>,
        /// State of the jobs.
        #[arg(long, value_parser = parse_value::<JobState>)]
        state: Option<JobState>,
        /// ID or name of the team that they work for.
        #[arg(long)]
        team: Option<String>,
        #[command(flatten)]
        limit: ListLimit,
    },
    /// Show a job.
    #[command(after_help = "Example:\n  marketplace job show 17")]
    Show(OneJob),
    /// Start a job again that was given up or canceled.
    #[command(after_help = "Example:\n  marketplace job retry 17")]
    Retry(OneJob),
    /// Cancel a job.
    #[command(after_help = "Example:\n  marketplace job cancel 17")]
    Cancel(OneJob),
}

/// A job.
#[derive(Debug, Args)]
pub struct OneJob {
    /// ID of the job, as printed by `job list`: a number.
    id: u64,
}

const JOBS: Records = Records::new(
    "/jobs",
    "id kind state attempts due_at ended_at subject_kind subject_id team",
    "id kind state subject_kind subject_id team_id team attempts enqueued_at due_at ended_at",
);

impl ApiCommand for JobCommand {
    fn run(&self, client: &Client) -> CommandResult {
        match self {
            JobCommand::List { kind, state, team, limit } => {
                let filters = [
                    ("kind", json!(kind)),
                    ("state", json!(state)),
                    ("team_id", TEAMS.optional_id(client, team.as_ref())?),
                ];
                JOBS.list(client, &filters, *limit)
            }
            JobCommand::Show(job) => JOBS.show(client, job.id),
            JobCommand::Retry(job) => JOBS.perform(client, job.id, "retry"),
            JobCommand::Cancel(job) => JOBS.perform(client, job.id, "cancel"),
        }
    }
}
