//! Execution of background jobs: claiming a job, running the code of its kind, and retrying it after a
//! failure.

use std::panic::{AssertUnwindSafe, catch_unwind};

use uuid::Uuid;

use super::{
    archive_analysis, attestation_log, attestations, bulk_changes, bundle_preparation,
    child_processes::ChildProcesses,
    cleanup, quality_checks, repository_analysis, repository_estimation,
    running_job::{JobError, JobResult, RunningJob},
    task_quality_refreshes, trace_imports,
};
use crate::{
    config::JobSettings,
    domain::{
        jobs::{self, JobKind, MAX_ATTEMPTS, MAX_INTERRUPTED_STARTS, MAX_UPDATES, Queue},
        teams::TeamRowId,
    },
    error::{Error, ErrorChain, Result},
    market::{JobOutcome, Market, Reader, milliseconds},
    store::{self, jobs::Job},
    string_enum::StringEnum,
};

/// Returns the maximum number of jobs of a queue that run at the same time.
pub const fn max_running(queue: Queue, settings: &JobSettings) -> u32 {
    match queue {
        Queue::Updates => MAX_UPDATES,
        Queue::Copies => settings.copies,
        Queue::Analyses => settings.started,
    }
}

/// Claims a job of a queue of which `running` jobs are running already: of the team whose turn it is, the one
/// that has waited longest.
pub fn claim(market: &Market, queue: Queue, running: u32) -> Result<Option<Job>> {
    let settings = &market.settings().jobs;
    let max_per_team = match queue {
        // A copy mostly waits, so a team can have several, as long as half of the places are free for others.
        Queue::Copies if running < settings.copies / 2 => (settings.copies / 4).max(1),
        // Of updates, a team has one refresh at a time, and the platform one cleanup.
        Queue::Copies | Queue::Updates => 1,
        // More would only wait for each other.
        Queue::Analyses => settings.readings,
    };
    let is_any_due = |reader: &Reader| store::jobs::is_any_due(reader.rows, queue, max_per_team, reader.now);
    if !market.read_blocking(is_any_due)? {
        return Ok(None);
    }
    market.write_blocking(|writer| store::jobs::claim(writer.rows, queue, max_per_team, writer.now))
}

/// How an attempt of a job ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttemptEnd {
    /// The job is done, whatever it found.
    Completed,
    /// There will be another attempt.
    Retried,
    /// The job failed too often.
    GivenUp,
}

/// Executes a claimed job. The job stops when `keep_running` returns false.
pub fn run(
    market: &Market,
    job: Job,
    children: &ChildProcesses,
    keep_running: &dyn Fn() -> bool,
) -> Result<AttemptEnd> {
    run_as(market, job, children, keep_running, execute)
}

/// Fails an attempt of a claimed job without executing it, as after an unexpected error.
pub fn fail(market: &Market, job: Job, children: &ChildProcesses) -> Result<AttemptEnd> {
    let fail = |_: &RunningJob| Err(JobError::Failed(Error::internal("the world has a fault for this job")));
    run_as(market, job, children, &|| true, fail)
}

/// Runs `execute` on a claimed job, and records how that ended.
fn run_as(
    market: &Market,
    job: Job,
    children: &ChildProcesses,
    keep_running: &dyn Fn() -> bool,
    execute: impl Fn(&RunningJob) -> JobResult,
) -> Result<AttemptEnd> {
    let (stopwatch, waited) = (market.stopwatch(), market.clock().now().0.saturating_sub(job.due_at.0));
    let started_at = stopwatch.elapsed();
    let running = RunningJob::new(market, job, children, keep_running);
    let Job { kind, team, attempts, .. } = *running.job();
    let team_id = team.and_then(|team| find_team_id(market, team)).map(tracing::field::display);
    let span = tracing::info_span!("job", kind = kind.as_str(), team_id, attempts);
    let ended = span.in_scope(|| execute(&running));
    let outcome = outcome(&ended);
    market.attempts().count_job(kind, outcome);
    tracing::info!(
        kind = kind.as_str(),
        team_id,
        attempts,
        outcome = outcome.as_str(),
        wait_ms = waited as f64 / 1e3,
        milliseconds = milliseconds(stopwatch.elapsed().saturating_sub(started_at)),
        "job ended"
    );
    match ended {
        Ok(()) if running.is_given_up() => Ok(AttemptEnd::GivenUp),
        Ok(()) => Ok(AttemptEnd::Completed),
        Err(JobError::Stopped) => release(market, running.job()).map(|()| AttemptEnd::Retried),
        Err(JobError::Interrupted(cause)) => {
            let Job { kind, subject, interrupted_starts, .. } = *running.job();
            tracing::warn!(
                ?kind,
                team_id,
                subject = subject.0,
                interrupted_starts,
                cause,
                "a job was interrupted"
            );
            release(market, running.job()).map(|()| AttemptEnd::Retried)
        }
        Err(JobError::Failed(cause)) => span.in_scope(|| retry_or_give_up(&running, &cause)),
    }
}

