//! Administration of API keys, for operators of the market.

use std::collections::BTreeMap;

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use uuid::Uuid;

use super::{access::Platform, teams};
use crate::{
    domain::{
        collections::Collection,
        due_steps::StepKind,
        events::{EventData, KeyData, KeyRotatedData},
        keys::{KeyOperation, KeyStatus, KeyTimes, TeamKeyScope},
        principals::KeyScope,
        problems::Problems,
        row_ids::KeyRowId,
        state_machine::StateMachine,
        teams::TeamRowId,
        texts,
        time::{MICROS_PER_HOUR, Timestamp},
    },
    error::{Error, Problem, Result},
    market::{KeyCache, Market, Reader, Writer},
    request_problems::ProblemsExt,
    store::{self, keys::NewKey},
};

/// Prefix of every API key.
pub(super) const PREFIX: &str = "mkt_";

/// Prefix of every operator key, so that people can tell them from the keys of teams. Which kind a key is
/// depends only on what is stored for it.
const OPERATOR_PREFIX: &str = "mkt_op_";

/// Length of a key without its prefix, in characters: 240 bits in base64.
const SECRET_LENGTH: usize = 40;

/// Who owns a key, and what it permits.
#[derive(Clone, Copy, Debug)]
enum NewOwner {
    Team(TeamRowId, TeamKeyScope),
    Operator(KeyScope),
}

/// Creates a key for programs of a team, which expires in the future if at all. Returns its ID and the key itself, which
/// cannot be shown again.
pub fn create(
    writer: &mut Writer,
    team: &str,
    name: &str,
    expires_at: Option<Timestamp>,
) -> Result<(Uuid, String)> {
    create_with_scope(writer, team, name, TeamKeyScope::Api, expires_at)
}

/// Like [`create`], for a key that permits what `scope` says.
pub fn create_with_scope(
    writer: &mut Writer,
    team: &str,
    name: &str,
    scope: TeamKeyScope,
    expires_at: Option<Timestamp>,
) -> Result<(Uuid, String)> {
    let team = teams::resolve_open(writer.rows, team)?;
    let (_, id, key) = insert(writer, NewOwner::Team(team.row_id, scope), name, expires_at)?;
    Ok((id, key))
}

/// Like [`create`], for an operator of the marketplace. `scope` is what the key permits.
pub fn create_for_operator(
    writer: &mut Writer,
    _: Platform,
    name: &str,
    scope: KeyScope,
    expires_at: Option<Timestamp>,
) -> Result<(Uuid, String)> {
    let (_, id, key) = insert(writer, NewOwner::Operator(scope), name, expires_at)?;
    Ok((id, key))
}

/// Inserts a key. Returns its row ID, its ID, and the key itself.
fn insert(
    writer: &Writer,
    owner: NewOwner,
    name: &str,
    expires_at: Option<Timestamp>,
) -> Result<(KeyRowId, Uuid, String)> {
    let (team, scope, team_scope) = match owner {
        NewOwner::Team(team, scope) => (Some(team), KeyScope::All, scope),
        NewOwner::Operator(scope) => (None, scope, TeamKeyScope::Api),
    };
    let mut problems = Problems::default();
    problems.check_text(&["name"], name, texts::KEY_NAME);
    problems.collect(check_expiry(writer.now, expires_at))?;
    problems.into_result()?;
    let prefix = if team.is_some() { PREFIX } else { OPERATOR_PREFIX };
    let key = key_of(prefix, &writer.entropy.random_secret());
    let id = writer.new_id(Collection::Keys);
    let new = NewKey {
        id,
        team,
        scope,
        team_scope,
        name,
        digest: KeyCache::digest(&key),
        is_fixture: false,
        created_at: writer.now,
        expires_at,
        revoked_at: None,
    };
    let row_id = store::keys::insert(writer.rows, &new)?;
    if let Some(at) = expires_at {
        writer.schedule(StepKind::KeyExpires, row_id, at)?;
    }
    let data = KeyData { key_id: id, name: name.to_owned(), expires_at };
    writer.emit(team, id, &EventData::KeyCreated(data))?;
    Ok((row_id, id, key))
}

fn check_expiry(now: Timestamp, expires_at: Option<Timestamp>) -> Result<()> {
    match expires_at {
        Some(at) if at <= now => {
            let message = format!("The key would have expired at {at}. Choose a time in the future.");
            Err(Error::invalid(Problem::body(&["expires_at"], "greater_than", message)))
        }
        _ => Ok(()),
    }
}

/// Returns the name of the key with this SHA-256 digest, whether it is valid or not.
pub fn find_name(reader: &Reader, digest: &[u8; 32]) -> Result<Option<store::keys::KeyName>> {
    store::keys::find_name(reader.rows, digest)
}

/// Returns those of the IDs that are keys of a market.
pub fn existing(market: &Market, ids: Vec<Uuid>) -> Result<Vec<Uuid>> {
    market.read_blocking(|reader| {
        let mut found = Vec::new();
        for id in ids {
            found.extend(store::keys::find(reader.rows, id)?.map(|key| key.id));
        }
        Ok(found)
    })
}

/// Replaces the SHA-256 digests of keys, by their IDs. Only for copies of a market whose keys nobody else has.
pub fn replace_digests(market: &Market, digests: &BTreeMap<Uuid, [u8; 32]>) -> Result<()> {
    if digests.is_empty() {
        return Ok(());
    }
    market.write_blocking(|writer| {
        digests.iter().try_for_each(|(id, digest)| store::keys::replace_digest(writer.rows, *id, digest))
    })
}

