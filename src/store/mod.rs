//! All SQL: one file per resource, with the statements written out. Only those for rows with many columns are
//! composed (`columns`). No module above this one uses rusqlite.
//!
//! SQLite runs in WAL mode, with a pool of read-only connections and one write connection. Functions take a
//! [`Reader`] or a [`Writer`], so a write in a read transaction does not compile.

pub mod adjustments;
pub mod aggregates;
pub mod agreements;
pub mod announcements;
pub mod asset_details;
mod asset_rows;
pub mod assets;
pub mod attestation_log;
pub mod attestations;
pub mod audit;
pub mod balances;
pub mod bulk_changes;
mod bulk_settings;
pub mod bundle_entries;
pub mod bundle_tasks;
pub mod bundles;
pub mod catalog_entries;
pub mod changed_data;
pub mod clock_offset;
pub mod collected_events;
mod columns;
mod connection_settings;
mod connections;
pub mod continuations;
pub mod credit_purchases;
pub mod croissant;
mod damage;
pub mod data_structures;
mod derived_rows;
pub mod discarded_uploads;
pub mod due_steps;
pub mod earnings;
pub mod earnings_holds;
pub mod estimations;
pub mod event_retention;
pub mod events;
pub mod exclusive_sales;
mod failures;
pub mod figures;
pub mod fixture_references;
mod followed_file;
pub mod grants;
pub mod groups;
pub mod idempotency;
mod import_rules;
pub mod index_queue;
pub mod inventory;
pub mod jobs;
pub mod keys;
mod lease;
pub mod ledger;
pub mod listing_assets;
pub mod listing_bundles;
pub mod listing_history;
pub mod listing_quality;
pub mod listings;
pub mod maintenance;
pub mod market_facts;
pub mod migrations;
pub mod money_summaries;
pub mod nda_acceptances;
pub mod notifications;
pub mod offers;
mod open_error;
pub mod operator_search;
pub mod operator_start;
pub mod operator_uploads;
pub mod opportunities;
pub mod own_listings;
mod pooled_reader;
mod private_connection;
mod program_versions;
pub mod purchases;
pub mod quality_checks;
pub mod quality_reports;
pub mod quality_runs;
mod read_connections;
pub mod receipts;
pub mod record_filters;
pub mod records;
pub mod renderings;
pub mod review_queue;
pub mod reviews;
mod row;
pub mod sales;
pub mod secrets;
pub mod sessions;
pub mod signing_keys;
pub mod snapshots;
pub mod sort_changes;
mod sql_functions;
pub mod staged_records;
pub mod table_import;
pub mod table_rows;
mod table_schema;
pub mod task_changes;
pub mod task_imports;
pub mod task_quality;
pub mod task_quality_refreshes;
pub mod tasks;
pub mod tasksets;
pub mod taxonomy;
pub mod team_overviews;
pub mod teams;
pub mod trace_imports;
mod transaction;
pub mod upgrades;
pub mod upload_replies;
pub mod uploads;
pub mod usage;
pub mod vendor_attention;
pub mod verify;
pub mod wallet;
pub mod webhook_attempts;
pub mod webhook_deliveries;
pub mod webhooks;
pub mod withdrawals;

