//! Templates: closed markets from which worlds are forked.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{error::WorldError, files, live_copy, opener::Opener};
use crate::{
    clock::{Clock, ClockState},
    config::Settings,
    domain::{principals::KeyScope, time::Timestamp},
    fixtures::{self, demo_image},
    market::Market,
    operations::{access::Platform, keys},
    store::Durability,
};

/// The time at which worlds begin, unless told otherwise: that of the demo market.
pub const START: Timestamp = demo_image::DEMO_TIME;

/// The seed of worlds, unless told otherwise.
pub const DEFAULT_SEED: u64 = 1;

/// An API key that is valid in a world when it begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorldKey {
    /// The key, which is sent with requests.
    pub key: String,
    /// Who it acts for.
    pub description: String,
}

/// A market that no process has open, and that never changes again. Its directory is deleted with the last clone.
#[derive(Clone, Debug)]
pub struct Template {
    directory: Arc<TemplateDirectory>,
    clock: ClockState,
    keys: Arc<[WorldKey]>,
}

#[derive(Debug)]
struct TemplateDirectory(PathBuf);

impl Drop for TemplateDirectory {
    fn drop(&mut self) {
        // What cannot be deleted now is deleted by the next process.
        let _ = std::fs::remove_dir_all(&self.0);
    }
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
        Template::create(opener, directory, settings, |_| Ok(demo_keys()))
    }

    /// Creates the template of a market without teams, with the taxonomy that every market has, and one operator key.
    pub(super) fn empty(
        opener: &Opener,
        directory: PathBuf,
        settings: &Settings,
    ) -> Result<Template, WorldError> {
        Template::create(opener, directory, settings, |market| {
            fixtures::seed_taxonomy(market)?;
            let create = |writer: &mut crate::market::Writer| {
                keys::create_for_operator(writer, Platform::of_process(), "World", KeyScope::All, None)
            };
            let (_, key) = market.write_blocking(create)?;
            Ok(vec![WorldKey { key, description: fixtures::DEMO_OPERATOR_KEY.1.to_owned() }])
        })
    }

    fn create(
        opener: &Opener,
        directory: PathBuf,
        settings: &Settings,
        fill: impl FnOnce(&Market) -> Result<Vec<WorldKey>, fixtures::SeedError>,
    ) -> Result<Template, WorldError> {
        let directory = Arc::new(TemplateDirectory(directory));
        let market = opener.open(&directory.0, settings.clone(), Clock::stopped(START), DEFAULT_SEED)?;
        let keys = fill(&market)?;
        // The last connection to a database writes its log into it.
        drop(market);
        Ok(Template { directory, clock: ClockState::new(START, false, DEFAULT_SEED), keys: keys.into() })
    }

    /// Copies a market that is open. `clock` is the state of its clock.
    pub(super) fn of_market(
        market: &Market,
        directory: PathBuf,
        clock: ClockState,
        keys: Arc<[WorldKey]>,
    ) -> Result<Template, WorldError> {
        let directory = Arc::new(TemplateDirectory(directory));
        live_copy::copy(market, &directory.0)?;
        Ok(Template { directory, clock, keys })
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

    /// Returns the API keys that are valid in a world that is forked from it. Keys that were created later are not among
    /// them, since markets only store their digests.
    pub fn keys(&self) -> &Arc<[WorldKey]> {
        &self.keys
    }

    /// Copies the market to a directory that does not exist.
    pub fn copy_to(&self, directory: &Path) -> Result<(), WorldError> {
        files::copy(&self.directory.0, directory).map_err(WorldError::Files)
    }
}

/// Returns the keys of the demo market.
pub(super) fn demo_keys() -> Vec<WorldKey> {
    let keys = fixtures::DEMO_KEYS.into_iter().chain([fixtures::DEMO_OPERATOR_KEY]);
    keys.map(|(key, description)| WorldKey { key: key.to_owned(), description: description.to_owned() })
        .collect()
}
