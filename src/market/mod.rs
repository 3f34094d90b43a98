//! A market: the state of one running instance, and the two entry points to it, `read` and `write`.
//!
//! The entry points own the connection, the transaction, the blocking thread, the commit, and the wait until
//! the search index contains the change. There is no global state: a process can hold many markets.

mod bell;
mod filling;
mod keyring;
mod lock;
mod opening;

use std::{
    cell::Cell,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use marketplace_index::{CursorKey, Snapshot};

pub use bell::Bell;
pub use filling::Filling;
pub use keyring::{Holder, Keyring};
pub use lock::ServeLock;
pub use opening::{OpenError, Opening, Purpose};

use crate::{
    blobs::{Blobs, S3},
    clock::{Clock, Entropy, Stopwatch},
    config::{BlobKind, Settings},
    domain::{jobs::JobKind, time::Timestamp},
    error::{Error, Result},
    search::{Folder, Indexer, Worker, WriterSize},
    store::{self, Store},
};

/// Name of the secret that signs cursors.
const CURSOR_SECRET: &str = "cursor";

/// Name of the secret that signs blob URLs.
const BLOB_SECRET: &str = "blobs";

/// How long a command waits until the server on the same directory has indexed a change.
const SHOW_PATIENCE: Duration = Duration::from_mins(1);

/// A handle on a market. Clones refer to the same market.
#[derive(Clone)]
pub struct Market {
    inner: Arc<Inner>,
}

impl std::fmt::Debug for Market {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Market({})", self.inner.path.display())
    }
}

struct Inner {
    // Fields are dropped in this order: the worker stops before anything that it uses is dropped; the lock
    // goes last.
    worker: Option<Worker>,
    indexer: Indexer,
    folder: Arc<Folder>,
    store: Arc<Store>,
    keyring: Arc<Keyring>,
    clock: Arc<Clock>,
    entropy: Entropy,
    cursor_key: CursorKey,
    blob_secret: [u8; 32],
    settings: Settings,
    bell: Bell,
    blobs: Blobs,
    path: PathBuf,
    /// The database version seen by the last [`Market::look`].
    seen: Mutex<Option<i64>>,
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
    is_asked: Cell<bool>,
}

impl Writer<'_> {
    /// Enqueues a job. It is due as soon as this transaction is committed.
    pub fn enqueue(&self, kind: JobKind, subject: i64) -> Result<()> {
        self.wake();
        store::jobs::enqueue(self.rows, kind, subject, self.now)
    }

    /// Wakes the background threads after this transaction is committed.
    pub fn wake(&self) {
        self.is_asked.set(true);
    }
}

impl Market {
    /// Opens the market in a directory. Creates it if there is none, unless the purpose is [`Purpose::Read`].
    pub fn open(opening: Opening) -> std::result::Result<Market, OpenError> {
        let Opening { folder: path, settings, clock, entropy, durability, purpose, renderer } = opening;
        let unusable = |cause| OpenError::Folder { path: path.clone(), cause };
        if purpose != Purpose::Read {
            std::fs::create_dir_all(&path).map_err(unusable)?;
        }
        let lock = match purpose {
            Purpose::Serve => Some(ServeLock::take(&path)?),
            Purpose::Command | Purpose::Read => None,
        };
        let (database, readers) = (path.join("market.sqlite"), settings.data.readers);
        let store = Arc::new(match purpose {
            Purpose::Read => Store::open_to_read(&database, readers)?,
            Purpose::Serve | Purpose::Command => Store::open(&database, readers, durability)?,
        });
        let cursor_key = CursorKey::new(secret(&store, &entropy, CURSOR_SECRET)?);
        let blob_secret = secret(&store, &entropy, BLOB_SECRET)?;
        let folder = Arc::new(match purpose {
            Purpose::Read => Folder::open_as_it_is(&path.join("index"))?,
            Purpose::Serve | Purpose::Command => Folder::open(&path.join("index"))?,
        });
        let indexer = Indexer::new(Arc::clone(&store), Arc::clone(&clock), renderer);
        let keyring = Arc::new(Keyring::new(settings.keys.allow_fixture_keys));
        if purpose != Purpose::Read {
            note_retirements(&store, clock.now())?;
        }
        let worker = match purpose {
            Purpose::Serve => {
                let look = look(Arc::clone(&store), Arc::clone(&keyring), Arc::clone(&clock));
                Some(Worker::start(indexer.clone(), Arc::clone(&folder), writer_size(&settings), look)?)
            }
            Purpose::Command | Purpose::Read => None,
        };
        let s3 = (settings.blobs.kind == BlobKind::S3).then(|| S3::new(&settings.blobs)).transpose();
        let blobs = Blobs::new(path.join("blobs"), s3.map_err(|cause| OpenError::Blobs(cause.to_string()))?);
        let inner = Inner {
            worker,
            indexer,
            folder,
            store,
            keyring,
            clock,
            entropy,
            cursor_key,
            blob_secret,
            settings,
            bell: Bell::default(),
            blobs,
            path,
            seen: Mutex::default(),
            _lock: lock,
        };
        Ok(Market { inner: Arc::new(inner) })
    }

