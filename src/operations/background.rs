//! The thread of a serving process that carries out what requests only asked for.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::JoinHandle,
    time::Duration,
};

use super::{jobs, qc_refreshes};
use crate::{
    error::{Error, Result},
    market::Market,
    store,
};

/// How long the thread sleeps when nobody rings: another process may have asked for something.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Carries out everything that was asked for and is not finished, on this thread. Goes on while `go_on` says so.
pub fn run_open(market: &Market, go_on: &dyn Fn() -> bool) -> Result<()> {
    // One job at a time between the refreshes, so that many jobs of one team do not hold up what others wait for.
    loop {
        qc_refreshes::run_open(market, go_on)?;
        if !go_on() || !jobs::run_next(market, go_on)? {
            return Ok(());
        }
    }
}

/// The thread. Dropping it waits until the step that it is at is done; the rest is taken up at the next start.
#[derive(Debug)]
pub struct Runner {
    market: Market,
    is_stopped: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Runner {
    /// Starts the thread.
    pub fn start(market: &Market) -> Result<Runner> {
        market.write_blocking(|writer| store::jobs::free_all(writer.rows))?;
        let is_stopped = Arc::new(AtomicBool::new(false));
        let (own, stop) = (market.clone(), Arc::clone(&is_stopped));
        let run = move || {
            let go_on = || !stop.load(Ordering::SeqCst);
            while go_on() {
                if let Err(cause) = run_open(&own, &go_on) {
                    tracing::error!(%cause, "work in the background failed; it is tried again");
                }
                own.bell().wait(LOOK_EVERY);
            }
        };
        let thread = std::thread::Builder::new().name("background".to_owned()).spawn(run);
        let thread = Some(thread.map_err(Error::internal)?);
        Ok(Runner { market: market.clone(), is_stopped, thread })
    }
}

impl Drop for Runner {
    fn drop(&mut self) {
        self.is_stopped.store(true, Ordering::SeqCst);
        self.market.bell().ring();
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has said so on stderr.
            let _ = thread.join();
        }
    }
}
