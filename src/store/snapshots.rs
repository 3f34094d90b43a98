//! The bytes of the database as of one transaction, for backups and for copies of the market.

use std::{collections::BTreeMap, path::Path};

use rusqlite::{Connection, functions::FunctionFlags};
use sha2::{Digest, Sha256};

use super::{Reader, secrets::ORIGIN};
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

/// Deletes state that a copy of a server's market does not take over: the announcement, maintenance, the seed of the current
/// signing key, and stored responses, which can contain keys. All other secrets that sign are replaced by others that are derived
/// from them, so that nobody mistakes what the copy has signed for something of the server. The file keeps no traces. No process
/// may use the database, which is a copy.
pub fn delete_state_of_server(path: &Path) -> Result<()> {
    let connection = Connection::open(path)?;
    connection.pragma_update(None, "secure_delete", true)?;
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    connection.create_scalar_function("derived", 1, flags, |call| {
        let secret: Option<Vec<u8>> = call.get(0)?;
        Ok(secret.map(|secret| Sha256::new_with_prefix("copy").chain_update(secret).finalize().to_vec()))
    })?;
    connection.execute_batch(&format!(
        "DELETE FROM signing_secrets; DELETE FROM announcement; DELETE FROM maintenance; DELETE FROM idempotency_keys;
         UPDATE secrets SET value = derived(value);
         INSERT OR IGNORE INTO secrets (name, value) SELECT '{ORIGIN}', derived(value) FROM secrets WHERE name = 'blobs';
         UPDATE webhooks SET secret = derived(secret), previous_secret = derived(previous_secret),
             id_secret = derived(id_secret) WHERE deleted_at IS NULL"
    ))?;
    // Moves the changes from the log to the file.
    connection.close().map_err(|(_, cause)| cause.into())
}
