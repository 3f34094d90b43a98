//! API keys. Only their digests are stored.

use std::sync::Arc;

use uuid::Uuid;

use super::{Reader, Writer, row::FromRow, teams};
use crate::{
    domain::{
        keys::{KeyTimes, TeamKeyScope},
        principals::{KeyOwner, KeyScope, OperatorKey, PrincipalKind},
        row_ids::KeyRowId,
        teams::TeamRowId,
        time::Timestamp,
    },
    error::Result,
};

/// The properties that determine whether a key is valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromRow)]
pub struct KeyValidity {
    /// Row ID of the key.
    #[row(name = "key_id")]
    pub row_id: KeyRowId,
    /// ID of the key. It is not secret.
    #[row(name = "key_uuid")]
    pub id: Uuid,
    /// What the key permits, if it is that of a team.
    pub team_scope: TeamKeyScope,
    /// Whether the key comes from a fixture, which contains it in plain text.
    pub is_fixture: bool,
    /// Time from which the key has expired; `None` if never. The earliest time if a step has recorded it, so that
    /// the key stays expired when the clock jumps back.
    pub expires_at: Option<Timestamp>,
    /// Time from which the key is revoked; `None` unless revoked. The earliest time, for the same reason.
    pub revoked_at: Option<Timestamp>,
}

pub(super) fn read_owner(row: &rusqlite::Row) -> rusqlite::Result<KeyOwner> {
    Ok(match row.get("kind")? {
        PrincipalKind::Team => KeyOwner::Team(Arc::new(teams::read_team(row)?)),
        PrincipalKind::Operator => {
            let scope = row.get("scope")?;
            KeyOwner::Operator(OperatorKey { row_id: row.get("key_id")?, scope })
        }
    })
}

/// Columns of a key `k` that [`read_owner`] and [`read_validity`] read, besides those of its team `t`. The keys of a closed
/// team are revoked.
pub(super) const VALIDITY: &str =
    "k.id AS key_id, k.uuid AS key_uuid, k.kind, k.scope, k.team_scope, k.is_fixture,
     iif(k.expired_at IS NULL, k.expires_at, 0) AS expires_at,
     iif(coalesce(k.revoked_at, t.closed_at) IS NULL, NULL, 0) AS revoked_at";

/// Returns the owner of the key with this SHA-256 digest, and the key's validity.
pub fn find_by_digest(reader: &Reader, digest: &[u8; 32]) -> Result<Option<(KeyOwner, KeyValidity)>> {
    let sql = format!(
        "SELECT {}, {VALIDITY} FROM keys k LEFT JOIN teams t ON t.id = k.team WHERE k.digest = ?1",
        teams::COLUMNS
    );
    reader.query_first(&sql, [digest], |row| Ok((read_owner(row)?, KeyValidity::from_row(row)?)))
}

/// Returns the newest keys of a team, with the times of their last use, newest first.
pub fn list_times(
    reader: &Reader,
    team: TeamRowId,
    limit: u32,
) -> Result<Vec<(KeyTimes, Option<Timestamp>)>> {
    let sql = format!(
        "SELECT {COLUMNS}, k.last_used_at FROM keys k
         WHERE k.team = ?1 ORDER BY k.created_at DESC, k.id DESC LIMIT ?2"
    );
    reader.query_all(&sql, (team, limit), |row| Ok((read_times(row)?, row.get("last_used_at")?)))
}

/// The fields of a key to insert.
#[derive(Debug)]
pub struct NewKey<'a> {
    /// ID of the key. It is not secret.
    pub id: Uuid,
    /// Row ID of the team that the key authenticates; `None` for the key of an operator.
    pub team: Option<TeamRowId>,
    /// What the key permits, if it is that of an operator.
    pub scope: KeyScope,
    /// What the key permits, if it is that of a team.
    pub team_scope: TeamKeyScope,
    /// Name that its owner gives the key.
    pub name: &'a str,
    /// SHA-256 digest of the key.
    pub digest: [u8; 32],
    /// Whether the key comes from a fixture, which contains it in plain text.
    pub is_fixture: bool,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Time at which the key expires; `None` if never.
    pub expires_at: Option<Timestamp>,
    /// Time of revocation. Only fixtures insert revoked keys.
    pub revoked_at: Option<Timestamp>,
}

/// The name of a key, and its team.
#[derive(Clone, Debug, FromRow)]
#[row(by_position)]
pub struct KeyName {
    /// ID of the key. It is not secret.
    pub id: Uuid,
    /// Name that its owner gave the key.
    pub name: String,
    /// ID and name of the team; `None` for the key of an operator.
    #[row(pair)]
    pub team: Option<(Uuid, String)>,
}

