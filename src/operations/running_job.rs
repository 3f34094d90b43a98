//! A job that is being executed: its lease, its turns, and how it ends. The kinds of jobs use it; `jobs`
//! executes them.

use std::{
    cell::{Cell, RefCell},
    io,
    time::{Duration, Instant},
};

use serde::de::DeserializeOwned;

use super::{
    child_processes::{self, ChildProcesses, TimeLimit},
    compute_turns::Participant,
};
use crate::{
    artifacts::{
        ReadError, Rejection,
        child::{Input, ReplyBytes, Task, Validate},
    },
    domain::{
        jobs::{self, JobKind, JobState},
        listings::ListingRowId,
        row_ids::{
            AssetRowId, BulkChangeRowId, BundleRowId, EstimationRowId, QualityRunRowId,
            TaskQualityRefreshRowId, TraceImportRowId,
        },
        teams::TeamRowId,
        time::Timestamp,
    },
    error::{Error, Result},
    market::{DerivedIds, Market, Writer},
    store::{self, jobs::Job},
    string_enum::StringEnum,
};

/// Interval between two checks whether the job was canceled.
const CANCEL_CHECK_INTERVAL: Duration = Duration::from_millis(100);

/// A job that this thread is executing.
pub struct RunningJob<'a> {
    market: &'a Market,
    job: Job,
    children: &'a ChildProcesses,
    keep_running: &'a dyn Fn() -> bool,
    turn: RefCell<Participant<'a>>,
    lease_renewed_at: Cell<Timestamp>,
    cancel_checked_at: Cell<Instant>,
    /// Whether the job ends because it failed too often.
    is_given_up: Cell<bool>,
    /// The IDs of what the job creates.
    ids: DerivedIds,
}

