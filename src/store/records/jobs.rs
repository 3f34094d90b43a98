//! Background jobs: those that wait or run, and those that were given up or canceled.

use uuid::Uuid;

use super::{
    Filter::{Equals, RefersTo},
    Reader, Records,
};
use crate::{domain::row_ids::JobRowId, error::Result};

/// Jobs that have not completed.
pub const JOBS: Records = Records {
    name: "job",
    columns: &[
        "CAST(j.id AS TEXT) AS id, j.kind, j.state, iif(j.subject_id IS NULL, NULL, j.kind) AS subject_kind,
         j.subject_id, t.uuid AS team_id, j.attempts, j.enqueued_at, j.run_after AS due_at, j.ended_at",
    ],
    tables: &[TABLE, "LEFT JOIN teams t ON t.id = j.team"],
    row_id: "j.id",
    id: "j.id",
    condition: None,
    filters: &[
        ("kind", Equals("j.kind")),
        ("state", Equals("j.state")),
        ("team_id", RefersTo("j.team", "teams")),
    ],
};

/// The jobs of both tables, with the IDs of the records that they work on.
const TABLE: &str = "(
        SELECT q.*, CASE q.kind
            WHEN 'run_checks' THEN (SELECT uuid FROM quality_runs WHERE id = q.subject)
            WHEN 'import_traces' THEN (SELECT uuid FROM trace_imports WHERE id = q.subject)
            WHEN 'refresh_task_quality' THEN (SELECT uuid FROM task_quality_refreshes WHERE id = q.subject)
            WHEN 'change_assets' THEN (SELECT uuid FROM bulk_changes WHERE id = q.subject)
            WHEN 'prepare_bundle' THEN (SELECT l.uuid FROM bundles b JOIN listings l ON l.id = b.listing WHERE b.id = q.subject)
            WHEN 'report_revocation' THEN (SELECT uuid FROM listings WHERE id = q.subject)
            WHEN 'estimate' THEN (SELECT uuid FROM estimations WHERE id = q.subject)
            WHEN 'sweep' THEN NULL
            WHEN 'seal_log' THEN NULL
            ELSE (SELECT uuid FROM assets WHERE id = q.subject)
        END AS subject_id
        FROM (
            SELECT id, kind, subject, team, attempts, enqueued_at, run_after, NULL AS ended_at,
                iif(leased_until IS NULL, 'waiting', 'running') AS state
            FROM jobs
            UNION ALL
            SELECT id, kind, subject, team, attempts, enqueued_at, NULL, ended_at, state FROM ended_jobs
        ) q
    ) j";

/// Returns the ID of the record that a job works on; `None` if there is none.
pub fn find_subject(reader: &Reader, id: JobRowId) -> Result<Option<Uuid>> {
    let sql = format!("SELECT j.subject_id FROM {TABLE} WHERE j.id = ?1");
    Ok(reader.query_first(&sql, [id], |row| row.get(0))?.flatten())
}
