//! A market: everything that one hangs off, and the two doors to it, `read` and `write`.
//!
//! The doors own the connection, the transaction, the thread that blocks, the commit, and the wait until the index shows
//! what was written. There is nothing global: a process can hold many markets.

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

/// The secret that signs cursors.
const CURSOR_SECRET: &str = "cursor";

/// The secret that signs addresses of blobs.
const BLOB_SECRET: &str = "blobs";

/// How long a command waits for the server on the same folder to show a change.
const SHOW_PATIENCE: Duration = Duration::from_mins(1);

/// A market. Clones are the same one.
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
    // Fields are dropped in this order: the worker stops before what it uses goes, and the lock goes last.
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
    /// The database's version that was seen last; for [`Market::look`].
    seen: Mutex<Option<i64>>,
    _lock: Option<ServeLock>,
}

/// What read operations take: rows and index of one instant, the time, and the settings.
pub struct Reader<'a> {
    /// The database, in one transaction.
    pub rows: &'a store::Reader<'a>,
    /// The index. It was taken before the transaction began, so every listing in it has its rows.
    pub index: Arc<Snapshot>,
    /// The time of the request.
    pub now: Timestamp,
    /// The settings.
    pub settings: &'a Settings,
    /// What signs cursors.
    pub cursor_key: &'a CursorKey,
}

/// What write operations take.
pub struct Writer<'a> {
    /// The database, in one transaction.
    pub rows: &'a store::Writer<'a>,
    /// The time of the request.
    pub now: Timestamp,
    /// The settings.
    pub settings: &'a Settings,
    /// Where ids come from.
    pub clock: &'a Clock,
    /// Where secrets come from.
    pub entropy: &'a Entropy,
    /// Whether a job was asked for.
    is_asked: Cell<bool>,
}

impl Writer<'_> {
    /// Asks for a job, which is due once this transaction is kept.
    pub fn enqueue(&self, kind: JobKind, subject: i64) -> Result<()> {
        self.wake();
        store::jobs::enqueue(self.rows, kind, subject, self.now)
    }

    /// Wakes whoever works in the background once this transaction is kept.
    pub fn wake(&self) {
        self.is_asked.set(true);
    }
}

impl Market {
    /// Opens the market of a folder, and makes it where there is none.
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

    /// Reads a few rows by their keys, on this thread if a connection is free: going to another thread and back costs
    /// several times what such a read does. Searches do not belong here.
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

