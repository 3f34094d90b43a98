//! Carrying out jobs: taking one, telling that it is still at work, and what happens when it breaks.

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

/// A job that is being carried out.
pub struct Task<'a> {
    market: &'a Market,
    job: Job,
    go_on: &'a dyn Fn() -> bool,
    held_at: Cell<Timestamp>,
}

/// How a job ended that did not find anything.
#[derive(Debug)]
pub enum Unfinished {
    /// It was told to stop, or belongs to somebody else by now.
    Stopped,
    /// It broke, and may be tried again.
    Broken(Error),
}

/// How carrying out a job ended.
pub type Done = std::result::Result<(), Unfinished>;

impl From<Error> for Unfinished {
    fn from(error: Error) -> Unfinished {
        Unfinished::Broken(error)
    }
}

impl Task<'_> {
    /// The market.
    pub const fn market(&self) -> &Market {
        self.market
    }

    /// The row number of what it is about.
    pub const fn subject(&self) -> i64 {
        self.job.subject
    }

    /// Whether to go on: the server does, and nobody took the job away. Asked now and then, it also keeps the job.
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

    /// Works for so many seconds at most. `what` is what takes so long, for the vendor.
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
                Refusal(format!("{what} takes longer than {seconds} seconds to read. Make it smaller."))
                    .into()
            }
            other => other,
        })
    }

    /// Writes how far the job is, if it still is this one's.
    pub fn report(&self, work: impl FnOnce(&mut Writer) -> Result<()>) -> Done {
        self.write(|writer| store::jobs::hold(writer.rows, &self.job, writer.now), work)
    }

    /// Ends the job and writes what it found, both or neither; and nothing, if the job is somebody else's by now.
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

/// Carries out the job of a lane that has waited longest. Answers whether there was one. `go_on` says whether to go on with
/// it.
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

/// Carries out a job. One that took its server down with it as often as a job may break is not begun again.
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
    // What is shared is behind locks that forgive poison, and a transaction that was cut short is rolled back.
    catch_unwind(work).unwrap_or_else(|_| Err(Unfinished::Broken(Error::internal("it panicked"))))
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

/// Tries a job that broke again later, or gives it up.
fn broke(task: &Task, cause: &Error) -> Result<()> {
    let Job { kind, subject, attempts, .. } = task.job;
    tracing::error!(?kind, subject, attempts, %cause, "a job broke");
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

/// What the vendor is to be told where something cannot be read at all; or how the job ends otherwise.
pub fn refusal(unread: Unread) -> std::result::Result<Refusal, Unfinished> {
    match unread {
        Unread::Refused(refusal) => Ok(refusal),
        Unread::Stopped => Err(Unfinished::Stopped),
        Unread::Broken(cause) => Err(Unfinished::Broken(Error::internal(cause))),
    }
}
