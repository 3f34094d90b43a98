//! The threads of a serving process that carry out what requests only asked for.

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

/// How long a thread sleeps when nobody rings: another process may have asked for something.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Carries out everything that was asked for and is not finished, on this thread. Goes on while `go_on` says so.
pub fn run_open(market: &Market, go_on: &dyn Fn() -> bool) -> Result<()> {
    qc_refreshes::run_open(market, go_on)?;
    while run_lane(market, Lane::Copies, go_on)? | run_lane(market, Lane::Readings, go_on)? {}
    Ok(())
}

/// Carries out the jobs of a lane. Answers whether there was any.
fn run_lane(market: &Market, lane: Lane, go_on: &dyn Fn() -> bool) -> Result<bool> {
    let mut is_any = false;
    while go_on() && jobs::run_next(market, lane, go_on)? {
        is_any = true;
    }
    Ok(is_any)
}

/// The threads. Dropping it waits until the steps that they are at are done; the rest is taken up at the next start.
#[derive(Debug)]
pub struct Runner {
    market: Market,
    is_stopped: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Runner {
    /// Starts the threads: as many for each lane as the settings say, and one for refreshes, which wait for neither.
    pub fn start(market: &Market) -> Result<Runner> {
        market.write_blocking(|writer| {
            store::jobs::free_all(writer.rows)?;
            sweeping::ask(writer)
        })?;
        // Nobody else works on this folder.
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

    /// Adds a thread that carries out what `work` finds, and then waits for the bell.
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
                    tracing::error!(%cause, "work in the background failed; it is tried again");
                }
                // Not heard is what was rung for while it worked.
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
            // A thread that panicked has said so on stderr.
            let _ = thread.join();
        }
    }
}
