//! Requests to read the quality of a team's task assets again.

use uuid::Uuid;

use super::{Reader, Writer, row};
use crate::{
    domain::{tasks::RefreshStatus, teams::TeamNumber, time::Timestamp, vocabulary::Vocabulary},
    error::Result,
};

/// A request and how far it is.
#[derive(Clone, Debug)]
pub struct Refresh {
    /// Its row number.
    pub number: i64,
    /// Its id.
    pub id: Uuid,
    /// The team.
    pub team: TeamNumber,
    /// How far it is.
    pub status: RefreshStatus,
    /// When it was asked for.
    pub requested_at: Timestamp,
    /// When it was begun.
    pub started_at: Option<Timestamp>,
    /// When it ended.
    pub finished_at: Option<Timestamp>,
    /// Task assets to read.
    pub total: u64,
    /// Task assets read so far.
    pub refreshed: u64,
    /// Why it failed.
    pub error: Option<String>,
}

const COLUMNS: &str =
    "id, uuid, team, status, requested_at, started_at, finished_at, total, refreshed, error";

fn read(row: &rusqlite::Row) -> rusqlite::Result<Refresh> {
    Ok(Refresh {
        number: row.get("id")?,
        id: row.get("uuid")?,
        team: TeamNumber(row.get("team")?),
        status: row::word(row, "status")?,
        requested_at: row::time(row, "requested_at")?,
        started_at: row::optional_time(row, "started_at")?,
        finished_at: row::optional_time(row, "finished_at")?,
        total: row.get("total")?,
        refreshed: row.get("refreshed")?,
        error: row.get("error")?,
    })
}

/// A team's latest request.
pub fn latest(reader: &Reader, team: TeamNumber) -> Result<Option<Refresh>> {
    let sql = format!("SELECT {COLUMNS} FROM qc_refreshes WHERE team = ?1 ORDER BY id DESC LIMIT 1");
    reader.first(&sql, [team.0], read)
}

/// The oldest request of any team that is not finished.
pub fn next_open(reader: &Reader) -> Result<Option<Refresh>> {
    let sql = format!("SELECT {COLUMNS} FROM qc_refreshes WHERE finished_at IS NULL ORDER BY id LIMIT 1");
    reader.first(&sql, [], read)
}

/// Adds a request.
pub fn insert(writer: &Writer, id: Uuid, team: TeamNumber, total: u64, at: Timestamp) -> Result<()> {
    const SQL: &str = "INSERT INTO qc_refreshes (uuid, team, status, requested_at, total, refreshed)
         VALUES (?1, ?2, ?3, ?4, ?5, 0)";
    writer.execute(SQL, (id, team.0, RefreshStatus::Queued.word(), at.0, total as i64))?;
    Ok(())
}

/// Writes how far a request is.
pub fn update(writer: &Writer, refresh: &Refresh) -> Result<()> {
    const SQL: &str = "UPDATE qc_refreshes
         SET status = ?2, started_at = ?3, finished_at = ?4, total = ?5, refreshed = ?6, error = ?7
         WHERE id = ?1";
    writer.execute(
        SQL,
        (
            refresh.number,
            refresh.status.word(),
            refresh.started_at.map(|at| at.0),
            refresh.finished_at.map(|at| at.0),
            refresh.total as i64,
            refresh.refreshed as i64,
            &refresh.error,
        ),
    )?;
    Ok(())
}
