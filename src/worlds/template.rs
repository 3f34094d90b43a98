//! Templates: closed markets from which worlds are forked.

use std::path::{Path, PathBuf};

use super::{WorldError, files, opener::Opener};
use crate::{
    clock::{Clock, ClockState},
    config::Settings,
    domain::time::Timestamp,
    fixtures::{self, demo_image},
    store::Durability,
};

/// The time at which worlds begin, unless told otherwise: that of the demo market.
pub const START: Timestamp = demo_image::DEMO_TIME;

/// The seed of worlds, unless told otherwise.
pub const DEFAULT_SEED: u64 = 1;

/// A market that no process has open, and that never changes again. Its directory is deleted by whoever created it.
#[derive(Clone, Debug)]
pub struct Template {
    directory: PathBuf,
    clock: ClockState,
}

impl Template {
    /// Creates the template of the demo market.
    pub(super) fn demo(
        opener: &Opener,
        directory: PathBuf,
        settings: &Settings,
    ) -> Result<Template, WorldError> {
        demo_image::unpack(&directory, None, Durability::None)?;
        // Opening it creates its secrets.
        Template::create(opener, directory, settings, |_| Ok(()))
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
        let market = opener.open(&directory, settings.clone(), Clock::stopped(START), DEFAULT_SEED)?;
        fill(&market)?;
        // The last connection to a database writes its log into it.
        drop(market);
        Ok(Template { directory, clock: ClockState::new(START, false, DEFAULT_SEED) })
    }

    /// Returns the same template, for worlds whose clock begins at another state.
    #[must_use]
    pub fn with_clock(&self, clock: ClockState) -> Template {
        Template { directory: self.directory.clone(), clock }
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
