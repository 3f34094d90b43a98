//! The job queue. A worker that claims a job holds a lease on it. The lease number increases with each claim,
//! so a worker that lost its lease cannot write its results.

use super::{Reader, Writer, row::FromRow};
use crate::{
    domain::{
        jobs::{
            JobKind, JobState, JobSubject, LEASE_MICROS, MAX_REGULAR_WAIT_MICROS, MAX_WAIT_MICROS, Queue,
            REGULAR_KINDS,
        },
        row_ids::JobRowId,
        teams::TeamRowId,
        time::Timestamp,
    },
    error::Result,
    string_enum::StringEnum,
};

/// A job that an operator wants to change.
#[derive(Clone, Copy, Debug, FromRow)]
pub struct StoredJob {
    /// Kind of work.
    pub kind: JobKind,
    /// Row ID of the record that the job works on, in the table that its kind implies.
    pub subject: JobSubject,
    /// State of the job.
    pub state: JobState,
}

/// Returns the job with this ID: one that is queued, or one that was given up or canceled.
pub fn find(reader: &Reader, id: JobRowId) -> Result<Option<StoredJob>> {
    const SQL: &str = "SELECT kind, subject, iif(leased_until IS NULL, 'waiting', 'running') AS state
         FROM jobs WHERE id = ?1
         UNION ALL SELECT kind, subject, state FROM ended_jobs WHERE id = ?1";
    reader.query_first(SQL, [id], StoredJob::from_row)
}

/// Returns the ID of the queued job of this kind and subject.
pub fn find_queued(reader: &Reader, kind: JobKind, subject: JobSubject) -> Result<Option<JobRowId>> {
    const SQL: &str = "SELECT id FROM jobs WHERE kind = ?1 AND subject = ?2";
    reader.query_first(SQL, (kind, subject), |row| row.get(0))
}

/// Makes a waiting job due now, and resets its attempts.
pub fn make_due(writer: &Writer, id: JobRowId, now: Timestamp) -> Result<()> {
    const SQL: &str = "UPDATE jobs SET run_after = min(run_after, ?2), attempts = 0, interrupted_starts = 0
         WHERE id = ?1 AND leased_until IS NULL";
    writer.run(SQL, (id, now))
}

/// Records that a queued job was given up or canceled. The caller deletes it.
pub fn record_end(writer: &Writer, id: JobRowId, state: JobState, at: Timestamp) -> Result<()> {
    const SQL: &str =
        "INSERT OR REPLACE INTO ended_jobs (id, kind, subject, team, state, attempts, enqueued_at, ended_at)
         SELECT id, kind, subject, team, ?2, attempts, enqueued_at, ?3 FROM jobs WHERE id = ?1";
    writer.run(SQL, (id, state, at))
}

/// Forgets a job that was given up or canceled.
pub fn forget_ended(writer: &Writer, id: JobRowId) -> Result<()> {
    writer.run("DELETE FROM ended_jobs WHERE id = ?1", [id])
}

/// Forgets the jobs that were given up or canceled before a time.
pub fn forget_ended_before(writer: &Writer, at: Timestamp) -> Result<()> {
    writer.run("DELETE FROM ended_jobs WHERE ended_at < ?1", [at])
}

/// A claimed job.
#[derive(Clone, Debug, PartialEq, Eq, FromRow)]
#[row(by_position)]
pub struct Job {
    id: i64,
    lease: i64,
    /// Kind of work.
    pub kind: JobKind,
    /// Row ID of the record that the job works on, in the table that its kind implies.
    pub subject: JobSubject,
    /// Team that the job works for; `None` for the platform's own work.
    pub team: Option<TeamRowId>,
    /// Number of attempts so far, including this one. Released attempts do not count.
    pub attempts: u32,
    /// Time from which it could be claimed.
    pub due_at: Timestamp,
    /// Number of earlier starts that were interrupted.
    pub interrupted_starts: u32,
}

impl Job {
    /// Returns the ID of the job.
    pub const fn id(&self) -> JobRowId {
        JobRowId(self.id)
    }

    /// Returns the number of times that the job was claimed, including this one.
    pub const fn lease(&self) -> i64 {
        self.lease
    }
}

