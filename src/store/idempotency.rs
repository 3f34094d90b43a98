//! Responses to requests with an `Idempotency-Key`, stored for replay.

use super::{Reader, Writer, row::FromRow};
use crate::{
    domain::{principals::Principal, time::Timestamp},
    error::Result,
    string_enum::StringEnum,
};

/// A use of an idempotency key.
#[derive(Debug, FromRow)]
#[row(by_position)]
pub struct KeyUse {
    /// SHA-256 digest of the request body.
    pub body_digest: [u8; 32],
    /// The stored response. Empty if it was too large to store.
    pub response: Vec<u8>,
}

/// Returns what the columns `principal_kind` and `principal` contain.
fn columns(principal: Principal) -> (&'static str, i64) {
    (principal.kind().as_str(), principal.row_id())
}

/// Returns the principal's use of a key on a route, if it is later than `since`.
pub fn find(
    reader: &Reader,
    principal: Principal,
    key: &str,
    route: &str,
    since: Timestamp,
) -> Result<Option<KeyUse>> {
    const SQL: &str = "SELECT body, answer FROM idempotency_keys
         WHERE principal_kind = ?1 AND principal = ?2 AND key = ?3 AND route = ?4 AND created_at > ?5";
    let (kind, row_id) = columns(principal);
    reader.query_first(SQL, (kind, row_id, key, route, since), KeyUse::from_row)
}

/// Stores a use of a key. Replaces an earlier use; the caller must have checked that it has expired.
pub fn insert(
    writer: &Writer,
    principal: Principal,
    key: &str,
    route: &str,
    key_use: &KeyUse,
    at: Timestamp,
) -> Result<()> {
    const SQL: &str = "INSERT INTO idempotency_keys (principal_kind, principal, key, route, body, answer, created_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
         ON CONFLICT DO UPDATE SET body = excluded.body, answer = excluded.answer, created_at = excluded.created_at";
    let (kind, row_id) = columns(principal);
    writer.run(SQL, (kind, row_id, key, route, key_use.body_digest, &key_use.response, at))
}

/// Returns the time of the first use of a key that is stored.
pub fn first_used_at(reader: &Reader) -> Result<Option<Timestamp>> {
    reader.query_one("SELECT min(created_at) FROM idempotency_keys", [], |row| row.get(0))
}

/// Deletes a principal's oldest uses of keys that are not later than `since`: at most `limit`.
pub fn delete_expired_of(writer: &Writer, principal: Principal, since: Timestamp, limit: u32) -> Result<()> {
    const SQL: &str = "DELETE FROM idempotency_keys WHERE (principal_kind, principal, key, route) IN (
             SELECT principal_kind, principal, key, route FROM idempotency_keys
             WHERE principal_kind = ?1 AND principal = ?2 AND created_at <= ?3 ORDER BY created_at LIMIT ?4)";
    let (kind, row_id) = columns(principal);
    writer.run(SQL, (kind, row_id, since, limit))
}

/// Deletes the oldest uses of keys of all principals that are not later than `since`: at most `limit`.
/// Returns their number.
pub fn delete_expired(writer: &Writer, since: Timestamp, limit: u32) -> Result<usize> {
    const SQL: &str = "DELETE FROM idempotency_keys WHERE (principal_kind, principal, key, route) IN (
             SELECT principal_kind, principal, key, route FROM idempotency_keys WHERE created_at <= ?1
             ORDER BY created_at LIMIT ?2)";
    writer.execute(SQL, (since, limit))
}
