//! Read and write transactions, with the few ways in which this module's files execute SQL.

use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
    ops::Deref,
    sync::atomic::{AtomicU64, Ordering},
};

use rusqlite::Connection;

use crate::{
    domain::{commit_position::CommitPosition, row_ids::ListingRowId},
    error::{ErrorChain, Result},
};

/// A read transaction.
#[derive(Debug)]
pub struct Reader<'c> {
    pub(super) connection: &'c Connection,
    pub(super) statement_count: &'c AtomicU64,
}

/// A write transaction. It dereferences to a [`Reader`].
#[derive(Debug)]
pub struct Writer<'c> {
    pub(super) reader: Reader<'c>,
    /// Number of the last change to a listing that this transaction queued.
    pub(super) last_change: Cell<Option<i64>>,
    /// The listings that this transaction queued for the index, with the numbers of their changes.
    pub(super) queued_listings: RefCell<BTreeMap<ListingRowId, i64>>,
}

impl<'c> Deref for Writer<'c> {
    type Target = Reader<'c>;

    fn deref(&self) -> &Reader<'c> {
        &self.reader
    }
}

impl Reader<'_> {
    /// Prepares a statement, or takes it from the cache, and counts it.
    pub(super) fn prepare(&self, sql: &str) -> Result<rusqlite::CachedStatement<'_>> {
        self.statement_count.fetch_add(1, Ordering::Relaxed);
        Ok(self.connection.prepare_cached(sql)?)
    }

    /// Returns the position of the database in the order of commits; 0 if they are not counted.
    pub fn commit_position(&self) -> Result<CommitPosition> {
        // SQLite stores the number as a signed one.
        let number: i32 = self.query_one("PRAGMA application_id", [], |row| row.get(0))?;
        Ok(CommitPosition(number.cast_unsigned()))
    }

    /// Returns the first row of a query, if there is one.
    pub(super) fn query_first<T>(
        &self,
        sql: &str,
        parameters: impl rusqlite::Params,
        read: impl FnOnce(&rusqlite::Row) -> rusqlite::Result<T>,
    ) -> Result<Option<T>> {
        use rusqlite::OptionalExtension;
        Ok(self.prepare(sql)?.query_row(parameters, read).optional()?)
    }

    /// Returns the first row of a query that always returns one. No row is an error.
    pub(super) fn query_one<T>(
        &self,
        sql: &str,
        parameters: impl rusqlite::Params,
        read: impl FnOnce(&rusqlite::Row) -> rusqlite::Result<T>,
    ) -> Result<T> {
        Ok(self.prepare(sql)?.query_row(parameters, read)?)
    }

    /// Returns all rows of a query.
    pub(super) fn query_all<T>(
        &self,
        sql: &str,
        parameters: impl rusqlite::Params,
        read: impl FnMut(&rusqlite::Row) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>> {
        let mut statement = self.prepare(sql)?;
        let rows = statement.query_map(parameters, read)?.collect::<rusqlite::Result<Vec<T>>>()?;
        Ok(rows)
    }

    /// Calls `visit` for each row of a query.
    pub(super) fn for_each_row(
        &self,
        sql: &str,
        parameters: impl rusqlite::Params,
        mut visit: impl FnMut(&rusqlite::Row) -> Result<()>,
    ) -> Result<()> {
        let mut statement = self.prepare(sql)?;
        let mut rows = statement.query(parameters)?;
        while let Some(row) = rows.next()? {
            visit(row)?;
        }
        Ok(())
    }
}

impl Writer<'_> {
    /// Returns the listings that this transaction has queued for the index so far, with the numbers of their
    /// changes.
    pub fn queued_listings(&self) -> Vec<(ListingRowId, i64)> {
        self.queued_listings.borrow().iter().map(|(listing, change)| (*listing, *change)).collect()
    }

    /// Executes a statement.
    pub(super) fn run(&self, sql: &str, parameters: impl rusqlite::Params) -> Result<()> {
        self.execute(sql, parameters).map(drop)
    }

    /// Executes a statement and returns the number of changed rows.
    pub(super) fn execute(&self, sql: &str, parameters: impl rusqlite::Params) -> Result<usize> {
        Ok(self.prepare(sql)?.execute(parameters)?)
    }

    /// Runs `work` so that its changes are undone if it fails. The outer error is that of undoing them.
    pub fn in_savepoint<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<Result<T>> {
        let last_change = self.last_change.get();
        self.execute("SAVEPOINT work", [])?;
        let result = work();
        if let Err(error) = result {
            // SQLite ends the whole transaction after some errors, such as a full disk.
            if self.connection.is_autocommit() {
                return Err(error);
            }
            self.execute("ROLLBACK TO work", [])?;
            self.execute("RELEASE work", [])?;
            self.last_change.set(last_change);
            // Change numbers increase. A listing that was queued before and again is found in the database.
            self.queued_listings.borrow_mut().retain(|_, change| Some(*change) <= last_change);
            return Ok(Err(error));
        }
        self.execute("RELEASE work", [])?;
        Ok(result)
    }

    /// Executes an insertion and returns the row ID of the new row.
    pub(super) fn insert(&self, sql: &str, parameters: impl rusqlite::Params) -> Result<i64> {
        Ok(self.prepare(sql)?.insert(parameters)?)
    }
}

impl Writer<'_> {
    /// Gives this transaction the next position. Pragmas take no parameters.
    pub(super) fn advance_commit_position(&self) -> Result<CommitPosition> {
        let next = self.commit_position()?.next();
        self.connection.pragma_update(None, "application_id", next.0.cast_signed())?;
        Ok(next)
    }
}

/// Runs `work` in one read transaction, so that all of its reads see the same snapshot.
pub(super) fn read_in_transaction<T>(
    connection: &Connection,
    statements: &AtomicU64,
    work: impl FnOnce(&Reader) -> Result<T>,
) -> Result<T> {
    connection.prepare_cached("BEGIN")?.execute([])?;
    let _open = OpenRead(connection);
    let result = work(&Reader { connection, statement_count: statements });
    let ended = connection.prepare_cached("COMMIT")?.execute([]);
    // After a damaged page, SQLite ends the transaction with an error, which must not replace what `work` returned.
    if !connection.is_autocommit() {
        ended?;
    }
    result
}

/// Ends a read transaction on drop if nothing else has ended it, such as after a panic. A connection that
/// returned to the pool with an open transaction would fail all later reads.
struct OpenRead<'c>(&'c Connection);

impl Drop for OpenRead<'_> {
    fn drop(&mut self) {
        if !self.0.is_autocommit()
            && let Err(error) = self.0.execute_batch("ROLLBACK")
        {
            tracing::error!(cause = %ErrorChain(&error), "a read transaction cannot be ended");
        }
    }
}
