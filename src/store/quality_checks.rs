//! The checks of quality runs.

use std::collections::HashMap;

use uuid::Uuid;

use super::{Reader, Writer, quality_runs::RunRow, row};
use crate::{
    domain::{
        assets::Kind,
        listings::ListingRowId,
        quality_checks::{CheckKind, CheckStatus},
        row_ids::{AssetRowId, QualityRunRowId},
    },
    error::Result,
};

/// The fields of a check to insert.
#[derive(Debug)]
pub struct NewCheck<'a> {
    /// ID of the check.
    pub id: Uuid,
    /// Row ID of the checked asset; `None` if the check is about the whole listing.
    pub asset: Option<AssetRowId>,
    /// Who or what performs the check.
    pub kind: CheckKind,
    /// Slug of the check.
    pub key: &'a str,
    /// Name of the check for people.
    pub label: &'a str,
    /// Whether the run fails if the check fails.
    pub is_mandatory: bool,
    /// Whether the check is only informational.
    pub is_informational: bool,
    /// Result of the check.
    pub status: CheckStatus,
    /// Finding, as a message for the vendor.
    pub message: Option<&'a str>,
}

/// Adds a check to a run.
pub fn insert(writer: &Writer, run: QualityRunRowId, check: &NewCheck) -> Result<()> {
    const SQL: &str = "INSERT INTO quality_checks (uuid, run, asset, kind, key, label, is_mandatory, is_informational, status, message)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";
    writer.run(
        SQL,
        (
            check.id,
            run,
            check.asset,
            check.kind,
            check.key,
            check.label,
            check.is_mandatory,
            check.is_informational,
            check.status,
            check.message,
        ),
    )
}

/// A check as its vendor sees it.
#[derive(Clone, Debug)]
pub struct CheckRow {
    /// ID of the check.
    pub id: Uuid,
    /// The checked asset; `None` if the check is about the whole listing.
    pub asset: Option<CheckedAsset>,
    /// Who or what performs the check.
    pub kind: CheckKind,
    /// Slug of the check.
    pub key: String,
    /// Name of the check for people.
    pub label: String,
    /// Whether the run fails if the check fails.
    pub is_mandatory: bool,
    /// Whether the check is only informational.
    pub is_informational: bool,
    /// Result of the check.
    pub status: CheckStatus,
    /// Finding, as a message for the vendor.
    pub message: Option<String>,
}

/// The asset that a check is about.
#[derive(Clone, Debug)]
pub struct CheckedAsset {
    /// ID of the asset.
    pub id: Uuid,
    /// Kind of the asset.
    pub kind: Kind,
    /// Title of the asset.
    pub title: String,
    /// Full name of its repository, as `owner/name`; `None` if no repository is linked.
    pub repo_full_name: Option<String>,
    /// Whether the vendor has deleted the asset; its ID then finds nothing.
    pub is_deleted: bool,
}

impl CheckedAsset {
    /// Returns the ID of the asset, unless it was deleted, so that nothing can be read by the ID.
    pub fn readable_id(&self) -> Option<Uuid> {
        (!self.is_deleted).then_some(self.id)
    }
}

/// The columns of a check, of [`CHECK_TABLES`].
pub(super) const CHECK_COLUMNS: &str =
    "c.uuid, c.kind, c.key, c.label, c.is_mandatory, c.is_informational, c.status,
    a.uuid, a.kind, a.title, d.repo_full_name, c.message, c.run, a.deleted_at IS NOT NULL";

/// The tables of [`CHECK_COLUMNS`], as the clause that names them.
pub(super) const CHECK_TABLES: &str =
    "FROM quality_checks c LEFT JOIN assets a ON a.id = c.asset LEFT JOIN data_objects d ON d.asset = a.id";

/// Reads a check from a row that begins with [`CHECK_COLUMNS`].
pub(super) fn read_check(row: &rusqlite::Row) -> rusqlite::Result<CheckRow> {
    let asset = match row.get::<_, Option<Uuid>>(7)? {
        Some(id) => Some(CheckedAsset {
            id,
            kind: row.get(8)?,
            title: row.get(9)?,
            repo_full_name: row.get(10)?,
            is_deleted: row.get(13)?,
        }),
        None => None,
    };
    Ok(CheckRow {
        id: row.get(0)?,
        asset,
        kind: row.get(1)?,
        key: row.get(2)?,
        label: row.get(3)?,
        is_mandatory: row.get(4)?,
        is_informational: row.get(5)?,
        status: row.get(6)?,
        message: row.get(11)?,
    })
}

/// Returns the checks of a run, in order.
pub fn list(reader: &Reader, run: QualityRunRowId) -> Result<Vec<CheckRow>> {
    let sql = format!("SELECT {CHECK_COLUMNS} {CHECK_TABLES} WHERE c.run = ?1 ORDER BY c.id");
    reader.query_all(&sql, [run], read_check)
}

/// Like [`list`], for the run with this ID.
pub fn list_of_run(reader: &Reader, run: Uuid) -> Result<Vec<CheckRow>> {
    let sql = format!(
        "SELECT {CHECK_COLUMNS} {CHECK_TABLES} WHERE c.run = (SELECT id FROM quality_runs WHERE uuid = ?1) ORDER BY c.id"
    );
    reader.query_all(&sql, [run], read_check)
}

/// Returns the assets of a listing with a completed run of their own that started after `run`, in the order in
/// which they were attached: their IDs, and the checks of their latest such runs.
pub fn list_newer_of_assets(
    reader: &Reader,
    listing: ListingRowId,
    run: &RunRow,
) -> Result<Vec<(Uuid, Vec<CheckRow>)>> {
    const RUNS: &str = "SELECT a.uuid, r.id FROM listing_assets la JOIN assets a ON a.id = la.asset
         JOIN quality_runs r ON r.id = (
             SELECT id FROM quality_runs WHERE asset = la.asset AND status = 'completed'
             ORDER BY run_number DESC LIMIT 1)
         WHERE la.listing = ?1 AND (r.started_at, r.id) > (?2, ?3) ORDER BY la.position";
    let runs: Vec<(Uuid, QualityRunRowId)> =
        reader
            .query_all(RUNS, (listing, run.started_at, run.row_id), |row| Ok((row.get(0)?, row.get(1)?)))?;
    if runs.is_empty() {
        return Ok(Vec::new());
    }
    let sql = format!(
        "SELECT {CHECK_COLUMNS} {CHECK_TABLES} WHERE c.run IN (SELECT value FROM json_each(?1)) ORDER BY c.id"
    );
    let row_ids: Vec<i64> = runs.iter().map(|(_, run)| run.0).collect();
    let mut checks: HashMap<i64, Vec<CheckRow>> = HashMap::new();
    for (run, check) in reader
        .query_all(&sql, [row::to_json(&row_ids)?], |row| Ok((row.get::<_, i64>(12)?, read_check(row)?)))?
    {
        checks.entry(run).or_default().push(check);
    }
    Ok(runs.into_iter().map(|(asset, run)| (asset, checks.remove(&run.0).unwrap_or_default())).collect())
}