/// Adds a job, unless one of the same kind and subject is already queued.
pub fn enqueue(writer: &Writer, kind: JobKind, subject: JobSubject, at: Timestamp) -> Result<()> {
    let team = match kind {
        JobKind::AnalyzeArchive | JobKind::CopyRepository | JobKind::AnalyzeRepository => {
            "SELECT team FROM assets WHERE id = ?2"
        }
        JobKind::RunChecks => {
            "SELECT coalesce((SELECT team FROM listings WHERE id = r.listing),
                 (SELECT team FROM assets WHERE id = r.asset)) FROM quality_runs r WHERE r.id = ?2"
        }
        JobKind::ImportTraces => {
            "SELECT t.team FROM trace_imports i JOIN tasksets t ON t.id = i.taskset WHERE i.id = ?2"
        }
        JobKind::RefreshTaskQuality => "SELECT team FROM task_quality_refreshes WHERE id = ?2",
        JobKind::ChangeAssets => "SELECT team FROM bulk_changes WHERE id = ?2",
        JobKind::Estimate => "SELECT team FROM estimations WHERE id = ?2",
        JobKind::PrepareBundle => {
            "SELECT coalesce((SELECT buyer FROM purchases WHERE id = b.purchase),
                 (SELECT team FROM listings WHERE id = b.listing)) FROM bundles b WHERE b.id = ?2"
        }
        JobKind::ReportRevocation => "SELECT team FROM listings WHERE id = ?2",
        JobKind::SealLog | JobKind::Cleanup => "SELECT 0",
    };
    let sql = format!(
        "INSERT INTO jobs (kind, subject, run_after, enqueued_at, queue, team)
         VALUES (?1, ?2, ?3, ?3, ?4, coalesce(({team}), 0)) ON CONFLICT (kind, subject) DO NOTHING"
    );
    writer.run(&sql, (kind, subject, at, kind.queue().as_str()))
}

/// Whether there is a job of this kind and subject, waiting or running.
pub fn is_queued(reader: &Reader, kind: JobKind, subject: JobSubject) -> Result<bool> {
    const SQL: &str = "SELECT EXISTS (SELECT 1 FROM jobs WHERE kind = ?1 AND subject = ?2)";
    reader.query_one(SQL, (kind, subject), |row| row.get(0))
}

/// Deletes a job. A worker that holds it notices when it tries to write its results.
pub fn cancel(writer: &Writer, kind: JobKind, subject: JobSubject) -> Result<()> {
    writer.run("DELETE FROM jobs WHERE kind = ?1 AND subject = ?2", (kind, subject))
}

/// Selects the next job of a queue (?1) at a time (?2): of the teams with fewer than ?3 leased jobs, the one
/// whose latest claim is the oldest; of its due jobs, the oldest. Looks at one job per team.
const NEXT_JOB: &str = "WITH RECURSIVE teams (team) AS (
         SELECT min(team) FROM jobs WHERE queue = ?1
         UNION ALL
         SELECT (SELECT min(team) FROM jobs WHERE queue = ?1 AND team > teams.team) FROM teams
         WHERE team IS NOT NULL
     ), candidates (team, job) AS (
         SELECT team, (SELECT id FROM jobs WHERE queue = ?1 AND team = teams.team AND run_after <= ?2
             AND (leased_until IS NULL OR leased_until <= ?2) ORDER BY run_after, id LIMIT 1)
         FROM teams WHERE team IS NOT NULL
     )
     SELECT job FROM candidates LEFT JOIN job_claims c ON c.queue = ?1 AND c.team = candidates.team
     WHERE job IS NOT NULL
         AND (SELECT count(*) FROM jobs WHERE queue = ?1 AND team = candidates.team AND leased_until > ?2) < ?3
     ORDER BY coalesce(c.claim, 0), job LIMIT 1";

/// Whether a job of a queue is due and can be claimed. A team can have `max_per_team` jobs leased.
pub fn is_any_due(reader: &Reader, queue: Queue, max_per_team: u32, now: Timestamp) -> Result<bool> {
    let job =
        reader.query_first(NEXT_JOB, (queue.as_str(), now, max_per_team), |row| row.get::<_, i64>(0))?;
    Ok(job.is_some())
}

