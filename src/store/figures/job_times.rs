//! How long work in the background takes.

use super::figure::{Axis, Figure, Unit, Value};

/// Background work that has ended, by the kind of its jobs. A finished job is deleted, so the times are taken from the record that it
/// worked on. Bundles store no times.
pub static JOB_TIMES: Figure = Figure {
    name: "job-times",
    title: "Work in the background",
    explanation: "Work in the background that ended in the range, and how long after it was asked for, with the time that it \
                  waited for its turn. Half of it took less than the median, and half of it more. Jobs that were given up are \
                  kept for 30 days.",
    by: Axis::Names { head: "Work", is_on_wire: true, sql: "w.kind", key: "" },
    series: None,
    values: &[
        Value::listed("Ended", Unit::Count, "count(w.micros)"),
        Value::drawn("Median, seconds", Unit::Seconds, "median(w.micros)"),
        Value::listed("Longest, seconds", Unit::Seconds, "max(w.micros)"),
        Value::listed("Given up", Unit::Count, "count(*) - count(w.micros)"),
    ],
    source: "(
            SELECT 'run_checks' AS kind, completed_at AS at, completed_at - started_at AS micros
            FROM quality_runs WHERE completed_at IS NOT NULL
            UNION ALL SELECT iif(channel = 'zip', 'read_archive', 'read_repository'), analyzed_at, analyzed_at - attached_at
            FROM data_objects WHERE analyzed_at IS NOT NULL
            UNION ALL SELECT 'estimate', completed_at, completed_at - created_at
            FROM estimations WHERE completed_at IS NOT NULL
            UNION ALL SELECT 'import_traces', finished_at, finished_at - requested_at
            FROM trace_imports WHERE finished_at IS NOT NULL
            UNION ALL SELECT 'refresh_task_quality', finished_at, finished_at - requested_at
            FROM task_quality_refreshes WHERE finished_at IS NOT NULL
            UNION ALL SELECT 'change_assets', completed_at, completed_at - created_at
            FROM bulk_changes WHERE completed_at IS NOT NULL
            UNION ALL SELECT kind, ended_at, NULL FROM ended_jobs WHERE state = 'failed'
        ) w WHERE TRUE",
    at: "w.at",
};