/// Returns the ID of a team, for the log.
fn find_team_id(market: &Market, team: TeamRowId) -> Option<Uuid> {
    market.read_blocking(|reader| store::teams::find_id(reader.rows, team)).ok()
}

/// Returns how a job ended, for the log and the metrics.
const fn outcome(ended: &JobResult) -> JobOutcome {
    match ended {
        Ok(()) => JobOutcome::Completed,
        Err(JobError::Stopped) => JobOutcome::Stopped,
        Err(JobError::Interrupted(_)) => JobOutcome::Interrupted,
        Err(JobError::Failed(_)) => JobOutcome::Failed,
    }
}

/// Releases a job that did not fail. It is due at once.
pub fn release(market: &Market, job: &Job) -> Result<()> {
    market.write_blocking(|writer| store::jobs::release(writer.rows, job, writer.now))
}

/// Executes a job. A job that was interrupted or failed too often is not started again.
fn execute(running: &RunningJob) -> JobResult {
    let job = running.job();
    if job.interrupted_starts >= MAX_INTERRUPTED_STARTS || job.attempts > MAX_ATTEMPTS {
        return give_up(running);
    }
    let (work, _) = code_of(job.kind);
    // Shared state is behind locks that ignore poisoning, and an interrupted transaction is rolled back.
    catch_unwind(AssertUnwindSafe(|| work(running)))
        .unwrap_or_else(|_| Err(JobError::Failed(Error::internal("the job panicked"))))
}

fn give_up(running: &RunningJob) -> JobResult {
    running.give_up();
    let (_, end) = code_of(running.job().kind);
    end(running)
}

/// A function of a kind of jobs.
type Work = fn(&RunningJob) -> JobResult;

/// Returns what executes a job of a kind, and what ends one that is given up.
const fn code_of(kind: JobKind) -> (Work, Work) {
    match kind {
        JobKind::AnalyzeArchive => (archive_analysis::analyze, archive_analysis::give_up),
        JobKind::CopyRepository => (repository_analysis::copy, repository_analysis::give_up_copying),
        JobKind::AnalyzeRepository => (repository_analysis::analyze, repository_analysis::give_up_analyzing),
        JobKind::RunChecks => (quality_checks::run, quality_checks::give_up),
        JobKind::ImportTraces => (trace_imports::run, trace_imports::give_up),
        JobKind::RefreshTaskQuality => (task_quality_refreshes::run, task_quality_refreshes::give_up),
        JobKind::ChangeAssets => (bulk_changes::run, bulk_changes::give_up),
        JobKind::Estimate => (repository_estimation::run, repository_estimation::give_up),
        JobKind::PrepareBundle => (bundle_preparation::run, bundle_preparation::give_up),
        JobKind::ReportRevocation => {
            (attestations::send_revocation_notices, attestations::give_up_revocation_notices)
        }
        JobKind::SealLog => (attestation_log::run, attestation_log::give_up),
        JobKind::Cleanup => (cleanup::run, cleanup::give_up),
    }
}

/// Schedules a retry of a job that failed, or gives up after the last attempt.
fn retry_or_give_up(running: &RunningJob, cause: &Error) -> Result<AttemptEnd> {
    let Job { kind, subject, attempts, .. } = *running.job();
    tracing::error!(?kind, subject = subject.0, attempts, cause = %ErrorChain(cause), "job failed");
    if cause.is_fault_of_storage() {
        let is_postponed = running.market().write_blocking(|writer| {
            // A full disk and a locked database concern all jobs; one file that cannot be read may concern this one for ever.
            let is_of_all = !matches!(cause, Error::StorageUnavailable { .. });
            let age = writer.now.0 - store::jobs::enqueued_at(writer.rows, running.job())?.0;
            let may_wait = is_of_all || age < jobs::MAX_POSTPONED_MICROS;
            if may_wait {
                let until = writer.now.plus_micros(jobs::FULL_DISK_DELAY_MICROS);
                store::jobs::postpone(writer.rows, running.job(), until)?;
            }
            Ok(may_wait)
        })?;
        if is_postponed {
            return Ok(AttemptEnd::Retried);
        }
    }
    match jobs::retry_delay(attempts) {
        Some(wait) => {
            running.market().write_blocking(|writer| {
                store::jobs::reschedule(writer.rows, running.job(), writer.now.plus_micros(wait))
            })?;
            Ok(AttemptEnd::Retried)
        }
        None => match give_up(running) {
            Ok(()) | Err(JobError::Stopped) => Ok(AttemptEnd::GivenUp),
            Err(JobError::Interrupted(cause)) => Err(Error::internal(cause)),
            Err(JobError::Failed(cause)) => Err(cause),
        },
    }
}
