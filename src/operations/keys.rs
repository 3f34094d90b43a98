//! Administration of API keys, for operators of the market.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use uuid::Uuid;

use super::{access::Platform, teams};
use crate::{
    domain::{collections::Collection, teams::TeamRowId, time::Timestamp},
    error::{Error, Result},
    market::{KeyCache, Reader, Writer},
    store::{
        self,
        keys::{KeyRow, NewKey},
    },
};

/// Prefix of every API key.
const PREFIX: &str = "mkt_";

/// Prefix of every operator key, so that people can tell them from the keys of teams. Which kind a key is
/// depends only on what is stored for it.
const OPERATOR_PREFIX: &str = "mkt_op_";

/// Length of a key without its prefix, in characters: 240 bits in base64.
const SECRET_LENGTH: usize = 40;

/// Creates a key for a team, which expires in the future if at all. Returns its ID and the key itself, which
/// cannot be shown again.
pub fn create(
    writer: &mut Writer,
    team: &str,
    name: &str,
    expires_at: Option<Timestamp>,
) -> Result<(Uuid, String)> {
    let team = teams::resolve(writer.rows, team)?;
    insert(writer, PREFIX, Some(team.row_id), name, expires_at)
}

/// Like [`create`], for an operator of the marketplace.
pub fn create_for_operator(
    writer: &mut Writer,
    _: Platform,
    name: &str,
    expires_at: Option<Timestamp>,
) -> Result<(Uuid, String)> {
    insert(writer, OPERATOR_PREFIX, None, name, expires_at)
}

fn insert(
    writer: &Writer,
    prefix: &str,
    team: Option<TeamRowId>,
    name: &str,
    expires_at: Option<Timestamp>,
) -> Result<(Uuid, String)> {
    if let Some(at) = expires_at
        && at <= writer.now
    {
        let message = format!("The key would have expired at {at}. Choose a time in the future.");
        return Err(Error::Conflict(message));
    }
    let mut secret = URL_SAFE_NO_PAD.encode(writer.entropy.random_secret());
    secret.truncate(SECRET_LENGTH);
    let key = format!("{prefix}{secret}");
    let id = writer.new_id(Collection::Keys);
    let new = NewKey {
        id,
        team,
        name,
        digest: KeyCache::digest(&key),
        is_fixture: false,
        created_at: writer.now,
        expires_at,
        revoked_at: None,
    };
    store::keys::insert(writer.rows, &new)?;
    Ok((id, key))
}

/// Returns a team's keys, newest first.
pub fn list(reader: &Reader, team: &str) -> Result<Vec<KeyRow>> {
    let team = teams::resolve(reader.rows, team)?;
    store::keys::list(reader.rows, team.row_id)
}

/// Returns the keys of all operators, newest first.
pub fn list_of_operators(reader: &Reader, _: Platform) -> Result<Vec<KeyRow>> {
    store::keys::list_of_operators(reader.rows)
}

/// Revokes a key, of a team or of an operator. Fails if there is no such key.
pub fn revoke(writer: &mut Writer, id: Uuid) -> Result<()> {
    if store::keys::revoke(writer.rows, id, writer.now)? {
        Ok(())
    } else {
        Err(Error::not_found(format!("key {id}")))
    }
}
