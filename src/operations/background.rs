//! The background work of a serving process: a task that carries out due steps, and starts the jobs that are
//! due, each on a thread of its own. While nothing is due, there is no thread, and nothing wakes the task.

use std::{sync::Arc, time::Duration};

use tokio::{runtime::Handle, sync::oneshot, task::JoinHandle};

use super::{
    attestation_log,
    child_processes::ChildProcesses,
    cleanup,
    job_threads::{Context, JobThreads},
    jobs,
};
use crate::{
    domain::{jobs::Queue, time::Timestamp},
    error::{Error, ErrorChain, Result},
    market::Market,
    store,
    string_enum::StringEnum,
};

/// Delay before jobs are looked for again if that failed.
const RETRY_DELAY: Duration = Duration::from_secs(1);

/// Executes all pending work on the current thread, while `keep_running` returns true.
pub fn run_pending(market: &Market, keep_running: &dyn Fn() -> bool) -> Result<()> {
    market.run_due_steps()?;
    let children = ChildProcesses::new(market);
    let mut has_run = true;
    while std::mem::take(&mut has_run) {
        for queue in Queue::ALL.iter().copied() {
            while keep_running() {
                let Some(job) = jobs::claim(market, queue, 0)? else { break };
                jobs::run(market, job, &children, keep_running)?;
                has_run = true;
            }
        }
    }
    Ok(())
}

/// Handle on the background work of a market. Dropping it interrupts the running jobs, and waits until their
/// current steps are complete; the rest continues after the next start.
///
/// There is at most one thread for each job that may run at the same time (the settings `jobs.copies` and
/// `jobs.started`, and [`MAX_UPDATES`](crate::domain::jobs::MAX_UPDATES)), and one that starts them. At the
/// start, another thread tests child processes.
#[derive(Debug)]
pub struct BackgroundJobs {
    threads: Arc<JobThreads>,
    task: JoinHandle<()>,
}

impl BackgroundJobs {
    /// Starts the background work of a market that this process serves, once for each market. The runtime
    /// waits for jobs; its threads do not run them.
    pub fn start(market: &Market, runtime: &Handle) -> Result<BackgroundJobs> {
        market.write_blocking(|writer| {
            store::jobs::release_all(writer.rows)?;
            attestation_log::enqueue_if_signing(writer)?;
            cleanup::enqueue(writer)
        })?;
        // No other process works on this directory.
        market.blobs().clear_staging_dirs().map_err(Error::internal)?;
        let threads = Arc::new(JobThreads::new(market));
        threads.start("child test", |_, context| context.children.log_confinement())?;
        let task = runtime.spawn(start_jobs_when_due(Arc::clone(&threads)));
        Ok(BackgroundJobs { threads, task })
    }

    /// Stops the background work: running jobs are interrupted, and no other one is started.
    pub fn stop(&self) {
        self.threads.stop();
        self.threads.signal().notify();
    }
}

impl Drop for BackgroundJobs {
    fn drop(&mut self) {
        self.stop();
        self.threads.wait();
        self.task.abort();
    }
}

/// Starts jobs whenever some are due, until the threads are stopped.
async fn start_jobs_when_due(threads: Arc<JobThreads>) {
    loop {
        match start_due_jobs(&threads).await {
            Ok(Some(Due { next })) => threads.signal().wait(next).await,
            Ok(None) => break,
            Err(cause) => {
                tracing::error!(cause = %ErrorChain(&cause), "starting background jobs failed, retrying");
                tokio::time::sleep(RETRY_DELAY).await;
            }
        }
    }
}

/// When to look for jobs and steps, unless a signal comes earlier.
struct Due {
    next: Option<Timestamp>,
}

/// Starts the jobs that are due. Returns `None` if the threads were stopped. A thread does this, since it
/// waits for the database.
async fn start_due_jobs(threads: &Arc<JobThreads>) -> Result<Option<Due>> {
    let (sender, receiver) = oneshot::channel();
    let is_started = threads.start("start jobs", move |threads, context| {
        // If the receiver is gone, nobody waits any more.
        let _ = sender.send(claim_and_start(threads, context));
    })?;
    if is_started { receiver.await.map_err(Error::internal)?.map(Some) } else { Ok(None) }
}

/// Carries out the due steps, claims the jobs that are due, up to the maximum number of each queue, and starts
/// a thread for each.
fn claim_and_start(threads: &Arc<JobThreads>, context: &Context) -> Result<Due> {
    let market = &context.market;
    // A job that becomes due from now on is found by the next claim, or by the search for the next due time.
    let started_at = market.clock().now();
    bring_forward(market, started_at)?;
    let next_step = market.run_due_steps()?;
    for queue in Queue::ALL.iter().copied() {
        let max_running = jobs::max_running(queue, &market.settings().jobs);
        while !threads.is_stopped() {
            let running = threads.count_jobs(queue);
            if running >= max_running {
                break;
            }
            let Some(job) = jobs::claim(market, queue, running)? else { break };
            let claimed = job.clone();
            let is_started = threads.start_job(queue, move |threads, context| {
                let keep_running = || !threads.is_stopped();
                if let Err(cause) = jobs::run(&context.market, job, &context.children, &keep_running) {
                    tracing::error!(cause = %ErrorChain(&cause), "a background job failed");
                }
            });
            if !matches!(is_started, Ok(true)) {
                jobs::release(market, &claimed)?;
                is_started?;
            }
        }
    }
    let next_job = market.read_blocking(|reader| store::jobs::next_due_at(reader.rows, started_at))?;
    Ok(Due { next: next_step.into_iter().chain(next_job).min() })
}

/// Makes jobs due that were scheduled while the clock of the machine was ahead. Otherwise, they would wait until the clock
/// shows that time again.
fn bring_forward(market: &Market, now: Timestamp) -> Result<()> {
    if market.read_blocking(|reader| store::jobs::is_any_too_late(reader.rows, now))? {
        tracing::warn!("the clock was set back; jobs that were scheduled before are due now");
        market.write_blocking(|writer| store::jobs::bring_forward(writer.rows, writer.now))?;
    }
    Ok(())
}
