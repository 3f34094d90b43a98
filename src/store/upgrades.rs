//! Plans the migration of a database of an earlier version, copies it before the migration, and undoes the migration.

use std::{path::Path, sync::atomic::AtomicU64};

use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::{
    OpenError,
    connection_settings::{
        READ_ONLY_URI, configure_reader, reading_flags, uri_without_locks, write_ahead_log,
    },
    migrations, program_versions, snapshots, transaction,
};
use crate::error::{Error, Result};

/// A migration that a database lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PendingMigration {
    /// Its number and its subject.
    pub name: &'static str,
    /// Whether it can be undone. Undoing it keeps all data that the previous version knows. Data that only later
    /// versions know, such as values in columns that it adds, is dropped.
    pub is_reversible: bool,
}

/// The changes that opening a database would make.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Number of the last migration of the database.
    pub schema_version: usize,
    /// Size of the database in bytes.
    pub database_bytes: u64,
    /// The migrations that it lacks, in their order.
    pub pending: Vec<PendingMigration>,
}

impl Plan {
    /// Whether all pending migrations can be undone.
    pub fn is_reversible(&self) -> bool {
        self.pending.iter().all(|migration| migration.is_reversible)
    }
}

/// Returns the changes that opening the database at `path` would make; `None` if there is no database, or an empty one.
/// Changes nothing. Fails if a newer version created the database.
pub fn plan(path: &Path) -> std::result::Result<Option<Plan>, OpenError> {
    match OpenError::require_file(path) {
        Err(OpenError::Missing(_)) => return Ok(None),
        found => found?,
    }
    let connection = open_any_version(path).map_err(OpenError::unusable(path))?;
    let schema_version = program_versions::schema_version(&connection).map_err(OpenError::unusable(path))?;
    if schema_version == 0 {
        return Ok(None);
    }
    if schema_version > migrations::latest_version() {
        return Err(program_versions::newer_version(&connection, path));
    }
    let size = transaction::read_in_transaction(&connection, &AtomicU64::default(), snapshots::size_bytes);
    let database_bytes = size.map_err(OpenError::unusable(path))?;
    let pending = migrations::list_after(schema_version)
        .into_iter()
        .map(|(name, is_reversible)| PendingMigration { name, is_reversible })
        .collect();
    Ok(Some(Plan { schema_version, database_bytes, pending }))
}

/// Calls `visit` for each page of a database of any version, in order, as of one moment.
pub fn for_each_page(path: &Path, visit: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
    let connection = open_any_version(path)?;
    transaction::read_in_transaction(&connection, &AtomicU64::default(), |rows| {
        snapshots::for_each_page(rows, visit)
    })
}

/// The result of undoing migrations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undone {
    /// The migrations that were undone, last first.
    pub migrations: Vec<&'static str>,
    /// A version of the program that can use the database now.
    pub version: String,
}

/// Reverts an unused database to the schema of the version before the one that migrated it last. Fails if a migration cannot be
/// undone, or if no earlier version used the database.
pub fn undo(path: &Path) -> Result<Undone> {
    let mut connection = Connection::open(path)?;
    let current = program_versions::schema_version(&connection)?;
    if current > migrations::latest_version() {
        return Err(Error::Conflict(program_versions::newer_version(&connection, path).to_string()));
    }
    let Some((earlier, version)) = program_versions::find_before(&connection, current)? else {
        return Err(Error::Conflict(format!(
            "no earlier version of marketplace is known to have used {}",
            path.display()
        )));
    };
    let mut undone = migrations::list_after(earlier);
    undone.truncate(current - earlier);
    if let Some((name, _)) = undone.iter().find(|(_, is_reversible)| !is_reversible) {
        return Err(Error::Conflict(format!(
            "the migration {name} cannot be undone; put the copy of the database that was made before it in its place"
        )));
    }
    // This comes first, so that the command can be repeated after a failure between the two.
    program_versions::forget_after(&connection, earlier)?;
    migrations::undo(&mut connection, earlier).map_err(Error::internal)?;
    // Moves the change from the log to the file.
    connection.close().map_err(|(_, cause)| cause)?;
    Ok(Undone { migrations: undone.into_iter().rev().map(|(name, _)| name).collect(), version })
}

/// Opens a database of any version without changing it. If nothing uses it, its directory can be read-only, such as in a snapshot
/// of a file system.
fn open_any_version(path: &Path) -> rusqlite::Result<Connection> {
    let open = |name: &Path, flags: OpenFlags| -> rusqlite::Result<Connection> {
        let connection = Connection::open_with_flags(name, flags)?;
        configure_reader(&connection)?;
        // Only a read creates the files of the locks.
        connection.pragma_query_value(None, "schema_version", |_| Ok(()))?;
        Ok(connection)
    };
    let cannot_lock = |cause: &rusqlite::Error| {
        matches!(cause.sqlite_error_code(), Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly))
    };
    match open(path, reading_flags(path)) {
        Err(cause) if cannot_lock(&cause) && !write_ahead_log(path).exists() => {
            open(&uri_without_locks(path), READ_ONLY_URI)
        }
        opened => opened,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at_versions(path: &Path, schema: usize, versions: &[(usize, &str)]) {
        let mut connection = Connection::open(path).unwrap();
        migrations::migrate_to(&mut connection, schema).unwrap();
        for row in versions {
            let sql = "INSERT INTO program_versions (migration, version) VALUES (?1, ?2)";
            connection.execute(sql, *row).unwrap();
        }
    }

    #[test]
    fn schema_of_the_earlier_version_comes_back() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("market.sqlite");
        at_versions(&path, 59, &[(58, "0.1.0"), (59, "0.2.0")]);
        let undone = undo(&path).unwrap();
        let expected = Undone { migrations: vec!["0059_program_versions"], version: "0.1.0".to_owned() };
        assert_eq!(undone, expected);
        let plan = plan(&path).unwrap().unwrap();
        assert_eq!(plan.schema_version, 58);
        let first = PendingMigration { name: "0059_program_versions", is_reversible: true };
        assert_eq!(plan.pending[0], first);
        assert!(undo(&path).unwrap_err().message().contains("no earlier version"));
    }

    #[test]
    fn what_cannot_be_undone_stays() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("market.sqlite");
        at_versions(&path, 59, &[(57, "0.1.0"), (59, "0.2.0")]);
        let message = undo(&path).unwrap_err().message();
        assert!(message.contains("the migration 0058_operator_start cannot be undone"), "{message}");
        assert_eq!(plan(&path).unwrap().unwrap().schema_version, 59);
    }

    #[test]
    fn newer_database_names_the_version_that_it_needs() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("market.sqlite");
        at_versions(&path, migrations::latest_version(), &[(9000, "7.3.0")]);
        let connection = Connection::open(&path).unwrap();
        connection.pragma_update(None, "user_version", 9000).unwrap();
        let message = plan(&path).unwrap_err().to_string();
        assert!(message.contains("the database needs 7.3.0 or a later one"), "{message}");
        for unusual in ["x y", "\u{1b}[2J"] {
            connection.execute("UPDATE program_versions SET version = ?1", [unusual]).unwrap();
            let message = plan(&path).unwrap_err().to_string();
            assert!(message.contains("needs a later one, so"), "{message}");
        }
    }
}
