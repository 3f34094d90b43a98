//! Schema migrations: numbered, append-only, and run when a database is opened.

use std::path::Path;

use rusqlite::Connection;
use rusqlite_migration::{Error, M, MigrationDefinitionError, Migrations};

use super::OpenError;

const MIGRATIONS: &[M<'static>] = &[
    M::up(include_str!("migrations/0001_teams.sql")),
    M::up(include_str!("migrations/0002_taxonomy.sql")),
    M::up(include_str!("migrations/0003_tasksets.sql")),
    M::up(include_str!("migrations/0004_assets.sql")),
    M::up(include_str!("migrations/0005_listings.sql")),
    M::up(include_str!("migrations/0006_quality.sql")),
    M::up(include_str!("migrations/0007_deals.sql")),
    M::up(include_str!("migrations/0008_opportunities.sql")),
    M::up(include_str!("migrations/0009_notifications.sql")),
    M::up(include_str!("migrations/0010_inventory.sql")),
    M::up(include_str!("migrations/0011_task_readings.sql")),
    M::up(include_str!("migrations/0012_idempotency.sql")),
    M::up(include_str!("migrations/0013_jobs.sql")),
    M::up(include_str!("migrations/0014_grants.sql")),
    M::up(include_str!("migrations/0015_checks.sql")),
    M::up(include_str!("migrations/0016_fair_jobs.sql")),
    M::up(include_str!("migrations/0017_usage.sql")),
    M::up(include_str!("migrations/0018_sort_changes.sql")),
    M::up(include_str!("migrations/0019_notified_opportunities.sql")),
    M::up(include_str!("migrations/0020_quality_and_inventory.sql")),
    M::up(include_str!("migrations/0021_latest_sort_changes.sql")),
    M::up(include_str!("migrations/0022_sort_keys.sql")),
    M::up(include_str!("migrations/0023_part_etags.sql")),
    M::up(include_str!("migrations/0025_task_quality_refreshes.sql")),
];

/// Runs all pending migrations. If one fails, none is applied.
pub(super) fn migrate(connection: &mut Connection, path: &Path) -> Result<(), OpenError> {
    Migrations::from_slice(MIGRATIONS).to_latest(connection).map_err(|error| match error {
        Error::MigrationDefinition(MigrationDefinitionError::DatabaseTooFarAhead) => {
            OpenError::NewerVersion(path.to_owned())
        }
        other => OpenError::unusable(path)(other),
    })
}

/// Returns an error if the schema of the database is not the current one.
pub(super) fn check_current(connection: &Connection, path: &Path) -> Result<(), OpenError> {
    match Migrations::from_slice(MIGRATIONS)
        .pending_migrations(connection)
        .map_err(OpenError::unusable(path))?
    {
        0 => Ok(()),
        1.. => Err(OpenError::OlderVersion(path.to_owned())),
        _ => Err(OpenError::NewerVersion(path.to_owned())),
    }
}

/// Returns the statements that create the current schema, as SQLite stores them.
pub fn schema(reader: &super::Reader) -> crate::error::Result<String> {
    const SQL: &str = "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY type DESC, name";
    Ok(reader.query_all(SQL, [], |row| row.get::<_, String>(0))?.join(";\n\n"))
}
