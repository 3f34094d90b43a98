//! The API keys of a team, for the team itself. The keys of other teams do not exist for it.

use uuid::Uuid;

use super::{access::AuthenticatedTeam, keys};
use crate::{
    domain::{
        keys::{KeyStatus, KeyTimes, TeamKeyScope},
        time::Timestamp,
    },
    error::{Error, Result},
    market::{Reader, Writer},
    store,
};

/// Maximum number of keys that are listed: the newest ones.
const MAX_LISTED: u32 = 500;

/// A key of a team, without its secret.
#[derive(Clone, Debug)]
pub struct TeamKey {
    /// The key and its times.
    pub key: KeyTimes,
    /// Whether the key is valid, and if not, why.
    pub status: KeyStatus,
    /// Time of the last use, with a resolution of one minute; `None` if never used.
    pub last_used_at: Option<Timestamp>,
}

/// A new key of a team.
#[derive(Clone, Debug)]
pub struct NewTeamKey {
    /// ID of the key. It is not secret.
    pub id: Uuid,
    /// The key itself, which cannot be shown again.
    pub secret: String,
}

/// Returns the newest keys of the team, newest first.
pub fn list(reader: &Reader, team: &AuthenticatedTeam) -> Result<Vec<TeamKey>> {
    let rows = store::keys::list_times(reader.rows, team.team().row_id, MAX_LISTED)?;
    let key =
        |(key, last_used_at): (KeyTimes, _)| TeamKey { status: key.status(reader.now), key, last_used_at };
    Ok(rows.into_iter().map(key).collect())
}

/// Creates a key, which expires in the future if at all.
pub fn create(
    writer: &mut Writer,
    team: &AuthenticatedTeam,
    name: &str,
    scope: TeamKeyScope,
    expires_at: Option<Timestamp>,
) -> Result<NewTeamKey> {
    let id = team.team().id.to_string();
    let (id, secret) = keys::create_with_scope(writer, &id, name, scope, expires_at)?;
    Ok(NewTeamKey { id, secret })
}

/// Replaces a key with a new one of the same name, scope, and lifetime. The replaced key stays valid for a while; sessions
/// continue with the new one.
pub fn rotate(writer: &mut Writer, team: &AuthenticatedTeam, id: Uuid) -> Result<NewTeamKey> {
    let key = find(writer.rows, team, id)?;
    let (id, secret) = keys::rotate_found(writer, key, None)?;
    Ok(NewTeamKey { id, secret })
}

/// Revokes a key. If the team is signed in with it, its next request is not.
pub fn revoke(writer: &mut Writer, team: &AuthenticatedTeam, id: Uuid) -> Result<()> {
    let key = find(writer.rows, team, id)?;
    keys::revoke(writer, key.id)
}

/// Returns a key of the team, valid or not.
pub fn find(rows: &store::Reader, team: &AuthenticatedTeam, id: Uuid) -> Result<KeyTimes> {
    let key = store::keys::find(rows, id)?.filter(|key| key.team == Some(team.team().row_id));
    key.ok_or_else(|| Error::not_found("key"))
}
