//! The bytes of the database as of one transaction, for backups and for copies of the market.

use std::{collections::BTreeMap, path::Path};

use rusqlite::Connection;

use super::Reader;
use crate::error::{Error, Result};

/// Returns the size of the database in bytes.
pub fn size_bytes(reader: &Reader) -> Result<u64> {
    const SQL: &str = "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size";
    reader.query_one(SQL, [], |row| row.get(0))
}

/// Returns numbers that never decrease while a market exists, by name. Their rows are never deleted, and the
/// number of the last job is never used again. An older state of the market has smaller ones.
pub fn counters(reader: &Reader) -> Result<BTreeMap<String, i64>> {
    const SQL: &str = "SELECT 'changes', coalesce(max(change), 0) FROM index_queue
         UNION ALL SELECT 'teams', coalesce(max(id), 0) FROM teams
         UNION ALL SELECT 'keys', coalesce(max(id), 0) FROM keys
         UNION ALL SELECT 'assets', coalesce(max(id), 0) FROM assets
         UNION ALL SELECT 'ledger_entries', coalesce(max(id), 0) FROM ledger_entries
         UNION ALL SELECT 'listing_history', coalesce(max(id), 0) FROM listing_history
         UNION ALL SELECT 'jobs', coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'jobs'";
    Ok(reader.query_all(SQL, [], |row| Ok((row.get(0)?, row.get(1)?)))?.into_iter().collect())
}

/// Calls `visit` for each page of the database file, in order, as of this transaction. Other connections may
/// write meanwhile; the write-ahead log cannot be truncated until the transaction ends.
pub fn for_each_page(reader: &Reader, mut visit: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
    let mut next = 1_i64;
    reader.for_each_row("SELECT pgno, data FROM sqlite_dbpage ORDER BY pgno", [], |row| {
        if row.get::<_, i64>(0)? != next {
            return Err(Error::internal(format!("page {next} of the database cannot be read")));
        }
        next += 1;
        visit(row.get_ref(1)?.as_blob().map_err(Error::internal)?)
    })
}

/// Deletes state that a copy of a server's market does not take over: the announcement, maintenance, and the seed of the current
/// signing key, including its traces in the file. No process may use the database, which is a copy.
pub fn delete_state_of_server(path: &Path) -> Result<()> {
    let connection = Connection::open(path)?;
    connection.pragma_update(None, "secure_delete", true)?;
    connection
        .execute_batch("DELETE FROM signing_secrets; DELETE FROM announcement; DELETE FROM maintenance")?;
    // Moves the changes from the log to the file.
    connection.close().map_err(|(_, cause)| cause.into())
}
