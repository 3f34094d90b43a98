//! A market: the state of one running instance, and the two entry points to it, `read` and `write`.
//!
//! The entry points own the connection, the transaction, the blocking thread, the commit, and the wait until
//! the search index contains the change. There is no global state: a process can hold many markets.

mod bulk_writer;
mod key_cache;
mod lock;
mod notify;
mod open_options;
mod requester;
mod scheduler;
mod space;

use std::{
    cell::Cell,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use marketplace_index::{CursorKey, Snapshot};

pub use bulk_writer::BulkWriter;
pub use key_cache::{CachedKey, KeyCache};
pub use lock::ServeLock;
pub use notify::Notify;
pub use open_options::{OpenError, OpenMode, OpenOptions, this_program};
pub use requester::{CostMeter, Principal, Requester};
pub use scheduler::{Permit, Scheduler, Share};

use crate::{
    blobs::{Blobs, DiskSpace, S3},
    clock::{Clock, Entropy, Stopwatch},
    config::{BlobKind, Settings},
    domain::{
        jobs::{JobKind, JobSubject},
        time::Timestamp,
    },
    error::{Error, Result},
    private_files,
    search::{IndexDirectory, Indexer, Worker, WriterOptions},
    store::{self, Store},
};

/// Name of the secret that signs cursors.
const CURSOR_SECRET: &str = "cursor";

/// Name of the secret that signs blob URLs.
const BLOB_SECRET: &str = "blobs";

/// How long a command waits until the server on the same directory has indexed a change.
const INDEX_TIMEOUT: Duration = Duration::from_mins(1);

/// Maximum number of reads, and of writes, that wait for a connection.
const MAX_WAITING: usize = 4096;

/// A handle on a market. Clones refer to the same market.
#[derive(Clone)]
pub struct Market {
    inner: Arc<Inner>,
}

impl std::fmt::Debug for Market {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Market({})", self.inner.data_dir.display())
    }
}

struct Inner {
    // Fields are dropped in this order: the worker stops before anything that it uses is dropped; the lock
    // goes last.
    worker: Option<Worker>,
    indexer: Indexer,
    index_dir: Arc<IndexDirectory>,
    store: Arc<Store>,
    /// The shares of the read connections.
    readers: Scheduler,
    /// The shares of the write connection.
    writers: Scheduler,
    key_cache: Arc<KeyCache>,
    clock: Arc<Clock>,
    entropy: Entropy,
    cursor_key: CursorKey,
    blob_secret: [u8; 32],
    settings: Settings,
    background_notify: Notify,
    blobs: Blobs,
    disk_space: DiskSpace,
    data_dir: PathBuf,
    program: PathBuf,
    /// The database version seen by the last [`Market::refresh`].
    seen_version: Mutex<Option<i64>>,
    _lock: Option<ServeLock>,
}

/// The context of a read operation: rows and index of one point in time, the current time, and the settings.
pub struct Reader<'a> {
    /// The database, in one transaction.
    pub rows: &'a store::Reader<'a>,
    /// The index. This snapshot is older than the transaction, so the rows of every listing in it exist.
    pub index: Arc<Snapshot>,
    /// The time of the request.
    pub now: Timestamp,
    /// The settings of the market.
    pub settings: &'a Settings,
    /// The key that signs cursors.
    pub cursor_key: &'a CursorKey,
}

/// The context of a write operation.
pub struct Writer<'a> {
    /// The database, in one transaction.
    pub rows: &'a store::Writer<'a>,
    /// The time of the request.
    pub now: Timestamp,
    /// The settings of the market.
    pub settings: &'a Settings,
    /// The source of new IDs.
    pub clock: &'a Clock,
    /// The source of new secrets.
    pub entropy: &'a Entropy,
    /// Whether the operation has enqueued background work.
    has_enqueued: Cell<bool>,
}

