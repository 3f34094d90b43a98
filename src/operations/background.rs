//! The background threads of a serving process, which execute the jobs that requests enqueue.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::JoinHandle,
    time::Duration,
};

use super::{jobs, qc_refreshes, sweeping};
use crate::{
    domain::jobs::Lane,
    error::{Error, Result},
    market::Market,
    store,
};

/// How long a thread sleeps without a notification. Other processes enqueue work without notifying this one.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Executes all pending work on the current thread, while `go_on` returns true.
pub fn run_open(market: &Market, go_on: &dyn Fn() -> bool) -> Result<()> {
    qc_refreshes::run_open(market, go_on)?;
    while run_lane(market, Lane::Copies, go_on)? | run_lane(market, Lane::Readings, go_on)? {}
    Ok(())
}

/// Executes the jobs of a queue. Returns whether there was any.
fn run_lane(market: &Market, lane: Lane, go_on: &dyn Fn() -> bool) -> Result<bool> {
    let mut is_any = false;
    while go_on() && jobs::run_next(market, lane, go_on)? {
        is_any = true;
    }
    Ok(is_any)
}

/// Handle on the background threads. Dropping it waits until their current steps are complete; the rest
/// continues after the next start.
#[derive(Debug)]
pub struct Runner {
    market: Market,
    is_stopped: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Runner {
    /// Starts the threads: as many per queue as the settings say, and one for refreshes, which wait for no
    /// queue.
    pub fn start(market: &Market) -> Result<Runner> {
        market.write_blocking(|writer| {
            store::jobs::free_all(writer.rows)?;
            sweeping::ask(writer)
        })?;
        // No other process works on this directory.
        market.blobs().clear_workshop().map_err(Error::internal)?;
        let settings = &market.settings().jobs;
        let lanes = [(Lane::Copies, settings.copies), (Lane::Readings, settings.readings)];
        let mut runner = Runner {
            market: market.clone(),
            is_stopped: Arc::new(AtomicBool::new(false)),
            threads: Vec::new(),
        };
        runner.add("refreshes", qc_refreshes::run_open)?;
        for (lane, count) in lanes {
            for _ in 0..count {
                let name = format!("{lane:?}").to_lowercase();
                runner.add(&name, move |market, go_on| run_lane(market, lane, go_on).map(|_| ()))?;
            }
        }
        Ok(runner)
    }

    /// Starts a thread that calls `work` repeatedly, and waits for a notification between the calls.
    fn add(
        &mut self,
        name: &str,
        work: impl Fn(&Market, &dyn Fn() -> bool) -> Result<()> + Send + 'static,
    ) -> Result<()> {
        let (market, is_stopped) = (self.market.clone(), Arc::clone(&self.is_stopped));
        let run = move || {
            let go_on = || !is_stopped.load(Ordering::SeqCst);
            while go_on() {
                let heard = market.bell().rings();
                if let Err(cause) = work(&market, &go_on) {
                    tracing::error!(%cause, "background work failed, retrying");
                }
                // Returns at once if there was a notification while the work ran.
                market.bell().wait(heard, LOOK_EVERY);
            }
        };
        let thread = std::thread::Builder::new().name(name.to_owned()).spawn(run).map_err(Error::internal)?;
        self.threads.push(thread);
        Ok(())
    }
}

impl Drop for Runner {
    fn drop(&mut self) {
        self.is_stopped.store(true, Ordering::SeqCst);
        self.market.bell().ring();
        for thread in self.threads.drain(..) {
            // The panic message of a thread that panicked is already on stderr.
            let _ = thread.join();
        }
    }
}