use std::{
    cell::{Cell, RefCell},
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU32, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use rusqlite::{Connection, OpenFlags};

pub use self::{
    bulk_settings::BulkGuard,
    failures::{has_failed, is_damage, is_of_machine, is_unique_violation, is_unreadable},
    followed_file::{FollowedFile, Follower},
    lease::{Lease, uptime},
    open_error::OpenError,
    pooled_reader::PooledReader,
    transaction::{Reader, Writer},
};
use self::{
    connection_settings::{
        READ_ONLY, READ_ONLY_URI, configure_reader, configure_writer, reading_flags, uri_without_locks,
    },
    connections::Connections,
    damage::Damage,
    derived_rows::{are_rows_missing, derive_missing_rows},
    private_connection::PrivateDatabase,
    read_connections::ReadConnections,
};
use crate::{
    domain::commit_position::CommitPosition,
    error::{Error, Result},
    idle_closer::IdleCloser,
    private_files,
};

/// Number of read connections in addition to those of the settings, which the market shares among requests
/// and jobs. They are for the thread that updates the index and for opening the market.
const OWN_READERS: u32 = 1;

/// Maximum wait of an operation for a write of another process, and minimum of this wait for a write that has
/// already waited for other writes of this process.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);
const MIN_BUSY_TIMEOUT: Duration = Duration::from_millis(100);

/// Number of pages in the log after which this process writes them into the database, if Litestream should do so before.
const CHECKPOINT_PAGES: i64 = 20_000;

/// Data that a database may lose when the machine (not only the process) fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// Loses no acknowledged write.
    Full,
    /// May lose everything. For temporary directories.
    None,
}

/// The SQLite database of one market.
#[derive(Debug)]
pub struct Store {
    connections: Connections,
    /// Number of statements prepared for execution so far.
    statement_count: Arc<AtomicU64>,
    /// Number of committed write transactions so far.
    commit_count: AtomicU64,
    /// Whether a statement has found the file damaged.
    damage: Damage,
    /// Whether each commit gets a position, for replicas.
    counts_positions: bool,
    /// Until when writes are permitted.
    lease: Lease,
    /// The last position that a commit of this process got.
    position: AtomicU32,
    /// The file, if another process keeps it current in place. Dropped after the connections.
    followed: Option<Arc<FollowedFile>>,
}

impl Store {
    /// Opens the database at `path`, creates it if it does not exist, and migrates it to the current schema.
    pub fn open(path: &Path, readers: u32, durability: Durability) -> std::result::Result<Store, OpenError> {
        // SQLite gives its other files the mode of this one.
        let mut options = private_files::open_options();
        options.write(true).create(true).truncate(false).open(path).map_err(OpenError::unusable(path))?;
        let mut writer = Connection::open(path).map_err(OpenError::unusable(path))?;
        configure_writer(&writer, durability).map_err(OpenError::unusable(path))?;
        migrations::migrate(&mut writer, path)?;
        let readers = open_readers(path, READ_ONLY, readers).map_err(OpenError::unusable(path))?;
        let mut store = Store::new(Connections::new(readers, writer));
        // Applies to every process that writes to a replicated database, regardless of its settings.
        if store
            .read(|rows| secrets::find(rows, secrets::POSITIONS))
            .map_err(OpenError::unusable(path))?
            .is_some()
        {
            store = store.counting_positions().map_err(OpenError::unusable(path))?;
        }
        // Check before taking the write lock, so that a command need not wait for a server that is writing.
        if store.read(are_rows_missing).map_err(OpenError::unusable(path))? {
            store.write(derive_missing_rows).map_err(OpenError::unusable(path))?;
        }
        Ok(store)
    }

    /// Opens the database at `path` read-only, without migrating it. SQLite rejects every write, also of its write
    /// connection.
    pub fn open_read_only(path: &Path, readers: u32) -> std::result::Result<Store, OpenError> {
        Store::open_existing(path, path, reading_flags(path), readers)
    }

    /// Like [`Store::open_read_only`], without locks, which are files in the directory of the database. If
    /// another process writes to the database, reads may fail or return a mixture of states, so callers check
    /// that it was not changed.
    pub fn open_unlocked(path: &Path, readers: u32) -> std::result::Result<Store, OpenError> {
        Store::open_existing(path, &uri_without_locks(path), READ_ONLY_URI, readers)
    }

