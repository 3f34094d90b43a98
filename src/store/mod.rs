//! All SQL: one file a resource, statements written out. Nothing above this folder names rusqlite.
//!
//! SQLite in WAL mode: a pool of read-only connections and one writing connection. Functions take a [`Reader`] or a
//! [`Writer`], so that a write on the reading side does not compile.

pub mod assets;
pub mod deals;
pub mod estimations;
pub mod grants;
pub mod groups;
pub mod idempotency;
pub mod index_queue;
pub mod inventory;
pub mod jobs;
pub mod keys;
pub mod listing_assets;
pub mod listings;
pub mod migrations;
pub mod notifications;
pub mod opportunities;
pub mod qc_refreshes;
pub mod quality;
pub mod quality_runs;
pub mod renderings;
mod row;
pub mod secrets;
pub mod structures;
pub mod task_imports;
pub mod task_readings;
pub mod tasks;
pub mod taxonomy;
pub mod teams;
pub mod uploads;
pub mod verify;
pub mod wallet;

use std::{
    cell::{Cell, RefCell},
    collections::HashSet,
    ops::Deref,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use r2d2_sqlite::SqliteConnectionManager;
use rusqlite::{Connection, OpenFlags};

use crate::error::{Error, Result};

/// Prepared statements kept by each connection.
const STATEMENT_CACHE: usize = 128;

/// Memory in which the writing connection keeps pages, usually and while a great many records are written.
const CACHE_KIB: i64 = 32_000;
const BULK_CACHE_KIB: i64 = 256_000;

/// Pages of the write-ahead log after which it is folded into the database: SQLite's own number, and one for a great many
/// writes, in which the same pages change over and over.
const CHECKPOINT_PAGES: i64 = 1_000;
const BULK_CHECKPOINT_PAGES: i64 = 64_000;

/// SQLite's number for `synchronous = NORMAL`.
const SYNCHRONOUS_NORMAL: i64 = 1;

/// How connections that read are opened.
const READ_ONLY: OpenFlags = OpenFlags::SQLITE_OPEN_READ_ONLY.union(OpenFlags::SQLITE_OPEN_NO_MUTEX);

/// How many milliseconds a statement waits for another process's write.
const BUSY_MILLIS: u64 = 10_000;

impl From<rusqlite::Error> for Error {
    fn from(error: rusqlite::Error) -> Error {
        Error::Internal(format!("database: {error}"))
    }
}

/// The pool waits for a free connection as long as it may; then there is more to read than can be read.
impl From<r2d2::Error> for Error {
    fn from(error: r2d2::Error) -> Error {
        tracing::warn!(%error, "no connection to the database became free");
        Error::AtCapacity { retry_seconds: 1 }
    }
}

/// What a database may lose when the machine (not the process) dies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// Nothing that was acknowledged.
    Full,
    /// Everything: the folder is temporary.
    None,
}

/// Why a database cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// A newer program made it.
    #[error(
        "the database {0} was made by a newer version of marketplace; run that version, or point --data at another folder"
    )]
    Newer(PathBuf),
    /// An older program made it, and it was opened to be read only.
    #[error(
        "the database {0} was made by an older version of marketplace; run `marketplace verify` on its folder once, which brings it up to date"
    )]
    Older(PathBuf),
    /// It is not there, and was not to be made.
    #[error("there is no market in {0}; make one with `marketplace serve --data {0}` or `marketplace seed`")]
    Missing(PathBuf),
    /// It cannot be opened or is not a database.
    #[error("cannot open the database {path}: {cause}")]
    Unusable {
        /// The file.
        path: PathBuf,
        /// What SQLite says.
        cause: String,
    },
}

/// The database of one market.
#[derive(Debug)]
pub struct Store {
    readers: r2d2::Pool<SqliteConnectionManager>,
    writer: Mutex<Connection>,
    /// Statements carried out so far.
    statements: Arc<AtomicU64>,
}

impl Store {
    /// Opens the database at `path`, makes it where there is none, and brings its schema up to date.
    pub fn open(path: &Path, readers: u32, durability: Durability) -> std::result::Result<Store, OpenError> {
        let unusable = |cause: &dyn std::fmt::Display| OpenError::Unusable {
            path: path.to_owned(),
            cause: cause.to_string(),
        };
        let mut writer = Connection::open(path).map_err(|cause| unusable(&cause))?;
        prepare_writer(&writer, durability).map_err(|cause| unusable(&cause))?;
        migrations::run(&mut writer, path)?;
        let readers = pool(path, readers).map_err(|cause| unusable(&cause))?;
        let store = Store { readers, writer: Mutex::new(writer), statements: Arc::default() };
        // Asked before it is written: a command beside a server that writes need not wait.
        if store.read(inventory::is_postponed).map_err(|cause| unusable(&cause))? {
            store.write(catch_up).map_err(|cause| unusable(&cause))?;
        }
        Ok(store)
    }

