//! The replication of a primary: it runs Litestream while its generation is the newest, and refuses changes otherwise.

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use rustix::process::{Signal, getpid, kill_process};

use super::{
    generations::{self, Generations},
    litestream::{Litestream, Program, STOP_TIMEOUT},
};
use crate::{
    clock::Clock,
    config::Settings,
    error::{Error, Result},
    market::{self, DATABASE_FILE, Market},
    store::uptime,
    web::monitoring::ReplicationState,
};

/// The number of the first generation.
const FIRST: u64 = 1;

/// Interval at which the primary checks whether another server was promoted.
const CHECK_INTERVAL: Duration = Duration::from_secs(2);

/// How long a promotion waits for a primary that perhaps cannot reach the store.
pub const LEASE: Duration = Duration::from_secs(30);

/// How long such a primary accepts changes after it began to read the store: less than a promotion waits.
const OWN_LEASE: Duration = Duration::from_secs(25);

/// How often the thread checks for work.
const INTERVAL: Duration = Duration::from_millis(50);

/// How long Litestream must run, after it has ended once, to count as running.
const STEADY: Duration = Duration::from_secs(5);

/// How long Litestream is not started again after it has ended.
const RESTART_DELAY: Duration = Duration::from_secs(1);

/// The replication of a market. When it is dropped, Litestream sends the last changes and ends.
pub struct Replication {
    state: Arc<ReplicationState>,
    is_stopping: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Replication {
    /// Starts to replicate a market that is served. Fails if another server was promoted.
    pub fn start(market: &Market) -> Result<Replication> {
        let settings = market.settings();
        let generations = Generations::open(&settings.replication.destination, settings)?;
        let asked = uptime();
        let own = claim_generation(market, &generations)?;
        market.lease().set_end(asked + OWN_LEASE);
        let program = Program::new(settings, market::this_program());
        let (is_stopping, state) = (Arc::new(AtomicBool::default()), Arc::new(ReplicationState::default()));
        let worker = Worker {
            state: Arc::clone(&state),
            market: market.clone(),
            url: generations.url(Some(own)),
            generations,
            own,
            program,
            is_stopping: Arc::clone(&is_stopping),
        };
        let thread = thread::Builder::new().name("replication".to_owned()).spawn(move || worker.run());
        Ok(Replication { state, is_stopping, thread: Some(thread.map_err(Error::internal)?) })
    }

    /// Returns what the monitor of the server reports.
    pub fn state(&self) -> Arc<ReplicationState> {
        Arc::clone(&self.state)
    }
}

/// Maximum time for the end of the replication: the running request to the store, and sending the last changes.
pub const REPLICATION_STOP_TIMEOUT: Duration = generations::TIMEOUT.saturating_add(STOP_TIMEOUT);

impl Drop for Replication {
    fn drop(&mut self) {
        self.is_stopping.store(true, Ordering::SeqCst);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Returns the generation of a market, which must be the newest. The first server begins the first one. A market of an earlier
/// generation is marked as replaced.
fn claim_generation(market: &Market, generations: &Generations) -> Result<u64> {
    let unreachable =
        |cause| Error::internal_with_source("the store of replication.destination cannot be read", cause);
    let newest = generations.newest().map_err(unreachable)?;
    match (generations::recorded(market.data_dir())?, newest) {
        (Some(own), Some(newest)) if own == newest => Ok(own),
        // The number is recorded first, so that a server that is killed here can begin it again.
        (None | Some(FIRST), None) => {
            generations::record(market.data_dir(), FIRST).map_err(Error::internal)?;
            if !generations.begin(FIRST, Clock::System.now()).map_err(unreachable)? {
                return Err(not_primary(FIRST));
            }
            Ok(FIRST)
        }
        (own, Some(newest)) => {
            if own.is_some_and(|own| own < newest) {
                generations::mark_superseded(market.data_dir());
            }
            Err(not_primary(newest))
        }
        (Some(own), None) => Err(Error::Conflict(format!(
            "the store of replication.destination has no generation, but this market has generation {own}; check the address"
        ))),
    }
}

/// Refuses the data directory of a former primary, even if no server was started with it since the promotion. If the store
/// cannot be read, this is not known.
pub fn refuse_former_primary(directory: &Path, settings: &Settings) -> Result<()> {
    let address = &settings.replication.destination;
    let Some(own) = generations::recorded(directory)?.filter(|_| !address.is_empty()) else { return Ok(()) };
    let newest =
        Generations::open(address, settings).and_then(|store| store.newest().map_err(Error::internal));
    match newest {
        Ok(Some(newest)) if newest > own => Err(not_primary(newest)),
        Ok(_) => Ok(()),
        Err(cause) => {
            tracing::warn!(%cause, "it is unknown whether another server was promoted");
            Ok(())
        }
    }
}

fn not_primary(newest: u64) -> Error {
    Error::Conflict(format!(
        "the store of replication.destination belongs to generation {newest}, and this market does not, so it is not the primary; \
         serve it as a replica in a new data directory, or choose another address"
    ))
}

struct Worker {
    market: Market,
    state: Arc<ReplicationState>,
    generations: Generations,
    own: u64,
    url: String,
    program: Program,
    is_stopping: Arc<AtomicBool>,
}

impl Worker {
    fn run(&self) {
        let mut litestream: Option<Litestream> = None;
        let (mut checked, mut began, mut ended) = (Instant::now(), Instant::now(), None::<Instant>);
        while !self.is_stopping.load(Ordering::SeqCst) {
            if litestream.as_ref().is_some_and(Litestream::has_ended) {
                let last_line = litestream.take().map(Litestream::kill).unwrap_or_default();
                tracing::error!(last_line, "Litestream has ended, so it is started again");
                ended = Some(Instant::now());
                self.state.set_running(false);
            }
            if litestream.is_none()
                && !self.market.lease().has_ended()
                && ended.is_none_or(|at| at.elapsed() > RESTART_DELAY)
            {
                match self.program.replicate(&self.url, &self.market.data_dir().join(DATABASE_FILE)) {
                    Ok(started) => (litestream, began) = (Some(started), Instant::now()),
                    Err(cause) => {
                        self.state.set_running(false);
                        tracing::error!(%cause, "Litestream (the setting replica.litestream) cannot be started");
                        ended = Some(Instant::now());
                    }
                }
            }
            if litestream.is_some() && began.elapsed() > STEADY {
                self.state.set_running(true);
            }
            if checked.elapsed() > CHECK_INTERVAL {
                checked = Instant::now();
                if self.is_replaced() {
                    self.state.set_running(false);
                    drop(litestream);
                    // It would go on to answer with what it has.
                    if let Err(cause) = kill_process(getpid(), Signal::TERM) {
                        tracing::error!(%cause, "the server cannot stop itself");
                    }
                    return;
                }
            }
            thread::sleep(INTERVAL);
        }
        if let Some(litestream) = litestream {
            litestream.stop();
        }
    }

    /// Checks whether another server was promoted. Changes are accepted only while it is known that none was.
    fn is_replaced(&self) -> bool {
        let (asked, had_ended) = (uptime(), self.market.lease().has_ended());
        let newest = self.generations.newest();
        if self.is_stopping.load(Ordering::SeqCst) {
            return false;
        }
        match newest {
            Ok(Some(newest)) if newest == self.own => {
                self.market.lease().set_end(asked + OWN_LEASE);
                if had_ended {
                    tracing::info!("the store can be reached again, so changes go on");
                }
            }
            Ok(Some(newest)) if newest > self.own => {
                self.market.lease().end();
                generations::mark_superseded(self.market.data_dir());
                tracing::error!(
                    newest,
                    own = self.own,
                    "another server was promoted, so this one changes nothing any more, and stops"
                );
                return true;
            }
            Ok(found) => tracing::warn!(
                ?found,
                "the store of replication.destination has lost the generation of this server"
            ),
            Err(cause) => tracing::warn!(%cause, "it is unknown whether another server was promoted"),
        }
        if self.market.lease().has_ended() && !had_ended {
            tracing::error!(
                "it is unknown whether another server was promoted, so this one changes nothing until it is known"
            );
        }
        false
    }
}
