//! Responses to requests with an `Idempotency-Key`, stored for replay.

use super::{Reader, Writer};
use crate::{
    domain::{teams::TeamNumber, time::Timestamp},
    error::Result,
};

/// A use of an idempotency key.
#[derive(Debug)]
pub struct Use {
    /// SHA-256 digest of the request body.
    pub body: [u8; 32],
    /// The stored response.
    pub answer: Vec<u8>,
}

/// Returns the team's use of a key on a route, if it is later than `since`.
pub fn find(
    reader: &Reader,
    team: TeamNumber,
    key: &str,
    route: &str,
    since: Timestamp,
) -> Result<Option<Use>> {
    const SQL: &str = "SELECT body, answer FROM idempotency_keys
         WHERE team = ?1 AND key = ?2 AND route = ?3 AND created_at > ?4";
    reader.first(SQL, (team.0, key, route, since.0), |row| Ok(Use { body: row.get(0)?, answer: row.get(1)? }))
}

/// Stores a use of a key, and deletes all uses that are not later than `since`.
pub fn insert(
    writer: &Writer,
    team: TeamNumber,
    key: &str,
    route: &str,
    using: &Use,
    at: Timestamp,
    since: Timestamp,
) -> Result<()> {
    const SQL: &str = "INSERT INTO idempotency_keys (team, key, route, body, answer, created_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    writer.execute("DELETE FROM idempotency_keys WHERE created_at <= ?1", [since.0])?;
    writer.execute(SQL, (team.0, key, route, using.body, &using.answer, at.0))?;
    Ok(())
}
