//! Tasks, and their versions, builds, and traces.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use super::{
    Reader, Writer,
    row::{self, FromRow},
};
use crate::{
    domain::{
        row_ids::{TaskRowId, TaskVersionRowId, TasksetRowId},
        tasks::{BuildStatus, VersionStage, VersionState},
        time::Timestamp,
    },
    error::Result,
};

/// A task, stored or to insert.
#[derive(Clone, Debug, FromRow)]
pub struct Task {
    /// ID of the task.
    pub id: Uuid,
    /// Name for people.
    pub name: String,
    /// What the task asks for.
    pub description: Option<String>,
    /// Identifier of the task in the vendor's own system.
    pub external_id: Option<String>,
    /// Free-form labels.
    #[row(json)]
    pub tags: Vec<String>,
    /// Whether the reward is always 0 or 1.
    pub binarized: bool,
    /// Values of the taskset's columns, by column name.
    #[row(json)]
    pub column_values: BTreeMap<String, Value>,
    /// Events of the task, oldest first.
    #[row(json)]
    pub activity_log: Vec<Activity>,
    /// ID of the person to whom the task is assigned.
    pub assignee: Option<Uuid>,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Time of deletion; `None` unless deleted.
    pub deleted_at: Option<Timestamp>,
}

/// An entry in the activity log of a task. Stored as JSON with these names.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Activity {
    /// Time of the action.
    pub at: Timestamp,
    /// What was done.
    pub action: String,
}

/// Inserts a task and returns its row ID.
pub fn insert_task(writer: &Writer, taskset: TasksetRowId, task: &Task) -> Result<TaskRowId> {
    const SQL: &str =
        "INSERT INTO tasks (uuid, taskset, name, description, external_id, tags, binarized, column_values,
             activity_log, assignee, created_at, deleted_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)";
    let row_id = writer.insert(
        SQL,
        (
            task.id,
            taskset,
            &task.name,
            &task.description,
            &task.external_id,
            row::to_json(&task.tags)?,
            task.binarized,
            row::to_json(&task.column_values)?,
            row::to_json(&task.activity_log)?,
            task.assignee,
            task.created_at,
            task.deleted_at,
        ),
    )?;
    Ok(TaskRowId(row_id))
}

/// A version of a task, stored or to insert.
#[derive(Clone, Debug, FromRow)]
pub struct Version {
    /// ID of the version.
    #[row(name = "version_uuid")]
    pub id: Uuid,
    /// Version number, from 1.
    pub version: u32,
    /// Current state of the version.
    pub current_state: VersionState,
    /// Stage of the version's review.
    pub lifecycle_stage: VersionStage,
    /// Description of the task, as the platform stores it.
    #[row(json)]
    pub brief: BTreeMap<String, Value>,
    /// Configuration of the agents that run on it.
    #[row(json)]
    pub agent_config: BTreeMap<String, Value>,
    /// Environment in which it runs.
    #[row(json)]
    pub environment: BTreeMap<String, Value>,
    /// Time of the vendor's internal review.
    pub internally_reviewed_at: Option<Timestamp>,
    /// ID of the person who did the internal review.
    pub internally_reviewed_by: Option<Uuid>,
    /// Time of creation.
    #[row(name = "version_created_at")]
    pub created_at: Timestamp,
}

/// Inserts a version of a task and returns its row ID.
pub fn insert_version(writer: &Writer, task: TaskRowId, version: &Version) -> Result<TaskVersionRowId> {
    const SQL: &str =
        "INSERT INTO task_versions (uuid, task, version, current_state, lifecycle_stage, brief, agent_config,
             environment, internally_reviewed_at, internally_reviewed_by, created_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";
    let row_id = writer.insert(
        SQL,
        (
            version.id,
            task,
            version.version,
            version.current_state,
            version.lifecycle_stage,
            row::to_json(&version.brief)?,
            row::to_json(&version.agent_config)?,
            row::to_json(&version.environment)?,
            version.internally_reviewed_at,
            version.internally_reviewed_by,
            version.created_at,
        ),
    )?;
    Ok(TaskVersionRowId(row_id))
}

/// Inserts a build of a version.
pub fn insert_build(
    writer: &Writer,
    version: TaskVersionRowId,
    id: Uuid,
    build: u32,
    status: BuildStatus,
    at: Timestamp,
) -> Result<()> {
    const SQL: &str =
        "INSERT INTO task_builds (uuid, task_version, build, status, created_at) VALUES (?1, ?2, ?3, ?4, ?5)";
    writer.run(SQL, (id, version, build, status, at))
}

/// A run of an agent on a version, stored or to insert.
#[derive(Clone, Debug, FromRow)]
pub struct Trace {
    /// ID of the trace.
    #[row(name = "uuid")]
    pub id: Uuid,
    /// Model of the agent; `None` if the catalog does not know it.
    pub model: Option<String>,
    /// Reward, 0 to 1; `None` unless graded.
    pub reward: Option<f64>,
    /// Time of grading; `None` unless graded.
    pub graded_at: Option<Timestamp>,
    /// Number of the build on which the agent ran.
    pub build: u32,
    /// Results of the platform's QA agents for the trace, by agent.
    #[row(json)]
    pub qa: BTreeMap<String, Value>,
}

