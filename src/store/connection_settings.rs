//! How connections to the database are configured.

use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags, config::DbConfig};

use super::{BUSY_TIMEOUT, Durability, sql_functions};

/// Number of prepared statements that each connection caches.
pub const STATEMENT_CACHE_CAPACITY: usize = 128;

/// Page cache of the write connection in KiB.
pub const CACHE_KIB: i64 = 32_000;

/// Flags with which read connections are opened.
pub const READ_ONLY: OpenFlags = OpenFlags::SQLITE_OPEN_READ_ONLY.union(OpenFlags::SQLITE_OPEN_NO_MUTEX);

/// The same for the name of a database that is a URI.
pub const READ_ONLY_URI: OpenFlags = READ_ONLY.union(OpenFlags::SQLITE_OPEN_URI);

/// Flags with which connections are opened that could write, but are configured not to. If the file is read-only, so are
/// they.
pub const READ_WRITE: OpenFlags = OpenFlags::SQLITE_OPEN_READ_WRITE.union(OpenFlags::SQLITE_OPEN_NO_MUTEX);

/// Registers the functions of statements, and lets each statement be planned once. Without the guarantee of stable plans,
/// SQLite would plan many statements for each execution again, since the value of a parameter could make a partial index
/// useful.
pub fn prepare_for_statements(connection: &Connection) -> rusqlite::Result<()> {
    sql_functions::register(connection)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.set_prepared_statement_cache_capacity(STATEMENT_CACHE_CAPACITY);
    Ok(())
}

/// Configures the connection that writes.
pub fn configure_writer(connection: &Connection, durability: Durability) -> rusqlite::Result<()> {
    prepare_for_statements(connection)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    let synchronous = match durability {
        Durability::Full => "FULL",
        Durability::None => "OFF",
    };
    connection.pragma_update(None, "synchronous", synchronous)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "cache_size", -CACHE_KIB)?;
    Ok(())
}

/// Returns the flags for opening a database that is only read.
pub fn reading_flags(path: &Path) -> OpenFlags {
    // The last connection that could write deletes the files that exist while a database is in use.
    if write_ahead_log(path).exists() { READ_ONLY } else { READ_WRITE }
}

/// Returns the path of the log that exists while a process uses a database.
pub fn write_ahead_log(database: &Path) -> PathBuf {
    let mut path = database.as_os_str().to_owned();
    path.push("-wal");
    path.into()
}

/// Returns the URI by which a database is opened with [`READ_ONLY_URI`] without locks, which are files in its directory.
pub fn uri_without_locks(path: &Path) -> PathBuf {
    let mut uri = "file:".to_owned();
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' => {
                uri.push(char::from(*byte));
            }
            other => uri.extend(["%".to_owned(), format!("{other:02x}")]),
        }
    }
    uri.push_str("?immutable=1");
    uri.into()
}

/// Configures a connection that reads.
pub fn configure_reader(connection: &Connection) -> rusqlite::Result<()> {
    prepare_for_statements(connection)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.pragma_update(None, "query_only", true)?;
    connection.pragma_update(None, "cache_size", -16_000)?;
    // Memory-mapped reads come from the page cache of the operating system without a copy.
    connection.pragma_update(None, "mmap_size", 1_i64 << 40)?;
    Ok(())
}
