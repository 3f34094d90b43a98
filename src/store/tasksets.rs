//! Tasksets. Their tasks are in `tasks`.

use uuid::Uuid;

use super::{Reader, Writer, row};
use crate::{
    domain::{row_ids::TasksetRowId, tasks::Column, teams::TeamRowId, time::Timestamp},
    error::Result,
};

/// A collection of tasks, created by one team.
#[derive(Clone, Debug)]
pub struct Taskset {
    /// Row ID of the taskset.
    pub row_id: TasksetRowId,
    /// ID of the taskset.
    pub id: Uuid,
    /// Row ID of the team that created it.
    pub team: TeamRowId,
    /// Name for people.
    pub name: String,
    /// Columns of its table of tasks, in order.
    pub columns: Vec<Column>,
    /// Time of creation.
    pub created_at: Timestamp,
}

/// Returns the taskset with this ID.
pub fn find(reader: &Reader, id: Uuid) -> Result<Option<Taskset>> {
    const SQL: &str = "SELECT id, uuid, team, name, columns, created_at FROM tasksets WHERE uuid = ?1";
    reader.query_first(SQL, [id], |row| {
        Ok(Taskset {
            row_id: row.get("id")?,
            id: row.get("uuid")?,
            team: row.get("team")?,
            name: row.get("name")?,
            columns: row::json(row, "columns")?,
            created_at: row::time(row, "created_at")?,
        })
    })
}

/// Inserts a taskset and returns its row ID.
pub fn insert(
    writer: &Writer,
    id: Uuid,
    team: TeamRowId,
    name: &str,
    columns: &[Column],
    at: Timestamp,
) -> Result<TasksetRowId> {
    const SQL: &str =
        "INSERT INTO tasksets (uuid, team, name, columns, created_at) VALUES (?1, ?2, ?3, ?4, ?5)";
    Ok(TasksetRowId(writer.insert(SQL, (id, team, name, row::to_json(columns)?, at.0))?))
}
