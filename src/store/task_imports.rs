//! Queries for the import of tasks as assets: the latest version of a task and its build, who can see the
//! task, and which asset represents it. Their number does not depend on the number of tasks.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use uuid::Uuid;

use super::{Reader, row};
use crate::{
    domain::{
        row_ids::{TaskVersionRowId, TasksetRowId},
        tasks::BuildStatus,
        teams::TeamRowId,
    },
    error::Result,
};

/// The properties that determine whether a task can be imported.
#[derive(Clone, Debug)]
pub struct ImportCandidate {
    /// ID of the task.
    pub id: Uuid,
    /// Name of the task.
    pub name: String,
    /// What the task asks for.
    pub description: Option<String>,
    /// Values of the taskset's columns, by column name.
    pub column_values: BTreeMap<String, Value>,
    /// Whether the task is deleted.
    pub is_deleted: bool,
    /// Row ID of the taskset.
    pub taskset: TasksetRowId,
    /// Name of the taskset.
    pub taskset_name: String,
    /// Row ID of the team that created the task.
    pub team: TeamRowId,
    /// The latest version: its row ID, its version number, and the status of its latest build, if any.
    pub version: Option<(TaskVersionRowId, u32, Option<BuildStatus>)>,
    /// ID of the asset of the importing team that represents this version, unless it is deleted.
    pub asset: Option<Uuid>,
}

const SELECT_CANDIDATE: &str =
    "SELECT k.uuid, k.name, k.description, k.column_values, k.deleted_at IS NOT NULL, t.id, t.name, t.team,
         v.id, v.version,
         (SELECT b.status FROM task_builds b WHERE b.task_version = v.id ORDER BY b.build DESC LIMIT 1),
         (SELECT a.uuid FROM assets a WHERE a.team = ?1 AND a.task_version = v.id AND a.deleted_at IS NULL)
     FROM tasks k JOIN tasksets t ON t.id = k.taskset
     LEFT JOIN task_versions v ON v.task = k.id
         AND v.version = (SELECT max(version) FROM task_versions WHERE task = k.id)";

fn read_candidate(row: &rusqlite::Row) -> rusqlite::Result<ImportCandidate> {
    let version: Option<TaskVersionRowId> = row.get(8)?;
    let version = version.map(|row_id| Ok::<_, rusqlite::Error>((row_id, row.get(9)?, row.get(10)?)));
    Ok(ImportCandidate {
        id: row.get(0)?,
        name: row.get(1)?,
        description: row.get(2)?,
        column_values: row::json(row, 3)?,
        is_deleted: row.get(4)?,
        taskset: row.get(5)?,
        taskset_name: row.get(6)?,
        team: row.get(7)?,
        version: version.transpose()?,
        asset: row.get(11)?,
    })
}

/// Returns the tasks of a taskset that are not deleted, oldest first, for import by a team.
pub fn list_candidates(
    reader: &Reader,
    team: TeamRowId,
    taskset: TasksetRowId,
) -> Result<Vec<ImportCandidate>> {
    let sql = format!(
        "{SELECT_CANDIDATE} WHERE k.taskset = ?2 AND k.deleted_at IS NULL ORDER BY k.created_at, k.id"
    );
    reader.query_all(&sql, (team, taskset), read_candidate)
}

/// Returns the tasks with these IDs, even if they are deleted, for import by a team.
pub fn find_candidates(reader: &Reader, team: TeamRowId, tasks: &[Uuid]) -> Result<Vec<ImportCandidate>> {
    let sql = format!("{SELECT_CANDIDATE} WHERE k.uuid IN (SELECT unhex(value) FROM json_each(?2))");
    reader.query_all(&sql, (team, row::ids_to_json(tasks)?), read_candidate)
}

/// Returns the number of a taskset's tasks for which an import by its team creates an asset, at most `max`.
pub fn count_new(reader: &Reader, team: TeamRowId, taskset: TasksetRowId, max: usize) -> Result<usize> {
    const SQL: &str = "SELECT count(*) FROM (
             SELECT 1 FROM tasks k
             JOIN task_versions v ON v.task = k.id
                 AND v.version = (SELECT max(version) FROM task_versions WHERE task = k.id)
             WHERE k.taskset = ?2 AND k.deleted_at IS NULL
                 AND NOT EXISTS (SELECT 1 FROM assets a
                     WHERE a.team = ?1 AND a.task_version = v.id AND a.deleted_at IS NULL)
                 AND (SELECT b.status FROM task_builds b
                     WHERE b.task_version = v.id ORDER BY b.build DESC LIMIT 1) = ?3
             LIMIT ?4)";
    let parameters = (team, taskset, BuildStatus::Succeeded, max as i64);
    let count: i64 = reader.query_one(SQL, parameters, |row| row.get(0))?;
    Ok(count as usize)
}

/// Returns which of the tasksets a team can see on a listing: the listing is published and the team can see the
/// catalog (`sees_catalog`), or the team has a completed purchase of the listing.
pub fn list_visible_to(
    reader: &Reader,
    tasksets: &BTreeSet<TasksetRowId>,
    team: TeamRowId,
    sees_catalog: bool,
) -> Result<BTreeSet<TasksetRowId>> {
    const SQL: &str = "SELECT t.id FROM json_each(?1) j JOIN tasksets t ON t.id = j.value
         WHERE EXISTS (
             SELECT 1
             FROM (SELECT id FROM assets WHERE taskset = t.id
                 UNION SELECT asset FROM bundle_tasksets WHERE taskset = t.id) a
             JOIN listing_assets la ON la.asset = a.id JOIN listings l ON l.id = la.listing
             WHERE (?3 AND l.catalog_status = 'published' OR EXISTS (
                     SELECT 1 FROM purchases p
                     WHERE p.listing = l.id AND p.buyer = ?2 AND p.status = 'completed')))";
    if tasksets.is_empty() {
        return Ok(BTreeSet::new());
    }
    let visible = reader.query_all(SQL, (row::to_json(tasksets)?, team, sees_catalog), |row| row.get(0))?;
    Ok(visible.into_iter().collect())
}

/// Whether the team has an asset, not deleted, that represents another version of the same task.
pub fn has_asset_of_task(reader: &Reader, team: TeamRowId, version: TaskVersionRowId) -> Result<bool> {
    const SQL: &str = "SELECT EXISTS (
             SELECT 1 FROM task_versions this JOIN task_versions other ON other.task = this.task AND other.id <> this.id
             JOIN assets a ON a.team = ?1 AND a.task_version = other.id AND a.deleted_at IS NULL
             WHERE this.id = ?2)";
    reader.query_one(SQL, (team, version), |row| row.get(0))
}
