//! Sessions of people who have signed in. Only digests of their tokens are stored. All times are of the clock of the machine.

use uuid::Uuid;

use super::{
    Reader, Writer,
    keys::{self, KeyValidity},
    row::{self, FromRow},
    teams,
};
use crate::{
    domain::{
        principals::KeyOwner, row_ids::KeyRowId, sessions::SessionPreferences, teams::TeamRowId,
        time::Timestamp,
    },
    error::Result,
};

/// A session.
#[derive(Clone, Debug)]
pub struct SessionRow {
    /// ID of the session. It is not secret.
    pub id: Uuid,
    /// ID of the key.
    pub key: Uuid,
    /// Name of the key.
    pub key_name: String,
    /// Time at which the person signed in.
    pub created_at: Timestamp,
    /// Time of the last use that was recorded.
    pub last_used_at: Timestamp,
    /// What the person has chosen.
    pub preferences: SessionPreferences,
}

const COLUMNS: &str = "s.uuid AS session_uuid, s.created_at AS session_created_at,
     s.last_used_at AS session_last_used_at, s.preferences, k.uuid AS session_key, k.name AS key_name";

fn read_session(row: &rusqlite::Row) -> rusqlite::Result<SessionRow> {
    // Preferences that another version of this program has written are ignored if they are not known.
    let preferences = row::json(row, "preferences").unwrap_or_default();
    Ok(SessionRow {
        id: row.get("session_uuid")?,
        key: row.get("session_key")?,
        key_name: row.get("key_name")?,
        created_at: row.get("session_created_at")?,
        last_used_at: row.get("session_last_used_at")?,
        preferences,
    })
}

/// Returns the session whose token has this SHA-256 digest, with the owner of its key and the key's validity.
pub fn find_by_digest(
    reader: &Reader,
    digest: &[u8; 32],
) -> Result<Option<(SessionRow, KeyOwner, KeyValidity)>> {
    let sql = format!(
        "SELECT {}, {}, {COLUMNS}
         FROM sessions s JOIN keys k ON k.id = s.key LEFT JOIN teams t ON t.id = k.team WHERE s.digest = ?1",
        teams::COLUMNS,
        keys::VALIDITY
    );
    reader.query_first(&sql, [digest], |row| {
        Ok((read_session(row)?, keys::read_owner(row)?, KeyValidity::from_row(row)?))
    })
}

/// Returns the sessions of all keys of a team, the last one first.
pub fn list_of_team(reader: &Reader, team: TeamRowId) -> Result<Vec<SessionRow>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM keys k JOIN sessions s ON s.key = k.id WHERE k.team = ?1 ORDER BY s.id DESC"
    );
    reader.query_all(&sql, [team], read_session)
}

/// Returns the sessions of a key, the last one first.
pub fn list_of_key(reader: &Reader, key: KeyRowId) -> Result<Vec<SessionRow>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM keys k JOIN sessions s ON s.key = k.id WHERE k.id = ?1 ORDER BY s.id DESC"
    );
    reader.query_all(&sql, [key], read_session)
}

/// A session to insert.
#[derive(Debug)]
pub struct NewSession {
    /// ID of the session.
    pub id: Uuid,
    /// SHA-256 digest of the token.
    pub digest: [u8; 32],
    /// Row ID of the key.
    pub key: KeyRowId,
    /// Time at which the person signs in.
    pub created_at: Timestamp,
    /// What the person has chosen.
    pub preferences: SessionPreferences,
}

/// Inserts a session.
pub fn insert(writer: &Writer, session: &NewSession) -> Result<()> {
    const SQL: &str =
        "INSERT INTO sessions (uuid, digest, key, first_key, created_at, last_used_at, preferences)
         VALUES (?1, ?2, ?3, ?3, ?4, ?4, ?5)";
    let NewSession { id, digest, key, created_at, preferences } = session;
    writer.run(SQL, (id, digest, key, created_at.0, row::to_json(preferences)?))
}

