//! Prepares a copy of a database to continue the market. IDs of events and other values that the original has used since the copy
//! was made must not get a second meaning. Copies for worlds do not continue a market, and must be reproducible, so they are not
//! prepared here.

use std::path::Path;

use rusqlite::Connection;

use super::{
    events, program_versions,
    secrets::{COPY_SECRET, POSITIONS},
    table_schema::has_table,
};
use crate::{clock::Entropy, domain::time::Timestamp, error::Result};

/// The first schema version whose programs accept gaps in the IDs of events.
const FIRST_WITH_SKIPPED_IDS: usize = 64;

/// How a copy continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Continuation {
    /// As another copy; the original may continue, too. Sessions are deleted, and backups of the copy do not replace backups of the
    /// original.
    Restore,
    /// As the same market, in place of an original that has ended.
    Promotion,
    /// Like `Promotion`, with the program version of the original.
    Downgrade,
}

/// Prepares a copy, which may be of an earlier version, and which no process may use. `now` is the system time.
pub fn prepare(path: &Path, continuation: Continuation, now: Timestamp, entropy: &Entropy) -> Result<()> {
    let mut connection = Connection::open(path)?;
    let schema_version = program_versions::schema_version(&connection)?;
    let rows = connection.transaction()?;
    // The original may have published later heads of the log.
    if has_table(&rows, "attestation_logs")? {
        rows.execute("UPDATE attestation_logs SET is_ended = 1", [])?;
    }
    // The IDs of messages are derived from this secret and the IDs of events.
    if has_table(&rows, "webhooks")? {
        replace_id_secrets(&rows, entropy)?;
    }
    let has_earlier_program =
        continuation == Continuation::Downgrade && schema_version < FIRST_WITH_SKIPPED_IDS;
    if has_table(&rows, "events")? {
        if has_earlier_program {
            // An earlier program expects no gaps. A restore with this program may have skipped IDs, so this undoes it.
            const CONTINUE: &str =
                "UPDATE sqlite_sequence SET seq = coalesce((SELECT max(id) FROM events), 0)
                 WHERE name = 'events'";
            rows.execute(CONTINUE, [])?;
        } else {
            skip_event_ids(&rows, now)?;
        }
    }
    // Makes positions of changes that the copy lacks invalid. A database without the secret has no positions.
    rows.execute("UPDATE secrets SET value = ?2 WHERE name = ?1", (POSITIONS, entropy.random_secret()))?;
    if continuation == Continuation::Restore {
        const REPLACE: &str = "INSERT INTO secrets (name, value) VALUES (?1, ?2)
             ON CONFLICT (name) DO UPDATE SET value = excluded.value";
        rows.execute(REPLACE, (COPY_SECRET, entropy.random_secret()))?;
        if has_table(&rows, "sessions")? {
            rows.execute("DELETE FROM sessions", [])?;
        }
    }
    rows.commit()?;
    // Moves the changes from the log to the file.
    connection.close().map_err(|(_, cause)| cause.into())
}

/// Replaces the secrets from which the IDs of messages to webhooks are derived. Pending messages keep their IDs.
fn replace_id_secrets(rows: &Connection, entropy: &Entropy) -> rusqlite::Result<()> {
    let mut statement = rows.prepare("SELECT id FROM webhooks")?;
    let webhooks = statement.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<Vec<i64>>>()?;
    for webhook in webhooks {
        let secret = entropy.random_secret();
        rows.execute("UPDATE webhooks SET id_secret = ?2 WHERE id = ?1", (webhook, secret))?;
    }
    Ok(())
}

/// Skips the IDs of events that the original may have used.
fn skip_event_ids(rows: &Connection, now: Timestamp) -> rusqlite::Result<()> {
    const LAST: &str = "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'events'";
    let last = events::last_skipped_id(rows.query_row(LAST, [], |row| row.get(0))?, now);
    if rows.execute("UPDATE sqlite_sequence SET seq = ?1 WHERE name = 'events'", [last])? == 0 {
        rows.execute("INSERT INTO sqlite_sequence (name, seq) VALUES ('events', ?1)", [last])?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{Durability, Store, migrations};

    /// Prepares a database, and returns the last ID of events that is in use or skipped.
    fn prepare_and_read(path: &Path, continuation: Continuation) -> i64 {
        prepare(path, continuation, Timestamp(5_000_700_000), &Entropy::seeded(1)).unwrap();
        let rows = Connection::open(path).unwrap();
        let unchanged = "SELECT count(*) FROM secrets WHERE name = 'positions' AND value = zeroblob(32)";
        assert_eq!(rows.query_row(unchanged, [], |row| row.get::<_, u32>(0)).unwrap(), 0);
        let is_copy = "SELECT EXISTS (SELECT 1 FROM secrets WHERE name = 'copy')";
        let is_copy: bool = rows.query_row(is_copy, [], |row| row.get(0)).unwrap();
        assert_eq!(is_copy, continuation == Continuation::Restore);
        if !has_table(&rows, "events").unwrap() {
            return 0;
        }
        let last = "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'events'";
        rows.query_row(last, [], |row| row.get(0)).unwrap()
    }

    #[test]
    fn databases_of_all_versions_are_prepared() {
        let directory = tempfile::tempdir().unwrap();
        for (schema, expected) in [
            (1, [0, 0, 0]),
            (FIRST_WITH_SKIPPED_IDS - 1, [0, 5_000_000_000, 5_001_000_000]),
            (migrations::latest_version(), [5_000_000_000, 5_001_000_000, 5_002_000_000]),
        ] {
            let path = directory.path().join(format!("{schema}.sqlite"));
            let mut connection = Connection::open(&path).unwrap();
            migrations::migrate_to(&mut connection, schema).unwrap();
            let sql = "INSERT INTO secrets (name, value) VALUES ('positions', zeroblob(32))";
            connection.execute(sql, []).unwrap();
            if has_table(&connection, "events").unwrap() {
                // As after a restore with this program. An earlier program must not see the gap.
                let skip = "INSERT INTO sqlite_sequence (name, seq) VALUES ('events', 7)";
                connection.execute(skip, []).unwrap();
            }
            connection.close().unwrap();
            let continuations = [Continuation::Downgrade, Continuation::Promotion, Continuation::Restore];
            let last = continuations.map(|continuation| prepare_and_read(&path, continuation));
            assert_eq!(last, expected, "schema {schema}");
            drop(Store::open(&path, 1, Durability::None).unwrap());
        }
    }
}
