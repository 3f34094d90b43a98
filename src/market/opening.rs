//! Opening a market: its database, its index, its secrets, and its files.

use std::{
    ffi::OsString,
    io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, OnceLock},
};

use marketplace_index::CursorKey;
use tokio::sync::{Semaphore, watch};

use super::{
    AttemptCounters, BackgroundSignal, CURSOR_SECRET, DATABASE_FILE, INDEX_DIRECTORY, Inner, KeyCache,
    Market, OpenError, OpenMode, OpenOptions, RESTORE_MARKER, SERVE_LOCK_FILE, SUPERSEDED_MARKER, ServeLock,
    StepRunner,
    cost_meter::Activity,
    open_options,
    scheduler::{Scheduler, Share},
    space, upgrading,
};
use crate::{
    blobs::{Blobs, DiskSpace, Reservations},
    clock::{Clock, Entropy, Stopwatch},
    config::{LiveSettings, Settings},
    domain::time::Timestamp,
    error::{Error, Result},
    private_files,
    search::{IndexDirectory, Indexer, SharedUpdater, WriterOptions},
    store::{self, FollowedFile, Store, secrets::POSITIONS},
};

/// Name of the secret that signs blob URLs.
pub(super) const BLOB_SECRET: &str = "blobs";

/// Maximum number of reads, and of writes, that wait for a connection.
const MAX_WAITING: usize = 4096;

/// The secrets of a market.
pub(super) struct Secrets {
    pub cursor_key: CursorKey,
    pub blob_secret: [u8; 32],
    pub position_secret: Option<[u8; 32]>,
    pub entropy: Entropy,
}

/// What a market opens in its directory.
pub(super) struct Opened {
    pub store: Arc<Store>,
    pub indexer: Indexer,
    pub index_dir: Arc<IndexDirectory>,
    pub updater: Option<SharedUpdater>,
    pub secrets: Secrets,
    pub seen_version: Mutex<Option<i64>>,
    pub lock: Option<ServeLock>,
    pub reservations: Reservations,
}

/// Checks that a directory is one of a market, or can become one: all that is in it becomes private. Without a market, it may have
/// files, such as settings, and hidden directories, such as those in which a volume keeps its snapshots, but no others.
pub fn check_not_foreign(path: &Path) -> std::result::Result<(), OpenError> {
    if [DATABASE_FILE, SERVE_LOCK_FILE].iter().any(|name| path.join(name).exists()) {
        return Ok(());
    }
    // Whoever cannot read a directory cannot change what is in it, either.
    let names = private_files::file_names(path).unwrap_or_default();
    let is_foreign = |name: &OsString| {
        let is_hidden = name.as_encoded_bytes().starts_with(b".");
        !is_hidden && path.join(name).symlink_metadata().is_ok_and(|metadata| metadata.is_dir())
    };
    if names.iter().any(is_foreign) { Err(OpenError::Foreign(path.to_owned())) } else { Ok(()) }
}

impl Market {
    /// Opens the market in a directory. Creates it if there is none, unless the mode is
    /// [`OpenMode::ReadOnly`].
    pub fn open(opening: OpenOptions) -> std::result::Result<Market, OpenError> {
        Market::open_with(opening, None)
    }

    /// Opens the market in a directory whose database another process keeps current, with the mode [`OpenMode::Replica`].
    pub fn open_replica(
        opening: OpenOptions,
        file: Arc<FollowedFile>,
    ) -> std::result::Result<Market, OpenError> {
        Market::open_with(opening, Some(file))
    }

