//! Tasksets, and the imports of traces of their tasks.

use super::{
    Filter::{BelongsTo, Equals, RefersTo},
    Records,
};

/// Tasksets. Deleted tasks do not count.
pub const TASKSETS: Records = Records {
    name: "taskset",
    columns: &["s.uuid AS id, t.uuid AS team_id, s.name, s.columns, s.tasks AS task_count, s.created_at"],
    tables: &["tasksets s LEFT JOIN teams t ON t.id = s.team"],
    row_id: "s.id",
    id: "s.uuid",
    condition: None,
    filters: &[("team_id", RefersTo("s.team", "teams")), ("name", Equals("s.name"))],
};

/// Imports of traces.
pub const TRACE_IMPORTS: Records = Records {
    name: "import of traces",
    columns: &[
        "i.uuid AS id, s.uuid AS taskset_id, t.uuid AS team_id, i.status, i.size_bytes, i.lines, i.inserted,
         i.existing, i.rejected, i.problems, i.error, i.requested_at, i.started_at, i.finished_at",
    ],
    tables: &["trace_imports i JOIN tasksets s ON s.id = i.taskset JOIN teams t ON t.id = s.team"],
    row_id: "i.id",
    id: "i.uuid",
    condition: None,
    filters: &[("taskset_id", BelongsTo("i.taskset", "tasksets", "taskset")), ("status", Equals("i.status"))],
};
