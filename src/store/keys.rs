//! API keys: only their digests are kept.

use uuid::Uuid;

use super::{Reader, Writer, row, teams};
use crate::{
    domain::{
        teams::{Team, TeamNumber},
        time::Timestamp,
    },
    error::Result,
};

/// What decides whether a key counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// The key's row number.
    pub key: i64,
    /// Whether a fixture stated it in clear text.
    pub is_fixture: bool,
    /// When it stops working.
    pub expires_at: Option<Timestamp>,
    /// When it was revoked.
    pub revoked_at: Option<Timestamp>,
}

fn read_standing(row: &rusqlite::Row) -> rusqlite::Result<Standing> {
    Ok(Standing {
        key: row.get("key_id")?,
        is_fixture: row.get("is_fixture")?,
        expires_at: row::optional_time(row, "expires_at")?,
        revoked_at: row::optional_time(row, "revoked_at")?,
    })
}

/// The team that a key of this digest speaks for, with the key's standing.
pub fn find(reader: &Reader, digest: &[u8; 32]) -> Result<Option<(Team, Standing)>> {
    let sql = format!(
        "SELECT {}, k.id AS key_id, k.is_fixture, k.expires_at, k.revoked_at
         FROM keys k JOIN teams t ON t.id = k.team WHERE k.digest = ?1",
        teams::COLUMNS
    );
    reader.first(&sql, [digest], |row| Ok((teams::read(row)?, read_standing(row)?)))
}

/// A key as its team's settings show it.
#[derive(Clone, Debug)]
pub struct KeyRow {
    /// Its id.
    pub id: Uuid,
    /// What the team calls it.
    pub name: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it stops working.
    pub expires_at: Option<Timestamp>,
    /// When it was revoked.
    pub revoked_at: Option<Timestamp>,
    /// When it was last used, to the minute.
    pub last_used_at: Option<Timestamp>,
}

/// A team's keys, newest first.
pub fn list(reader: &Reader, team: TeamNumber) -> Result<Vec<KeyRow>> {
    const SQL: &str = "SELECT uuid, name, created_at, expires_at, revoked_at, last_used_at FROM keys
         WHERE team = ?1 ORDER BY created_at DESC, id DESC";
    reader.all(SQL, [team.0], |row| {
        Ok(KeyRow {
            id: row.get("uuid")?,
            name: row.get("name")?,
            created_at: row::time(row, "created_at")?,
            expires_at: row::optional_time(row, "expires_at")?,
            revoked_at: row::optional_time(row, "revoked_at")?,
            last_used_at: row::optional_time(row, "last_used_at")?,
        })
    })
}

/// A key to be.
#[derive(Debug)]
pub struct NewKey<'a> {
    /// Its id.
    pub id: Uuid,
    /// The team that it speaks for.
    pub team: TeamNumber,
    /// What the team calls it.
    pub name: &'a str,
    /// SHA-256 of the key.
    pub digest: [u8; 32],
    /// Whether a fixture stated it in clear text.
    pub is_fixture: bool,
    /// When it is made.
    pub created_at: Timestamp,
    /// When it stops working.
    pub expires_at: Option<Timestamp>,
    /// When it was revoked; of fixtures only.
    pub revoked_at: Option<Timestamp>,
}

/// Adds a key.
pub fn insert(writer: &Writer, key: &NewKey) -> Result<i64> {
    const SQL: &str =
        "INSERT INTO keys (uuid, team, name, digest, is_fixture, created_at, expires_at, revoked_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
    writer.insert(
        SQL,
        (
            key.id,
            key.team.0,
            key.name,
            key.digest,
            key.is_fixture,
            key.created_at.0,
            key.expires_at.map(|at| at.0),
            key.revoked_at.map(|at| at.0),
        ),
    )
}

/// Revokes the key of this id, where it still counts. Answers whether there is such a key.
pub fn revoke(writer: &Writer, id: Uuid, at: Timestamp) -> Result<bool> {
    const SQL: &str = "UPDATE keys SET revoked_at = coalesce(revoked_at, ?2) WHERE uuid = ?1";
    Ok(writer.execute(SQL, (id, at.0))? > 0)
}

/// Notes when a key was last used.
pub fn note_use(writer: &Writer, key: i64, at: Timestamp) -> Result<()> {
    const SQL: &str = "UPDATE keys SET last_used_at = max(coalesce(last_used_at, ?2), ?2) WHERE id = ?1";
    writer.execute(SQL, (key, at.0))?;
    Ok(())
}
