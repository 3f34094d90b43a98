//! Tasks, their versions, and the builds of those.

use uuid::Uuid;

use super::{
    Reader, Record, check_exists,
    pages::{PageQuery, PageRequest, RowPage},
    tasksets::TasksetRecord,
};
use crate::{
    domain::{tasks::BuildStatus, time::Timestamp},
    error::Result,
    store::{
        row,
        tasks::{Task, Version, read_task},
    },
};

/// A task, with what it belongs to.
#[derive(Clone, Debug)]
pub struct TaskRecord {
    /// The task.
    pub task: Task,
    /// ID of the taskset.
    pub taskset: Uuid,
    /// ID of the team of the taskset.
    pub team: Uuid,
    /// Number of the latest version; `None` if there is none.
    pub latest_version: Option<u32>,
}

/// What the list of the tasks of a taskset can be filtered by.
#[derive(Clone, Debug)]
pub struct TaskFilter {
    /// ID of the taskset.
    pub taskset: Uuid,
    /// Identifier of the task in the vendor's own system.
    pub external_id: Option<String>,
    /// Whether the task was deleted.
    pub is_deleted: Option<bool>,
}

const COLUMNS: &str = "k.uuid, k.name, k.description, k.external_id, k.tags, k.binarized, k.column_values,
    k.activity_log, k.assignee, k.created_at, k.deleted_at, s.uuid AS taskset_uuid, t.uuid AS team_uuid,
    (SELECT max(version) FROM task_versions WHERE task = k.id) AS latest_version";

const SOURCES: &str = "tasks k JOIN tasksets s ON s.id = k.taskset JOIN teams t ON t.id = s.team";

fn read(row: &rusqlite::Row) -> rusqlite::Result<TaskRecord> {
    Ok(TaskRecord {
        task: read_task(row)?,
        taskset: row.get("taskset_uuid")?,
        team: row.get("team_uuid")?,
        latest_version: row.get("latest_version")?,
    })
}

impl Record for TaskRecord {
    type Id = Uuid;
    type Filter = TaskFilter;

    const NAME: &'static str = "task";

    fn find(reader: &Reader, id: &Uuid) -> Result<Option<TaskRecord>> {
        reader.query_first(&format!("SELECT {COLUMNS} FROM {SOURCES} WHERE k.uuid = ?1"), [id], read)
    }

    fn page(reader: &Reader, filter: &TaskFilter, request: PageRequest) -> Result<RowPage<TaskRecord>> {
        check_exists::<TasksetRecord>(reader, "tasksets", filter.taskset)?;
        PageQuery::new(COLUMNS, SOURCES, "k.id")
            .refers_to("k.taskset", "tasksets", Some(filter.taskset))
            .filter("k.external_id = ?", filter.external_id.as_deref())
            .when(filter.is_deleted == Some(true), "k.deleted_at IS NOT NULL")
            .when(filter.is_deleted == Some(false), "k.deleted_at IS NULL")
            .fetch(reader, request, read)
    }
}

/// A version of a task, with what it belongs to.
#[derive(Clone, Debug)]
pub struct TaskVersionRecord {
    /// The version.
    pub version: Version,
    /// ID of the task.
    pub task: Uuid,
    /// ID of the team of the taskset.
    pub team: Uuid,
    /// Number of traces of the version.
    pub traces: u64,
    /// Number of the latest build; `None` if there is none.
    pub latest_build: Option<u32>,
}

const VERSION_COLUMNS: &str =
    "v.uuid, v.version, v.current_state, v.lifecycle_stage, v.brief, v.agent_config,
    v.environment, v.internally_reviewed_at, v.internally_reviewed_by, v.created_at, v.traces,
    k.uuid AS task_uuid, t.uuid AS team_uuid,
    (SELECT max(build) FROM task_builds WHERE task_version = v.id) AS latest_build";

const VERSION_SOURCES: &str =
    "task_versions v JOIN tasks k ON k.id = v.task JOIN tasksets s ON s.id = k.taskset
    JOIN teams t ON t.id = s.team";

