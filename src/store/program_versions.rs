//! Records which versions of the program migrated the schema.

use std::path::Path;

use rusqlite::{Connection, OptionalExtension};

use super::{OpenError, table_schema::has_table};

/// The table of versions.
const TABLE: &str = "program_versions";

/// The version of this program.
const THIS: &str = env!("CARGO_PKG_VERSION");

/// The name for all versions before versions were recorded.
const UNRECORDED: &str = "0.1.0";

/// Maximum length of a version in a message. A newer program may write anything.
const MAX_LENGTH: usize = 40;

/// Returns the number of the last migration of a database.
pub(super) fn schema_version(connection: &Connection) -> rusqlite::Result<usize> {
    connection.query_row("SELECT user_version FROM pragma_user_version", [], |row| row.get(0))
}

/// Records that this program uses the current schema, `latest`, unless a version is recorded for it. `earlier` is the
/// schema from which the database was migrated, or 0 for a new one.
pub(super) fn record(connection: &Connection, earlier: usize, latest: usize) -> rusqlite::Result<()> {
    const FIND: &str = "SELECT EXISTS (SELECT 1 FROM program_versions WHERE migration = ?1)";
    const INSERT: &str = "INSERT INTO program_versions (migration, version) VALUES (?1, ?2)";
    const INSERT_EARLIER: &str = "INSERT INTO program_versions (migration, version) SELECT ?1, ?2
         WHERE NOT EXISTS (SELECT 1 FROM program_versions WHERE migration <= ?1)";
    if connection.query_row(FIND, [latest], |row| row.get(0))? {
        return Ok(());
    }
    if (1..latest).contains(&earlier) {
        connection.execute(INSERT_EARLIER, (earlier, UNRECORDED))?;
    }
    connection.execute(INSERT, (latest, THIS)).map(|_| ())
}

/// Removes the records of schemas after this one.
pub(super) fn forget_after(connection: &Connection, migration: usize) -> rusqlite::Result<()> {
    const SQL: &str = "DELETE FROM program_versions WHERE migration > ?1";
    if has_table(connection, TABLE)? {
        connection.execute(SQL, [migration])?;
    }
    Ok(())
}

/// Returns the last schema before this one that a version used, and that version.
pub(super) fn find_before(
    connection: &Connection,
    migration: usize,
) -> rusqlite::Result<Option<(usize, String)>> {
    const SQL: &str = "SELECT migration, version FROM program_versions WHERE migration < ?1 ORDER BY migration DESC LIMIT 1";
    if !has_table(connection, TABLE)? {
        return Ok(None);
    }
    connection.query_row(SQL, [migration], |row| Ok((row.get(0)?, row.get(1)?))).optional()
}

/// Returns the error for a database whose schema is later than this program's.
pub(super) fn newer_version(connection: &Connection, path: &Path) -> OpenError {
    const SQL: &str = "SELECT version FROM program_versions ORDER BY migration DESC LIMIT 1";
    // Only a hint: a newer program may have another table.
    let found: Option<String> = connection.query_row(SQL, [], |row| row.get(0)).ok();
    let is_version = |text: &String| {
        text.len() <= MAX_LENGTH
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-+".contains(&byte))
    };
    // The version may be of an earlier schema, which this program knows.
    OpenError::NewerVersion {
        path: path.to_owned(),
        needed: found.filter(|text| is_version(text) && text != THIS),
    }
}
