//! The bytes of the database as of one transaction, for backups.

use super::Reader;
use crate::error::{Error, Result};

/// Returns the size of the database in bytes.
pub fn size_bytes(reader: &Reader) -> Result<u64> {
    const SQL: &str = "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size";
    reader.query_one(SQL, [], |row| row.get(0))
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
