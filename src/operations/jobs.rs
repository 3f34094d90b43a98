//! Execution of background jobs: claiming a job, renewing its lease, and retrying it after a failure.

use std::{
    cell::Cell,
    panic::{AssertUnwindSafe, catch_unwind},
    time::Duration,
};

use super::{archive_analysis, cleanup, quality_checks, repository_analysis};
use crate::{
    artifacts::{ReadError, Rejection},
    domain::{
        jobs::{self, JobKind, MAX_ATTEMPTS, Queue},
        row_ids::{AssetRowId, QualityRunRowId},
        time::Timestamp,
    },
    error::{Error, Result},
    market::{Market, Writer},
    store::{self, jobs::Job},
};

/// A job that this thread is executing.
pub struct RunningJob<'a> {
    market: &'a Market,
    job: Job,
    keep_running: &'a dyn Fn() -> bool,
    lease_renewed_at: Cell<Timestamp>,
}

/// Why a job ended without a result.
#[derive(Debug)]
pub enum JobError {
    /// The server is stopping, or another worker has claimed the job.
    Stopped,
    /// The job failed and may be retried.
    Failed(Error),
}

/// Result of executing a job.
pub type JobResult = std::result::Result<(), JobError>;

impl From<Error> for JobError {
    fn from(error: Error) -> JobError {
        JobError::Failed(error)
    }
}

impl RunningJob<'_> {
    /// Returns the market that the job belongs to.
    pub const fn market(&self) -> &Market {
        self.market
    }

    /// Returns the row ID of the asset that the job works on. Only for kinds of jobs that work on an asset.
    pub fn asset_row_id(&self) -> AssetRowId {
        debug_assert!(jobs::DATA_JOB_KINDS.contains(&self.job.kind));
        AssetRowId(self.job.subject.0)
    }

    /// Returns the row ID of the quality run that the job executes. Only for [`JobKind::RunChecks`].
    pub fn run_row_id(&self) -> QualityRunRowId {
        debug_assert_eq!(self.job.kind, JobKind::RunChecks);
        QualityRunRowId(self.job.subject.0)
    }

    /// Whether to continue: the server is not stopping, and no other worker has claimed the job. Also renews
    /// the lease, so long-running work must call this from time to time.
    pub fn renew_and_continue(&self) -> bool {
        let now = self.market.clock().now();
        if now.0 - self.lease_renewed_at.get().0 >= jobs::LEASE_MICROS / 3 {
            self.lease_renewed_at.set(now);
            let is_renewed = self
                .market
                .write_blocking(|writer| store::jobs::renew_lease(writer.rows, &self.job, writer.now));
            if !is_renewed.unwrap_or(false) {
                return false;
            }
        }
        (self.keep_running)()
    }

    /// Runs work with a time limit in seconds. If it is exceeded, the error message for the vendor names
    /// `what`.
    pub fn with_time_limit<T>(
        &self,
        seconds: u32,
        what: &str,
        work: impl FnOnce(&dyn Fn() -> bool) -> std::result::Result<T, ReadError>,
    ) -> std::result::Result<T, ReadError> {
        let watch = self.market.stopwatch();
        let deadline = watch.elapsed() + Duration::from_secs(seconds.into());
        let is_timed_out = || watch.elapsed() > deadline;
        work(&|| !is_timed_out() && self.renew_and_continue()).map_err(|error| match error {
            ReadError::Canceled if is_timed_out() => {
                Rejection(format!("{what} takes more than {seconds} seconds to read. Make it smaller."))
                    .into()
            }
            other => other,
        })
    }

    /// Writes progress, if this worker still holds the job.
    pub fn write_progress(&self, work: impl FnOnce(&mut Writer) -> Result<()>) -> JobResult {
        self.write_if_held(|writer| store::jobs::renew_lease(writer.rows, &self.job, writer.now), work)
    }

    /// Finishes the job and writes its result in one transaction. Writes nothing if another worker has
    /// claimed the job.
    pub fn finish(&self, work: impl FnOnce(&mut Writer) -> Result<()>) -> JobResult {
        self.write_if_held(|writer| store::jobs::finish(writer.rows, &self.job), work)
    }

    fn write_if_held(
        &self,
        still_held: impl FnOnce(&mut Writer) -> Result<bool>,
        work: impl FnOnce(&mut Writer) -> Result<()>,
    ) -> JobResult {
        let is_written = self.market.write_blocking(|writer| {
            let still_held = still_held(writer)?;
            if still_held {
                work(writer)?;
            }
            Ok(still_held)
        })?;
        if is_written { Ok(()) } else { Err(JobError::Stopped) }
    }
}

