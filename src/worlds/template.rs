//! Templates: closed markets from which worlds are forked.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
};

use serde::{Deserialize, Serialize};

use super::{
    error::{WorldError, WorldResult},
    files::{self, TempDirectory},
    live_copy,
    opener::Opener,
};
use crate::{
    blobs::{DiskFile, list_disk_files},
    clock::{Clock, ClockState},
    config::Settings,
    domain::{principals::KeyScope, time::Timestamp},
    error::{Error, Problem},
    fixtures::{self, demo_image},
    market::{DATABASE_FILE, INDEX_DIRECTORY, Market, OpenError},
    operations::{access::Platform, keys},
    search::IndexDirectory,
    store::{Durability, Store},
};

/// The default start time of worlds: the time of the demo market.
pub const START: Timestamp = demo_image::DEMO_TIME;

/// The latest time of a world: 9000-01-01T00:00:00Z. Due times after it still have a year of four digits.
pub const LATEST: Timestamp = Timestamp(221_845_392_000_000_000);

/// Maximum duration in days by which a clock is moved at once, since everything that is due until then is carried out.
pub const MAX_ADVANCE_DAYS: i64 = 36_500;

/// Checks that a clock may be moved from one time to a later one, which a field of the body states.
pub fn check_advance(field: &str, from: Timestamp, to: Timestamp) -> Result<(), Error> {
    let is_latest = from.plus_days(MAX_ADVANCE_DAYS) > LATEST;
    let latest = if is_latest { LATEST } else { from.plus_days(MAX_ADVANCE_DAYS) };
    if to <= latest {
        return Ok(());
    }
    let message = if is_latest {
        format!("The clock is at {from}, and goes up to {LATEST}.")
    } else {
        format!("The clock is at {from}, and moves by at most {MAX_ADVANCE_DAYS}d at once, up to {latest}.")
    };
    Err(Error::invalid(Problem::body(&[field], "less_than_equal", message)))
}

/// The default seed of worlds.
pub const DEFAULT_SEED: u64 = 1;

/// An API key that is valid in a world when it begins.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorldKey {
    /// The key, which is sent with requests.
    pub key: String,
    /// Who it acts for.
    pub description: String,
}

/// A market that no process has open, and that never changes again. Its directory is deleted with the last clone.
#[derive(Clone)]
pub struct Template {
    directory: Arc<TempDirectory>,
    clock: ClockState,
    keys: Arc<[WorldKey]>,
    /// The index, which the worlds share in memory. Opened for the first one.
    index: Arc<OnceLock<IndexDirectory>>,
    /// The files in its directory. Listed at first use.
    files: Arc<OnceLock<Vec<DiskFile>>>,
}

impl std::fmt::Debug for Template {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Template({})", self.directory.0.display())
    }
}

impl Template {
    /// Creates the template of the demo market.
    pub(super) fn demo(opener: &Opener, directory: PathBuf, settings: &Settings) -> WorldResult<Template> {
        demo_image::unpack(&directory, None, Durability::None)?;
        // Opening it creates its secrets.
        Template::create(opener, directory, settings, |_| Ok(demo_keys()))
    }

    /// Creates the template of a market without teams, with the taxonomy that every market has, and one operator key.
    pub(super) fn empty(opener: &Opener, directory: PathBuf, settings: &Settings) -> WorldResult<Template> {
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
    ) -> WorldResult<Template> {
        let clock = (Clock::stopped(START), ClockState::new(START, false, DEFAULT_SEED));
        let market = opener.open_template(&directory, settings.clone(), clock.0, DEFAULT_SEED)?;
        let mut template = Template::new(directory, clock.1);
        template.keys = fill(&market)?.into();
        // The last connection to a database writes its log into it.
        drop(market);
        Ok(template)
    }

    /// Returns the template of the closed market in a directory. The directory is deleted with the template. `clock` is the
    /// state of the clock of its worlds.
    pub fn new(directory: PathBuf, clock: ClockState) -> Template {
        let directory = Arc::new(TempDirectory(directory));
        Template { directory, clock, keys: Arc::default(), index: Arc::default(), files: Arc::default() }
    }

    /// Creates the index of the database in the directory, which has none. Returns the template for worlds with this clock and
    /// these keys. `check` can refuse the market.
    pub(super) fn with_index(
        &self,
        opener: &Opener,
        settings: &Settings,
        (clock, keys): (ClockState, Arc<[WorldKey]>),
        check: impl FnOnce(&Market) -> WorldResult<()>,
    ) -> WorldResult<Template> {
        let stopped = Clock::stopped(clock.now);
        let market = opener.open_template(&self.directory.0, settings.clone(), stopped, clock.seed)?;
        check(&market)?;
        drop(market);
        Ok(Template { clock, keys, ..self.clone() })
    }

    /// Copies a market that is open. `clock` is the state of its clock.
    pub(super) fn of_market(
        market: &Market,
        directory: PathBuf,
        clock: ClockState,
        keys: Arc<[WorldKey]>,
    ) -> WorldResult<Template> {
        let template = Template { keys, ..Template::new(directory, clock) };
        let directory = &template.directory.0;
        if market.is_world() {
            market.pause(|| files::copy(market.data_dir(), directory))?.map_err(WorldError::Files)?;
            Store::compact_private(&directory.join(DATABASE_FILE))?;
        } else {
            live_copy::copy(market, directory)?;
        }
        Ok(template)
    }

    /// Returns the files, which never change.
    pub fn disk_files(&self) -> WorldResult<&[DiskFile]> {
        if let Some(files) = self.files.get() {
            return Ok(files);
        }
        let listed = list_disk_files(&self.directory.0).map_err(WorldError::Files)?;
        Ok(self.files.get_or_init(|| listed))
    }

    /// Returns the index.
    pub(super) fn index(&self) -> WorldResult<&IndexDirectory> {
        if let Some(index) = self.index.get() {
            return Ok(index);
        }
        let path = self.directory.0.join(INDEX_DIRECTORY);
        let opened = IndexDirectory::open_existing(&path).map_err(OpenError::from)?;
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

    /// Returns the API keys that are valid in a world that is forked from it. Keys that were created later are not among
    /// them, since markets only store their digests.
    pub fn keys(&self) -> &Arc<[WorldKey]> {
        &self.keys
    }

    /// Copies the market to a directory that does not exist. The template must exist as long as the copy.
    pub fn copy_to(&self, directory: &Path) -> WorldResult<()> {
        files::fork(&self.directory.0, directory).map_err(WorldError::Files)
    }
}

/// Returns the keys of the demo market.
pub(super) fn demo_keys() -> Vec<WorldKey> {
    let keys = fixtures::DEMO_KEYS.into_iter().chain([fixtures::DEMO_OPERATOR_KEY]);
    keys.map(|(key, description)| WorldKey { key: key.to_owned(), description: description.to_owned() })
        .collect()
}
