//! The data of events about tasksets, their tasks, and the traces of their tasks.

use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use crate::{
    tasks::{BuildStatus, Column, VersionStage, VersionState},
    trace_imports::TraceImportStatus,
};

/// A taskset that was created.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TasksetData {
    /// ID of the taskset.
    pub taskset_id: Uuid,
    /// Name for people.
    pub name: String,
    /// Columns of its table of tasks, in order.
    pub columns: Vec<Column>,
}

/// A task that was added or deleted.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TaskData {
    /// ID of the task.
    pub task_id: Uuid,
    /// ID of the taskset.
    pub taskset_id: Uuid,
    /// Name for people.
    pub name: String,
    /// Identifier of the task in the vendor's own system; `null` if there is none.
    pub external_id: Option<String>,
}

/// A version that was added to a task.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TaskVersionData {
    /// ID of the version.
    pub task_version_id: Uuid,
    /// ID of the task.
    pub task_id: Uuid,
    /// Number of the version, from 1.
    pub version: u32,
    /// State of the version. If it is `live`, earlier live versions are superseded.
    pub current_state: VersionState,
    /// Review stage of the version.
    pub lifecycle_stage: VersionStage,
}

/// A build after a change of its status.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TaskBuildData {
    /// ID of the build.
    pub task_build_id: Uuid,
    /// ID of the task version.
    pub task_version_id: Uuid,
    /// Number of the build, from 1.
    pub build: u32,
    /// Status of the build.
    pub status: BuildStatus,
}

/// An import of traces that ended. Its traces have no events of their own.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TracesImportedData {
    /// ID of the import.
    pub import_id: Uuid,
    /// ID of the taskset.
    pub taskset_id: Uuid,
    /// How the import ended.
    pub status: TraceImportStatus,
    /// Number of lines, without blank ones.
    pub lines: u64,
    /// Number of traces that were added.
    pub inserted: u64,
    /// Number of traces that had been added before.
    pub existing: u64,
    /// Number of lines that were rejected.
    pub rejected: u64,
}