    fn open_with(
        opening: OpenOptions,
        followed: Option<Arc<FollowedFile>>,
    ) -> std::result::Result<Market, OpenError> {
        let OpenOptions { data_dir, settings, clock, entropy, durability, mode, renderer, run_step, program } =
            opening;
        let path = data_dir.clone();
        let unusable = |cause| OpenError::directory(path.clone(), cause);
        if path.join(RESTORE_MARKER).exists() {
            return Err(OpenError::Restoring(path));
        }
        if !mode.is_read_only() && path.join(SUPERSEDED_MARKER).exists() {
            return Err(OpenError::Superseded(path));
        }
        if !mode.is_read_only() {
            private_files::create_dir_all(&path).map_err(unusable)?;
            check_not_foreign(&path)?;
            let is_private = private_files::repair_tree(&path).map_err(unusable)?;
            if !is_private && mode == OpenMode::Serve {
                tracing::warn!(
                    directory = %path.display(),
                    "other users have access to the data directory, and this user may not restrict it"
                );
            }
            open_options::check_writable(&path)?;
        }
        let lock = match mode {
            OpenMode::Serve => Some(ServeLock::acquire(&path)?),
            OpenMode::Command | OpenMode::ReadOnly | OpenMode::Inspect | OpenMode::Replica => None,
        };
        // Held until the database is migrated.
        let _upgrade = if mode.is_read_only() {
            None
        } else {
            upgrading::prepare(&path, settings.data.backup_before_upgrade, lock.is_some())?
        };
        let (database, readers) = (path.join(DATABASE_FILE), settings.data.read_connections());
        let store = Arc::new(match mode {
            OpenMode::ReadOnly | OpenMode::Inspect => {
                Store::open_read_only(&database, readers).map_err(|error| OpenError::store(&path, error))?
            }
            OpenMode::Replica => {
                let file = followed.ok_or_else(|| Error::internal("a replica follows a file"))?;
                Store::open_followed(&database, readers, file)?
            }
            OpenMode::Serve | OpenMode::Command => {
                let store = Store::open(&database, readers, durability)?;
                if settings.replication.litestream {
                    find_or_create_secret(&store, &entropy, POSITIONS)?;
                    store.counting_positions()?
                } else {
                    store
                }
            }
        });
        let clock = match store.read(store::clock_offset::find)? {
            Some(micros) => clock.with_offset(micros),
            None => clock,
        };
        let cursor_key = CursorKey::new(find_or_create_secret(&store, &entropy, CURSOR_SECRET)?);
        let blob_secret = find_or_create_secret(&store, &entropy, BLOB_SECRET)?;
        let position_secret = store.read(|rows| store::secrets::find(rows, POSITIONS))?;
        if mode == OpenMode::Replica && position_secret.is_none() {
            return Err(OpenError::NoPositions);
        }
        let index_dir = Arc::new(match mode {
            OpenMode::ReadOnly => IndexDirectory::open_existing(&path.join(INDEX_DIRECTORY))?,
            OpenMode::Inspect => IndexDirectory::open_for_inspection(&path.join(INDEX_DIRECTORY)),
            OpenMode::Serve | OpenMode::Command | OpenMode::Replica => {
                IndexDirectory::open(&path.join(INDEX_DIRECTORY))?
            }
        });
        let indexer = Indexer::new(Arc::clone(&store), Arc::clone(&clock), renderer);
        if !mode.is_read_only() {
            index_dir.discard_if_ahead(|| indexer.latest_change())?;
            prepare_due_steps(&store, clock.now())?;
        }
        // Read before the index is brought up to date, so that no later change is missed.
        let seen_version = Mutex::new(Some(store.data_version()?));
        let updater = match mode {
            OpenMode::Serve | OpenMode::Replica => {
                Some(SharedUpdater::open(indexer.clone(), &index_dir, index_writer_options(&settings))?)
            }
            OpenMode::Command | OpenMode::ReadOnly | OpenMode::Inspect => None,
        };
        let secrets = Secrets { cursor_key, blob_secret, position_secret, entropy };
        let reservations = Reservations::default();
        let opened = Opened { store, indexer, index_dir, updater, secrets, seen_version, lock, reservations };
        Market::of_parts(data_dir, settings, clock, (run_step, program), opened)
    }