/// Declares functions that return the row ID of what a job works on, each for jobs of some kinds only.
macro_rules! subjects {
    ($($(#[$doc:meta])+ $name:ident: $row_id:ident of $kinds:expr,)+) => {
        $(
            $(#[$doc])+
            pub fn $name(&self) -> $row_id {
                debug_assert!($kinds.contains(&self.job.kind));
                $row_id(self.job.subject.0)
            }
        )+
    };
}

/// Why a job ended without a result.
#[derive(Debug)]
pub enum JobError {
    /// The server is stopping, the job was canceled, or another worker has claimed it.
    Stopped,
    /// The process that executed the job ended without a result, for the given reason.
    Interrupted(String),
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
    pub fn new(
        market: &'a Market,
        job: Job,
        children: &'a ChildProcesses,
        keep_running: &'a dyn Fn() -> bool,
    ) -> RunningJob<'a> {
        RunningJob {
            turn: RefCell::new(children.turns().join(job.team.unwrap_or(TeamRowId(0)))),
            lease_renewed_at: Cell::new(market.clock().now()),
            cancel_checked_at: Cell::new(Instant::now()),
            is_given_up: Cell::new(false),
            ids: DerivedIds::on_clock(market.clock(), || {
                let (kind, subject, due_at) = (job.kind.as_str(), job.subject.0, job.due_at.0);
                format!("job/{kind}/{subject}/{due_at}/{}", job.lease())
            }),
            market,
            job,
            children,
            keep_running,
        }
    }

    /// Returns the claimed job.
    pub const fn job(&self) -> &Job {
        &self.job
    }

    /// Returns the market that the job belongs to.
    pub const fn market(&self) -> &Market {
        self.market
    }

    /// Returns the child processes that the job can use.
    pub const fn children(&self) -> &ChildProcesses {
        self.children
    }

    subjects! {
        /// Returns the row ID of the asset that the job works on.
        asset_row_id: AssetRowId of jobs::DATA_JOB_KINDS,
        /// Returns the row ID of the quality run that the job executes.
        run_row_id: QualityRunRowId of [JobKind::RunChecks],
        /// Returns the row ID of the refresh that the job executes.
        refresh_row_id: TaskQualityRefreshRowId of [JobKind::RefreshTaskQuality],
        /// Returns the row ID of the estimation that the job executes.
        estimation_row_id: EstimationRowId of [JobKind::Estimate],
        /// Returns the row ID of the bundle that the job prepares.
        bundle_row_id: BundleRowId of [JobKind::PrepareBundle],
        /// Returns the row ID of the listing whose buyers the job notifies.
        listing_row_id: ListingRowId of [JobKind::ReportRevocation],
        /// Returns the row ID of the change of assets that the job executes.
        bulk_change_row_id: BulkChangeRowId of [JobKind::ChangeAssets],
        /// Returns the row ID of the import that the job executes.
        trace_import_row_id: TraceImportRowId of [JobKind::ImportTraces],
    }

    /// Waits for the turn of the job's team, unless it has the turn and may keep it. For work that this thread
    /// does itself, in short steps: call it before each.
    pub fn wait_for_turn(&self) -> JobResult {
        let mut turn = self.turn.borrow_mut();
        if turn.is_over() {
            turn.pause();
        }
        let waited = child_processes::wait_for_turn(&mut turn, &|| self.renew_and_continue());
        let is_continued = waited.is_ok() && self.renew_and_continue();
        if is_continued { Ok(()) } else { Err(JobError::Stopped) }
    }

    /// Waits for the turn of the job's team, and then begins to compute.
    pub fn wait_and_begin(&self) -> JobResult {
        let waited =
            child_processes::wait_for_turn(&mut self.turn.borrow_mut(), &|| self.renew_and_continue());
        waited.map_err(|_| JobError::Stopped)?;
        self.begin()
    }

    /// Records that the job begins to compute. From now on, an interruption counts as an attempt.
    pub fn begin(&self) -> JobResult {
        let is_held = self.market.write_blocking(|writer| store::jobs::begin(writer.rows, &self.job))?;
        if is_held { Ok(()) } else { Err(JobError::Stopped) }
    }

    /// Whether to continue: the server is not stopping, the job was not canceled, and no other worker has
    /// claimed it. Also renews the lease, so long-running work must call this from time to time.
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
        } else if self.cancel_checked_at.get().elapsed() >= CANCEL_CHECK_INTERVAL {
            self.cancel_checked_at.set(Instant::now());
            let is_held = self.market.read_blocking(|reader| store::jobs::is_held(reader.rows, &self.job));
            if !is_held.unwrap_or(true) {
                return false;
            }
        }
        (self.keep_running)()
    }

    /// Runs a task in a child process, and returns its result and its reply.
    pub fn run_child<T: DeserializeOwned + Validate>(
        &self,
        task: &Task,
        input: Input,
        limit: TimeLimit,
    ) -> std::result::Result<(T, ReplyBytes), ReadError> {
        let is_disk_full = Cell::new(false);
        let should_continue = || {
            // A child may write files until the disk is full.
            is_disk_full.set(self.market.ensure_space(0).is_err());
            !is_disk_full.get() && self.renew_and_continue()
        };
        let mut turn = self.turn.borrow_mut();
        let reply = match self.children.run(&mut turn, task, input, limit, &should_continue) {
            Err(ReadError::Canceled) if is_disk_full.get() => {
                return Err(ReadError::Io(io::ErrorKind::StorageFull.into()));
            }
            other => other?,
        };
        drop(turn);
        let result = self.parse_reply(&reply)?;
        Ok((result, reply))
    }

    /// Returns the result in the reply of a child process.
    pub fn parse_reply<T: DeserializeOwned + Validate>(
        &self,
        reply: &ReplyBytes,
    ) -> std::result::Result<T, ReadError> {
        self.children.parse_reply(reply, |cause| {
            tracing::info!(cause, subject = self.job.subject.0, "data was rejected");
        })
    }

    /// Runs work that waits for others with a time limit. If it is exceeded, the error message for the vendor
    /// names the subject of the limit.
    pub fn with_time_limit<T>(
        &self,
        limit: TimeLimit,
        work: impl FnOnce(&dyn Fn() -> bool) -> std::result::Result<T, ReadError>,
    ) -> std::result::Result<T, ReadError> {
        let stopwatch = self.market.work_stopwatch();
        child_processes::with_time_limit(&stopwatch, limit, &|| self.renew_and_continue(), work)
    }

    /// Writes progress, if this worker still holds the job.
    pub fn write_progress(&self, work: impl FnOnce(&mut Writer) -> Result<()>) -> JobResult {
        self.write_if_held(|writer| store::jobs::renew_lease(writer.rows, &self.job, writer.now), work)
    }

    /// Finishes the job and writes its result in one transaction. Writes nothing if another worker has
    /// claimed the job.
    pub fn finish(&self, work: impl FnOnce(&mut Writer) -> Result<()>) -> JobResult {
        let finish = |writer: &mut Writer| {
            if self.is_given_up.get() && store::jobs::is_held(writer.rows, &self.job)? {
                store::jobs::record_end(writer.rows, self.job.id(), JobState::Failed, writer.now)?;
            }
            store::jobs::finish(writer.rows, &self.job)
        };
        self.write_if_held(finish, work)
    }

    /// Marks the job to be kept as failed when it finishes, so that operators see it.
    pub fn give_up(&self) {
        self.is_given_up.set(true);
    }

    /// Whether the job ends because it failed too often.
    pub const fn is_given_up(&self) -> bool {
        self.is_given_up.get()
    }

    /// Writes progress, and finishes the job if `work` returns true, in one transaction. Writes nothing if
    /// another worker has claimed the job. Returns what `work` returned.
    pub fn advance(
        &self,
        work: impl FnOnce(&mut Writer) -> Result<bool>,
    ) -> std::result::Result<bool, JobError> {
        let mut is_finished = false;
        self.write_progress(|writer| {
            is_finished = work(writer)?;
            if is_finished {
                store::jobs::finish(writer.rows, &self.job)?;
            }
            Ok(())
        })?;
        Ok(is_finished)
    }

    fn write_if_held(
        &self,
        still_held: impl FnOnce(&mut Writer) -> Result<bool>,
        work: impl FnOnce(&mut Writer) -> Result<()>,
    ) -> JobResult {
        let is_written = self.market.write_blocking(|writer| {
            let still_held = still_held(writer)?;
            if still_held {
                work(&mut writer.with_derived_ids(&self.ids))?;
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
        ReadError::ProcessEnded(cause) => Err(JobError::Interrupted(cause)),
        ReadError::Io(cause) => Err(JobError::Failed(Error::internal(cause))),
    }
}

impl From<Error> for ReadError {
    fn from(error: Error) -> ReadError {
        ReadError::Io(io::Error::other(error))
    }
}
