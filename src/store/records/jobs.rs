//! Background jobs: those that wait or run, and those that were given up or canceled.

use uuid::Uuid;

use super::{
    Reader, Record,
    pages::{PageQuery, PageRequest, RowPage},
};
use crate::{
    domain::{
        jobs::{JobKind, JobState},
        row_ids::JobRowId,
        time::Timestamp,
    },
    error::Result,
    store::row,
    string_enum::StringEnum,
};

/// A job that has not completed.
#[derive(Clone, Debug)]
pub struct JobRecord {
    /// ID of the job.
    pub id: JobRowId,
    /// Kind of the job.
    pub kind: JobKind,
    /// State of the job.
    pub state: JobState,
    /// ID of the record that the job works on; `None` if there is none.
    pub subject: Option<Uuid>,
    /// ID of the team that the job works for; `None` for the platform's own work.
    pub team: Option<Uuid>,
    /// Number of attempts so far, including one that is running.
    pub attempts: u32,
    /// Time at which the job was enqueued.
    pub enqueued_at: Timestamp,
    /// Time from which the job can be started; `None` if it has ended.
    pub due_at: Option<Timestamp>,
    /// Time at which the job was given up or canceled.
    pub ended_at: Option<Timestamp>,
}

/// What the list of jobs can be filtered by.
#[derive(Clone, Debug, Default)]
pub struct JobFilter {
    /// Kind of the job.
    pub kind: Option<JobKind>,
    /// State of the job.
    pub state: Option<JobState>,
    /// ID of the team.
    pub team: Option<Uuid>,
}

const COLUMNS: &str =
    "j.id, j.kind, j.state, t.uuid AS team_uuid, j.attempts, j.enqueued_at, j.run_after, j.ended_at,
    CASE j.kind
        WHEN 'run_checks' THEN (SELECT uuid FROM quality_runs WHERE id = j.subject)
        WHEN 'import_traces' THEN (SELECT uuid FROM trace_imports WHERE id = j.subject)
        WHEN 'refresh_task_quality' THEN (SELECT uuid FROM task_quality_refreshes WHERE id = j.subject)
        WHEN 'prepare_bundle' THEN (SELECT l.uuid FROM bundles b JOIN listings l ON l.id = b.listing WHERE b.id = j.subject)
        WHEN 'estimate' THEN (SELECT uuid FROM estimations WHERE id = j.subject)
        WHEN 'sweep' THEN NULL
        ELSE (SELECT uuid FROM assets WHERE id = j.subject)
    END AS subject_uuid";

const SOURCES: &str = "(
        SELECT id, kind, subject, team, attempts, enqueued_at, run_after, NULL AS ended_at,
            iif(leased_until IS NULL, 'waiting', 'running') AS state
        FROM jobs
        UNION ALL
        SELECT id, kind, subject, team, attempts, enqueued_at, NULL, ended_at, state FROM ended_jobs
    ) j LEFT JOIN teams t ON t.id = j.team";

fn read(row: &rusqlite::Row) -> rusqlite::Result<JobRecord> {
    Ok(JobRecord {
        id: row.get("id")?,
        kind: row::string_enum(row, "kind")?,
        state: row::string_enum(row, "state")?,
        subject: row.get("subject_uuid")?,
        team: row.get("team_uuid")?,
        attempts: row.get("attempts")?,
        enqueued_at: row::time(row, "enqueued_at")?,
        due_at: row::optional_time(row, "run_after")?,
        ended_at: row::optional_time(row, "ended_at")?,
    })
}

impl Record for JobRecord {
    type Id = JobRowId;
    type Filter = JobFilter;

    const NAME: &'static str = "job";

    fn find(reader: &Reader, id: &JobRowId) -> Result<Option<JobRecord>> {
        reader.query_first(&format!("SELECT {COLUMNS} FROM {SOURCES} WHERE j.id = ?1"), [id], read)
    }

    fn page(reader: &Reader, filter: &JobFilter, request: PageRequest) -> Result<RowPage<JobRecord>> {
        PageQuery::new(COLUMNS, SOURCES, "j.id")
            .filter("j.kind = ?", filter.kind.map(StringEnum::as_str))
            .filter("j.state = ?", filter.state.map(StringEnum::as_str))
            .refers_to("j.team", "teams", filter.team)
            .fetch(reader, request, read)
    }
}
