//! Groups of a team's assets.

use uuid::Uuid;

use super::{Reader, Writer, row};
use crate::{
    domain::{teams::TeamNumber, time::Timestamp},
    error::Result,
};

/// Name of the default group, which every team has.
pub const DEFAULT_NAME: &str = "Default";

/// A group of a team's assets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Row ID of the group.
    pub number: i64,
    /// ID of the group.
    pub id: Uuid,
    /// Name, unique within the team regardless of case.
    pub name: String,
    /// Whether it is the team's default group.
    pub is_default: bool,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Time of the last change of the name.
    pub updated_at: Timestamp,
}

const COLUMNS: &str = "id, uuid, name, is_default, created_at, updated_at";

fn read(row: &rusqlite::Row) -> rusqlite::Result<Group> {
    Ok(Group {
        number: row.get("id")?,
        id: row.get("uuid")?,
        name: row.get("name")?,
        is_default: row.get("is_default")?,
        created_at: row::time(row, "created_at")?,
        updated_at: row::time(row, "updated_at")?,
    })
}

/// Returns a team's groups: the default group first, then by name.
pub fn list(reader: &Reader, team: TeamNumber) -> Result<Vec<Group>> {
    let sql = format!("SELECT {COLUMNS} FROM groups WHERE team = ?1 ORDER BY is_default DESC, name_key");
    reader.all(&sql, [team.0], read)
}

/// Returns the team's group with this ID.
pub fn find(reader: &Reader, team: TeamNumber, id: Uuid) -> Result<Option<Group>> {
    let sql = format!("SELECT {COLUMNS} FROM groups WHERE uuid = ?1 AND team = ?2");
    reader.first(&sql, (id, team.0), read)
}

/// Returns the team's group with this name, regardless of case.
pub fn named(reader: &Reader, team: TeamNumber, name: &str) -> Result<Option<Group>> {
    let sql = format!("SELECT {COLUMNS} FROM groups WHERE team = ?1 AND name_key = ?2");
    reader.first(&sql, (team.0, name.to_lowercase()), read)
}

/// Returns a team's default group.
pub fn default_group(reader: &Reader, team: TeamNumber) -> Result<Group> {
    let sql = format!("SELECT {COLUMNS} FROM groups WHERE team = ?1 AND is_default");
    reader.one(&sql, [team.0], read)
}

/// Returns the row ID of a team's default group.
pub fn default_of(reader: &Reader, team: TeamNumber) -> Result<i64> {
    Ok(default_group(reader, team)?.number)
}

/// Inserts a group and returns its row ID.
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

/// Renames a group.
pub fn rename(writer: &Writer, number: i64, name: &str, at: Timestamp) -> Result<()> {
    const SQL: &str = "UPDATE groups SET name = ?2, name_key = ?3, updated_at = ?4 WHERE id = ?1";
    writer.execute(SQL, (number, name, name.to_lowercase(), at.0))?;
    Ok(())
}

/// Returns the number of assets in a group that are not deleted.
pub fn asset_count(reader: &Reader, team: TeamNumber, number: i64) -> Result<u64> {
    const SQL: &str =
        "SELECT coalesce(sum(assets), 0) FROM inventory_counts WHERE team = ?1 AND group_id = ?2";
    reader.one(SQL, (team.0, number), |row| row.get(0))
}

/// Deletes a group without assets. The rows of deleted assets that refer to it move to the group `other`.
pub fn delete(writer: &Writer, number: i64, other: i64) -> Result<()> {
    writer.execute("UPDATE assets SET group_id = ?2 WHERE group_id = ?1", (number, other))?;
    writer.execute("DELETE FROM groups WHERE id = ?1", [number])?;
    Ok(())
}