    /// Runs a read of a few rows by key on the current thread if a connection is free. Switching to a
    /// blocking thread and back would cost several times as much as the read itself. Don't use this for
    /// searches.
    pub async fn glance<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Reader) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        match self.inner.store.free_reader() {
            Some(free) => {
                let index = self.snapshot();
                free.read(|rows| work(&self.inner.reader(rows, index)))
            }
            None => self.read(work).await,
        }
    }

    /// Runs a read operation on a blocking thread.
    pub async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Reader) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let market = self.clone();
        unblocked(move || market.read_blocking(work)).await
    }

    /// Runs blocking work on a blocking thread, with any number of reads and writes.
    pub async fn work<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Market) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let market = self.clone();
        unblocked(move || work(&market)).await
    }

    /// Runs a write operation on a blocking thread. Returns when the index contains the change.
    pub async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Writer) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let market = self.clone();
        unblocked(move || market.write_blocking(work)).await
    }

    /// Runs a read operation on the current thread.
    pub fn read_blocking<T>(&self, work: impl FnOnce(&Reader) -> Result<T>) -> Result<T> {
        let inner = &self.inner;
        let index = inner.folder.index().snapshot();
        inner.store.read(|rows| work(&inner.reader(rows, index)))
    }

    /// Runs a write operation on the current thread. Returns when the index contains the change.
    pub fn write_blocking<T>(&self, work: impl FnOnce(&mut Writer) -> Result<T>) -> Result<T> {
        let (answer, change) = self.write_unshown(work)?;
        if let Some(change) = change {
            self.show(change as u64)?;
        }
        Ok(answer)
    }

    /// Runs a write operation without updating the index. Also returns the last change that the index now
    /// lacks.
    fn write_unshown<T>(&self, work: impl FnOnce(&mut Writer) -> Result<T>) -> Result<(T, Option<i64>)> {
        let inner = &self.inner;
        let is_asked = Cell::new(false);
        let written = inner.store.write(|rows| {
            let mut writer = Writer {
                rows,
                now: inner.clock.now(),
                settings: &inner.settings,
                clock: &inner.clock,
                entropy: &inner.entropy,
                is_asked: Cell::new(false),
            };
            let answer = work(&mut writer);
            is_asked.set(writer.is_asked.get());
            answer
        })?;
        inner.keyring.forget();
        if is_asked.get() {
            inner.bell.ring();
        }
        Ok(written)
    }

    /// Starts a bulk write of many records. Its transactions become visible in the index together, at the
    /// end.
    pub fn fill(&self) -> Result<Filling<'_>> {
        Filling::begin(self)
    }

    /// Waits until the index contains a change. If this process has no worker, then either this process
    /// applies the change or the server on the same directory does, depending on which of them holds the
    /// index writer.
    fn show(&self, change: u64) -> Result<()> {
        match &self.inner.worker {
            Some(worker) => worker.show(change),
            None => self.carry_over(change, writer_size(&self.inner.settings), &()),
        }
    }

    /// Updates the index from a command, or waits until the server on the same directory has done so.
    pub fn catch_up(&self, change: u64, progress: &dyn crate::search::Progress) -> Result<()> {
        self.carry_over(change, writer_size(&self.inner.settings), progress)
    }

    fn carry_over(
        &self,
        change: u64,
        size: WriterSize,
        progress: &dyn crate::search::Progress,
    ) -> Result<()> {
        let inner = &self.inner;
        let patience = std::time::Instant::now() + SHOW_PATIENCE;
        loop {
            inner.folder.follow()?;
            let index = inner.folder.index();
            index.reload()?;
            if index.snapshot().change() >= change {
                return Ok(());
            }
            match index.writer(size.memory_bytes, size.threads) {
                Ok(mut writer) => {
                    inner.indexer.drain(&index, &mut writer, progress)?;
                    writer.finish()?;
                }
                Err(marketplace_index::Error::Busy) if std::time::Instant::now() < patience => {
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
    pub fn look(&self) -> Result<()> {
        let inner = &self.inner;
        if inner.worker.is_some() {
            return Ok(());
        }
        // Held until the cached keys are cleared, so that no other thread continues with outdated keys.
        let mut seen = inner.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let version = inner.store.data_version()?;
        if seen.replace(version) != Some(version) {
            inner.keyring.forget();
        }
        drop(seen);
        inner.folder.follow()?;
        inner.folder.index().reload()?;
        Ok(())
    }

    /// Returns the number of the latest change in the database.
    pub fn latest_change(&self) -> Result<u64> {
        self.inner.indexer.latest()
    }

    /// Returns the current index snapshot, without starting a database transaction.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.inner.folder.index().snapshot()
    }

    /// Rebuilds the index and swaps it in. A server on the same directory switches to the new index and
    /// continues. Returns the number of listings in it.
    pub fn reindex(&self, progress: &dyn crate::search::Progress) -> Result<u64> {
        let size = writer_size(&self.inner.settings);
        let path = self.inner.path.join("index");
        let count =
            crate::search::rebuild(&path, &self.inner.indexer, size.memory_bytes, size.threads, progress)?;
        self.catch_up(self.latest_change()?, &())?;
        Ok(count)
    }

    /// Returns the cache of API keys.
    pub fn keyring(&self) -> &Keyring {
        &self.inner.keyring
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
    pub fn statements(&self) -> u64 {
        self.inner.store.statements()
    }

    /// Returns the notifier that wakes the background threads.
    pub fn bell(&self) -> &Bell {
        &self.inner.bell
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

    /// Returns the data directory of the market.
    pub fn path(&self) -> &std::path::Path {
        &self.inner.path
    }
}

impl Inner {
    fn reader<'a>(&'a self, rows: &'a store::Reader<'a>, index: Arc<Snapshot>) -> Reader<'a> {
        Reader { rows, index, now: self.clock.now(), settings: &self.settings, cursor_key: &self.cursor_key }
    }
}

/// Runs blocking work on a thread that does not serve requests.
async fn unblocked<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    match tokio::task::spawn_blocking(work).await {
        Ok(answer) => answer,
        Err(panic) => Err(Error::internal(panic)),
    }
}

fn writer_size(settings: &Settings) -> WriterSize {
    let threads = settings.index.writer_threads;
    WriterSize { memory_bytes: settings.index.writer_memory_mb * 1_000_000 * threads, threads }
}

/// Returns the secret of this name, and creates it on first use.
fn secret(store: &Store, entropy: &Entropy, name: &str) -> Result<[u8; 32]> {
    if let Some(secret) = store.read(|rows| store::secrets::find(rows, name))? {
        return Ok(secret);
    }
    store.write(|rows| store::secrets::insert(rows, name, &entropy.secret()))?;
    let secret = store.read(|rows| store::secrets::find(rows, name))?;
    secret.ok_or_else(|| Error::internal(format!("the secret {name:?} was not stored")))
}

/// Records the asset kinds that have retired. They retire by the clock, so no write operation would record
/// it.
fn note_retirements(store: &Store, now: Timestamp) -> Result<bool> {
    let kinds = store.read(|rows| store::taxonomy::newly_retired(rows, now))?;
    for kind in &kinds {
        store.write(|rows| store::taxonomy::note_retirement(rows, *kind))?;
    }
    Ok(!kinds.is_empty())
}

/// Returns what the worker calls a few times a second. A call detects changes of other processes, records
/// retired asset kinds, stores when keys were used, and returns whether the index may lack a change.
fn look(
    store: Arc<Store>,
    keyring: Arc<Keyring>,
    clock: Arc<Clock>,
) -> impl Fn() -> Result<bool> + Send + 'static {
    let seen = Mutex::new(None);
    move || {
        let version = store.data_version()?;
        let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
        let is_changed = seen.replace(version) != Some(version);
        if is_changed {
            keyring.forget();
        }
        keyring.keep_uses(&store, clock.now())?;
        let is_retired = note_retirements(&store, clock.now())?;
        Ok(is_changed || is_retired)
    }
}
