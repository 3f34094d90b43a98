//! Groups of a team's assets.

use std::collections::BTreeSet;

use uuid::Uuid;

use super::{Reader, Writer, row};
use crate::{
    domain::{collation, row_ids::GroupRowId, teams::TeamRowId, time::Timestamp},
    error::Result,
};

/// Name of the default group, which every team has.
pub const DEFAULT_NAME: &str = "Default";

/// A group of a team's assets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Row ID of the group.
    pub row_id: GroupRowId,
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

fn read_group(row: &rusqlite::Row) -> rusqlite::Result<Group> {
    Ok(Group {
        row_id: row.get("id")?,
        id: row.get("uuid")?,
        name: row.get("name")?,
        is_default: row.get("is_default")?,
        created_at: row::time(row, "created_at")?,
        updated_at: row::time(row, "updated_at")?,
    })
}

/// Returns a team's groups: the default group first, then by name, as Unicode collation orders names.
pub fn list(reader: &Reader, team: TeamRowId) -> Result<Vec<Group>> {
    let sql = format!("SELECT {COLUMNS} FROM groups WHERE team = ?1 ORDER BY name_key");
    let mut groups = reader.query_all(&sql, [team], read_group)?;
    // Keys are not stored, because a new version of Unicode changes them.
    groups.sort_by_cached_key(|group| (!group.is_default, collation::sort_key(&group.name)));
    Ok(groups)
}

/// Returns the team's group with this ID.
pub fn find(reader: &Reader, team: TeamRowId, id: Uuid) -> Result<Option<Group>> {
    let sql = format!("SELECT {COLUMNS} FROM groups WHERE uuid = ?1 AND team = ?2");
    reader.query_first(&sql, (id, team), read_group)
}

/// Returns those of the team's groups that have one of these IDs.
pub fn find_all(reader: &Reader, team: TeamRowId, ids: &BTreeSet<Uuid>) -> Result<Vec<Group>> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let sql = format!(
        "SELECT {COLUMNS} FROM groups WHERE team = ?1 AND uuid IN (SELECT unhex(value) FROM json_each(?2))"
    );
    let ids: Vec<String> = ids.iter().map(|id| id.simple().to_string()).collect();
    reader.query_all(&sql, (team, row::to_json(&ids)?), read_group)
}

/// Returns the team's group with this name, regardless of case.
pub fn find_by_name(reader: &Reader, team: TeamRowId, name: &str) -> Result<Option<Group>> {
    let sql = format!("SELECT {COLUMNS} FROM groups WHERE team = ?1 AND name_key = ?2");
    reader.query_first(&sql, (team, name.to_lowercase()), read_group)
}

/// Returns a team's default group.
pub fn find_default(reader: &Reader, team: TeamRowId) -> Result<Group> {
    let sql = format!("SELECT {COLUMNS} FROM groups WHERE team = ?1 AND is_default");
    reader.query_one(&sql, [team], read_group)
}

/// Returns the row ID of a team's default group.
pub fn find_default_row_id(reader: &Reader, team: TeamRowId) -> Result<GroupRowId> {
    Ok(find_default(reader, team)?.row_id)
}

/// Inserts a group and returns its row ID.
pub fn insert(
    writer: &Writer,
    id: Uuid,
    team: TeamRowId,
    name: &str,
    is_default: bool,
    at: Timestamp,
) -> Result<GroupRowId> {
    const SQL: &str = "INSERT INTO groups (uuid, team, name, name_key, is_default, created_at, updated_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6)";
    Ok(GroupRowId(writer.insert(SQL, (id, team, name, name.to_lowercase(), is_default, at.0))?))
}

/// Renames a group.
pub fn rename(writer: &Writer, row_id: GroupRowId, name: &str, at: Timestamp) -> Result<()> {
    const SQL: &str = "UPDATE groups SET name = ?2, name_key = ?3, updated_at = ?4 WHERE id = ?1";
    writer.execute(SQL, (row_id, name, name.to_lowercase(), at.0))?;
    Ok(())
}

/// Returns the number of assets in a group that are not deleted.
pub fn asset_count(reader: &Reader, team: TeamRowId, row_id: GroupRowId) -> Result<u64> {
    const SQL: &str =
        "SELECT coalesce(sum(assets), 0) FROM inventory_counts WHERE team = ?1 AND group_id = ?2";
    reader.query_one(SQL, (team, row_id), |row| row.get(0))
}

/// Deletes a group without assets. The rows of deleted assets that refer to it move to the group
/// `other_row_id`.
pub fn delete(writer: &Writer, row_id: GroupRowId, other_row_id: GroupRowId) -> Result<()> {
    writer.execute("UPDATE assets SET group_id = ?2 WHERE group_id = ?1", (row_id, other_row_id))?;
    writer.execute("DELETE FROM groups WHERE id = ?1", [row_id])?;
    Ok(())
}
