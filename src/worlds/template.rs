//! Templates: closed markets from which worlds are forked.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
};

use super::{WorldError, files, opener::Opener};
use crate::{
    clock::{Clock, ClockState},
    config::Settings,
    domain::time::Timestamp,
    fixtures,
    market::OpenError,
    search::IndexDirectory,
};

/// The time at which worlds begin, unless told otherwise: 2026-03-01T09:00:00Z, in microseconds since the Unix epoch.
pub const START: Timestamp = Timestamp(1_772_355_600_000_000);

/// The seed of worlds, unless told otherwise.
pub const DEFAULT_SEED: u64 = 1;

/// A market that no process has open, and that never changes again. Its directory is deleted by whoever created it.
#[derive(Clone)]
pub struct Template {
    directory: PathBuf,
    clock: ClockState,
    /// The index, which the worlds share in memory. Opened for the first one.
    index: Arc<OnceLock<IndexDirectory>>,
}

impl Template {
    /// Creates the template of the demo market.
    pub(super) fn demo(
        opener: &Opener,
        directory: PathBuf,
        settings: &Settings,
    ) -> Result<Template, WorldError> {
        Template::create(opener, directory, settings, |market| {
            fixtures::seed_taxonomy(market)?;
            fixtures::seed(market, &fixtures::demo_set()?).map(drop)
        })
    }

    /// Creates the template of a market without teams, with the taxonomy that every market has.
    pub(super) fn empty(
        opener: &Opener,
        directory: PathBuf,
        settings: &Settings,
    ) -> Result<Template, WorldError> {
        Template::create(opener, directory, settings, fixtures::seed_taxonomy)
    }

    fn create(
        opener: &Opener,
        directory: PathBuf,
        settings: &Settings,
        fill: impl FnOnce(&crate::market::Market) -> Result<(), fixtures::SeedError>,
    ) -> Result<Template, WorldError> {
        let market =
            opener.open_template(&directory, settings.clone(), Clock::stopped(START), DEFAULT_SEED)?;
        fill(&market)?;
        // The last connection to a database writes its log into it.
        drop(market);
        Ok(Template::new(directory, ClockState::new(START, false, DEFAULT_SEED)))
    }

    /// Returns the template of the market in a directory, with the state of the clock of its worlds.
    pub fn new(directory: PathBuf, clock: ClockState) -> Template {
        Template { directory, clock, index: Arc::default() }
    }

    /// Returns the index.
    pub(super) fn index(&self) -> Result<&IndexDirectory, WorldError> {
        if let Some(index) = self.index.get() {
            return Ok(index);
        }
        let opened = IndexDirectory::open_existing(&self.directory.join("index")).map_err(OpenError::from)?;
        Ok(self.index.get_or_init(|| opened))
    }

    /// Returns the same template, for worlds whose clock begins at another state.
    #[must_use]
    pub fn with_clock(&self, clock: ClockState) -> Template {
        Template { clock, ..self.clone() }
    }

    /// Returns the state of the clock of a world that is forked from it.
    pub const fn clock(&self) -> &ClockState {
        &self.clock
    }

    /// Copies the market to a directory that does not exist.
    pub fn copy_to(&self, directory: &Path) -> Result<(), WorldError> {
        files::copy(&self.directory, directory).map_err(WorldError::Files)
    }
}
