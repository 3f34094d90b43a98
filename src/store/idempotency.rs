//! Responses to requests with an `Idempotency-Key`, stored for replay.

use super::{Reader, Writer};
use crate::{
    domain::{teams::TeamRowId, time::Timestamp},
    error::Result,
};

/// A use of an idempotency key.
#[derive(Debug)]
pub struct KeyUse {
    /// SHA-256 digest of the request body.
    pub body_digest: [u8; 32],
    /// The stored response. Empty if it was too large to store.
    pub response: Vec<u8>,
}

/// Returns the team's use of a key on a route, if it is later than `since`.
pub fn find(
    reader: &Reader,
    team: TeamRowId,
    key: &str,
    route: &str,
    since: Timestamp,
) -> Result<Option<KeyUse>> {
    const SQL: &str = "SELECT body, answer FROM idempotency_keys
         WHERE team = ?1 AND key = ?2 AND route = ?3 AND created_at > ?4";
    reader.query_first(SQL, (team, key, route, since.0), |row| {
        Ok(KeyUse { body_digest: row.get(0)?, response: row.get(1)? })
    })
}

/// Stores a use of a key. It replaces an earlier use, which the caller knows to have expired.
pub fn insert(
    writer: &Writer,
    team: TeamRowId,
    key: &str,
    route: &str,
    key_use: &KeyUse,
    at: Timestamp,
) -> Result<()> {
    const SQL: &str = "INSERT INTO idempotency_keys (team, key, route, body, answer, created_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)
         ON CONFLICT DO UPDATE SET body = excluded.body, answer = excluded.answer, created_at = excluded.created_at";
    writer.execute(SQL, (team, key, route, key_use.body_digest, &key_use.response, at.0))?;
    Ok(())
}

/// Deletes a team's oldest uses of keys that are not later than `since`: at most `limit`.
pub fn delete_expired_of_team(writer: &Writer, team: TeamRowId, since: Timestamp, limit: u32) -> Result<()> {
    const SQL: &str = "DELETE FROM idempotency_keys WHERE (team, key, route) IN (
             SELECT team, key, route FROM idempotency_keys WHERE team = ?1 AND created_at <= ?2
             ORDER BY created_at LIMIT ?3)";
    writer.execute(SQL, (team, since.0, limit))?;
    Ok(())
}

/// Deletes the oldest uses of keys of all teams that are not later than `since`: at most `limit`. Returns
/// their number.
pub fn delete_expired(writer: &Writer, since: Timestamp, limit: u32) -> Result<usize> {
    const SQL: &str = "DELETE FROM idempotency_keys WHERE (team, key, route) IN (
             SELECT team, key, route FROM idempotency_keys WHERE created_at <= ?1
             ORDER BY created_at LIMIT ?2)";
    writer.execute(SQL, (since.0, limit))
}
