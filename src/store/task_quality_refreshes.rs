//! Requests to refresh the quality of a team's task assets.

use uuid::Uuid;

use super::{Reader, Writer, row::FromRow};
use crate::{
    domain::{row_ids::TaskQualityRefreshRowId, tasks::RefreshStatus, teams::TeamRowId, time::Timestamp},
    error::Result,
};

/// A request to refresh, and its progress.
#[derive(Clone, Debug, FromRow)]
pub struct Refresh {
    /// Row ID of the request.
    pub row_id: TaskQualityRefreshRowId,
    /// ID of the request.
    pub id: Uuid,
    /// Row ID of the team.
    pub team: TeamRowId,
    /// Progress of the request.
    pub status: RefreshStatus,
    /// Time of the request.
    pub requested_at: Timestamp,
    /// Time at which work on the request started; `None` while it is queued.
    pub started_at: Option<Timestamp>,
    /// Time at which the request ended; `None` until then.
    pub finished_at: Option<Timestamp>,
    /// Number of task assets to refresh.
    pub total: u64,
    /// Number of task assets refreshed so far.
    pub refreshed: u64,
    /// Reason why the request failed.
    pub error: Option<String>,
}

const COLUMNS: &str =
    "id AS row_id, uuid AS id, team, status, requested_at, started_at, finished_at, total, refreshed, error";

/// Returns a team's latest request.
pub fn find_latest(reader: &Reader, team: TeamRowId) -> Result<Option<Refresh>> {
    let sql =
        format!("SELECT {COLUMNS} FROM task_quality_refreshes WHERE team = ?1 ORDER BY row_id DESC LIMIT 1");
    reader.query_first(&sql, [team], Refresh::from_row)
}

/// Returns a request.
pub fn find(reader: &Reader, row_id: TaskQualityRefreshRowId) -> Result<Option<Refresh>> {
    let sql = format!("SELECT {COLUMNS} FROM task_quality_refreshes WHERE id = ?1");
    reader.query_first(&sql, [row_id], Refresh::from_row)
}

/// Inserts a queued request for `total` task assets.
pub fn insert(
    writer: &Writer,
    id: Uuid,
    team: TeamRowId,
    total: u64,
    at: Timestamp,
) -> Result<TaskQualityRefreshRowId> {
    const SQL: &str =
        "INSERT INTO task_quality_refreshes (uuid, team, status, requested_at, total, refreshed)
         VALUES (?1, ?2, ?3, ?4, ?5, 0)";
    let row_id = writer.insert(SQL, (id, team, RefreshStatus::Queued, at, total as i64))?;
    Ok(TaskQualityRefreshRowId(row_id))
}

/// Updates the progress of a request.
pub fn update(writer: &Writer, refresh: &Refresh) -> Result<()> {
    const SQL: &str = "UPDATE task_quality_refreshes
         SET status = ?2, started_at = ?3, finished_at = ?4, total = ?5, refreshed = ?6, error = ?7
         WHERE id = ?1";
    writer.run(
        SQL,
        (
            refresh.row_id,
            refresh.status,
            refresh.started_at,
            refresh.finished_at,
            refresh.total as i64,
            refresh.refreshed as i64,
            &refresh.error,
        ),
    )
}
