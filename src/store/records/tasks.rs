//! Tasks, their versions, and the builds of those.

use super::{
    Filter::{BelongsTo, Equals, HasValue},
    Records,
};

/// Tasks of tasksets.
pub const TASKS: Records = Records {
    name: "task",
    columns: &["k.uuid AS id, s.uuid AS taskset_id, t.uuid AS team_id, k.name, k.description, k.external_id, k.tags,
         k.binarized, k.column_values, (SELECT max(version) FROM task_versions WHERE task = k.id) AS latest_version,
         k.created_at, k.deleted_at"],
    tables: &["tasks k JOIN tasksets s ON s.id = k.taskset JOIN teams t ON t.id = s.team"],
    row_id: "k.id",
    id: "k.uuid",
    condition: None,
    filters: &[
        ("taskset_id", BelongsTo("k.taskset", "tasksets", "taskset")),
        ("external_id", Equals("k.external_id")),
        ("deleted", HasValue("k.deleted_at")),
    ],
};

/// Versions of tasks.
pub const TASK_VERSIONS: Records = Records {
    name: "task version",
    columns: &["v.uuid AS id, k.uuid AS task_id, t.uuid AS team_id, v.version, v.current_state, v.lifecycle_stage,
         v.brief, v.agent_config, v.environment,
         (SELECT max(build) FROM task_builds WHERE task_version = v.id) AS latest_build, v.traces AS trace_count,
         v.created_at"],
    tables: &["task_versions v JOIN tasks k ON k.id = v.task JOIN tasksets s ON s.id = k.taskset
         JOIN teams t ON t.id = s.team"],
    row_id: "v.id",
    id: "v.uuid",
    condition: None,
    filters: &[("task_id", BelongsTo("v.task", "tasks", "task"))],
};

/// Builds of the environments of task versions.
pub const TASK_BUILDS: Records = Records {
    name: "build",
    columns: &["b.uuid AS id, v.uuid AS task_version_id, t.uuid AS team_id, b.build, b.status, b.created_at"],
    tables: &["task_builds b JOIN task_versions v ON v.id = b.task_version JOIN tasks k ON k.id = v.task
         JOIN tasksets s ON s.id = k.taskset JOIN teams t ON t.id = s.team"],
    row_id: "b.id",
    id: "b.uuid",
    condition: None,
    filters: &[("task_version_id", BelongsTo("b.task_version", "task_versions", "task version"))],
};
