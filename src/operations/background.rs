//! The background threads of a serving process, which execute the jobs that requests enqueue.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::JoinHandle,
    time::Duration,
};

use super::{cleanup, jobs, qc_refreshes};
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
    qc_refreshes::run_pending(market, keep_running)?;
    while run_queue(market, Queue::Copies, keep_running)? | run_queue(market, Queue::Analyses, keep_running)?
    {
    }
    Ok(())
}

/// Executes the jobs of a queue. Returns whether there was any.
fn run_queue(market: &Market, queue: Queue, keep_running: &dyn Fn() -> bool) -> Result<bool> {
    let mut has_run = false;
    while keep_running() && jobs::run_next(market, queue, keep_running)? {
        has_run = true;
    }
    Ok(has_run)
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
    /// Starts the threads: as many per queue as the settings say, and one for refreshes, which wait for no
    /// queue.
    pub fn start(market: &Market) -> Result<BackgroundWorkers> {
        market.write_blocking(|writer| {
            store::jobs::release_all(writer.rows)?;
            cleanup::enqueue(writer)
        })?;
        // No other process works on this directory.
        market.blobs().clear_staging_dirs().map_err(Error::internal)?;
        let settings = &market.settings().jobs;
        let queues = [(Queue::Copies, settings.copies), (Queue::Analyses, settings.readings)];
        let mut workers = BackgroundWorkers {
            market: market.clone(),
            is_stopped: Arc::new(AtomicBool::new(false)),
            threads: Vec::new(),
        };
        workers.spawn("refreshes", qc_refreshes::run_pending)?;
        for (queue, count) in queues {
            for _ in 0..count {
                let name = format!("{queue:?}").to_lowercase();
                workers.spawn(&name, move |market, keep_running| {
                    run_queue(market, queue, keep_running).map(|_| ())
                })?;
            }
        }
        Ok(workers)
    }

    /// Starts a thread that calls `work` repeatedly, and waits for a notification between the calls.
    fn spawn(
        &mut self,
        name: &str,
        work: impl Fn(&Market, &dyn Fn() -> bool) -> Result<()> + Send + 'static,
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

impl Drop for BackgroundWorkers {
    fn drop(&mut self) {
        self.is_stopped.store(true, Ordering::SeqCst);
        self.market.background_notify().notify();
        for thread in self.threads.drain(..) {
            // The panic message of a thread that panicked is already on stderr.
            let _ = thread.join();
        }
    }
}
