//! The background threads of a serving process, which execute the jobs that requests enqueue.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::JoinHandle,
    time::Duration,
};

use super::{child_processes::ChildProcesses, cleanup, jobs, qc_refreshes};
use crate::{
    domain::jobs::Queue,
    error::{Error, ErrorChain, Result},
    market::Market,
    store,
};

/// How long a thread sleeps without a notification. Other processes enqueue work without notifying this one.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// Executes all pending work on the current thread, while `keep_running` returns true.
pub fn run_pending(market: &Market, keep_running: &dyn Fn() -> bool) -> Result<()> {
    let children = ChildProcesses::new(market);
    qc_refreshes::run_pending(market, keep_running)?;
    let mut has_run = true;
    while std::mem::take(&mut has_run) {
        for queue in [Queue::Copies, Queue::Analyses] {
            while keep_running() {
                let Some(job) = jobs::claim(market, queue, 0)? else { break };
                jobs::run(market, job, &children, keep_running)?;
                has_run = true;
            }
        }
    }
    Ok(())
}

/// Handle on the background threads. Dropping it waits until their current steps are complete; the rest
/// continues after the next start.
#[derive(Debug)]
pub struct BackgroundWorkers {
    market: Market,
    is_stopped: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl BackgroundWorkers {
    /// Starts the threads: one for each queue, which starts another one for each job, and one for refreshes,
    /// which wait for no queue.
    pub fn start(market: &Market) -> Result<BackgroundWorkers> {
        market.write_blocking(|writer| {
            store::jobs::release_all(writer.rows)?;
            cleanup::enqueue(writer)
        })?;
        // No other process works on this directory.
        market.blobs().clear_staging_dirs().map_err(Error::internal)?;
        let settings = &market.settings().jobs;
        let mut workers = BackgroundWorkers {
            market: market.clone(),
            is_stopped: Arc::new(AtomicBool::new(false)),
            threads: Vec::new(),
        };
        workers.spawn("refreshes", qc_refreshes::run_pending)?;
        let children = Arc::new(ChildProcesses::new(market));
        let tested = Arc::clone(&children);
        let test = std::thread::Builder::new().name("child test".to_owned());
        workers.threads.push(test.spawn(move || tested.log_confinement()).map_err(Error::internal)?);
        for (queue, max_jobs) in [(Queue::Copies, settings.copies), (Queue::Analyses, settings.started)] {
            let mut running =
                RunningQueue { queue, max_jobs, children: Arc::clone(&children), threads: Vec::new() };
            let is_stopped = Arc::clone(&workers.is_stopped);
            workers.spawn(queue.as_str(), move |market, _| running.start_jobs(market, &is_stopped))?;
        }
        Ok(workers)
    }

    /// Stops the background work: running jobs are interrupted, and no other one is started.
    pub fn stop(&self) {
        self.is_stopped.store(true, Ordering::SeqCst);
        self.market.background_notify().notify();
    }

    /// Starts a thread that calls `work` repeatedly, and waits for a notification between the calls.
    fn spawn(
        &mut self,
        name: &str,
        mut work: impl FnMut(&Market, &dyn Fn() -> bool) -> Result<()> + Send + 'static,
    ) -> Result<()> {
        let (market, is_stopped) = (self.market.clone(), Arc::clone(&self.is_stopped));
        let run = move || {
            let keep_running = || !is_stopped.load(Ordering::SeqCst);
            while keep_running() {
                let seen = market.background_notify().count();
                if let Err(cause) = work(&market, &keep_running) {
                    tracing::error!(cause = %ErrorChain(&cause), "background work failed, retrying");
                }
                // Returns at once if there was a notification while the work ran.
                market.background_notify().wait(seen, POLL_INTERVAL);
            }
        };
        let thread = std::thread::Builder::new().name(name.to_owned()).spawn(run).map_err(Error::internal)?;
        self.threads.push(thread);
        Ok(())
    }
}

/// The running jobs of a queue, each on its own thread. Dropping it waits until they have ended.
struct RunningQueue {
    queue: Queue,
    max_jobs: u32,
    children: Arc<ChildProcesses>,
    threads: Vec<JoinHandle<()>>,
}

impl RunningQueue {
    /// Starts the jobs that are due, up to the maximum number at the same time.
    fn start_jobs(&mut self, market: &Market, is_stopped: &Arc<AtomicBool>) -> Result<()> {
        self.threads.retain(|thread| !thread.is_finished());
        while self.threads.len() < self.max_jobs as usize && !is_stopped.load(Ordering::SeqCst) {
            let running = u32::try_from(self.threads.len()).unwrap_or(u32::MAX);
            let Some(job) = jobs::claim(market, self.queue, running)? else { break };
            let claimed = job.clone();
            let (job_market, children, is_stopped) =
                (market.clone(), Arc::clone(&self.children), Arc::clone(is_stopped));
            let run = move || {
                let keep_running = || !is_stopped.load(Ordering::SeqCst);
                if let Err(cause) = jobs::run(&job_market, job, &children, &keep_running) {
                    tracing::error!(cause = %ErrorChain(&cause), "a background job failed");
                }
                // There is room for another job now.
                job_market.background_notify().notify();
            };
            let name = format!("{} job", self.queue.as_str());
            match std::thread::Builder::new().name(name).spawn(run) {
                Ok(thread) => self.threads.push(thread),
                Err(cause) => {
                    jobs::release(market, &claimed)?;
                    return Err(Error::internal(cause));
                }
            }
        }
        Ok(())
    }
}

impl Drop for RunningQueue {
    fn drop(&mut self) {
        for thread in self.threads.drain(..) {
            // The panic message of a thread that panicked is already on stderr.
            let _ = thread.join();
        }
    }
}

impl Drop for BackgroundWorkers {
    fn drop(&mut self) {
        self.stop();
        for thread in self.threads.drain(..) {
            // The panic message of a thread that panicked is already on stderr.
            let _ = thread.join();
        }
    }
}