/// Deletes the sessions of a key except for the last `keep` ones.
pub fn delete_oldest(writer: &Writer, key: KeyRowId, keep: u32) -> Result<()> {
    const SQL: &str = "DELETE FROM sessions WHERE id IN (
             SELECT id FROM sessions WHERE key = ?1 ORDER BY created_at DESC, id DESC LIMIT -1 OFFSET ?2)";
    writer.run(SQL, (key, keep))
}

/// Deletes the sessions that began or were used last at these times, or earlier.
pub fn delete_expired(writer: &Writer, created_at: Timestamp, last_used_at: Timestamp) -> Result<()> {
    const SQL: &str = "DELETE FROM sessions WHERE created_at <= ?1 OR last_used_at <= ?2";
    writer.run(SQL, (created_at, last_used_at))
}

/// Deletes a session. Returns whether there was one.
pub fn delete(writer: &Writer, id: Uuid) -> Result<bool> {
    Ok(writer.execute("DELETE FROM sessions WHERE uuid = ?1", [id])? > 0)
}

/// Deletes the session whose token has this SHA-256 digest, if there is one.
pub fn delete_by_digest(writer: &Writer, digest: &[u8; 32]) -> Result<()> {
    writer.run("DELETE FROM sessions WHERE digest = ?1", [digest])
}

/// Whether there is a session with this ID.
pub fn exists(reader: &Reader, id: Uuid) -> Result<bool> {
    reader.query_one("SELECT EXISTS (SELECT 1 FROM sessions WHERE uuid = ?1)", [id], |row| row.get(0))
}

/// Whether there are sessions.
pub fn exist(reader: &Reader) -> Result<bool> {
    reader.query_one("SELECT EXISTS (SELECT 1 FROM sessions)", [], |row| row.get(0))
}

/// Deletes all sessions.
pub fn delete_all(writer: &Writer) -> Result<()> {
    writer.run("DELETE FROM sessions", [])
}

/// Records a use of a session. An earlier time than the stored one is ignored, unless the stored one is after the current time,
/// `now`: then a clock was wrong.
pub fn record_use(writer: &Writer, id: Uuid, at: Timestamp, now: Timestamp) -> Result<()> {
    const SQL: &str = "UPDATE sessions SET last_used_at = ?2
        WHERE uuid = ?1 AND (last_used_at < ?2 OR last_used_at > ?3)";
    writer.run(SQL, (id, at, now))
}

/// Replaces what the person has chosen for a session.
pub fn update_preferences(writer: &Writer, id: Uuid, preferences: &SessionPreferences) -> Result<()> {
    const SQL: &str = "UPDATE sessions SET preferences = ?2 WHERE uuid = ?1";
    writer.run(SQL, (id, row::to_json(preferences)?))
}

/// Moves the sessions of a key to the key that replaces it.
pub fn move_to_key(writer: &Writer, from: KeyRowId, to: KeyRowId) -> Result<()> {
    writer.run("UPDATE sessions SET key = ?2 WHERE key = ?1", (from, to))
}

/// Deletes the sessions of an expired key. Sessions that continue with its replacement stay.
pub fn delete_of_expired(writer: &Writer, key: KeyRowId) -> Result<()> {
    writer.run("DELETE FROM sessions WHERE key = ?1", [key])
}

/// Deletes the sessions of a revoked key, including sessions that were opened with its predecessor before the replacement.
pub fn delete_of_revoked(writer: &Writer, key: KeyRowId) -> Result<()> {
    writer.run("DELETE FROM sessions WHERE key = ?1 OR first_key = ?1", [key])
}

/// Adds a session without a key to a database, and returns a function that reads when it was last used.
#[cfg(test)]
pub fn add_without_key(path: &std::path::Path, id: Uuid, at: Timestamp) -> impl Fn() -> Timestamp + use<> {
    const INSERT: &str = "INSERT INTO sessions (uuid, digest, key, created_at, last_used_at, preferences)
         VALUES (?1, zeroblob(32), 1, ?2, ?2, '{}')";
    let rows = rusqlite::Connection::open(path).expect("the database opens");
    rows.pragma_update(None, "foreign_keys", false).expect("the session needs no key");
    rows.execute(INSERT, (id, at)).expect("the session is new");
    move || {
        rows.query_row("SELECT last_used_at FROM sessions", [], |row| row.get(0)).expect("there is a session")
    }
}
