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

#[cfg(test)]
mod tests {
    use super::*;

    /// An upgrade keeps the requests of earlier versions, which were executed without jobs.
    #[test]
    fn unfinished_refresh_of_an_earlier_version_gets_a_job() {
        const UPGRADE: &str = include_str!("migrations/0025_task_quality_refreshes.sql");
        let version = MIGRATIONS.iter().position(|migration| *migration == M::up(UPGRADE)).unwrap();
        let mut rows = Connection::open_in_memory().unwrap();
        let migrations = Migrations::from_slice(MIGRATIONS);
        migrations.to_version(&mut rows, version).unwrap();
        rows.execute_batch(
            "PRAGMA foreign_keys = OFF;
             INSERT INTO qc_refreshes (uuid, team, status, requested_at, finished_at, total, refreshed)
             VALUES (zeroblob(16), 4, 'completed', 10, 20, 5, 5),
                 (randomblob(16), 4, 'running', 30, NULL, 5, 2),
                 (randomblob(16), 6, 'queued', 40, NULL, 0, 0);
             INSERT INTO jobs (kind, subject, run_after, enqueued_at) VALUES ('sweep', 0, 50, 50);",
        )
        .unwrap();
        migrations.to_latest(&mut rows).unwrap();
        let sql = "SELECT kind, subject, queue, team, run_after FROM jobs ORDER BY run_after";
        let mut statement = rows.prepare(sql).unwrap();
        let jobs = statement
            .query_map([], |row| {
                let (kind, queue): (String, String) = (row.get(0)?, row.get(2)?);
                Ok((kind, row.get(1)?, queue, row.get(3)?, row.get(4)?))
            })
            .unwrap()
            .collect::<rusqlite::Result<Vec<(_, i64, _, i64, i64)>>>()
            .unwrap();
        let job = |kind: &str, subject, team, run_after| {
            (kind.to_owned(), subject, "updates".to_owned(), team, run_after)
        };
        let refresh = "refresh_task_quality";
        assert_eq!(jobs, [job(refresh, 2, 4, 30), job(refresh, 3, 6, 40), job("sweep", 0, 0, 50)]);
    }
}