/// Claims a job of a queue that is due and not leased. Teams take turns, and a team can have `max_per_team`
/// jobs leased.
pub fn claim(writer: &Writer, queue: Queue, max_per_team: u32, now: Timestamp) -> Result<Option<Job>> {
    let sql = format!(
        "UPDATE jobs SET lease = lease + 1, leased_until = ?4, attempts = attempts + 1
         WHERE id = ({NEXT_JOB})
         RETURNING id, lease, kind, subject, nullif(team, 0), attempts, run_after, interrupted_starts"
    );
    let parameters = (queue.as_str(), now.0, max_per_team, now.0 + LEASE_MICROS);
    let claimed = writer.query_first(&sql, parameters, Job::from_row)?;
    if let Some(job) = &claimed {
        const SQL: &str = "INSERT INTO job_claims (queue, team, claim)
             VALUES (?1, ?2, 1 + coalesce((SELECT max(claim) FROM job_claims WHERE queue = ?1), 0))
             ON CONFLICT (queue, team) DO UPDATE SET claim = excluded.claim";
        writer.execute(SQL, (queue.as_str(), job.team.map_or(0, |team| team.0)))?;
    }
    Ok(claimed)
}

/// Returns when a queued job of this kind and subject is due, unless it is leased.
pub fn find_due_at(reader: &Reader, kind: JobKind, subject: JobSubject) -> Result<Option<Timestamp>> {
    const SQL: &str = "SELECT run_after FROM jobs WHERE kind = ?1 AND subject = ?2 AND leased_until IS NULL";
    reader.query_first(SQL, (kind, subject), |row| row.get(0))
}

/// Returns the earliest time at which a job that is not of this kind and subject is due or its lease ends.
pub fn next_due_besides(reader: &Reader, kind: JobKind, subject: JobSubject) -> Result<Option<Timestamp>> {
    const SQL: &str = "SELECT min(min(run_after, coalesce(leased_until, run_after))) FROM jobs
         WHERE kind <> ?1 OR subject <> ?2";
    reader.query_one(SQL, (kind, subject), |row| row.get(0))
}

/// Has the effect of `count` runs of a waiting job, each of which claims, finishes, and enqueues it again. The job is then due
/// at `next`.
pub fn repeat(
    writer: &Writer,
    kind: JobKind,
    subject: JobSubject,
    count: u64,
    next: Timestamp,
) -> Result<()> {
    const CLAIM: &str = "INSERT INTO job_claims (queue, team, claim)
         SELECT j.queue, j.team, ?3 + coalesce((SELECT max(claim) FROM job_claims c WHERE c.queue = j.queue), 0)
         FROM jobs j WHERE j.kind = ?1 AND j.subject = ?2
         ON CONFLICT (queue, team) DO UPDATE SET claim = excluded.claim";
    writer.execute(CLAIM, (kind, subject, count))?;
    cancel(writer, kind, subject)?;
    // The last one takes the last number.
    writer.execute("UPDATE sqlite_sequence SET seq = seq + ?1 - 1 WHERE name = 'jobs'", [count])?;
    enqueue(writer, kind, subject, next)
}

/// Returns when the first job that was given up or canceled ended.
pub fn first_ended_at(reader: &Reader) -> Result<Option<Timestamp>> {
    reader.query_one("SELECT min(ended_at) FROM ended_jobs", [], |row| row.get(0))
}

/// Returns the earliest time after `now` at which a job is due or a lease ends.
pub fn next_due_at(reader: &Reader, now: Timestamp) -> Result<Option<Timestamp>> {
    const SQL: &str = "SELECT min(at) FROM (
             SELECT min(run_after) AS at FROM jobs WHERE run_after > ?1
             UNION ALL
             SELECT min(leased_until) FROM jobs WHERE leased_until > ?1
         )";
    reader.query_one(SQL, [now], |row| row.get(0))
}

/// Whether a job is still leased to the worker that claimed it.
pub fn is_held(reader: &Reader, job: &Job) -> Result<bool> {
    const SQL: &str = "SELECT EXISTS (SELECT 1 FROM jobs WHERE id = ?1 AND lease = ?2)";
    reader.query_one(SQL, (job.id, job.lease), |row| row.get(0))
}

/// Records that a job begins to compute. Until it ends, this start counts as interrupted. Returns whether its
/// lease was still held.
pub fn begin(writer: &Writer, job: &Job) -> Result<bool> {
    const SQL: &str =
        "UPDATE jobs SET interrupted_starts = interrupted_starts + 1 WHERE id = ?1 AND lease = ?2";
    Ok(writer.execute(SQL, (job.id, job.lease))? == 1)
}

/// Extends the lease on a job. Returns whether the lease was still held.
pub fn renew_lease(writer: &Writer, job: &Job, now: Timestamp) -> Result<bool> {
    const SQL: &str = "UPDATE jobs SET leased_until = ?3 WHERE id = ?1 AND lease = ?2";
    Ok(writer.execute(SQL, (job.id, job.lease, now.0 + LEASE_MICROS))? == 1)
}