    /// Reads, on a thread that may block.
    pub async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Reader) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let market = self.clone();
        unblocked(move || market.read_blocking(work)).await
    }

    /// Works on a thread that may block, with as many reads and writes as it takes.
    pub async fn work<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Market) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let market = self.clone();
        unblocked(move || work(&market)).await
    }

    /// Writes, on a thread that may block. Answers once the index shows what was written.
    pub async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Writer) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let market = self.clone();
        unblocked(move || market.write_blocking(work)).await
    }

    /// Reads, on this thread.
    pub fn read_blocking<T>(&self, work: impl FnOnce(&Reader) -> Result<T>) -> Result<T> {
        let inner = &self.inner;
        let index = inner.folder.index().snapshot();
        inner.store.read(|rows| work(&inner.reader(rows, index)))
    }

    /// Writes, on this thread. Answers once the index shows what was written.
    pub fn write_blocking<T>(&self, work: impl FnOnce(&mut Writer) -> Result<T>) -> Result<T> {
        let (answer, change) = self.write_unshown(work)?;
        if let Some(change) = change {
            self.show(change as u64)?;
        }
        Ok(answer)
    }

    /// Writes, on this thread, and leaves the index behind. Answers the last change that it then lacks.
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

    /// Begins to write a great many records, in transactions that are shown together at the end.
    pub fn fill(&self) -> Result<Filling<'_>> {
        Filling::begin(self)
    }

    /// Waits until the index shows a change. Without a worker in this process, it is carried over here, or by the server
    /// that has the folder, whichever holds the index's writer.
    fn show(&self, change: u64) -> Result<()> {
        match &self.inner.worker {
            Some(worker) => worker.show(change),
            None => self.carry_over(change, writer_size(&self.inner.settings), &()),
        }
    }

    /// Brings the index up to date in a command, or waits until the server on the same folder did.
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
                        "the change is kept, but the process that writes the search index does not take it up",
                    ));
                }
                Err(other) => return Err(other.into()),
            }
        }
    }

    /// Takes up what other processes wrote. A process that serves does so by itself; one that only reads calls this before
    /// it answers.
    pub fn look(&self) -> Result<()> {
        let inner = &self.inner;
        if inner.worker.is_some() {
            return Ok(());
        }
        // Held until the keys are forgotten, so that nobody goes on with those of before.
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

    /// The number of the latest change in the database.
    pub fn latest_change(&self) -> Result<u64> {
        self.inner.indexer.latest()
    }

    /// The index as it is now, without a database transaction.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.inner.folder.index().snapshot()
    }

    /// Builds a fresh index and swaps it in; a server on the same folder takes it up and goes on.
    pub fn reindex(&self, progress: &dyn crate::search::Progress) -> Result<u64> {
        let size = writer_size(&self.inner.settings);
        let path = self.inner.path.join("index");
        let count =
            crate::search::rebuild(&path, &self.inner.indexer, size.memory_bytes, size.threads, progress)?;
        self.catch_up(self.latest_change()?, &())?;
        Ok(count)
    }

    /// The keys that requests come with.
    pub fn keyring(&self) -> &Keyring {
        &self.inner.keyring
    }

    /// The secret that signs addresses of blobs.
    pub fn blob_secret(&self) -> &[u8; 32] {
        &self.inner.blob_secret
    }

    /// The files that the market keeps.
    pub fn blobs(&self) -> &Blobs {
        &self.inner.blobs
    }

    /// How many statements were carried out so far: what a request costs is the difference.
    pub fn statements(&self) -> u64 {
        self.inner.store.statements()
    }

    /// What wakes the work in the background.
    pub fn bell(&self) -> &Bell {
        &self.inner.bell
    }

    /// The settings.
    pub fn settings(&self) -> &Settings {
        &self.inner.settings
    }

    /// The clock.
    pub fn clock(&self) -> &Clock {
        &self.inner.clock
    }

    /// Measures from now on, by the market's clock.
    pub fn stopwatch(&self) -> Stopwatch {
        Stopwatch::start(Arc::clone(&self.inner.clock))
    }

    /// The market's folder.
    pub fn path(&self) -> &std::path::Path {
        &self.inner.path
    }
}

impl Inner {
    fn reader<'a>(&'a self, rows: &'a store::Reader<'a>, index: Arc<Snapshot>) -> Reader<'a> {
        Reader { rows, index, now: self.clock.now(), settings: &self.settings, cursor_key: &self.cursor_key }
    }
}

/// Runs blocking work beside the threads that serve requests.
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

/// The market's secret of this name, made when it is first asked for.
fn secret(store: &Store, entropy: &Entropy, name: &str) -> Result<[u8; 32]> {
    if let Some(secret) = store.read(|rows| store::secrets::find(rows, name))? {
        return Ok(secret);
    }
    store.write(|rows| store::secrets::insert(rows, name, &entropy.secret()))?;
    let secret = store.read(|rows| store::secrets::find(rows, name))?;
    secret.ok_or_else(|| Error::internal(format!("the secret {name:?} is not kept")))
}

/// Asset kinds retire by the clock, and nobody writes then; so somebody has to notice.
fn note_retirements(store: &Store, now: Timestamp) -> Result<bool> {
    let kinds = store.read(|rows| store::taxonomy::newly_retired(rows, now))?;
    for kind in &kinds {
        store.write(|rows| store::taxonomy::note_retirement(rows, *kind))?;
    }
    Ok(!kinds.is_empty())
}

/// What the worker does a few times a second, and answers whether the index may lack something: see what other processes
/// wrote, notice retirements, and keep when keys were used.
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
