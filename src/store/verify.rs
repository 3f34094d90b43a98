//! Consistency checks of the database.

use super::Reader;
use crate::{
    domain::row_ids::{LedgerEntryRowId, ListingRowId},
    error::Result,
};

/// Returns messages about corruption that SQLite finds, and about violated foreign keys. Empty if there are
/// none.
pub fn find_corruption(reader: &Reader) -> Result<Vec<String>> {
    let mut found = reader.query_all("PRAGMA integrity_check", [], |row| row.get::<_, String>(0))?;
    found.retain(|line| line != "ok");
    found.extend(reader.query_all("PRAGMA foreign_key_check", [], |row| {
        let table: String = row.get(0)?;
        let parent: String = row.get(2)?;
        Ok(format!("a row of {table} references a missing row of {parent}"))
    })?);
    Ok(found)
}

/// Returns the row IDs of ledger entries whose postings do not sum to zero.
pub fn unbalanced_entries(reader: &Reader) -> Result<Vec<LedgerEntryRowId>> {
    const SQL: &str =
        "SELECT entry FROM ledger_postings GROUP BY entry HAVING sum(cents) <> 0 ORDER BY entry";
    reader.query_all(SQL, [], |row| row.get(0))
}

/// Returns the row IDs of all listings, in ascending order.
pub fn listing_row_ids(reader: &Reader) -> Result<Vec<ListingRowId>> {
    reader.query_all("SELECT id FROM listings ORDER BY id", [], |row| row.get(0))
}

/// Returns a digest of the rows of each table, by table name. Databases with equal contents have equal
/// digests. The table `secrets` is left out, since its contents are random.
#[cfg(test)]
pub fn table_digests(reader: &Reader) -> Result<std::collections::BTreeMap<String, u64>> {
    const TABLES: &str = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name <> 'secrets'";
    let tables: Vec<String> = reader.query_all(TABLES, [], |row| row.get(0))?;
    let mut digests = std::collections::BTreeMap::new();
    for table in tables {
        let mut hash = xxhash_rust::xxh3::Xxh3::new();
        let rows = reader.query_all(&format!("SELECT * FROM \"{table}\""), [], |row| {
            let count = row.as_ref().column_count();
            let values = (0..count).map(|column| Ok(format!("{:?}", row.get_ref(column)?)));
            values.collect::<rusqlite::Result<Vec<String>>>()
        })?;
        for value in rows.iter().flatten() {
            hash.update(value.as_bytes());
            hash.update(b"\0");
        }
        digests.insert(table, hash.digest());
    }
    Ok(digests)
}
