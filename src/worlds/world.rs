//! A world: a market with a clock that its owner moves.

use std::{
    any::Any,
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
};

use tokio::sync::watch;
use uuid::Uuid;

use super::{
    error::WorldError,
    opener::Opener,
    template::{Template, WorldKey},
};
use crate::{
    blobs::DiskUsage,
    clock::{Clock, ClockState, SimulatedClock},
    config::Settings,
    domain::time::Timestamp,
    error::Result,
    market::Market,
    operations::background,
    store,
};

/// What is known of a world besides its market.
#[derive(Clone, Debug)]
pub struct WorldDetails {
    /// ID of the world. Another world with the same name has another one.
    pub id: Uuid,
    /// Name of the world, which is part of the paths of the world.
    pub name: String,
    /// Name of what it was forked from.
    pub source: String,
    /// Settings that were given when it was created, in the order of their keys.
    pub given_settings: Vec<(String, toml::Value)>,
    /// Time of the machine at which it ends; `None` if it does not end by itself.
    pub expires_at: Option<Timestamp>,
    /// Port that only this world has; `None` if it has none.
    pub port: Option<u16>,
}

/// A private copy of a market.
pub struct World {
    details: WorldDetails,
    opener: Opener,
    /// What it was forked from, with the clock that it had then.
    start: Template,
    settings: Settings,
    /// The directory of its markets: one, or two during a reset.
    directory: PathBuf,
    current: Mutex<Current>,
    /// Dropped with the world, which its receivers notice.
    end: watch::Sender<()>,
}

/// The market that a world has now.
struct Current {
    market: Market,
    /// Number of resets so far.
    resets: u64,
    /// What serves the market; see [`World::attached`].
    attachment: OnceLock<Arc<dyn Any + Send + Sync>>,
}

impl Current {
    const fn new(market: Market, resets: u64) -> Current {
        Current { market, resets, attachment: OnceLock::new() }
    }
}

impl World {
    /// Forks a template. The directory must not exist; it is deleted with the world.
    pub(super) fn fork(
        details: WorldDetails,
        opener: &Opener,
        start: Template,
        settings: Settings,
        directory: PathBuf,
    ) -> std::result::Result<World, WorldError> {
        let market = open_copy(opener, &start, &settings, directory.join("0"))?;
        let current = Mutex::new(Current::new(market, 0));
        let end = watch::Sender::default();
        Ok(World { details, opener: opener.clone(), start, settings, directory, current, end })
    }

    /// Returns the name, which is part of the paths of the world.
    pub fn name(&self) -> &str {
        &self.details.name
    }

    /// Returns what is known of the world besides its market.
    pub const fn details(&self) -> &WorldDetails {
        &self.details
    }

    /// Returns the API keys that were valid when the world began.
    pub fn keys(&self) -> &Arc<[WorldKey]> {
        self.start.keys()
    }

    /// Whether the time to live is over.
    pub fn is_expired(&self) -> bool {
        self.details.expires_at.is_some_and(|at| at <= Clock::System.now())
    }

    /// Returns a receiver that fails when the world has ended.
    pub fn subscribe_to_end(&self) -> watch::Receiver<()> {
        self.end.subscribe()
    }

    /// Returns what a layer above keeps for the market that the world has now. It is made at first use, and dropped when
    /// the world is reset or ends. All calls must have the same type.
    pub fn attached<T: Send + Sync + 'static>(&self, make: impl FnOnce(&Market) -> T) -> Arc<T> {
        let current = self.lock();
        let attachment = current.attachment.get_or_init(|| Arc::new(make(&current.market)));
        Arc::clone(attachment).downcast().expect("all attachments have the same type")
    }

    /// Returns the market. After a reset, it is another one.
    pub fn market(&self) -> Market {
        self.lock().market.clone()
    }

    /// Adds the files of the world, and of what it was forked from.
    pub fn add_disk_usage(&self, usage: &mut DiskUsage) -> std::result::Result<(), WorldError> {
        usage.add(self.start.disk_files()?);
        usage.add(&self.market().disk_files()?);
        Ok(())
    }

    /// Returns to the state in which the world was forked: data, clock, counters, and settings.
    pub fn reset(&self) -> std::result::Result<(), WorldError> {
        let mut current = self.lock();
        let resets = current.resets + 1;
        let market = open_copy(&self.opener, &self.start, &self.settings, self.market_directory(resets))?;
        let earlier = std::mem::replace(&mut *current, Current::new(market, resets));
        drop(current);
        // Requests in progress may still use it. On Unix, they can until they end.
        let directory = self.market_directory(earlier.resets);
        drop(earlier);
        std::fs::remove_dir_all(directory).map_err(WorldError::Files)
    }

    /// Calls `copy` with the market and the state of its clock, which nothing changes meanwhile.
    pub(super) fn copy<T>(&self, copy: impl FnOnce(&Market, ClockState) -> T) -> T {
        let market = self.market();
        let clock = simulated(&market).state();
        copy(&market, clock)
    }

    /// Returns the state of the clock.
    pub fn clock(&self) -> ClockState {
        simulated(&self.market()).state()
    }

    /// Lets the clock run as fast as the time of the machine, or stops it.
    pub fn set_running(&self, is_running: bool) {
        simulated(&self.market()).set_running(is_running);
    }

    /// Moves the clock to a time. Before it returns, everything that is due until then is carried out, in the order of the
    /// times when it is due. A time in the past has no effect.
    pub fn advance_to(&self, target: Timestamp) -> Result<()> {
        let market = self.market();
        let clock = simulated(&market);
        let _ticks = clock.pause_ticks();
        loop {
            background::run_pending(&market, &|| true)?;
            let next = next_due_at(&market)?.filter(|at| *at <= target);
            match next {
                Some(at) if at > clock.now() => clock.set(at),
                // It cannot be carried out now, for instance because it failed.
                _ => break,
            }
        }
        clock.set(target);
        Ok(())
    }

    fn market_directory(&self, resets: u64) -> PathBuf {
        self.directory.join(resets.to_string())
    }

    fn lock(&self) -> MutexGuard<'_, Current> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for World {
    fn drop(&mut self) {
        // What cannot be deleted now is deleted by the next process.
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}

fn open_copy(
    opener: &Opener,
    template: &Template,
    settings: &Settings,
    directory: PathBuf,
) -> std::result::Result<Market, WorldError> {
    template.copy_to(&directory)?;
    let clock = Clock::Simulated(SimulatedClock::new(template.clock()));
    opener.open_world(template.index()?, directory, settings.clone(), clock, template.clock().seed)
}

/// Returns the clock of a world's market.
fn simulated(market: &Market) -> &SimulatedClock {
    match &**market.clock() {
        Clock::Simulated(clock) => clock,
        Clock::System => unreachable!("worlds are opened with a simulated clock"),
    }
}

/// Returns when the next due step or job is due.
fn next_due_at(market: &Market) -> Result<Option<Timestamp>> {
    market.read_blocking(|reader| {
        let step = store::due_steps::next_due_at(reader.rows)?;
        let job = store::jobs::next_due_at(reader.rows, reader.now)?;
        Ok(step.into_iter().chain(job).min())
    })
}
