//! Whether the database is in order.

use super::Reader;
use crate::error::Result;

/// What SQLite finds damaged, and rows that point nowhere; nothing where all is well.
pub fn damage(reader: &Reader) -> Result<Vec<String>> {
    let mut found = reader.all("PRAGMA integrity_check", [], |row| row.get::<_, String>(0))?;
    found.retain(|line| line != "ok");
    found.extend(reader.all("PRAGMA foreign_key_check", [], |row| {
        let table: String = row.get(0)?;
        let parent: String = row.get(2)?;
        Ok(format!("a row of {table} points at a row of {parent} that is not there"))
    })?);
    Ok(found)
}

/// Ledger entries whose postings do not sum to zero, by their row numbers.
pub fn unbalanced_entries(reader: &Reader) -> Result<Vec<i64>> {
    const SQL: &str = "SELECT entry FROM ledger_postings GROUP BY entry HAVING sum(cents) <> 0 ORDER BY entry";
    reader.all(SQL, [], |row| row.get(0))
}

/// Row numbers of all listings, in order.
pub fn listing_numbers(reader: &Reader) -> Result<Vec<i64>> {
    reader.all("SELECT id FROM listings ORDER BY id", [], |row| row.get(0))
}