impl Writer<'_> {
    /// Enqueues a job. It is due as soon as this transaction is committed.
    pub fn enqueue(&self, kind: JobKind, subject: impl Into<JobSubject>) -> Result<()> {
        self.wake_background();
        store::jobs::enqueue(self.rows, kind, subject.into(), self.now)
    }

    /// Wakes the background threads after this transaction is committed.
    pub fn wake_background(&self) {
        self.has_enqueued.set(true);
    }
}

impl Market {
    /// Opens the market in a directory. Creates it if there is none, unless the mode is
    /// [`OpenMode::ReadOnly`].
    pub fn open(opening: OpenOptions) -> std::result::Result<Market, OpenError> {
        let OpenOptions { data_dir: path, settings, clock, entropy, durability, mode, renderer, program } =
            opening;
        let unusable = |cause| OpenError::Directory { path: path.clone(), cause };
        if mode != OpenMode::ReadOnly {
            private_files::create_dir_all(&path).map_err(unusable)?;
            private_files::repair_tree(&path).map_err(unusable)?;
        }
        let lock = match mode {
            OpenMode::Serve => Some(ServeLock::acquire(&path)?),
            OpenMode::Command | OpenMode::ReadOnly => None,
        };
        let (database, readers) = (path.join("market.sqlite"), settings.data.readers);
        let store = Arc::new(match mode {
            OpenMode::ReadOnly => Store::open_read_only(&database, readers)?,
            OpenMode::Serve | OpenMode::Command => Store::open(&database, readers, durability)?,
        });
        let cursor_key = CursorKey::new(find_or_create_secret(&store, &entropy, CURSOR_SECRET)?);
        let blob_secret = find_or_create_secret(&store, &entropy, BLOB_SECRET)?;
        let index_dir = Arc::new(match mode {
            OpenMode::ReadOnly => IndexDirectory::open_existing(&path.join("index"))?,
            OpenMode::Serve | OpenMode::Command => IndexDirectory::open(&path.join("index"))?,
        });
        let indexer = Indexer::new(Arc::clone(&store), Arc::clone(&clock), renderer);
        let key_cache = Arc::new(KeyCache::new(settings.keys.allow_fixture_keys));
        if mode != OpenMode::ReadOnly {
            record_retirements(&store, clock.now())?;
        }
        let worker = match mode {
            OpenMode::Serve => {
                let detect_changes =
                    periodic_check(Arc::clone(&store), Arc::clone(&key_cache), Arc::clone(&clock));
                Some(Worker::start(
                    indexer.clone(),
                    Arc::clone(&index_dir),
                    index_writer_size(&settings),
                    detect_changes,
                )?)
            }
            OpenMode::Command | OpenMode::ReadOnly => None,
        };
        let s3 = (settings.blobs.kind == BlobKind::S3).then(|| S3::new(&settings.blobs)).transpose();
        let blobs = Blobs::new(path.join("blobs"), s3.map_err(OpenError::BlobStore)?);
        let stopwatch = Stopwatch::start(Arc::clone(&clock));
        let new_scheduler =
            |slots| Scheduler::new(slots, MAX_WAITING, Share::AllButOneIfLong, stopwatch.clone());
        let reserve_bytes = settings.data.reserve_mb * 1_000_000;
        let inner = Inner {
            worker,
            indexer,
            index_dir,
            store,
            readers: new_scheduler(readers as usize),
            writers: new_scheduler(1),
            key_cache,
            clock,
            entropy,
            cursor_key,
            blob_secret,
            settings,
            background_notify: Notify::default(),
            blobs,
            disk_space: DiskSpace::new(path.clone(), reserve_bytes),
            data_dir: path,
            program,
            seen_version: Mutex::default(),
            _lock: lock,
        };
        Ok(Market { inner: Arc::new(inner) })
    }

