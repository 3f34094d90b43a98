//! Opening the markets of worlds: private copies of a market, which cost next to nothing while nobody uses them.

use std::{
    path::PathBuf,
    sync::{Arc, Mutex},
};

use marketplace_index::CursorKey;

use super::{
    CURSOR_SECRET, DATABASE_FILE, INDEX_DIRECTORY, Market, OpenError, StepRunner,
    opening::{BLOB_SECRET, Opened, Secrets, find_or_create_secret},
};
use crate::{
    blobs::Reservations,
    clock::{Clock, Entropy},
    config::{ListedSetting, Settings},
    error::Result,
    idle_closer::IdleCloser,
    search::{IndexDirectory, Indexer, Renderer, SharedUpdater, WriterOptions},
    store::{self, Store, secrets::ORIGIN},
};

/// Memory and threads of the index writer of a world.
const INDEX_WRITER: WriterOptions = WriterOptions { memory_bytes: 15_000_000, threads: 1 };

/// Whether a host of repositories can be reached, by its name, such as `github.com`.
pub type HostCheck = Arc<dyn Fn(&str) -> bool + Send + Sync>;

/// Options for opening the market of a world.
pub struct WorldOptions<'a> {
    /// The data directory. It has a copy of the files of a market that was closed, or [paused](Market::pause). Nothing
    /// else uses it, and it ends with the process.
    pub data_dir: PathBuf,
    /// The index that the directory has a copy of.
    pub original: &'a IndexDirectory,
    /// The settings of the market.
    pub settings: Settings,
    /// The source of time and of new IDs.
    pub clock: Arc<Clock>,
    /// The source of new secrets.
    pub entropy: Entropy,
    /// The function that renders listings for API responses.
    pub renderer: Renderer,
    /// The function that carries out due steps.
    pub run_step: StepRunner,
    /// The program that child processes run: this program, see [`this_program`](super::this_program).
    pub program: PathBuf,
    /// What closes the connection and the index writer while they are idle.
    pub idle_closer: &'a IdleCloser,
    /// What is reserved on the disk, by all markets of the process that are on it.
    pub reservations: Reservations,
}

impl Market {
    /// Opens the market of a world. It has no threads of its own, and one connection to the database, which is open only
    /// while the market is in use, like the writer of the index. Nothing is locked, checked, or synchronized with the disk.
    pub fn open_world(opening: WorldOptions) -> std::result::Result<Market, OpenError> {
        let WorldOptions { data_dir, clock, entropy, renderer, idle_closer, .. } = opening;
        let settings = one_reader(opening.settings);
        let store = Arc::new(Store::open_private(&data_dir.join(DATABASE_FILE), idle_closer.clone())?);
        forget_secrets_of_original(&store)?;
        let entropy = entropy.with_origin(store.read(|rows| store::secrets::find(rows, ORIGIN))?);
        let cursor_key = CursorKey::new(find_or_create_secret(&store, &entropy, CURSOR_SECRET)?);
        let blob_secret = find_or_create_secret(&store, &entropy, BLOB_SECRET)?;
        let index_dir =
            Arc::new(IndexDirectory::open_copy(&data_dir.join(INDEX_DIRECTORY), opening.original)?);
        let indexer = Indexer::new(Arc::clone(&store), Arc::clone(&clock), renderer);
        let updater =
            SharedUpdater::open_private(indexer.clone(), &index_dir, INDEX_WRITER, idle_closer.clone());
        // The copy of a market that was open may lack the last changes.
        updater.wait_until_indexed(indexer.latest_change()?)?;
        let opened = Opened {
            store,
            indexer,
            index_dir,
            updater: Some(updater),
            secrets: Secrets { cursor_key, blob_secret, position_secret: None, entropy },
            seen_version: Mutex::default(),
            lock: None,
            reservations: opening.reservations,
        };
        Market::of_parts(data_dir, settings, clock, (opening.run_step, opening.program), opened)
    }

    /// Whether the market is that of a [world](Market::open_world).
    pub fn is_world(&self) -> bool {
        self.inner.store.is_private()
    }

    /// Returns the settings that operators see. In a world, these are only the settings that a world can set for itself.
    pub fn listed_settings(&self) -> Vec<ListedSetting> {
        if self.is_world() { self.settings().list_of_world() } else { self.settings().list() }
    }

    /// Sets which hosts of repositories can be reached. Without it, all can. Calls after the first have no effect.
    pub fn set_host_check(&self, check: HostCheck) {
        let _ = self.inner.host_check.set(check);
    }

    /// Whether a host of repositories can be reached, as far as the [check](Market::set_host_check) knows.
    pub fn can_reach(&self, host: &str) -> bool {
        self.inner.host_check.get().is_none_or(|check| check(host))
    }

    /// Runs `work` while nothing changes the database and the index of a world. Its files then have everything that was
    /// written, so they can be copied.
    pub fn pause<T>(&self, work: impl FnOnce() -> T) -> Result<T> {
        let pause_store = || self.inner.store.pause(work);
        match &self.inner.updater {
            Some(updater) => updater.pause(pause_store)?,
            None => pause_store(),
        }
    }
}

/// Deletes data that no copy may have: the sessions of people, and the secret of the signing key.
fn forget_secrets_of_original(store: &Store) -> Result<()> {
    let is_known = |rows: &store::Reader| {
        Ok(store::sessions::exist(rows)? || store::signing_keys::find_seed(rows)?.is_some())
    };
    if store.read(is_known)? {
        store.write(|rows| {
            store::sessions::delete_all(rows)?;
            store::signing_keys::delete_seed(rows)
        })?;
    }
    Ok(())
}

/// Returns the settings with as many readers as a world has connections.
fn one_reader(mut settings: Settings) -> Settings {
    settings.data.readers = 1;
    settings
}
