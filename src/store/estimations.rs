//! Estimations: non-binding quotes for sources of data.

use uuid::Uuid;

use super::{Reader, Writer, row};
use crate::{
    domain::{
        assets::{Channel, Kind},
        estimations::{Estimation, EstimationStatus, RepositoryMetrics},
        money::Cents,
        row_ids::{AssetRowId, EstimationRowId},
        teams::TeamRowId,
        time::Timestamp,
    },
    error::Result,
};

/// The fields of an estimation to insert.
#[derive(Debug)]
pub struct NewEstimation<'a> {
    /// ID of the estimation.
    pub id: Uuid,
    /// Row ID of the vendor.
    pub team: TeamRowId,
    /// Asset kind as which the source would be sold.
    pub kind: Kind,
    /// Where the source is hosted.
    pub channel: Channel,
    /// Full name of the source repository, as `owner/name`.
    pub repo_full_name: &'a str,
    /// Name of the estimation.
    pub name: &'a str,
    /// State of the estimation.
    pub status: EstimationStatus,
    /// The measured properties of the source.
    pub measured: Option<&'a RepositoryMetrics>,
    /// Lower and upper bound of the quote.
    pub quote: Option<(Cents, Cents)>,
    /// Reason why the estimation failed.
    pub failure_message: Option<&'a str>,
    /// Row ID of the asset created from the estimation, if any.
    pub asset: Option<AssetRowId>,
    /// ID of the person who requested it.
    pub created_by: Uuid,
    /// Time of the request.
    pub created_at: Timestamp,
    /// Time of completion; `None` until then.
    pub completed_at: Option<Timestamp>,
}

/// Inserts an estimation, and returns its row ID.
pub fn insert(writer: &Writer, estimation: &NewEstimation) -> Result<EstimationRowId> {
    const SQL: &str =
        "INSERT INTO estimations (uuid, team, kind, channel, repo_full_name, name, status, measured,
             quote_low_cents, quote_high_cents, failure_message, asset, created_by, created_at, completed_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)";
    let row_id = writer.insert(
        SQL,
        (
            estimation.id,
            estimation.team,
            estimation.kind,
            estimation.channel,
            estimation.repo_full_name,
            estimation.name,
            estimation.status,
            estimation.measured.map(row::to_json).transpose()?,
            estimation.quote.map(|(low, _)| low),
            estimation.quote.map(|(_, high)| high),
            estimation.failure_message,
            estimation.asset,
            estimation.created_by,
            estimation.created_at,
            estimation.completed_at,
        ),
    )?;
    Ok(EstimationRowId(row_id))
}

/// The columns that [`read_estimation`] reads, in this order, from [`TABLES`].
pub(super) const COLUMNS: &str =
    "e.uuid, e.kind, e.channel, e.repo_full_name, e.name, e.status, e.created_at, e.completed_at,
    e.created_by, e.failure_message, a.uuid, e.quote_low_cents, e.quote_high_cents";

/// The tables of [`COLUMNS`]. A deleted asset counts as none.
pub(super) const TABLES: &str = "estimations e LEFT JOIN assets a ON a.id = e.asset AND a.deleted_at IS NULL";

/// Reads an estimation from a row that begins with [`COLUMNS`].
pub(super) fn read_estimation(row: &rusqlite::Row) -> rusqlite::Result<Estimation> {
    let mut columns = row::ColumnIndexes::default();
    // Struct fields are evaluated in source order, which must match the order of the columns.
    Ok(Estimation {
        id: row.get(columns.next())?,
        kind: row.get(columns.next())?,
        channel: row.get(columns.next())?,
        repo_full_name: row.get(columns.next())?,
        name: row.get(columns.next())?,
        status: row.get(columns.next())?,
        created_at: row.get(columns.next())?,
        completed_at: row.get(columns.next())?,
        created_by: row.get(columns.next())?,
        failure_message: row.get(columns.next())?,
        asset: row.get(columns.next())?,
        quote: row.get::<_, Option<_>>(columns.next())?.zip(row.get(columns.next())?),
    })
}

/// Returns a team's estimations, newest first.
pub fn list(reader: &Reader, team: TeamRowId) -> Result<Vec<Estimation>> {
    let sql =
        format!("SELECT {COLUMNS} FROM {TABLES} WHERE e.team = ?1 ORDER BY e.created_at DESC, e.id DESC");
    reader.query_all(&sql, [team], read_estimation)
}

/// Returns the team's estimation with this ID.
pub fn find(reader: &Reader, team: TeamRowId, id: Uuid) -> Result<Option<Estimation>> {
    let sql = format!("SELECT {COLUMNS} FROM {TABLES} WHERE e.uuid = ?1 AND e.team = ?2");
    reader.query_first(&sql, (id, team), read_estimation)
}

/// A pending estimation, with what the table has about it besides.
#[derive(Clone, Debug)]
pub struct PendingEstimation {
    /// Row ID of the estimation.
    pub row_id: EstimationRowId,
    /// The estimation.
    pub estimation: Estimation,
    /// Row ID of the team that requested it.
    pub team: TeamRowId,
    /// Row ID of the asset that it is for, even if that was deleted.
    pub asset: Option<AssetRowId>,
}

/// Returns the estimation with this row ID if it is pending.
pub fn find_pending(reader: &Reader, row_id: EstimationRowId) -> Result<Option<PendingEstimation>> {
    let sql =
        format!("SELECT {COLUMNS}, e.team, e.asset FROM {TABLES} WHERE e.id = ?1 AND e.status = 'pending'");
    reader.query_first(&sql, [row_id], |row| {
        Ok(PendingEstimation {
            row_id,
            estimation: read_estimation(row)?,
            team: row.get("team")?,
            asset: row.get("asset")?,
        })
    })
}

/// Returns the number of a team's pending estimations.
pub fn count_pending(reader: &Reader, team: TeamRowId) -> Result<u64> {
    const SQL: &str = "SELECT count(*) FROM estimations WHERE team = ?1 AND status = 'pending'";
    reader.query_one(SQL, [team], |row| row.get(0))
}

/// Stores the end of an estimation: its status, quote, failure message, time, and measurements.
pub fn complete(
    writer: &Writer,
    row_id: EstimationRowId,
    ended: &Estimation,
    measured: Option<&RepositoryMetrics>,
) -> Result<()> {
    const SQL: &str = "UPDATE estimations SET status = ?2, measured = ?3, quote_low_cents = ?4,
             quote_high_cents = ?5, failure_message = ?6, completed_at = ?7
         WHERE id = ?1";
    writer.run(
        SQL,
        (
            row_id,
            ended.status,
            measured.map(row::to_json).transpose()?,
            ended.quote.map(|(low, _)| low),
            ended.quote.map(|(_, high)| high),
            &ended.failure_message,
            ended.completed_at,
        ),
    )
}

/// Stores the asset that was created from an estimation.
pub fn set_asset(writer: &Writer, team: TeamRowId, id: Uuid, asset: AssetRowId) -> Result<()> {
    writer.run("UPDATE estimations SET asset = ?3 WHERE uuid = ?1 AND team = ?2", (id, team, asset))
}