/// Inserts a trace of a version.
pub fn insert_trace(writer: &Writer, version: TaskVersionRowId, trace: &Trace) -> Result<()> {
    const SQL: &str = "INSERT INTO task_traces (uuid, task_version, model, reward, graded_at, build, qa)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    writer.run(
        SQL,
        (
            trace.id,
            version,
            &trace.model,
            trace.reward,
            trace.graded_at,
            trace.build,
            row::to_json(&trace.qa)?,
        ),
    )
}

/// A task with its latest version, for the preview of a taskset.
#[derive(Clone, Debug)]
pub struct PreviewedTask {
    /// The task.
    pub task: Task,
    /// The latest version; `None` if the task has none.
    pub version: Option<PreviewedVersion>,
}

/// A version with its latest build and its traces, for the preview of a taskset.
#[derive(Clone, Debug)]
pub struct PreviewedVersion {
    /// The version.
    pub version: Version,
    /// ID of the latest build; `None` if there is none.
    pub build_id: Option<Uuid>,
    /// Number of the latest build; `None` if there is none.
    pub latest_build: Option<u32>,
    /// The traces, newest graded first; traces without a grade come last.
    pub traces: Vec<Trace>,
}

/// Returns the newest tasks of a taskset that are not deleted, each with its latest version and the traces of
/// that version. Uses two statements, regardless of the number of tasks.
pub fn list_preview(reader: &Reader, taskset: TasksetRowId, limit: usize) -> Result<Vec<PreviewedTask>> {
    const SQL: &str = "SELECT k.uuid AS id, k.name, k.description, k.external_id, k.tags, k.binarized, k.column_values,
             k.activity_log, k.assignee, k.created_at, k.deleted_at,
             v.id AS version_number, v.uuid AS version_uuid, v.version, v.current_state, v.lifecycle_stage, v.brief,
             v.agent_config, v.environment, v.internally_reviewed_at, v.internally_reviewed_by,
             v.created_at AS version_created_at, b.uuid AS build_uuid, b.build
         FROM tasks k
         LEFT JOIN task_versions v ON v.task = k.id
             AND v.version = (SELECT max(version) FROM task_versions WHERE task = k.id)
         LEFT JOIN task_builds b ON b.task_version = v.id
             AND b.build = (SELECT max(build) FROM task_builds WHERE task_version = v.id)
         WHERE k.taskset = ?1 AND k.deleted_at IS NULL
         ORDER BY k.created_at DESC, k.id DESC LIMIT ?2";
    let mut previewed = reader.query_all(SQL, (taskset, limit as i64), |row| {
        let row_id: Option<TaskVersionRowId> = row.get("version_number")?;
        let version = row_id.map(|_| read_version(row)).transpose()?;
        Ok((row_id, PreviewedTask { task: Task::from_row(row)?, version }))
    })?;
    let mut traces = traces_of_newest(reader, taskset, limit)?;
    for (row_id, task) in &mut previewed {
        if let (Some(row_id), Some(version)) = (row_id, &mut task.version) {
            version.traces = traces.remove(row_id).unwrap_or_default();
        }
    }
    Ok(previewed.into_iter().map(|(_, task)| task).collect())
}

/// Returns the traces of the latest versions of the newest tasks, by the row ID of the version.
fn traces_of_newest(
    reader: &Reader,
    taskset: TasksetRowId,
    limit: usize,
) -> Result<BTreeMap<TaskVersionRowId, Vec<Trace>>> {
    const SQL: &str = "SELECT r.task_version, r.uuid, r.model, r.reward, r.graded_at, r.build, r.qa
         FROM task_traces r
         WHERE r.task_version IN (
             SELECT (SELECT id FROM task_versions WHERE task = k.id ORDER BY version DESC LIMIT 1)
             FROM tasks k WHERE k.taskset = ?1 AND k.deleted_at IS NULL
             ORDER BY k.created_at DESC, k.id DESC LIMIT ?2)
         ORDER BY r.task_version, r.graded_at DESC, r.id DESC";
    let mut traces: BTreeMap<TaskVersionRowId, Vec<Trace>> = BTreeMap::new();
    reader.for_each_row(SQL, (taskset, limit as i64), |row| {
        traces.entry(row.get("task_version")?).or_default().push(Trace::from_row(row)?);
        Ok(())
    })?;
    Ok(traces)
}

fn read_version(row: &rusqlite::Row) -> rusqlite::Result<PreviewedVersion> {
    Ok(PreviewedVersion {
        version: Version::from_row(row)?,
        build_id: row.get("build_uuid")?,
        latest_build: row.get("build")?,
        traces: Vec::new(),
    })
}

/// Returns the row ID of the version with this number of the task with this ID.
pub fn find_version_row_id(reader: &Reader, task: Uuid, version: u32) -> Result<Option<TaskVersionRowId>> {
    const SQL: &str = "SELECT v.id FROM task_versions v JOIN tasks k ON k.id = v.task
         WHERE k.uuid = ?1 AND v.version = ?2";
    reader.query_first(SQL, (task, version), |row| row.get(0))
}
