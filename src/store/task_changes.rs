//! Changes of the tasks of a taskset: the reads that they need, and deletions. Rows are inserted by `tasks.rs`.

use uuid::Uuid;

use super::{Reader, Writer, row::FromRow};
use crate::{
    domain::{
        row_ids::{TaskRowId, TaskVersionRowId, TasksetRowId},
        tasks::{BuildStatus, VersionState},
        teams::TeamRowId,
        time::Timestamp,
    },
    error::Result,
};

/// A task, reduced to what changes of it need.
#[derive(Clone, Debug, FromRow)]
pub struct OwnedTask {
    /// Row ID of the task.
    pub row_id: TaskRowId,
    /// Row ID of the taskset.
    pub taskset: TasksetRowId,
    /// ID of the taskset.
    pub taskset_id: Uuid,
    /// Name for people.
    pub name: String,
    /// Identifier of the task in the vendor's own system.
    pub external_id: Option<String>,
    /// Time of deletion; `None` unless deleted.
    pub deleted_at: Option<Timestamp>,
    /// Number of the latest version; 0 if there is none.
    pub latest_version: u32,
}

/// Returns the team's task with this ID.
pub fn find_task(reader: &Reader, team: TeamRowId, id: Uuid) -> Result<Option<OwnedTask>> {
    const SQL: &str =
        "SELECT k.id AS row_id, k.taskset, t.uuid AS taskset_id, k.name, k.external_id, k.deleted_at,
             coalesce((SELECT max(v.version) FROM task_versions v WHERE v.task = k.id), 0) AS latest_version
         FROM tasks k JOIN tasksets t ON t.id = k.taskset WHERE k.uuid = ?1 AND t.team = ?2";
    reader.query_first(SQL, (id, team), OwnedTask::from_row)
}

/// Returns the number of a taskset's tasks that are not deleted.
pub fn count_tasks(reader: &Reader, taskset: TasksetRowId) -> Result<u64> {
    const SQL: &str = "SELECT tasks FROM tasksets WHERE id = ?1";
    reader.query_one(SQL, [taskset], |row| row.get(0))
}

/// Whether a task of the taskset that is not deleted has this identifier.
pub fn has_external_id(reader: &Reader, taskset: TasksetRowId, external_id: &str) -> Result<bool> {
    const SQL: &str = "SELECT EXISTS (SELECT 1 FROM tasks
         WHERE taskset = ?1 AND external_id = ?2 AND deleted_at IS NULL)";
    reader.query_one(SQL, (taskset, external_id), |row| row.get(0))
}

/// Records that a task was deleted.
pub fn delete_task(writer: &Writer, task: TaskRowId, at: Timestamp) -> Result<()> {
    writer.run("UPDATE tasks SET deleted_at = ?2 WHERE id = ?1", (task, at))
}

/// Supersedes the live versions of a task.
pub fn supersede_live_versions(writer: &Writer, task: TaskRowId) -> Result<()> {
    const SQL: &str = "UPDATE task_versions SET current_state = ?2 WHERE task = ?1 AND current_state = ?3";
    writer.run(SQL, (task, VersionState::Superseded, VersionState::Live))
}

/// Returns the row ID of the team's task version with this ID, and the number of its latest build, 0 if there is
/// none. Versions of deleted tasks are not found.
pub fn find_version(reader: &Reader, team: TeamRowId, id: Uuid) -> Result<Option<(TaskVersionRowId, u32)>> {
    const SQL: &str =
        "SELECT v.id, coalesce((SELECT max(b.build) FROM task_builds b WHERE b.task_version = v.id), 0)
         FROM task_versions v JOIN tasks k ON k.id = v.task JOIN tasksets t ON t.id = k.taskset
         WHERE v.uuid = ?1 AND t.team = ?2 AND k.deleted_at IS NULL";
    reader.query_first(SQL, (id, team), |row| Ok((row.get(0)?, row.get(1)?)))
}

/// A build, reduced to what a change of its status needs.
#[derive(Clone, Copy, Debug, FromRow)]
#[row(by_position)]
pub struct OwnedBuild {
    /// ID of the task version.
    pub task_version_id: Uuid,
    /// Number of the build, from 1.
    pub build: u32,
    /// Status of the build.
    pub status: BuildStatus,
}

/// Returns the team's build with this ID. Builds of deleted tasks are not found.
pub fn find_build(reader: &Reader, team: TeamRowId, id: Uuid) -> Result<Option<OwnedBuild>> {
    const SQL: &str = "SELECT v.uuid, b.build, b.status
         FROM task_builds b JOIN task_versions v ON v.id = b.task_version
         JOIN tasks k ON k.id = v.task JOIN tasksets t ON t.id = k.taskset
         WHERE b.uuid = ?1 AND t.team = ?2 AND k.deleted_at IS NULL";
    reader.query_first(SQL, (id, team), OwnedBuild::from_row)
}

/// Changes the status of a build.
pub fn set_build_status(writer: &Writer, id: Uuid, status: BuildStatus) -> Result<()> {
    writer.run("UPDATE task_builds SET status = ?2 WHERE uuid = ?1", (id, status))
}