    /// Opens the database at `path` as it is. Its writing connection cannot write either, so that SQLite itself refuses
    /// whatever would.
    pub fn open_to_read(path: &Path, readers: u32) -> std::result::Result<Store, OpenError> {
        let unusable = |cause: &dyn std::fmt::Display| OpenError::Unusable {
            path: path.to_owned(),
            cause: cause.to_string(),
        };
        if !path.is_file() {
            return Err(OpenError::Missing(path.parent().unwrap_or(path).to_owned()));
        }
        let mut writer = Connection::open_with_flags(path, READ_ONLY).map_err(|cause| unusable(&cause))?;
        prepare_reader(&mut writer).map_err(|cause| unusable(&cause))?;
        migrations::check(&writer, path)?;
        let readers = pool(path, readers).map_err(|cause| unusable(&cause))?;
        let store = Store { readers, writer: Mutex::new(writer), statements: Arc::default() };
        if store.read(inventory::is_postponed).map_err(|cause| unusable(&cause))? {
            return Err(OpenError::Older(path.to_owned()));
        }
        Ok(store)
    }

    /// Reads in one transaction: everything `work` sees is of one instant. Waits until a connection is free.
    pub fn read<T>(&self, work: impl FnOnce(&Reader) -> Result<T>) -> Result<T> {
        let connection = self.readers.get()?;
        read_on(&connection, &self.statements, work)
    }

    /// A connection to read on, if one is free now.
    pub fn free_reader(&self) -> Option<FreeReader> {
        let connection = self.readers.try_get()?;
        Some(FreeReader { connection, statements: Arc::clone(&self.statements) })
    }

    /// How many statements were carried out so far: what a request costs is the difference.
    pub fn statements(&self) -> u64 {
        self.statements.load(Ordering::Relaxed)
    }

    /// Writes in one transaction, which is undone where `work` fails. Answers the number of the last change to a listing
    /// that the index must hold, where `work` made one.
    pub fn write<T>(&self, work: impl FnOnce(&Writer) -> Result<T>) -> Result<(T, Option<i64>)> {
        let mut connection = self.lock_writer();
        let transaction = connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
        let writer = Writer {
            reader: Reader { connection: &transaction, statements: &self.statements },
            change: Cell::new(None),
            queued: RefCell::default(),
        };
        let answer = work(&writer)?;
        let change = writer.change.get();
        transaction.commit()?;
        Ok((answer, change))
    }

    /// A number that differs from an earlier one when another process has committed since.
    pub fn data_version(&self) -> Result<i64> {
        Ok(self.lock_writer().query_row("PRAGMA data_version", [], |row| row.get(0))?)
    }

    /// Lets SQLite fold its write-ahead log into the database, as far as no reader needs it.
    pub fn checkpoint(&self) -> Result<()> {
        self.lock_writer().query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
        Ok(())
    }

    /// Prepares for a great many writes, until the answer is dropped. A kill loses nothing that was committed; the death of
    /// the machine may lose the last transactions, but none in part.
    pub fn bulk(&self) -> Result<Bulk<'_>> {
        let connection = self.lock_writer();
        let synchronous: i64 = connection.query_row("PRAGMA synchronous", [], |row| row.get(0))?;
        let bulk = Bulk { store: self, synchronous };
        connection.pragma_update(None, "synchronous", synchronous.min(SYNCHRONOUS_NORMAL))?;
        connection.pragma_update(None, "wal_autocheckpoint", BULK_CHECKPOINT_PAGES)?;
        connection.pragma_update(None, "cache_size", -BULK_CACHE_KIB)?;
        Ok(bulk)
    }

    fn lock_writer(&self) -> MutexGuard<'_, Connection> {
        // A panic in a write rolled its transaction back, so the connection is as good as before.
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Connections that read.
fn pool(path: &Path, size: u32) -> std::result::Result<r2d2::Pool<SqliteConnectionManager>, r2d2::Error> {
    let manager = SqliteConnectionManager::file(path).with_flags(READ_ONLY).with_init(prepare_reader);
    r2d2::Pool::builder().max_size(size).min_idle(Some(1)).test_on_check_out(false).build(manager)
}

/// Derives what lists of assets read, where that was postponed or is new to the database.
fn catch_up(writer: &Writer) -> Result<()> {
    task_readings::read_missing(writer)?;
    inventory::catch_up(writer)
}

/// A connection that was free to read on.
pub struct FreeReader {
    connection: r2d2::PooledConnection<SqliteConnectionManager>,
    statements: Arc<AtomicU64>,
}

impl FreeReader {
    /// Reads in one transaction, as [`Store::read`] does.
    pub fn read<T>(&self, work: impl FnOnce(&Reader) -> Result<T>) -> Result<T> {
        read_on(&self.connection, &self.statements, work)
    }
}

