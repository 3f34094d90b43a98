//! The connection of a private database: a copy that nothing else uses, and whose file may be linked to others.
//!
//! SQLite never writes to that file. Every write stays in the log, which a checkpoint would copy into it. So there are no
//! automatic checkpoints; once the log is large, the link is replaced by a copy. By default, SQLite identifies locks by the
//! file, so two links would block each other. Therefore, the connection uses no locks, and is the only one.

use std::{
    ffi::OsString,
    fs::{self, Metadata},
    io,
    ops::{Deref, DerefMut},
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use rusqlite::{Connection, OpenFlags, config::DbConfig, ffi};

use super::connection_settings::prepare_for_statements;
use crate::{
    error::{Error, ErrorChain, Result},
    idle_closer::{CloseWhenIdle, IdleCloser},
};

/// SQLite's access to files without locks.
const UNLOCKED_FILES: &str = "unix-none";

/// Page cache in KiB. It only holds pages of the log, since pages of the file are memory-mapped.
const CACHE_KIB: i64 = 2_000;

/// Size of the log in bytes from which it is checkpointed.
const MAX_LOG_BYTES: u64 = 16_000_000;

/// Size of the log in bytes from which [`compact`] writes it, and the share of the file that it must have.
const COMPACT_BYTES: u64 = 1_000_000;
const COMPACT_SHARE: u64 = 32;

/// How long an operation waits for the connection.
const MAX_WAIT: Duration = Duration::from_secs(30);

/// A database that only this value uses.
#[derive(Debug)]
pub(super) struct PrivateDatabase {
    path: PathBuf,
    idle_closer: IdleCloser,
    itself: Weak<PrivateDatabase>,
    state: Mutex<State>,
    returned: Condvar,
    /// Whether the connection was used since the idle closer looked at it.
    is_used: AtomicBool,
}

#[derive(Debug, Default)]
struct State {
    /// The connection, if it is open and not in use.
    free: Option<Connection>,
    is_in_use: bool,
}

/// The connection while it is in use. Dropping it returns it.
#[derive(Debug)]
pub(super) struct PrivateConnection {
    database: Arc<PrivateDatabase>,
    /// `None` only while it is dropped, or after an error of opening it again.
    connection: Option<Connection>,
}

impl PrivateDatabase {
    pub(super) fn new(path: PathBuf, idle_closer: IdleCloser) -> Arc<PrivateDatabase> {
        Arc::new_cyclic(|itself| PrivateDatabase {
            path,
            idle_closer,
            itself: Weak::clone(itself),
            state: Mutex::default(),
            returned: Condvar::new(),
            is_used: AtomicBool::default(),
        })
    }

    /// Returns the connection if it is not in use.
    pub(super) fn try_get(self: &Arc<Self>) -> Option<PrivateConnection> {
        self.take(self.lock())?.ok()
    }

    /// Returns the connection. Waits until it is not in use.
    pub(super) fn get(self: &Arc<Self>) -> Result<PrivateConnection> {
        let waited = self.returned.wait_timeout_while(self.lock(), MAX_WAIT, |state| state.is_in_use);
        match self.take(waited.unwrap_or_else(PoisonError::into_inner).0) {
            Some(connection) => Ok(connection?),
            None => {
                tracing::warn!("the connection of a private database did not become free");
                Err(Error::AtCapacity { retry_seconds: 1 })
            }
        }
    }

    /// Takes the connection, and opens it if it is closed; `None` if it is in use.
    fn take(self: &Arc<Self>, mut state: MutexGuard<State>) -> Option<rusqlite::Result<PrivateConnection>> {
        if state.is_in_use {
            return None;
        }
        state.is_in_use = true;
        self.is_used.store(true, Ordering::Relaxed);
        let mut taken = PrivateConnection { database: Arc::clone(self), connection: state.free.take() };
        drop(state);
        if taken.connection.is_none() {
            match connect(&self.path) {
                Ok(connection) => taken.connection = Some(connection),
                Err(error) => return Some(Err(error)),
            }
            let itself: Weak<PrivateDatabase> = Weak::clone(&self.itself);
            self.idle_closer.watch(itself);
        }
        Some(Ok(taken))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn give_back(&self, connection: Option<Connection>) {
        let mut state = self.lock();
        state.free = connection;
        state.is_in_use = false;
        drop(state);
        self.returned.notify_one();
    }
}

impl CloseWhenIdle for PrivateDatabase {
    fn close_if_idle(&self) -> bool {
        let mut state = self.lock();
        if self.is_used.swap(false, Ordering::Relaxed) || state.is_in_use {
            return false;
        }
        let connection = state.free.take();
        // Another connection may be opened only when this one is closed.
        state.is_in_use = true;
        drop(state);
        drop(connection);
        self.give_back(None);
        true
    }
}

impl PrivateConnection {
    /// Limits the size of the log after a transaction: copies the log into the database file. If the file is a link, a copy
    /// replaces it first. A failure does not affect the committed data.
    pub(super) fn limit_log(&mut self) {
        let path = &self.database.path;
        let log_bytes = fs::metadata(log_path(path)).map_or(0, |log| log.len());
        if log_bytes < MAX_LOG_BYTES {
            return;
        }
        let limited = match fs::metadata(path) {
            Ok(file) if !is_linked(&file) => checkpoint(self),
            Ok(file) if log_bytes < file.len() => Ok(()),
            Ok(_) => self.replace_link(),
            Err(cause) => Err(Error::internal(cause)),
        };
        if let Err(cause) = limited {
            tracing::error!(cause = %ErrorChain(&cause), "the log of a private database cannot be made smaller");
        }
    }

    /// Replaces the link by a copy, which is then the database's own file.
    fn replace_link(&mut self) -> Result<()> {
        let path = self.database.path.clone();
        // The name of the log stays, and so does its content.
        self.connection = None;
        let replaced = copy_in_place(&path);
        self.connection = Some(connect(&path)?);
        replaced.map_err(Error::internal)?;
        checkpoint(self)
    }
}

impl Deref for PrivateConnection {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        self.connection.as_ref().expect("it is only taken when it is dropped")
    }
}

impl DerefMut for PrivateConnection {
    fn deref_mut(&mut self) -> &mut Connection {
        self.connection.as_mut().expect("it is only taken when it is dropped")
    }
}

impl Drop for PrivateConnection {
    fn drop(&mut self) {
        self.database.give_back(self.connection.take());
    }
}

/// See [`Store::compact_private`](super::Store::compact_private).
pub(super) fn compact(path: &Path) -> Result<()> {
    let log_bytes = fs::metadata(log_path(path)).map_or(0, |log| log.len());
    let file = fs::metadata(path).map_err(Error::internal)?;
    if log_bytes < COMPACT_BYTES.max(file.len() / COMPACT_SHARE) {
        return Ok(());
    }
    if is_linked(&file) {
        copy_in_place(path).map_err(Error::internal)?;
    }
    checkpoint(&connect(path)?)
}

fn checkpoint(connection: &Connection) -> Result<()> {
    Ok(connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?)
}

fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags_and_vfs(path, flags, UNLOCKED_FILES)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    // Set before the file is read: then the index of the log is in memory, and needs no file.
    let mode: String = connection.query_row("PRAGMA locking_mode = EXCLUSIVE", [], |row| row.get(0))?;
    let journal: String = connection.query_row("PRAGMA journal_mode", [], |row| row.get(0))?;
    if mode != "exclusive" || journal != "wal" {
        // Without a log, writes would change the file.
        let message = format!("the database has the journal mode {journal}, and the locking mode {mode}");
        return Err(rusqlite::Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_CANTOPEN), Some(message)));
    }
    prepare_for_statements(&connection)?;
    connection.pragma_update(None, "wal_autocheckpoint", 0)?;
    connection.pragma_update(None, "synchronous", "OFF")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "cache_size", -CACHE_KIB)?;
    connection.pragma_update(None, "mmap_size", 1_i64 << 40)?;
    Ok(connection)
}

