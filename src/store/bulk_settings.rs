//! Settings of the write connection for bulk writes: many transactions, or one large one.

use super::{Store, connection_settings::CACHE_KIB};
use crate::error::Result;

/// Page cache of the write connection in KiB for bulk writes.
const BULK_CACHE_KIB: i64 = 256_000;

/// Number of pages in the write-ahead log that triggers a checkpoint: SQLite's default, and a larger one for
/// bulk writes, which change the same pages repeatedly.
const CHECKPOINT_PAGES: i64 = 1_000;
const BULK_CHECKPOINT_PAGES: i64 = 64_000;

/// SQLite's numeric value for `synchronous = NORMAL`.
const SYNCHRONOUS_NORMAL: i64 = 1;

impl Store {
    /// Configures the write connection for bulk writes until the returned guard is dropped. If the process is
    /// killed, no committed transaction is lost; if the machine fails, the last transactions may be lost, but
    /// never in part.
    pub fn start_bulk(&self) -> Result<BulkGuard<'_>> {
        let bulk = self.start_large_transaction()?;
        if self.is_private() {
            return Ok(bulk);
        }
        let connection = self.connections.writer()?;
        connection.pragma_update(None, "synchronous", bulk.synchronous.min(SYNCHRONOUS_NORMAL))?;
        connection.pragma_update(None, "wal_autocheckpoint", BULK_CHECKPOINT_PAGES)?;
        connection.pragma_update(None, "cache_size", -BULK_CACHE_KIB)?;
        drop(connection);
        Ok(bulk)
    }

    /// Configures the write connection for one large transaction until the returned guard is dropped. The
    /// transaction is as durable as any other.
    pub fn start_large_transaction(&self) -> Result<BulkGuard<'_>> {
        let synchronous = self.connections.writer()?.query_row("PRAGMA synchronous", [], |row| row.get(0))?;
        // Dropped after the connection if a setting fails, since it locks that, too.
        let bulk = BulkGuard { store: self, synchronous };
        let connection = self.connections.writer()?;
        // Pages that a statement changes are copied, so that it can be undone. Once a single statement has
        // changed more than 64 kB, the copies of all later ones go to a file, one by one.
        connection.pragma_update(None, "temp_store", "MEMORY")?;
        drop(connection);
        Ok(bulk)
    }
}

/// Guard that restores the normal settings of the write connection after bulk writes, or after a large
/// transaction.
#[derive(Debug)]
pub struct BulkGuard<'s> {
    store: &'s Store,
    synchronous: i64,
}

impl BulkGuard<'_> {
    /// Frees the page cache of bulk writes, for writes that change few pages at a time.
    pub fn shrink_cache(&self) -> Result<()> {
        if !self.store.is_private() {
            self.store.connections.writer()?.pragma_update(None, "cache_size", -CACHE_KIB)?;
        }
        Ok(())
    }
}

impl Drop for BulkGuard<'_> {
    fn drop(&mut self) {
        // These settings only affect performance, so an error can be ignored.
        let Ok(connection) = self.store.connections.writer() else { return };
        let _ = connection.pragma_update(None, "temp_store", "DEFAULT");
        // A private database has its own settings, and is not checkpointed automatically.
        if !self.store.is_private() {
            let _ = connection.pragma_update(None, "synchronous", self.synchronous);
            let _ = connection.pragma_update(None, "wal_autocheckpoint", CHECKPOINT_PAGES);
            let _ = connection.pragma_update(None, "cache_size", -CACHE_KIB);
        }
    }
}
