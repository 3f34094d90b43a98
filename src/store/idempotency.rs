//! Answers to requests that came with an `Idempotency-Key`.

use super::{Reader, Writer};
use crate::{
    domain::{teams::TeamNumber, time::Timestamp},
    error::Result,
};

/// What a key was used for.
#[derive(Debug)]
pub struct Use {
    /// SHA-256 of the body that came with it.
    pub body: [u8; 32],
    /// What was answered.
    pub answer: Vec<u8>,
}

/// What a team has used a key for on a route, at this time or later.
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

/// Notes what a key was used for, and forgets uses that are older than `since`.
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