fn is_linked(file: &Metadata) -> bool {
    file.nlink() > 1
}

fn copy_in_place(path: &Path) -> io::Result<()> {
    let copy = with_suffix(path, "-copy");
    fs::copy(path, &copy)?;
    fs::rename(&copy, path)
}

fn log_path(path: &Path) -> PathBuf {
    with_suffix(path, "-wal")
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{Durability, Store, secrets};

    /// Creates a database, and links to it.
    fn linked(names: [&str; 2]) -> (tempfile::TempDir, PathBuf, [Store; 2], IdleCloser) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("market.sqlite");
        drop(Store::open(&path, 1, Durability::None).unwrap());
        let closer = IdleCloser::default();
        let stores = names.map(|name| {
            let link = directory.path().join(name);
            fs::hard_link(&path, &link).unwrap();
            Store::open_private(&link, closer.clone()).unwrap()
        });
        (directory, path, stores, closer)
    }

    fn find(store: &Store, name: &str) -> Option<[u8; 32]> {
        store.read(|rows| secrets::find(rows, name)).unwrap()
    }

    fn insert(store: &Store, name: &str) {
        store.write(|writer| secrets::insert(writer, name, &[1; 32])).unwrap();
    }

    #[test]
    fn links_share_only_what_they_were_created_with() {
        let (_directory, path, [one, other], closer) = linked(["one", "other"]);
        let before = fs::read(&path).unwrap();
        insert(&one, "of one");
        insert(&other, "of the other");
        for _ in 0..2 {
            assert_eq!((find(&one, "of one"), find(&one, "of the other")), (Some([1; 32]), None));
            assert_eq!((find(&other, "of one"), find(&other, "of the other")), (None, Some([1; 32])));
            // Another connection finds the written data.
            closer.close_all();
            assert_eq!(closer.open_count(), 0);
        }
        insert(&one, "later");
        drop((one, other));
        assert_eq!(fs::read(&path).unwrap(), before);
    }

    #[test]
    fn large_log_gets_a_file_of_its_own() {
        let (directory, path, [one, other], _) = linked(["one", "other"]);
        let before = fs::read(&path).unwrap();
        let fill = |writer: &crate::store::Writer| {
            writer.execute("CREATE TABLE filling (bytes BLOB)", [])?;
            writer.execute("INSERT INTO filling VALUES (zeroblob(?1))", [MAX_LOG_BYTES])?;
            secrets::insert(writer, "large", &[1; 32])
        };
        one.write(fill).unwrap();
        let link = directory.path().join("one");
        assert!(!is_linked(&fs::metadata(&link).unwrap()), "the file is a copy");
        assert_eq!(fs::metadata(log_path(&link)).unwrap().len(), 0);
        assert_eq!((find(&one, "large"), find(&other, "large")), (Some([1; 32]), None));
        one.write(|writer| writer.execute("UPDATE filling SET bytes = zeroblob(17000000)", [])).unwrap();
        assert_eq!(fs::metadata(log_path(&link)).unwrap().len(), 0);
        assert_eq!(fs::read(&path).unwrap(), before);
    }

    #[test]
    fn compact_database_has_no_log() {
        let (directory, path, [one, other], _) = linked(["one", "other"]);
        let before = fs::read(&path).unwrap();
        insert(&one, "small");
        one.write(|writer| {
            writer.execute("CREATE TABLE filling (bytes BLOB)", [])?;
            writer.execute("INSERT INTO filling VALUES (zeroblob(?1))", [COMPACT_BYTES])
        })
        .unwrap();
        insert(&other, "small");
        drop((one, other));
        for (name, is_compacted) in [("one", true), ("other", false)] {
            let link = directory.path().join(name);
            Store::compact_private(&link).unwrap();
            assert_eq!(fs::metadata(log_path(&link)).unwrap().len() == 0, is_compacted);
            assert_eq!(is_linked(&fs::metadata(&link).unwrap()), !is_compacted);
            let store = Store::open_private(&link, IdleCloser::default()).unwrap();
            assert_eq!(find(&store, "small"), Some([1; 32]));
        }
        assert_eq!(fs::read(&path).unwrap(), before);
    }

    #[test]
    fn connection_that_is_in_use_is_not_closed() {
        let (_directory, _, [one, other], closer) = linked(["one", "other"]);
        let reader = one.try_reader().unwrap();
        assert!(one.try_reader().is_none());
        closer.close_all();
        assert_eq!(closer.open_count(), 1, "the other one is closed");
        assert_eq!(reader.read(|rows| secrets::find(rows, "none")).unwrap(), None);
        drop(reader);
        closer.close_all();
        assert_eq!(closer.open_count(), 0);
        insert(&other, "again");
        assert_eq!(find(&other, "again"), Some([1; 32]));
    }
}