    pub(super) fn of_parts(
        data_dir: PathBuf,
        settings: Settings,
        clock: Arc<Clock>,
        (run_step, program): (StepRunner, PathBuf),
        opened: Opened,
    ) -> std::result::Result<Market, OpenError> {
        let Opened { store, indexer, index_dir, updater, secrets, seen_version, lock, reservations } = opened;
        let Secrets { cursor_key, blob_secret, position_secret, entropy } = secrets;
        let blobs = Blobs::open(&data_dir, &settings.blobs).map_err(OpenError::BlobStore)?;
        let stopwatch = Stopwatch::start(Arc::clone(&clock));
        let background_signal = Arc::new(BackgroundSignal::new(Arc::clone(&clock)));
        let webhook_signal = Arc::new(BackgroundSignal::new(Arc::clone(&clock)));
        let new_scheduler = |activity, slots| {
            Scheduler::new(activity, slots, MAX_WAITING, Share::LeaveOneForOthers, stopwatch.clone())
        };
        let waiting_threads = Arc::new(Semaphore::new(max_waiting_threads(&settings)));
        let reserve_bytes = settings.data.reserve_mb * 1_000_000;
        let inner = Inner {
            updater,
            indexer,
            index_dir,
            store,
            readers: new_scheduler(Activity::Read, settings.data.read_connections() as usize),
            writers: new_scheduler(Activity::Write, 1),
            key_cache: Arc::new(KeyCache::new(settings.keys.allow_fixture_keys)),
            clock,
            entropy,
            cursor_key,
            blob_secret,
            position_secret,
            settings: LiveSettings::new(settings),
            background_signal,
            commits: watch::Sender::default(),
            webhook_signal,
            run_step,
            done_steps: Mutex::default(),
            blobs,
            disk_space: DiskSpace::new(data_dir.clone(), reserve_bytes, reservations),
            data_dir,
            program,
            listed_files: space::ListedFiles::default(),
            host_check: OnceLock::new(),
            waiting_threads,
            seen_version,
            serve_lock: lock,
            attempts: AttemptCounters::default(),
        };
        Ok(Market { inner: Arc::new(inner) })
    }
}

/// Number of blocking threads for work that never waits for a slot: above all the work that occupies the
/// slots of readers and of the writer, without which those that wait for them would wait forever.
const WORKING_THREADS: usize = 128;

/// Creates the multi-threaded async runtime for a market with these settings.
pub fn build_runtime(settings: &Settings) -> io::Result<tokio::runtime::Runtime> {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    builder.enable_all().max_blocking_threads(max_blocking_threads(settings)).build()
}

/// Returns the number of blocking threads that a runtime needs for a market: one for each request and each
/// body that may wait, and the threads of work that never waits.
pub fn max_blocking_threads(settings: &Settings) -> usize {
    max_waiting_threads(settings) + WORKING_THREADS
}

/// Returns the maximum number of threads that wait for slots.
fn max_waiting_threads(settings: &Settings) -> usize {
    let (limits, connections) = (&settings.limits, settings.server.max_connections as usize);
    let bodies = if limits.bodies == 0 { connections } else { connections.min(limits.bodies as usize) };
    // Requests that change something have as many slots as those that only read.
    connections.min(2 * limits.slots()) + bodies
}

pub(super) fn index_writer_options(settings: &Settings) -> WriterOptions {
    let threads = settings.index.writer_threads;
    WriterOptions { memory_bytes: settings.index.writer_memory_mb * 1_000_000 * threads, threads }
}

/// Returns the secret of this name, and creates it on first use.
pub(super) fn find_or_create_secret(store: &Store, entropy: &Entropy, name: &str) -> Result<[u8; 32]> {
    if let Some(secret) = store.read(|rows| store::secrets::find(rows, name))? {
        return Ok(secret);
    }
    store.write(|rows| store::secrets::insert(rows, name, &entropy.random_secret()))?;
    let secret = store.read(|rows| store::secrets::find(rows, name))?;
    secret.ok_or_else(|| Error::internal(format!("the secret {name:?} was not stored")))
}

/// Lets steps that failed be repeated, and silences those that were overdue at an upgrade.
fn prepare_due_steps(store: &Store, now: Timestamp) -> Result<()> {
    if store.read(store::due_steps::has_unprepared)? {
        store.write(|rows| store::due_steps::prepare(rows, now))?;
    }
    Ok(())
}
