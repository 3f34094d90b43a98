//! Facts about the whole market. Each costs one statement, and none scans a large table.

use super::{Reader, row};
use crate::{
    config::QuotaSettings,
    domain::{jobs::JobState, time::Timestamp},
    error::Result,
};

/// A number of records of a kind that are in a state.
#[derive(Clone, Debug)]
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
    reader.query_all("SELECT kind, state, count FROM record_counts WHERE count > 0", [], |row| {
        Ok(RecordCount { kind: row.get(0)?, state: row.get(1)?, count: row.get(2)? })
    })
}

/// The number of jobs in a state.
#[derive(Clone, Debug)]
pub struct JobCount {
    /// The state.
    pub state: JobState,
    /// Number of jobs.
    pub count: u64,
    /// The earliest time from which one of them could be started; of jobs that ended, the earliest at which one did.
    pub oldest_at: Timestamp,
}

/// Returns the number of jobs in each state that some have.
pub fn count_jobs(reader: &Reader) -> Result<Vec<JobCount>> {
    const SQL: &str =
        "SELECT iif(leased_until IS NULL, 'waiting', 'running') AS state, count(*), min(run_after)
         FROM jobs GROUP BY 1
         UNION ALL SELECT state, count(*), min(ended_at) FROM ended_jobs GROUP BY 1";
    reader.query_all(SQL, [], |row| {
        Ok(JobCount { state: row::string_enum(row, 0)?, count: row.get(1)?, oldest_at: row::time(row, 2)? })
    })
}

/// Returns the number of the last event; 0 if there is none.
pub fn last_event(reader: &Reader) -> Result<i64> {
    reader.query_one("SELECT coalesce(max(id), 0) FROM events", [], |row| row.get(0))
}

/// Returns the size of the database in bytes, without what is not yet checkpointed.
pub fn database_bytes(reader: &Reader) -> Result<u64> {
    const SQL: &str = "SELECT p.page_count * s.page_size FROM pragma_page_count() p, pragma_page_size() s";
    reader.query_one(SQL, [], |row| row.get(0))
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