    /// Runs a read of a few rows by key on the current thread if a connection is free. Switching to a
    /// blocking thread and back would cost several times as much as the read itself. Don't use this for
    /// searches.
    pub async fn read_inline<T: Send + 'static>(
        &self,
        requester: Requester,
        work: impl FnOnce(&Reader) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        if let Some(_permit) = self.inner.readers.try_acquire(&requester)
            && let Some(reader) = self.inner.store.try_reader()
        {
            let index = self.snapshot();
            return reader.read(|rows| work(&self.inner.reader(rows, index)));
        }
        self.read(requester, work).await
    }

    /// Runs a read operation on a blocking thread, as soon as the requester gets a read connection.
    pub async fn read<T: Send + 'static>(
        &self,
        requester: Requester,
        work: impl FnOnce(&Reader) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let market = self.clone();
        let read = move |permit| market.inner.read(permit, work);
        self.inner.readers.run(requester, read).await
    }

    /// Runs blocking work on a blocking thread, with any number of reads and writes.
    pub async fn spawn_blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Market) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let market = self.clone();
        spawn_blocking(move || work(&market)).await
    }

    /// Runs a write operation on a blocking thread, as soon as the requester gets the write connection.
    /// Returns when the index contains the change. Fails if the disk is full.
    pub async fn write<T: Send + 'static>(
        &self,
        requester: Requester,
        work: impl FnOnce(&mut Writer) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let market = self.clone();
        let write = move |permit| {
            market.ensure_space(0)?;
            market.write_and_index(permit, work)
        };
        self.inner.writers.run(requester, write).await
    }

    /// Like [`Market::write`], for an operation that frees space. It may use the reserve of the disk.
    pub async fn write_freeing<T: Send + 'static>(
        &self,
        requester: Requester,
        work: impl FnOnce(&mut Writer) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let market = self.clone();
        let write = move |permit| market.write_and_index(permit, work);
        self.inner.writers.run(requester, write).await
    }

    /// Runs a read operation of a background job or a command on the current thread.
    pub fn read_blocking<T>(&self, work: impl FnOnce(&Reader) -> Result<T>) -> Result<T> {
        self.read_blocking_for(Requester::process(), work)
    }

    /// Runs a read operation of a request on the current thread, which must not serve requests.
    pub fn read_blocking_for<T>(
        &self,
        requester: Requester,
        work: impl FnOnce(&Reader) -> Result<T>,
    ) -> Result<T> {
        let permit = self.inner.readers.acquire_blocking(requester)?;
        self.inner.read(permit, work)
    }

    /// Runs a write operation of a background job or a command on the current thread. Returns when the index
    /// contains the change. Does not check the reserve of the disk.
    pub fn write_blocking<T>(&self, work: impl FnOnce(&mut Writer) -> Result<T>) -> Result<T> {
        self.write_blocking_for(Requester::process(), work)
    }

    /// Runs a write operation of a request on the current thread, which must not serve requests. Returns when
    /// the index contains the change.
    pub fn write_blocking_for<T>(
        &self,
        requester: Requester,
        work: impl FnOnce(&mut Writer) -> Result<T>,
    ) -> Result<T> {
        let permit = self.inner.writers.acquire_blocking(requester)?;
        self.write_and_index(permit, work)
    }

    /// Runs a write operation with the write connection, and then waits for the index without it.
    fn write_and_index<T>(&self, permit: Permit, work: impl FnOnce(&mut Writer) -> Result<T>) -> Result<T> {
        let written = self.write_unindexed(work);
        drop(permit);
        let (result, change) = written?;
        if let Some(change) = change {
            self.wait_until_indexed(change as u64)?;
        }
        Ok(result)
    }

    /// Runs a write operation without updating the index. Also returns the last change that the index now
    /// lacks.
    fn write_unindexed<T>(&self, work: impl FnOnce(&mut Writer) -> Result<T>) -> Result<(T, Option<i64>)> {
        let inner = &self.inner;
        let has_enqueued = Cell::new(false);
        let written = inner.store.write(|rows| {
            let mut writer = Writer {
                rows,
                now: inner.clock.now(),
                settings: &inner.settings,
                clock: &inner.clock,
                entropy: &inner.entropy,
                has_enqueued: Cell::new(false),
            };
            let result = work(&mut writer);
            has_enqueued.set(writer.has_enqueued.get());
            result
        })?;
        inner.key_cache.clear();
        if has_enqueued.get() {
            inner.background_notify.notify();
        }
        Ok(written)
    }

    /// Starts a bulk write of many records. Its transactions become visible in the index together, at the
    /// end.
    pub fn bulk_writer(&self) -> Result<BulkWriter<'_>> {
        BulkWriter::new(self)
    }

    /// Waits until the index contains a change. If this process has no worker, then either this process
    /// applies the change or the server on the same directory does, depending on which of them holds the
    /// index writer.
    fn wait_until_indexed(&self, change: u64) -> Result<()> {
        match &self.inner.worker {
            Some(worker) => worker.wait_until_indexed(change),
            None => self.apply_changes(change, index_writer_size(&self.inner.settings), &()),
        }
    }

    /// Updates the index from a command, or waits until the server on the same directory has done so.
    pub fn update_index(&self, change: u64, progress: &dyn crate::search::Progress) -> Result<()> {
        self.apply_changes(change, index_writer_size(&self.inner.settings), progress)
    }

    fn apply_changes(
        &self,
        change: u64,
        size: WriterOptions,
        progress: &dyn crate::search::Progress,
    ) -> Result<()> {
        let inner = &self.inner;
        let deadline = std::time::Instant::now() + INDEX_TIMEOUT;
        loop {
            inner.index_dir.reload()?;
            let index = inner.index_dir.index();
            index.reload()?;
            if index.snapshot().change() >= change {
                return Ok(());
            }
            match index.writer(size.memory_bytes, size.threads) {
                Ok(mut writer) => {
                    inner.indexer.drain(&index, &mut writer, progress)?;
                    writer.finish()?;
                }
                Err(marketplace_index::Error::Busy) if std::time::Instant::now() < deadline => {
                    std::thread::sleep(Duration::from_millis(20));
                }
                Err(marketplace_index::Error::Busy) => {
                    return Err(Error::internal(
                        "the change is stored, but the process that owns the search index has not applied it",
                    ));
                }
                Err(other) => return Err(other.into()),
            }
        }
    }

    /// Picks up the changes of other processes. A serving process does this on its own; a process that only
    /// reads calls this before each request.
    pub fn refresh(&self) -> Result<()> {
        let inner = &self.inner;
        if inner.worker.is_some() {
            return Ok(());
        }
        // Held until the cached keys are cleared, so that no other thread continues with outdated keys.
        let mut seen = inner.seen_version.lock().unwrap_or_else(PoisonError::into_inner);
        let version = inner.store.data_version()?;
        if seen.replace(version) != Some(version) {
            inner.key_cache.clear();
        }
        drop(seen);
        inner.index_dir.reload()?;
        inner.index_dir.index().reload()?;
        Ok(())
    }

    /// Returns the number of the latest change in the database.
    pub fn latest_change(&self) -> Result<u64> {
        self.inner.indexer.latest_change()
    }

    /// Returns the current index snapshot, without starting a database transaction.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.inner.index_dir.index().snapshot()
    }

    /// Rebuilds the index and swaps it in. A server on the same directory switches to the new index and
    /// continues. Returns the number of listings in it.
    pub fn reindex(&self, progress: &dyn crate::search::Progress) -> Result<u64> {
        let size = index_writer_size(&self.inner.settings);
        let path = self.inner.data_dir.join("index");
        let count = crate::search::rebuild_index(
            &path,
            &self.inner.indexer,
            size.memory_bytes,
            size.threads,
            progress,
        )?;
        self.update_index(self.latest_change()?, &())?;
        Ok(count)
    }

    /// Returns the cache of API keys.
    pub fn key_cache(&self) -> &KeyCache {
        &self.inner.key_cache
    }

    /// Returns the secret that signs blob URLs.
    pub fn blob_secret(&self) -> &[u8; 32] {
        &self.inner.blob_secret
    }

    /// Returns the store of the market's files.
    pub fn blobs(&self) -> &Blobs {
        &self.inner.blobs
    }

    /// Returns the number of SQL statements executed so far. The cost of a request is the difference.
    pub fn statement_count(&self) -> u64 {
        self.inner.store.statement_count()
    }

    /// Returns the notifier that wakes the background threads.
    pub fn background_notify(&self) -> &Notify {
        &self.inner.background_notify
    }

    /// Returns the settings of the market.
    pub fn settings(&self) -> &Settings {
        &self.inner.settings
    }

    /// Returns the clock of the market.
    pub fn clock(&self) -> &Clock {
        &self.inner.clock
    }

    /// Starts a stopwatch on the market's clock.
    pub fn stopwatch(&self) -> Stopwatch {
        Stopwatch::start(Arc::clone(&self.inner.clock))
    }

    /// Returns the program that child processes run.
    pub fn program(&self) -> &std::path::Path {
        &self.inner.program
    }

    /// Returns the data directory of the market.
    pub fn data_dir(&self) -> &std::path::Path {
        &self.inner.data_dir
    }
}

