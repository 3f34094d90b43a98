//! Facts about the whole market. Each costs one statement, and none scans a large table.

use super::{Reader, row::FromRow};
use crate::{
    config::QuotaSettings,
    domain::{
        jobs::{JobKind, JobState},
        time::Timestamp,
    },
    error::Result,
};

/// A number of records of a kind that are in a state.
#[derive(Clone, Debug, FromRow)]
#[row(by_position)]
pub struct RecordCount {
    /// Kind of the records: `team`, `listing`, or `purchase`.
    pub kind: String,
    /// State of the records. Of listings, their review status, a space, and their status in the catalog.
    pub state: String,
    /// Number of records.
    pub count: u64,
}

/// Returns the numbers of teams, listings, and purchases in each state, which triggers maintain.
pub fn count_records(reader: &Reader) -> Result<Vec<RecordCount>> {
    reader.query_all(
        "SELECT kind, state, count FROM record_counts WHERE count > 0",
        [],
        RecordCount::from_row,
    )
}

/// The number of jobs in a state.
#[derive(Clone, Debug, FromRow)]
#[row(by_position)]
pub struct JobCount {
    /// The state.
    pub state: JobState,
    /// Number of jobs.
    pub count: u64,
    /// The earliest time at which one of them could be started; for ended jobs, the earliest time at which one ended.
    pub oldest_at: Timestamp,
}

/// Returns the number of jobs in each state that some have.
pub fn count_jobs(reader: &Reader) -> Result<Vec<JobCount>> {
    const SQL: &str =
        "SELECT iif(leased_until IS NULL, 'waiting', 'running') AS state, count(*), min(run_after)
         FROM jobs GROUP BY 1
         UNION ALL SELECT state, count(*), min(ended_at) FROM ended_jobs GROUP BY 1";
    reader.query_all(SQL, [], JobCount::from_row)
}

/// Returns the number of the last event; 0 if there is none.
pub fn last_event(reader: &Reader) -> Result<i64> {
    reader.query_one("SELECT coalesce(max(id), 0) FROM events", [], |row| row.get(0))
}

/// Returns the quotas that teams have used up, each with its limit and the number of these teams.
pub fn used_up_quotas(reader: &Reader, quotas: &QuotaSettings) -> Result<Vec<(&'static str, u64, u64)>> {
    const SQL: &str = "SELECT count(*) FILTER (WHERE ?1 > 0 AND assets >= ?1),
             count(*) FILTER (WHERE ?2 > 0 AND groups >= ?2),
             count(*) FILTER (WHERE ?3 > 0 AND upload_bytes >= ?3)
         FROM team_usage";
    let limits = [
        ("assets", quotas.assets),
        ("groups", quotas.groups),
        ("upload_bytes", quotas.upload_gb.saturating_mul(1_000_000_000)),
    ];
    let parameters = limits.map(|(_, limit)| i64::try_from(limit).unwrap_or(i64::MAX));
    let counts: [u64; 3] =
        reader.query_one(SQL, parameters, |row| Ok([row.get(0)?, row.get(1)?, row.get(2)?]))?;
    let used_up = limits.into_iter().zip(counts).filter(|(_, count)| *count > 0);
    Ok(used_up.map(|((quota, limit), count)| (quota, limit, count)).collect())
}

/// The number of jobs of a kind in a state.
#[derive(Clone, Debug, FromRow)]
#[row(by_position)]
pub struct JobKindCount {
    /// The number, and the earliest time as in [`JobCount`].
    #[row(flatten)]
    pub counted: JobCount,
    /// The kind.
    pub kind: JobKind,
}

/// Returns the numbers of jobs by kind and state, without those that are 0.
pub fn count_jobs_by_kind(reader: &Reader) -> Result<Vec<JobKindCount>> {
    const SQL: &str =
        "SELECT iif(leased_until IS NULL, 'waiting', 'running') AS state, count(*), min(run_after), kind
         FROM jobs GROUP BY 1, 4
         UNION ALL SELECT state, count(*), min(ended_at), kind FROM ended_jobs GROUP BY 1, 4";
    reader.query_all(SQL, [], JobKindCount::from_row)
}

/// Returns the number of deliveries to webhooks that are pending, and the earliest time at which one is due.
pub fn pending_deliveries(reader: &Reader) -> Result<(u64, Option<Timestamp>)> {
    const SQL: &str = "SELECT count(*), min(next_attempt_at) FROM webhook_deliveries
         INDEXED BY pending_webhook_deliveries WHERE next_attempt_at IS NOT NULL";
    reader.query_one(SQL, [], |row| Ok((row.get(0)?, row.get(1)?)))
}

/// Returns the size in bytes of the uploads of all teams, stored and planned.
pub fn upload_bytes(reader: &Reader) -> Result<u64> {
    reader.query_one("SELECT coalesce(sum(upload_bytes), 0) FROM team_usage", [], |row| row.get(0))
}

/// Whether the schema of the database is that of this program. Another version of the program may have changed it.
pub fn is_schema_current(reader: &Reader) -> Result<bool> {
    Ok(super::table_rows::schema_version(reader)? as usize == super::migrations::latest_version())
}
