//! Inventory folders.

use uuid::Uuid;

use super::{Reader, Writer};
use crate::{
    domain::{teams::TeamNumber, time::Timestamp},
    error::Result,
};

/// The name of the group that every team has.
pub const DEFAULT_NAME: &str = "Default";

/// The row number of a team's default group.
pub fn default_of(reader: &Reader, team: TeamNumber) -> Result<i64> {
    reader.one("SELECT id FROM groups WHERE team = ?1 AND is_default", [team.0], |row| row.get(0))
}

/// Adds a group.
pub fn insert(
    writer: &Writer,
    id: Uuid,
    team: TeamNumber,
    name: &str,
    is_default: bool,
    at: Timestamp,
) -> Result<i64> {
    const SQL: &str = "INSERT INTO groups (uuid, team, name, name_key, is_default, created_at, updated_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6)";
    writer.insert(SQL, (id, team.0, name, name.to_lowercase(), is_default, at.0))
}