/// Executes the job of a queue that has waited longest. Returns whether there was one. The job stops when
/// `go_on` returns false.
pub fn run_next(market: &Market, queue: Queue, keep_running: &dyn Fn() -> bool) -> Result<bool> {
    if !market.read_blocking(|reader| store::jobs::is_any_due(reader.rows, queue, reader.now))? {
        return Ok(false);
    }
    let Some(job) = market.write_blocking(|writer| store::jobs::claim(writer.rows, queue, writer.now))?
    else {
        return Ok(false);
    };
    let held_at = Cell::new(market.clock().now());
    let running = RunningJob { market, job, keep_running, lease_renewed_at: held_at };
    match execute(&running) {
        Ok(()) => {}
        Err(JobError::Stopped) => {
            market.write_blocking(|writer| store::jobs::release(writer.rows, &running.job, writer.now))?;
        }
        Err(JobError::Failed(cause)) => retry_or_give_up(&running, &cause)?,
    }
    Ok(true)
}

/// Executes a job. A job that has crashed the server as often as a job may fail is not started again.
fn execute(running: &RunningJob) -> JobResult {
    if running.job.attempts > MAX_ATTEMPTS {
        return give_up(running);
    }
    let work = AssertUnwindSafe(|| match running.job.kind {
        JobKind::AnalyzeArchive => archive_analysis::analyze(running),
        JobKind::CopyRepository => repository_analysis::copy(running),
        JobKind::AnalyzeRepository => repository_analysis::analyze(running),
        JobKind::RunChecks => quality_checks::run(running),
        JobKind::Cleanup => cleanup::run(running),
    });
    // Shared state is behind locks that ignore poisoning, and an interrupted transaction is rolled back.
    catch_unwind(work).unwrap_or_else(|_| Err(JobError::Failed(Error::internal("the job panicked"))))
}

fn give_up(running: &RunningJob) -> JobResult {
    match running.job.kind {
        JobKind::AnalyzeArchive => archive_analysis::give_up(running),
        JobKind::CopyRepository => repository_analysis::give_up_copying(running),
        JobKind::AnalyzeRepository => repository_analysis::give_up_analyzing(running),
        JobKind::RunChecks => quality_checks::give_up(running),
        JobKind::Cleanup => running.finish(|_| Ok(())),
    }
}

/// Schedules a retry of a job that failed, or gives up after the last attempt.
fn retry_or_give_up(running: &RunningJob, cause: &Error) -> Result<()> {
    let Job { kind, subject, attempts, .. } = running.job;
    tracing::error!(?kind, subject = subject.0, attempts, %cause, "job failed");
    match jobs::retry_delay(attempts) {
        Some(wait) => running.market.write_blocking(|writer| {
            store::jobs::reschedule(writer.rows, &running.job, writer.now.plus_micros(wait))
        }),
        None => match give_up(running) {
            Ok(()) | Err(JobError::Stopped) => Ok(()),
            Err(JobError::Failed(cause)) => Err(cause),
        },
    }
}

/// Returns the message for the vendor if the data was rejected. Otherwise returns how the job ended.
pub fn rejection(error: ReadError) -> std::result::Result<Rejection, JobError> {
    match error {
        ReadError::Rejected(refusal) => Ok(refusal),
        ReadError::Canceled => Err(JobError::Stopped),
        ReadError::Io(cause) => Err(JobError::Failed(Error::internal(cause))),
    }
}