    /// Opens the database at `path` read-only by a name, which can be a URI.
    fn open_existing(
        path: &Path,
        name: &Path,
        flags: OpenFlags,
        readers: u32,
    ) -> std::result::Result<Store, OpenError> {
        OpenError::require_file(path)?;
        let writer = Connection::open_with_flags(name, flags).map_err(OpenError::unusable(path))?;
        configure_reader(&writer).map_err(OpenError::unusable(path))?;
        migrations::check_current(&writer, path)?;
        let readers = open_readers(name, flags, readers).map_err(OpenError::unusable(path))?;
        let store = Store::new(Connections::new(readers, writer));
        if store.read(are_rows_missing).map_err(OpenError::unusable(path))? {
            return Err(OpenError::OlderVersion(path.to_owned()));
        }
        Ok(store)
    }

    /// Opens a database that another process keeps current in place, read-only. Fails if its schema is not that of this program.
    pub fn open_followed(
        path: &Path,
        readers: u32,
        file: Arc<FollowedFile>,
    ) -> std::result::Result<Store, OpenError> {
        let mut store = Store::open_existing(path, path, READ_ONLY, readers)?;
        store.followed = Some(file);
        Ok(store)
    }

    /// Whether another process keeps the database current; see [`Store::open_followed`].
    pub fn is_followed(&self) -> bool {
        self.followed.is_some()
    }

    /// Returns until when the server may write.
    pub const fn lease(&self) -> &Lease {
        &self.lease
    }

    /// Counts the commits from now on, so that replicas know their positions; see [`CommitPosition`]. Leaves checkpoints to Litestream,
    /// unless it does not keep up.
    pub fn counting_positions(self) -> Result<Store> {
        let position = self.read(|rows| Ok(rows.commit_position()?.0))?;
        self.position.store(position, Ordering::Release);
        self.connections.writer()?.pragma_update(None, "wal_autocheckpoint", CHECKPOINT_PAGES)?;
        Ok(Store { counts_positions: true, ..self })
    }

    /// Returns the position of the last commit of this process; `None` if they are not counted. After a write, it is that of
    /// the write or a later one.
    pub fn written_position(&self) -> Option<CommitPosition> {
        self.counts_positions.then(|| CommitPosition(self.position.load(Ordering::Acquire)))
    }

    /// Opens a copy of a database that has the current schema, and that nothing else uses. The file may be linked to others: it
    /// is not changed, and all writes go to its log. There is one connection for reads and writes, which is closed when it is
    /// idle, and may lose everything when the machine fails.
    pub fn open_private(path: &Path, idle_closer: IdleCloser) -> std::result::Result<Store, OpenError> {
        let unusable = |cause: Error| OpenError::unusable(path)(cause);
        let store = Store::new(Connections::Private(PrivateDatabase::new(path.to_owned(), idle_closer)));
        migrations::check_current(&*store.connections.writer().map_err(unusable)?, path)?;
        Ok(store)
    }

    /// Writes the log of a private database that is not open into its file, after a copy has replaced a link, if the log is
    /// so large that further copies and their opening would take longer for it.
    pub fn compact_private(path: &Path) -> Result<()> {
        private_connection::compact(path)
    }

    fn new(connections: Connections) -> Store {
        Store {
            connections,
            statement_count: Arc::default(),
            commit_count: AtomicU64::default(),
            damage: Damage::default(),
            counts_positions: false,
            lease: Lease::default(),
            position: AtomicU32::default(),
            followed: None,
        }
    }

    /// Runs `work` in one read transaction, so that all of its reads see the same snapshot. Waits until a
    /// connection is free.
    pub fn read<T>(&self, work: impl FnOnce(&Reader) -> Result<T>) -> Result<T> {
        let Some(file) = &self.followed else {
            let connection = self.connections.reader()?;
            return self.damage.note(transaction::read_in_transaction(
                &connection,
                &self.statement_count,
                work,
            ));
        };
        let begin = |first: &mut dyn FnMut(&Reader) -> Result<()>| {
            transaction::read_in_transaction(&*self.connections.reader()?, &self.statement_count, first)
        };
        // Before a read is found to be of one state, it may see a mixture, which looks like damage.
        file.read(begin, |reader| self.damage.note(work(reader)))
    }

