//! The difference between the clock of the market and that of the system. It is set when the market is created, and never
//! changes.

use std::path::Path;

use rusqlite::Connection;

use super::Reader;
use crate::error::Result;

/// Returns the microseconds that the clock of the market is ahead of that of the system, negative if it is behind. `None` if
/// the market has the time of the system.
pub fn find(reader: &Reader) -> Result<Option<i64>> {
    reader.query_first("SELECT micros FROM clock_offset", [], |row| row.get(0))
}

/// Sets the difference in a database of the current version that no process uses. Nothing is synchronized with the disk.
pub fn set_in_file(path: &Path, micros: i64) -> Result<()> {
    const SQL: &str = "INSERT INTO clock_offset (id, micros) VALUES (1, ?1)
         ON CONFLICT (id) DO UPDATE SET micros = excluded.micros";
    let connection = Connection::open(path)?;
    connection.pragma_update(None, "synchronous", "OFF")?;
    connection.execute(SQL, [micros])?;
    // Moves the change from the log to the file.
    connection.close().map_err(|(_, cause)| cause.into())
}