fn read_on<T>(
    connection: &Connection,
    statements: &AtomicU64,
    work: impl FnOnce(&Reader) -> Result<T>,
) -> Result<T> {
    connection.prepare_cached("BEGIN")?.execute([])?;
    let answer = work(&Reader { connection, statements });
    connection.prepare_cached("COMMIT")?.execute([])?;
    answer
}

/// A store that is prepared for a great many writes.
#[derive(Debug)]
pub struct Bulk<'s> {
    store: &'s Store,
    synchronous: i64,
}

impl Drop for Bulk<'_> {
    fn drop(&mut self) {
        let connection = self.store.lock_writer();
        // These only tune; a connection on which they fail works as it did.
        let _ = connection.pragma_update(None, "synchronous", self.synchronous);
        let _ = connection.pragma_update(None, "wal_autocheckpoint", CHECKPOINT_PAGES);
        let _ = connection.pragma_update(None, "cache_size", -CACHE_KIB);
    }
}

fn prepare_writer(connection: &Connection, durability: Durability) -> rusqlite::Result<()> {
    connection.busy_timeout(std::time::Duration::from_millis(BUSY_MILLIS))?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    let synchronous = match durability {
        Durability::Full => "FULL",
        Durability::None => "OFF",
    };
    connection.pragma_update(None, "synchronous", synchronous)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "cache_size", -CACHE_KIB)?;
    connection.set_prepared_statement_cache_capacity(STATEMENT_CACHE);
    Ok(())
}

fn prepare_reader(connection: &mut Connection) -> rusqlite::Result<()> {
    connection.busy_timeout(std::time::Duration::from_millis(BUSY_MILLIS))?;
    connection.pragma_update(None, "query_only", true)?;
    connection.pragma_update(None, "cache_size", -16_000)?;
    // Reads come from the page cache of the system without a copy.
    connection.pragma_update(None, "mmap_size", 1_i64 << 40)?;
    connection.set_prepared_statement_cache_capacity(STATEMENT_CACHE);
    Ok(())
}

/// A transaction that reads.
#[derive(Debug)]
pub struct Reader<'c> {
    connection: &'c Connection,
    statements: &'c AtomicU64,
}

/// A transaction that writes; it reads, too.
#[derive(Debug)]
pub struct Writer<'c> {
    reader: Reader<'c>,
    /// The number of the last change to a listing.
    change: Cell<Option<i64>>,
    /// Row numbers of the listings that were queued for the index in this transaction.
    queued: RefCell<HashSet<i64>>,
}

impl<'c> Deref for Writer<'c> {
    type Target = Reader<'c>;

    fn deref(&self) -> &Reader<'c> {
        &self.reader
    }
}

impl Reader<'_> {
    /// A statement to carry out once. It is kept for the next time.
    fn prepare(&self, sql: &str) -> Result<rusqlite::CachedStatement<'_>> {
        self.statements.fetch_add(1, Ordering::Relaxed);
        Ok(self.connection.prepare_cached(sql)?)
    }

    /// The first row that a statement answers.
    fn first<T>(
        &self,
        sql: &str,
        parameters: impl rusqlite::Params,
        read: impl FnOnce(&rusqlite::Row) -> rusqlite::Result<T>,
    ) -> Result<Option<T>> {
        use rusqlite::OptionalExtension;
        Ok(self.prepare(sql)?.query_row(parameters, read).optional()?)
    }

    /// The one row that a statement always answers.
    fn one<T>(
        &self,
        sql: &str,
        parameters: impl rusqlite::Params,
        read: impl FnOnce(&rusqlite::Row) -> rusqlite::Result<T>,
    ) -> Result<T> {
        Ok(self.prepare(sql)?.query_row(parameters, read)?)
    }

    /// Every row that a statement answers.
    fn all<T>(
        &self,
        sql: &str,
        parameters: impl rusqlite::Params,
        read: impl FnMut(&rusqlite::Row) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>> {
        let mut statement = self.prepare(sql)?;
        let rows = statement.query_map(parameters, read)?.collect::<rusqlite::Result<Vec<T>>>()?;
        Ok(rows)
    }

    /// Shows every row that a statement answers, one at a time.
    fn each(
        &self,
        sql: &str,
        parameters: impl rusqlite::Params,
        mut show: impl FnMut(&rusqlite::Row) -> Result<()>,
    ) -> Result<()> {
        let mut statement = self.prepare(sql)?;
        let mut rows = statement.query(parameters)?;
        while let Some(row) = rows.next()? {
            show(row)?;
        }
        Ok(())
    }
}

impl Writer<'_> {
    /// Executes a statement and answers how many rows it changed.
    fn execute(&self, sql: &str, parameters: impl rusqlite::Params) -> Result<usize> {
        Ok(self.prepare(sql)?.execute(parameters)?)
    }

    /// Executes an insertion and answers the new row's number.
    fn insert(&self, sql: &str, parameters: impl rusqlite::Params) -> Result<i64> {
        Ok(self.prepare(sql)?.insert(parameters)?)
    }
}
