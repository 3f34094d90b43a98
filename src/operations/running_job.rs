//! A job that is being executed: its lease, its time limits, and how it ends. The kinds of jobs use it;
//! `jobs` executes them.

use std::{cell::Cell, time::Duration};

use crate::{
    artifacts::{ReadError, Rejection},
    domain::{
        jobs::{self, JobKind},
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

impl<'a> RunningJob<'a> {
    /// Creates a running job from a job that this thread has claimed. It stops when `keep_running` returns
    /// false.
    pub fn new(market: &'a Market, job: Job, keep_running: &'a dyn Fn() -> bool) -> RunningJob<'a> {
        let lease_renewed_at = Cell::new(market.clock().now());
        RunningJob { market, job, keep_running, lease_renewed_at }
    }

    /// Returns the claimed job.
    pub const fn job(&self) -> &Job {
        &self.job
    }

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
        let stopwatch = self.market.stopwatch();
        let deadline = stopwatch.elapsed() + Duration::from_secs(seconds.into());
        let is_timed_out = || stopwatch.elapsed() > deadline;
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

/// Returns the message for the vendor if the data was rejected. Otherwise returns how the job ended.
pub fn rejection(error: ReadError) -> std::result::Result<Rejection, JobError> {
    match error {
        ReadError::Rejected(rejection) => Ok(rejection),
        ReadError::Canceled => Err(JobError::Stopped),
        ReadError::Io(cause) => Err(JobError::Failed(Error::internal(cause))),
    }
}
