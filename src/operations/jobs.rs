//! Execution of background jobs: claiming a job, renewing its lease, and retrying it after a failure.

use std::{
    cell::Cell,
    panic::{AssertUnwindSafe, catch_unwind},
    time::Duration,
};

use super::{archives, checking, repositories, sweeping};
use crate::{
    artifacts::{Refusal, Unread},
    domain::{
        jobs::{self, JobKind, Lane, MAX_ATTEMPTS},
        time::Timestamp,
    },
    error::{Error, Result},
    market::{Market, Writer},
    store::{self, jobs::Job},
};

/// A job that this thread is executing.
pub struct Task<'a> {
    market: &'a Market,
    job: Job,
    go_on: &'a dyn Fn() -> bool,
    held_at: Cell<Timestamp>,
}

/// Why a job ended without a result.
#[derive(Debug)]
pub enum Unfinished {
    /// The server is stopping, or another worker has claimed the job.
    Stopped,
    /// The job failed and may be retried.
    Broken(Error),
}

/// Result of executing a job.
pub type Done = std::result::Result<(), Unfinished>;

impl From<Error> for Unfinished {
    fn from(error: Error) -> Unfinished {
        Unfinished::Broken(error)
    }
}

impl Task<'_> {
    /// Returns the market that the job belongs to.
    pub const fn market(&self) -> &Market {
        self.market
    }

    /// Returns the row ID of the job's subject: an asset, a quality run, or an upload grant, depending on the
    /// kind.
    pub const fn subject(&self) -> i64 {
        self.job.subject
    }

    /// Whether to continue: the server is not stopping, and no other worker has claimed the job. Also renews
    /// the lease, so long-running work must call this from time to time.
    pub fn goes_on(&self) -> bool {
        let now = self.market.clock().now();
        if now.0 - self.held_at.get().0 >= jobs::LEASE / 3 {
            self.held_at.set(now);
            let held =
                self.market.write_blocking(|writer| store::jobs::hold(writer.rows, &self.job, writer.now));
            if !held.unwrap_or(false) {
                return false;
            }
        }
        (self.go_on)()
    }

    /// Runs work with a time limit in seconds. If it is exceeded, the error message for the vendor names
    /// `what`.
    pub fn within<T>(
        &self,
        seconds: u32,
        what: &str,
        work: impl FnOnce(&dyn Fn() -> bool) -> std::result::Result<T, Unread>,
    ) -> std::result::Result<T, Unread> {
        let watch = self.market.stopwatch();
        let end = watch.elapsed() + Duration::from_secs(seconds.into());
        let is_late = || watch.elapsed() > end;
        work(&|| !is_late() && self.goes_on()).map_err(|unread| match unread {
            Unread::Stopped if is_late() => {
                Refusal(format!("{what} takes more than {seconds} seconds to read. Make it smaller.")).into()
            }
            other => other,
        })
    }

    /// Writes progress, if this worker still holds the job.
    pub fn report(&self, work: impl FnOnce(&mut Writer) -> Result<()>) -> Done {
        self.write(|writer| store::jobs::hold(writer.rows, &self.job, writer.now), work)
    }

    /// Finishes the job and writes its result in one transaction. Writes nothing if another worker has
    /// claimed the job.
    pub fn finish(&self, work: impl FnOnce(&mut Writer) -> Result<()>) -> Done {
        self.write(|writer| store::jobs::finish(writer.rows, &self.job), work)
    }

    fn write(
        &self,
        is_ours: impl FnOnce(&mut Writer) -> Result<bool>,
        work: impl FnOnce(&mut Writer) -> Result<()>,
    ) -> Done {
        let is_done = self.market.write_blocking(|writer| {
            let is_ours = is_ours(writer)?;
            if is_ours {
                work(writer)?;
            }
            Ok(is_ours)
        })?;
        if is_done { Ok(()) } else { Err(Unfinished::Stopped) }
    }
}

/// Executes the job of a queue that has waited longest. Returns whether there was one. The job stops when
/// `go_on` returns false.
pub fn run_next(market: &Market, lane: Lane, go_on: &dyn Fn() -> bool) -> Result<bool> {
    if !market.read_blocking(|reader| store::jobs::is_any_due(reader.rows, lane, reader.now))? {
        return Ok(false);
    }
    let Some(job) = market.write_blocking(|writer| store::jobs::claim(writer.rows, lane, writer.now))? else {
        return Ok(false);
    };
    let held_at = Cell::new(market.clock().now());
    let task = Task { market, job, go_on, held_at };
    match run(&task) {
        Ok(()) => {}
        Err(Unfinished::Stopped) => {
            market.write_blocking(|writer| store::jobs::let_go(writer.rows, &task.job, writer.now))?;
        }
        Err(Unfinished::Broken(cause)) => broke(&task, &cause)?,
    }
    Ok(true)
}

/// Executes a job. A job that has crashed the server as often as a job may fail is not started again.
fn run(task: &Task) -> Done {
    if task.job.attempts > MAX_ATTEMPTS {
        return give_up(task);
    }
    let work = AssertUnwindSafe(|| match task.job.kind {
        JobKind::ReadArchive => archives::read(task),
        JobKind::CopyRepository => repositories::copy(task),
        JobKind::ReadRepository => repositories::read(task),
        JobKind::RunChecks => checking::run(task),
        JobKind::Sweep => sweeping::sweep(task),
    });
    // Shared state is behind locks that ignore poisoning, and an interrupted transaction is rolled back.
    catch_unwind(work).unwrap_or_else(|_| Err(Unfinished::Broken(Error::internal("the job panicked"))))
}

fn give_up(task: &Task) -> Done {
    match task.job.kind {
        JobKind::ReadArchive => archives::give_up(task),
        JobKind::CopyRepository => repositories::give_up_copying(task),
        JobKind::ReadRepository => repositories::give_up_reading(task),
        JobKind::RunChecks => checking::give_up(task),
        JobKind::Sweep => task.finish(|_| Ok(())),
    }
}

/// Schedules a retry of a job that failed, or gives up after the last attempt.
fn broke(task: &Task, cause: &Error) -> Result<()> {
    let Job { kind, subject, attempts, .. } = task.job;
    tracing::error!(?kind, subject, attempts, %cause, "job failed");
    match jobs::wait_after(attempts) {
        Some(wait) => task.market.write_blocking(|writer| {
            store::jobs::put_back(writer.rows, &task.job, writer.now.plus_micros(wait))
        }),
        None => match give_up(task) {
            Ok(()) | Err(Unfinished::Stopped) => Ok(()),
            Err(Unfinished::Broken(cause)) => Err(cause),
        },
    }
}

/// Returns the message for the vendor if the data was rejected. Otherwise returns how the job ended.
pub fn refusal(unread: Unread) -> std::result::Result<Refusal, Unfinished> {
    match unread {
        Unread::Refused(refusal) => Ok(refusal),
        Unread::Stopped => Err(Unfinished::Stopped),
        Unread::Broken(cause) => Err(Unfinished::Broken(Error::internal(cause))),
    }
}