/// Returns the name of the key with this SHA-256 digest, whether it is valid or not.
pub fn find_name(reader: &Reader, digest: &[u8; 32]) -> Result<Option<KeyName>> {
    const SQL: &str = "SELECT k.uuid, k.name, t.uuid, t.name
         FROM keys k LEFT JOIN teams t ON t.id = k.team WHERE k.digest = ?1";
    reader.query_first(SQL, [digest], KeyName::from_row)
}

/// Replaces the SHA-256 digest of the key with this ID.
pub fn replace_digest(writer: &Writer, id: Uuid, digest: &[u8; 32]) -> Result<()> {
    const SQL: &str = "UPDATE keys SET digest = ?2 WHERE uuid = ?1";
    writer.run(SQL, (id, digest))
}

/// Inserts a key and returns its row ID.
pub fn insert(writer: &Writer, key: &NewKey) -> Result<KeyRowId> {
    const SQL: &str =
        "INSERT INTO keys (uuid, kind, team, name, digest, is_fixture, created_at, expires_at, revoked_at, scope,
             team_scope)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";
    let kind = if key.team.is_some() { PrincipalKind::Team } else { PrincipalKind::Operator };
    let row_id = writer.insert(
        SQL,
        (
            key.id,
            kind,
            key.team,
            key.name,
            key.digest,
            key.is_fixture,
            key.created_at,
            key.expires_at,
            key.revoked_at,
            key.scope,
            key.team_scope,
        ),
    )?;
    Ok(KeyRowId(row_id))
}

/// Columns of a key `k` that [`read_times`] reads.
pub(super) const COLUMNS: &str =
    "k.id, k.uuid, k.team, k.scope, k.team_scope, k.name, k.created_at, k.expires_at, k.rotated_at, k.revoked_at,
    k.expired_at";

pub(super) fn read_times(row: &rusqlite::Row) -> rusqlite::Result<KeyTimes> {
    Ok(KeyTimes {
        row_id: row.get("id")?,
        id: row.get("uuid")?,
        team: row.get("team")?,
        scope: row.get("scope")?,
        team_scope: row.get("team_scope")?,
        name: row.get("name")?,
        created_at: row.get("created_at")?,
        expires_at: row.get("expires_at")?,
        rotated_at: row.get("rotated_at")?,
        revoked_at: row.get("revoked_at")?,
        expired_at: row.get("expired_at")?,
    })
}

/// Returns the key with this ID, of a team or an operator.
pub fn find(reader: &Reader, id: Uuid) -> Result<Option<KeyTimes>> {
    reader.query_first(&format!("SELECT {COLUMNS} FROM keys k WHERE k.uuid = ?1"), [id], read_times)
}

/// Returns the key with this row ID, of a team or an operator.
pub fn find_by_row_id(reader: &Reader, row_id: KeyRowId) -> Result<Option<KeyTimes>> {
    reader.query_first(&format!("SELECT {COLUMNS} FROM keys k WHERE k.id = ?1"), [row_id], read_times)
}

/// Returns the keys of a team that were not revoked, oldest first.
pub fn list_unrevoked(reader: &Reader, team: TeamRowId) -> Result<Vec<KeyTimes>> {
    let sql =
        format!("SELECT {COLUMNS} FROM keys k WHERE k.team = ?1 AND k.revoked_at IS NULL ORDER BY k.id");
    reader.query_all(&sql, [team], read_times)
}

/// Replaces the times of expiry, rotation, and revocation of a key.
pub fn update_times(writer: &Writer, key: &KeyTimes) -> Result<()> {
    const SQL: &str =
        "UPDATE keys SET expires_at = ?2, rotated_at = ?3, revoked_at = ?4, expired_at = ?5 WHERE id = ?1";
    let KeyTimes { row_id, expires_at, rotated_at, revoked_at, expired_at, .. } = key;
    writer.run(SQL, (row_id, expires_at, rotated_at, revoked_at, expired_at))
}

/// Records the last use of a key. An earlier time than the stored one is ignored.
pub fn record_use(writer: &Writer, id: Uuid, at: Timestamp) -> Result<()> {
    const SQL: &str = "UPDATE keys SET last_used_at = max(coalesce(last_used_at, ?2), ?2) WHERE uuid = ?1";
    writer.run(SQL, (id, at))
}