/// Changes the time at which a key expires, to a time in the future or to never. The key must be active.
pub fn change_expiry(
    writer: &mut Writer,
    _: Platform,
    id: Uuid,
    expires_at: Option<Timestamp>,
) -> Result<()> {
    let mut key = find(writer.rows, id)?;
    check(&key, KeyOperation::ChangeExpiry, writer.now)?;
    check_expiry(writer.now, expires_at)?;
    if key.expires_at == expires_at {
        return Ok(());
    }
    key.expires_at = expires_at;
    store::keys::update_times(writer.rows, &key)?;
    match expires_at {
        Some(at) => writer.schedule(StepKind::KeyExpires, key.row_id, at)?,
        None => writer.unschedule(StepKind::KeyExpires, key.row_id)?,
    }
    writer.emit(key.team, id, &EventData::KeyExpiryChanged(KeyData::from(&key)))
}

/// Replaces a key, of a team or of an operator, with a new one of the same name. The new key is valid at once,
/// and expires at `expires_at`, or else has the lifetime of the replaced one. The replaced key stays valid for
/// `keys.rotation_overlap_hours`, unless it expires earlier anyway. Sessions continue with the new key. Returns the ID
/// of the new key and the key itself, which cannot be shown again.
pub fn rotate(
    writer: &mut Writer,
    _: Platform,
    id: Uuid,
    expires_at: Option<Timestamp>,
) -> Result<(Uuid, String)> {
    let key = find(writer.rows, id)?;
    rotate_found(writer, key, expires_at)
}

/// Like [`rotate`], for a key that was found.
pub(super) fn rotate_found(
    writer: &Writer,
    mut key: KeyTimes,
    expires_at: Option<Timestamp>,
) -> Result<(Uuid, String)> {
    let id = key.id;
    check(&key, KeyOperation::Rotate, writer.now)?;
    let successor_expires_at = expires_at.or_else(|| key.expiry_of_successor(writer.now));
    let owner = key.team.map_or(NewOwner::Operator(key.scope), |team| NewOwner::Team(team, key.team_scope));
    let (successor, successor_id, secret) = insert(writer, owner, &key.name, successor_expires_at)?;
    store::sessions::move_to_key(writer.rows, key.row_id, successor)?;
    let overlap = i64::from(writer.settings.keys.rotation_overlap_hours) * MICROS_PER_HOUR;
    let expires_at = key.expiry_after_rotation(writer.now, overlap);
    key.expires_at = Some(expires_at);
    key.rotated_at = Some(writer.now);
    store::keys::update_times(writer.rows, &key)?;
    writer.schedule(StepKind::KeyExpires, key.row_id, expires_at)?;
    let data = KeyRotatedData { key_id: id, name: key.name, expires_at, successor_id, successor_expires_at };
    writer.emit(key.team, id, &EventData::KeyRotated(data))?;
    Ok((successor_id, secret))
}

/// Records that a key has expired. Authentication compares the time of expiry itself, so a key is never valid
/// for longer.
pub fn expire(writer: &mut Writer, row_id: KeyRowId) -> Result<()> {
    let found = store::keys::find_by_row_id(writer.rows, row_id)?;
    let mut key = found.ok_or_else(|| Error::internal("a key that expires does not exist"))?;
    if !key.status_until_expiry().allows(KeyOperation::Expire) {
        return Ok(());
    }
    key.expired_at = Some(writer.now);
    store::keys::update_times(writer.rows, &key)?;
    store::sessions::delete_of_expired(writer.rows, key.row_id)?;
    writer.emit(key.team, key.id, &EventData::KeyExpired(KeyData::from(&key)))
}

/// Revokes a key, of a team or of an operator, and ends the sessions that were opened with it, even if it was replaced since. Fails
/// if there is no such key, or if it has ended already.
pub fn revoke(writer: &mut Writer, id: Uuid) -> Result<()> {
    let mut key = find(writer.rows, id)?;
    check(&key, KeyOperation::Revoke, writer.now)?;
    key.revoked_at = Some(writer.now);
    store::keys::update_times(writer.rows, &key)?;
    store::sessions::delete_of_revoked(writer.rows, key.row_id)?;
    writer.unschedule(StepKind::KeyExpires, key.row_id)?;
    writer.emit(key.team, id, &EventData::KeyRevoked(KeyData::from(&key)))
}

/// Revokes all keys of a team that are still valid. Returns their number.
pub(super) fn revoke_all(writer: &mut Writer, team: TeamRowId) -> Result<u64> {
    let mut count = 0;
    for key in store::keys::list_unrevoked(writer.rows, team)? {
        if check(&key, KeyOperation::Revoke, writer.now).is_ok() {
            revoke(writer, key.id)?;
            count += 1;
        }
    }
    Ok(count)
}

fn find(rows: &store::Reader, id: Uuid) -> Result<KeyTimes> {
    store::keys::find(rows, id)?.ok_or_else(|| Error::not_found(format!("key {id}")))
}

/// Checks that the status of a key allows an operation.
fn check(key: &KeyTimes, operation: KeyOperation, now: Timestamp) -> Result<KeyStatus> {
    Ok(key.status(now).check(operation)?)
}

/// Returns the key with a prefix that is made of a secret.
fn key_of(prefix: &str, secret: &[u8; 32]) -> String {
    let mut text = URL_SAFE_NO_PAD.encode(secret);
    text.truncate(SECRET_LENGTH);
    format!("{prefix}{text}")
}

/// Whether the key that is made of a secret exists, of a team or of an operator.
pub fn is_taken(reader: &Reader, secret: &[u8; 32]) -> Result<bool> {
    for prefix in [PREFIX, OPERATOR_PREFIX] {
        if store::keys::find_by_digest(reader.rows, &KeyCache::digest(&key_of(prefix, secret)))?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}