/// Forgets the earlier attempts of a job that has made progress since.
pub fn reset_attempts(writer: &Writer, job: &Job) -> Result<()> {
    writer.run("UPDATE jobs SET attempts = 1 WHERE id = ?1 AND lease = ?2", (job.id, job.lease))
}

/// Deletes a finished job. Returns whether its lease was still held; if not, the results must be discarded.
pub fn finish(writer: &Writer, job: &Job) -> Result<bool> {
    Ok(writer.execute("DELETE FROM jobs WHERE id = ?1 AND lease = ?2", (job.id, job.lease))? == 1)
}

/// Releases a job that failed, and schedules the next attempt for `until`. This start does not count as
/// interrupted.
pub fn reschedule(writer: &Writer, job: &Job, until: Timestamp) -> Result<()> {
    const SQL: &str = "UPDATE jobs SET leased_until = NULL, run_after = ?3, interrupted_starts = ?4
         WHERE id = ?1 AND lease = ?2";
    writer.run(SQL, (job.id, job.lease, until, job.interrupted_starts))
}

/// Releases a job that did not fail. It is due at once, and this attempt does not count. A start that has
/// begun to compute counts as interrupted.
pub fn release(writer: &Writer, job: &Job, now: Timestamp) -> Result<()> {
    const SQL: &str = "UPDATE jobs SET leased_until = NULL, run_after = ?3, attempts = attempts - 1
         WHERE id = ?1 AND lease = ?2";
    writer.run(SQL, (job.id, job.lease, now))
}

/// Returns the time at which a job was enqueued.
pub fn enqueued_at(reader: &Reader, job: &Job) -> Result<Timestamp> {
    reader.query_one("SELECT enqueued_at FROM jobs WHERE id = ?1", [job.id], |row| row.get("enqueued_at"))
}

/// Releases a job that failed for an external reason. The attempt and the start do not count.
pub fn postpone(writer: &Writer, job: &Job, until: Timestamp) -> Result<()> {
    const SQL: &str = "UPDATE jobs SET leased_until = NULL, run_after = ?3, attempts = attempts - 1,
             interrupted_starts = ?4
         WHERE id = ?1 AND lease = ?2";
    writer.run(SQL, (job.id, job.lease, until, job.interrupted_starts))
}

/// Selects waiting jobs with an impossible due time: later than ?2 for the two kinds of regular jobs, and later than ?1 for
/// other jobs.
const TOO_LATE: &str = "leased_until IS NULL AND run_after > ?1 AND (kind NOT IN (?3, ?4) OR run_after > ?2)";

fn latest_times(now: Timestamp) -> (i64, i64, &'static str, &'static str) {
    let regular = now.plus_micros(MAX_REGULAR_WAIT_MICROS);
    let [first, second] = REGULAR_KINDS.map(JobKind::as_str);
    (now.plus_micros(MAX_WAIT_MICROS).0, regular.0, first, second)
}

/// Whether a waiting job has an impossible due time; see [`MAX_WAIT_MICROS`].
pub fn is_any_too_late(reader: &Reader, now: Timestamp) -> Result<bool> {
    let sql = format!("SELECT EXISTS (SELECT 1 FROM jobs WHERE {TOO_LATE})");
    reader.query_one(&sql, latest_times(now), |row| row.get(0))
}

/// Makes waiting jobs with an impossible due time due now.
pub fn bring_forward(writer: &Writer, now: Timestamp) -> Result<()> {
    let sql = format!("UPDATE jobs SET run_after = ?5 WHERE {TOO_LATE}");
    let (latest, regular, first, second) = latest_times(now);
    writer.run(&sql, (latest, regular, first, second, now))
}

/// Whether any job is leased.
pub fn is_any_leased(reader: &Reader) -> Result<bool> {
    const SQL: &str = "SELECT EXISTS (SELECT 1 FROM jobs WHERE leased_until IS NOT NULL)";
    reader.query_one(SQL, [], |row| row.get(0))
}

/// Ends all leases, which belong to a process that no longer runs. Only the process that serves the directory
/// may call this.
pub fn release_all(writer: &Writer) -> Result<()> {
    writer.run("UPDATE jobs SET leased_until = NULL WHERE leased_until IS NOT NULL", ())
}

#[cfg(test)]
mod tests;