fn read_version(row: &rusqlite::Row) -> rusqlite::Result<TaskVersionRecord> {
    Ok(TaskVersionRecord {
        version: Version {
            id: row.get("uuid")?,
            version: row.get("version")?,
            current_state: row::string_enum(row, "current_state")?,
            lifecycle_stage: row::string_enum(row, "lifecycle_stage")?,
            brief: row::json(row, "brief")?,
            agent_config: row::json(row, "agent_config")?,
            environment: row::json(row, "environment")?,
            internally_reviewed_at: row::optional_time(row, "internally_reviewed_at")?,
            internally_reviewed_by: row.get("internally_reviewed_by")?,
            created_at: row::time(row, "created_at")?,
        },
        task: row.get("task_uuid")?,
        team: row.get("team_uuid")?,
        traces: row.get("traces")?,
        latest_build: row.get("latest_build")?,
    })
}

impl Record for TaskVersionRecord {
    type Id = Uuid;
    /// ID of the task.
    type Filter = Uuid;

    const NAME: &'static str = "task version";

    fn find(reader: &Reader, id: &Uuid) -> Result<Option<TaskVersionRecord>> {
        let sql = format!("SELECT {VERSION_COLUMNS} FROM {VERSION_SOURCES} WHERE v.uuid = ?1");
        reader.query_first(&sql, [id], read_version)
    }

    fn page(reader: &Reader, task: &Uuid, request: PageRequest) -> Result<RowPage<TaskVersionRecord>> {
        check_exists::<TaskRecord>(reader, "tasks", *task)?;
        PageQuery::new(VERSION_COLUMNS, VERSION_SOURCES, "v.id")
            .refers_to("v.task", "tasks", Some(*task))
            .fetch(reader, request, read_version)
    }
}

/// A build of the environment of a task version, with what it belongs to.
#[derive(Clone, Debug)]
pub struct TaskBuildRecord {
    /// ID of the build.
    pub id: Uuid,
    /// ID of the task version.
    pub version: Uuid,
    /// ID of the team of the taskset.
    pub team: Uuid,
    /// Number of the build, from 1.
    pub build: u32,
    /// Status of the build.
    pub status: BuildStatus,
    /// Time at which the build was recorded.
    pub created_at: Timestamp,
}

const BUILD_COLUMNS: &str =
    "b.uuid, v.uuid AS version_uuid, t.uuid AS team_uuid, b.build, b.status, b.created_at";

const BUILD_SOURCES: &str = "task_builds b JOIN task_versions v ON v.id = b.task_version
    JOIN tasks k ON k.id = v.task JOIN tasksets s ON s.id = k.taskset JOIN teams t ON t.id = s.team";

fn read_build(row: &rusqlite::Row) -> rusqlite::Result<TaskBuildRecord> {
    Ok(TaskBuildRecord {
        id: row.get("uuid")?,
        version: row.get("version_uuid")?,
        team: row.get("team_uuid")?,
        build: row.get("build")?,
        status: row::string_enum(row, "status")?,
        created_at: row::time(row, "created_at")?,
    })
}

impl Record for TaskBuildRecord {
    type Id = Uuid;
    /// ID of the task version.
    type Filter = Uuid;

    const NAME: &'static str = "build";

    fn find(reader: &Reader, id: &Uuid) -> Result<Option<TaskBuildRecord>> {
        let sql = format!("SELECT {BUILD_COLUMNS} FROM {BUILD_SOURCES} WHERE b.uuid = ?1");
        reader.query_first(&sql, [id], read_build)
    }

    fn page(reader: &Reader, version: &Uuid, request: PageRequest) -> Result<RowPage<TaskBuildRecord>> {
        check_exists::<TaskVersionRecord>(reader, "task_versions", *version)?;
        PageQuery::new(BUILD_COLUMNS, BUILD_SOURCES, "b.id")
            .refers_to("b.task_version", "task_versions", Some(*version))
            .fetch(reader, request, read_build)
    }
}
