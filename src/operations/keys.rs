//! API keys, as the people who run the market keep them.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use uuid::Uuid;

use super::teams;
use crate::{
    domain::time::Timestamp,
    error::{Error, Result},
    market::{Keyring, Reader, Writer},
    store::{
        self,
        keys::{KeyRow, NewKey},
    },
};

/// What every key begins with.
const PREFIX: &str = "mkt_";

/// Characters of a key behind its prefix: 240 bits.
const SECRET_LENGTH: usize = 40;

/// Makes a key for a team. Answers its id and the key itself, which is shown this once.
pub fn create(
    writer: &mut Writer,
    team: &str,
    name: &str,
    expires_at: Option<Timestamp>,
) -> Result<(Uuid, String)> {
    let team = teams::resolve(writer.rows, team)?;
    let mut secret = URL_SAFE_NO_PAD.encode(writer.entropy.secret());
    secret.truncate(SECRET_LENGTH);
    let key = format!("{PREFIX}{secret}");
    let id = writer.clock.id();
    let new = NewKey {
        id,
        team: team.number,
        name,
        digest: Keyring::digest(&key),
        is_fixture: false,
        created_at: writer.now,
        expires_at,
        revoked_at: None,
    };
    store::keys::insert(writer.rows, &new)?;
    Ok((id, key))
}

/// A team's keys, newest first.
pub fn list(reader: &Reader, team: &str) -> Result<Vec<KeyRow>> {
    let team = teams::resolve(reader.rows, team)?;
    store::keys::list(reader.rows, team.number)
}

/// Revokes a key.
pub fn revoke(writer: &mut Writer, id: Uuid) -> Result<()> {
    if store::keys::revoke(writer.rows, id, writer.now)? {
        Ok(())
    } else {
        Err(Error::not_found(format!("key {id}")))
    }
}
