//! Execution of background jobs: claiming a job, running the code of its kind, and retrying it after a
//! failure.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::{
    archive_analysis, cleanup, quality_checks, repository_analysis,
    running_job::{JobError, JobResult, RunningJob},
};
use crate::{
    domain::jobs::{self, JobKind, MAX_ATTEMPTS, Queue},
    error::{Error, ErrorChain, Result},
    market::Market,
    store::{self, jobs::Job},
};

/// Executes the job of a queue that has waited longest. Returns whether there was one. The job stops when
/// `keep_running` returns false.
pub fn run_next(market: &Market, queue: Queue, keep_running: &dyn Fn() -> bool) -> Result<bool> {
    if !market.read_blocking(|reader| store::jobs::is_any_due(reader.rows, queue, reader.now))? {
        return Ok(false);
    }
    let Some(job) = market.write_blocking(|writer| store::jobs::claim(writer.rows, queue, writer.now))?
    else {
        return Ok(false);
    };
    let running = RunningJob::new(market, job, keep_running);
    match execute(&running) {
        Ok(()) => {}
        Err(JobError::Stopped) => {
            market.write_blocking(|writer| store::jobs::release(writer.rows, running.job(), writer.now))?;
        }
        Err(JobError::Failed(cause)) => retry_or_give_up(&running, &cause)?,
    }
    Ok(true)
}

/// Executes a job. A job that has crashed the server as often as a job may fail is not started again.
fn execute(running: &RunningJob) -> JobResult {
    if running.job().attempts > MAX_ATTEMPTS {
        return give_up(running);
    }
    let work = AssertUnwindSafe(|| match running.job().kind {
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
    match running.job().kind {
        JobKind::AnalyzeArchive => archive_analysis::give_up(running),
        JobKind::CopyRepository => repository_analysis::give_up_copying(running),
        JobKind::AnalyzeRepository => repository_analysis::give_up_analyzing(running),
        JobKind::RunChecks => quality_checks::give_up(running),
        JobKind::Cleanup => running.finish(|_| Ok(())),
    }
}

/// Schedules a retry of a job that failed, or gives up after the last attempt.
fn retry_or_give_up(running: &RunningJob, cause: &Error) -> Result<()> {
    let Job { kind, subject, attempts, .. } = *running.job();
    tracing::error!(?kind, subject = subject.0, attempts, cause = %ErrorChain(cause), "job failed");
    match jobs::retry_delay(attempts) {
        Some(wait) => running.market().write_blocking(|writer| {
            store::jobs::reschedule(writer.rows, running.job(), writer.now.plus_micros(wait))
        }),
        None => match give_up(running) {
            Ok(()) | Err(JobError::Stopped) => Ok(()),
            Err(JobError::Failed(cause)) => Err(cause),
        },
    }
}