    /// Whether a statement has found the file of the database damaged since it was opened.
    pub fn is_damaged(&self) -> bool {
        self.damage.is_known()
    }

    /// Returns a read connection if one is free now, and a read need not wait for an update of the file.
    pub fn try_reader(&self) -> Option<PooledReader> {
        if self.followed.is_some() {
            return None;
        }
        let connection = self.connections.try_reader()?;
        let (statement_count, damage) = (Arc::clone(&self.statement_count), self.damage.clone());
        Some(PooledReader { connection, statement_count, damage })
    }

    /// Returns the number of statements executed so far. Tests measure the cost of a request as the
    /// difference.
    pub fn statement_count(&self) -> u64 {
        self.statement_count.load(Ordering::Relaxed)
    }

    /// Returns the number of committed write transactions so far. The cost of a request is the difference.
    pub fn commit_count(&self) -> u64 {
        self.commit_count.load(Ordering::Relaxed)
    }

    /// Runs `work` in one write transaction, which is rolled back if `work` fails. Also returns the number of
    /// the last change to a listing that `work` queued for the index, if any.
    pub fn write<T>(&self, work: impl FnOnce(&Writer) -> Result<T>) -> Result<(T, Option<i64>)> {
        self.write_after(Duration::ZERO, work)
    }

    /// Like [`Store::write`], for a write that has waited for other writes of this process. It then waits for a
    /// write of another process for a shorter time. Otherwise, the last of many writes would wait for the sum of
    /// all their waits.
    pub fn write_after<T>(
        &self,
        waited: Duration,
        work: impl FnOnce(&Writer) -> Result<T>,
    ) -> Result<(T, Option<i64>)> {
        self.damage.note(self.write_now(waited, work))
    }

    fn write_now<T>(
        &self,
        waited: Duration,
        work: impl FnOnce(&Writer) -> Result<T>,
    ) -> Result<(T, Option<i64>)> {
        self.lease.check()?;
        let started = Instant::now();
        let mut connection = self.connections.writer()?;
        // The index and the cache of keys write without waiting for a turn.
        let waited = waited + started.elapsed();
        connection.busy_timeout(BUSY_TIMEOUT.saturating_sub(waited).max(MIN_BUSY_TIMEOUT))?;
        let transaction = connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
        let writer = Writer {
            reader: Reader { connection: &transaction, statement_count: &self.statement_count },
            last_change: Cell::new(None),
            queued_listings: RefCell::default(),
        };
        let result = work(&writer)?;
        let change = writer.last_change.get();
        let position = self.counts_positions.then(|| writer.advance_commit_position()).transpose()?;
        // The transaction may have waited.
        self.lease.check()?;
        transaction.commit()?;
        self.commit_count.fetch_add(1, Ordering::Relaxed);
        if let Some(position) = position {
            self.position.store(position.0, Ordering::Release);
        }
        connection.limit_log();
        Ok((result, change))
    }

    /// Returns a number that changes whenever another process commits.
    pub fn data_version(&self) -> Result<i64> {
        if self.is_private() {
            return Ok(0);
        }
        Ok(self.connections.writer()?.query_row("PRAGMA data_version", [], |row| row.get(0))?)
    }

    /// Runs `work` while nothing is written. The files of a private database do not change meanwhile.
    pub fn pause<T>(&self, work: impl FnOnce() -> T) -> Result<T> {
        let _connection = self.connections.writer()?;
        Ok(work())
    }

    /// Whether the database is [private](Store::open_private).
    pub fn is_private(&self) -> bool {
        matches!(self.connections, Connections::Private(_))
    }
}

fn open_readers(name: &Path, flags: OpenFlags, readers: u32) -> rusqlite::Result<Arc<ReadConnections>> {
    ReadConnections::open(name.to_owned(), flags, readers + OWN_READERS)
}

#[cfg(test)]
mod tests;