impl Inner {
    /// Runs a read operation with one of the read connections.
    fn read<T>(&self, permit: Permit, work: impl FnOnce(&Reader) -> Result<T>) -> Result<T> {
        let index = self.index_dir.index().snapshot();
        let result = self.store.read(|rows| work(&self.reader(rows, index)));
        drop(permit);
        result
    }

    fn reader<'a>(&'a self, rows: &'a store::Reader<'a>, index: Arc<Snapshot>) -> Reader<'a> {
        Reader { rows, index, now: self.clock.now(), settings: &self.settings, cursor_key: &self.cursor_key }
    }
}

/// Runs blocking work on a thread that does not serve requests.
async fn spawn_blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(panic) => Err(Error::internal(panic)),
    }
}

fn index_writer_size(settings: &Settings) -> WriterOptions {
    let threads = settings.index.writer_threads;
    WriterOptions { memory_bytes: settings.index.writer_memory_mb * 1_000_000 * threads, threads }
}

/// Returns the secret of this name, and creates it on first use.
fn find_or_create_secret(store: &Store, entropy: &Entropy, name: &str) -> Result<[u8; 32]> {
    if let Some(secret) = store.read(|rows| store::secrets::find(rows, name))? {
        return Ok(secret);
    }
    store.write(|rows| store::secrets::insert(rows, name, &entropy.random_secret()))?;
    let secret = store.read(|rows| store::secrets::find(rows, name))?;
    secret.ok_or_else(|| Error::internal(format!("the secret {name:?} was not stored")))
}

/// Records the asset kinds that have retired. They retire by the clock, so no write operation would record
/// it.
fn record_retirements(store: &Store, now: Timestamp) -> Result<bool> {
    let kinds = store.read(|rows| store::taxonomy::list_unprocessed_retirements(rows, now))?;
    for kind in &kinds {
        store.write(|rows| store::taxonomy::process_retirement(rows, *kind))?;
    }
    Ok(!kinds.is_empty())
}

/// Returns what the worker calls a few times a second. A call detects changes of other processes, records
/// retired asset kinds, stores when keys were used, and returns whether the index may lack a change.
fn periodic_check(
    store: Arc<Store>,
    key_cache: Arc<KeyCache>,
    clock: Arc<Clock>,
) -> impl Fn() -> Result<bool> + Send + 'static {
    let seen = Mutex::new(None);
    move || {
        let version = store.data_version()?;
        let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
        let is_changed = seen.replace(version) != Some(version);
        if is_changed {
            key_cache.clear();
        }
        key_cache.flush_uses(&store, clock.now())?;
        let is_retired = record_retirements(&store, clock.now())?;
        Ok(is_changed || is_retired)
    }
}
