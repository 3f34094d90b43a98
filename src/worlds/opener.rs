//! How worlds open their markets.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{error::WorldResult, job_places::JobPlaces};
use crate::{
    blobs::Reservations,
    clock::{Clock, Entropy, SimulatedClock},
    config::Settings,
    idle_closer::IdleCloser,
    market::{Market, OpenMode, OpenOptions, StepRunner, WorldOptions},
    search::{IndexDirectory, Renderer},
    store::Durability,
};

/// Maximum number of worlds that run jobs at the same time.
const MAX_WORLDS_WITH_JOBS: usize = 4;

/// What all worlds of a process have in common.
#[derive(Clone)]
pub struct Opener {
    renderer: Renderer,
    run_step: StepRunner,
    program: PathBuf,
    idle_closer: IdleCloser,
    job_places: JobPlaces,
    reservations: Reservations,
}

impl Opener {
    /// Creates an opener with the function that renders listings for API responses, the function that carries out due
    /// steps, and the program that child processes run.
    pub fn new(renderer: Renderer, run_step: StepRunner, program: PathBuf) -> Opener {
        Opener {
            renderer,
            run_step,
            program,
            idle_closer: IdleCloser::default(),
            job_places: JobPlaces::new(MAX_WORLDS_WITH_JOBS),
            reservations: Reservations::default(),
        }
    }

    /// Has worlds share the reservations of disk space with `market`, which is on the same disk.
    pub(super) fn on_disk_of(self, market: &Market) -> Opener {
        Opener { reservations: market.reservations(), ..self }
    }

    /// Returns the closer of idle connections and index writers of worlds.
    pub const fn idle_closer(&self) -> &IdleCloser {
        &self.idle_closer
    }

    /// Returns the places of worlds that run jobs.
    pub(super) const fn job_places(&self) -> &JobPlaces {
        &self.job_places
    }

    /// Opens a market in a directory, to fill a template. Nothing is synchronized with the disk, since templates end with
    /// the process.
    pub(super) fn open_template(
        &self,
        directory: &Path,
        settings: Settings,
        clock: Clock,
        seed: u64,
    ) -> WorldResult<Market> {
        let options = OpenOptions {
            data_dir: directory.to_owned(),
            settings,
            clock: Arc::new(clock),
            entropy: Entropy::seeded(seed),
            durability: Durability::None,
            mode: OpenMode::Serve,
            renderer: self.renderer,
            run_step: self.run_step,
            program: self.program.clone(),
        };
        Ok(Market::open(options)?)
    }

    /// Opens the market in a directory to which a template was copied. `original` is the index of the template.
    /// The secrets of the market come from its clock.
    pub(super) fn open_world(
        &self,
        original: &IndexDirectory,
        directory: PathBuf,
        settings: Settings,
        clock: SimulatedClock,
    ) -> WorldResult<Market> {
        let options = WorldOptions {
            data_dir: directory,
            original,
            settings,
            entropy: clock.entropy(),
            clock: Arc::new(Clock::Simulated(clock)),
            renderer: self.renderer,
            run_step: self.run_step,
            program: self.program.clone(),
            idle_closer: &self.idle_closer,
            reservations: self.reservations.clone(),
        };
        Ok(Market::open_world(options)?)
    }
}
