//! Tasksets. Their tasks are in `tasks`.

use uuid::Uuid;

use super::{
    Reader, Writer,
    row::{self, FromRow},
};
use crate::{
    domain::{row_ids::TasksetRowId, tasks::Column, teams::TeamRowId, time::Timestamp},
    error::Result,
};

/// A collection of tasks, created by one team.
#[derive(Clone, Debug, FromRow)]
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
    #[row(json)]
    pub columns: Vec<Column>,
    /// Time of creation.
    pub created_at: Timestamp,
}

/// Returns the taskset with this ID.
pub fn find(reader: &Reader, id: Uuid) -> Result<Option<Taskset>> {
    const SQL: &str =
        "SELECT id AS row_id, uuid AS id, team, name, columns, created_at FROM tasksets WHERE uuid = ?1";
    reader.query_first(SQL, [id], Taskset::from_row)
}

/// A taskset in a list.
#[derive(Clone, Debug, FromRow)]
pub struct TasksetSummary {
    /// ID of the taskset.
    pub id: Uuid,
    /// Name for people.
    pub name: String,
    /// Number of its tasks that are not deleted.
    pub tasks: u64,
    /// Time of creation.
    pub created_at: Timestamp,
}

/// Returns a team's newest tasksets whose names contain a text, newest first.
pub fn list_own(reader: &Reader, team: TeamRowId, text: &str, limit: usize) -> Result<Vec<TasksetSummary>> {
    const SQL: &str = "SELECT uuid AS id, name, created_at, tasks FROM tasksets
         WHERE team = ?1 AND contains_text(name, ?2) ORDER BY id DESC LIMIT ?3";
    reader.query_all(SQL, (team, text, limit as i64), TasksetSummary::from_row)
}

/// Returns the team of the taskset with this row ID, and its ID.
pub fn find_owner(reader: &Reader, row_id: TasksetRowId) -> Result<(TeamRowId, Uuid)> {
    const SQL: &str = "SELECT team, uuid FROM tasksets WHERE id = ?1";
    reader.query_one(SQL, [row_id], |row| Ok((row.get(0)?, row.get(1)?)))
}

/// Queues the listings with an asset or a bundle of the taskset for the index: they show its number of tasks.
pub fn queue_listings(writer: &Writer, taskset: TasksetRowId) -> Result<()> {
    const SQL: &str = "SELECT DISTINCT la.listing
         FROM (SELECT id FROM assets WHERE taskset = ?1
             UNION SELECT asset FROM bundle_tasksets WHERE taskset = ?1) a
         JOIN listing_assets la ON la.asset = a.id ORDER BY la.listing";
    super::index_queue::enqueue_all(writer, SQL, [taskset])
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
    Ok(TasksetRowId(writer.insert(SQL, (id, team, name, row::to_json(columns)?, at))?))
}
