//! Quality runs and their checks.

use std::collections::HashMap;

use uuid::Uuid;

use super::{Reader, Writer, row};
use crate::{
    domain::{
        assets::Kind,
        listings::{IngestStatus, ListingRowId},
        money::Cents,
        quality_checks::{CheckKind, CheckStatus},
        quality_runs::{RunStatus, RunTrigger},
        row_ids::{AssetRowId, QualityRunRowId},
        teams::TeamRowId,
        time::Timestamp,
    },
    error::Result,
    string_enum::StringEnum,
};

/// The listing or the asset that a run checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A listing with all of its assets.
    Listing(ListingRowId),
    /// One asset, by its row ID.
    Asset(AssetRowId),
}

/// The fields of a quality run to insert.
#[derive(Debug)]
pub struct NewRun<'a> {
    /// ID of the run.
    pub id: Uuid,
    /// The listing or the asset that the run checks.
    pub subject: Subject,
    /// Row ID of the team that owns the subject and pays for the run.
    pub team: TeamRowId,
    /// State of the run.
    pub status: RunStatus,
    /// Who or what started the run.
    pub triggered_by: RunTrigger,
    /// Feedback of a human reviewer.
    pub review_feedback: Option<&'a str>,
    /// Reason why the run itself failed.
    pub error: Option<&'a str>,
    /// Amount charged for the run.
    pub charge: Cents,
    /// Time at which the run was started.
    pub started_at: Timestamp,
    /// Time at which the run finished; `None` until then.
    pub completed_at: Option<Timestamp>,
}

/// Inserts a run with the next run number of its subject, and returns its row ID.
pub fn insert_run(writer: &Writer, run: &NewRun) -> Result<QualityRunRowId> {
    const SQL: &str =
        "INSERT INTO quality_runs (uuid, listing, asset, run_number, status, triggered_by, review_feedback,
             error, charge_cents, started_at, completed_at, team)
         VALUES (?1, ?2, ?3,
             (SELECT count(*) + 1 FROM quality_runs WHERE listing IS ?2 AND asset IS ?3),
             ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";
    let (listing, asset) = match run.subject {
        Subject::Listing(listing) => (Some(listing), None),
        Subject::Asset(asset) => (None, Some(asset)),
    };
    let row_id = writer.insert(
        SQL,
        (
            run.id,
            listing,
            asset,
            run.status.as_str(),
            run.triggered_by.as_str(),
            run.review_feedback,
            run.error,
            run.charge.0,
            run.started_at.0,
            run.completed_at.map(|at| at.0),
            run.team,
        ),
    )?;
    Ok(QualityRunRowId(row_id))
}

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
pub fn insert_check(writer: &Writer, run: QualityRunRowId, check: &NewCheck) -> Result<()> {
    const SQL: &str = "INSERT INTO quality_checks (uuid, run, asset, kind, key, label, is_mandatory, is_informational, status, message)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";
    writer.execute(
        SQL,
        (
            check.id,
            run,
            check.asset,
            check.kind.as_str(),
            check.key,
            check.label,
            check.is_mandatory,
            check.is_informational,
            check.status.as_str(),
            check.message,
        ),
    )?;
    Ok(())
}

/// A check as buyers can see it, without names and IDs of the vendor's own records.
#[derive(Clone, Debug)]
pub struct EvidenceCheck {
    /// Slug of the check.
    pub key: String,
    /// Name of the check for people.
    pub label: String,
    /// Who or what performed the check.
    pub kind: CheckKind,
    /// Kind of the checked asset; `None` if the check is about the whole listing.
    pub asset_kind: Option<Kind>,
    /// Whether the run fails if the check fails.
    pub is_mandatory: bool,
    /// Whether the check is only informational.
    pub is_informational: bool,
    /// Result of the check.
    pub status: CheckStatus,
}

/// Returns the checks of a listing's latest completed run, in order. Empty if no run was completed.
pub fn list_latest_evidence(reader: &Reader, listing: ListingRowId) -> Result<Vec<EvidenceCheck>> {
    const SQL: &str =
        "SELECT c.key, c.label, c.kind, a.kind AS asset_kind, c.is_mandatory, c.is_informational, c.status
         FROM quality_checks c LEFT JOIN assets a ON a.id = c.asset
         WHERE c.run = (
             SELECT id FROM quality_runs WHERE listing = ?1 AND status = 'completed'
             ORDER BY run_number DESC LIMIT 1)
         ORDER BY c.id";
    reader.query_all(SQL, [listing], |row| {
        Ok(EvidenceCheck {
            key: row.get("key")?,
            label: row.get("label")?,
            kind: row::string_enum(row, "kind")?,
            asset_kind: row::optional_string_enum(row, "asset_kind")?,
            is_mandatory: row.get("is_mandatory")?,
            is_informational: row.get("is_informational")?,
            status: row::string_enum(row, "status")?,
        })
    })
}

/// A run as its vendor sees it, without its checks.
#[derive(Clone, Debug)]
pub struct RunRow {
    /// Row ID of the run.
    pub row_id: QualityRunRowId,
    /// ID of the run.
    pub id: Uuid,
    /// Sequence number among the runs of its subject, from 1.
    pub run_number: u32,
    /// State of the run.
    pub status: RunStatus,
    /// Who or what started the run.
    pub triggered_by: RunTrigger,
    /// Feedback of a human reviewer.
    pub review_feedback: Option<String>,
    /// Reason why the run itself failed.
    pub error: Option<String>,
    /// Amount charged for the run.
    pub charge: Cents,
    /// Time at which the run was started.
    pub started_at: Timestamp,
    /// Time at which the run finished; `None` until then.
    pub completed_at: Option<Timestamp>,
}

/// Returns a listing's latest run.
pub fn find_latest_run(reader: &Reader, listing: ListingRowId) -> Result<Option<RunRow>> {
    const SQL: &str =
        "SELECT id, uuid, run_number, status, triggered_by, review_feedback, error, charge_cents, started_at,
             completed_at
         FROM quality_runs WHERE listing = ?1 ORDER BY run_number DESC LIMIT 1";
    reader.query_first(SQL, [listing], read_run)
}

pub(super) fn read_run(row: &rusqlite::Row) -> rusqlite::Result<RunRow> {
    Ok(RunRow {
        row_id: row.get("id")?,
        id: row.get("uuid")?,
        run_number: row.get("run_number")?,
        status: row::string_enum(row, "status")?,
        // Runs that earlier versions started for a team have another text.
        triggered_by: RunTrigger::parse(row.get_ref("triggered_by")?.as_str()?).unwrap_or(RunTrigger::Team),
        review_feedback: row.get("review_feedback")?,
        error: row.get("error")?,
        charge: Cents(row.get("charge_cents")?),
        started_at: row::time(row, "started_at")?,
        completed_at: row::optional_time(row, "completed_at")?,
    })
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
    /// Whether the vendor has deleted the asset, so that its ID leads nowhere.
    pub is_deleted: bool,
}

impl CheckedAsset {
    /// Returns the ID of the asset, unless it was deleted, so that nothing can be read by the ID.
    pub fn readable_id(&self) -> Option<Uuid> {
        (!self.is_deleted).then_some(self.id)
    }
}

/// The columns of a check, and the joins with `quality_checks c` that they need.
const CHECK_COLUMNS: &str = "c.uuid, c.kind, c.key, c.label, c.is_mandatory, c.is_informational, c.status,
    a.uuid, a.kind, a.title, d.repo_full_name, c.message, c.run, a.deleted_at IS NOT NULL
    FROM quality_checks c LEFT JOIN assets a ON a.id = c.asset LEFT JOIN data_objects d ON d.asset = a.id";

fn read_check(row: &rusqlite::Row) -> rusqlite::Result<CheckRow> {
    let asset = match row.get::<_, Option<Uuid>>(7)? {
        Some(id) => Some(CheckedAsset {
            id,
            kind: row::string_enum(row, 8)?,
            title: row.get(9)?,
            repo_full_name: row.get(10)?,
            is_deleted: row.get(13)?,
        }),
        None => None,
    };
    Ok(CheckRow {
        id: row.get(0)?,
        asset,
        kind: row::string_enum(row, 1)?,
        key: row.get(2)?,
        label: row.get(3)?,
        is_mandatory: row.get(4)?,
        is_informational: row.get(5)?,
        status: row::string_enum(row, 6)?,
        message: row.get(11)?,
    })
}

/// Returns the checks of a run, in order.
pub fn list_checks(reader: &Reader, run: QualityRunRowId) -> Result<Vec<CheckRow>> {
    let sql = format!("SELECT {CHECK_COLUMNS} WHERE c.run = ?1 ORDER BY c.id");
    reader.query_all(&sql, [run], read_check)
}

/// Returns the IDs of those assets of a listing that have a completed run of their own that started after `run`, in the
/// order in which they were attached, each with the checks of its latest such run.
pub fn list_newer_checks_of_assets(
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
            .query_all(RUNS, (listing, run.started_at.0, run.row_id), |row| Ok((row.get(0)?, row.get(1)?)))?;
    if runs.is_empty() {
        return Ok(Vec::new());
    }
    let sql =
        format!("SELECT {CHECK_COLUMNS} WHERE c.run IN (SELECT value FROM json_each(?1)) ORDER BY c.id");
    let row_ids: Vec<i64> = runs.iter().map(|(_, run)| run.0).collect();
    let mut checks: HashMap<i64, Vec<CheckRow>> = HashMap::new();
    for (run, check) in reader
        .query_all(&sql, [row::to_json(&row_ids)?], |row| Ok((row.get::<_, i64>(12)?, read_check(row)?)))?
    {
        checks.entry(run).or_default().push(check);
    }
    Ok(runs.into_iter().map(|(asset, run)| (asset, checks.remove(&run.0).unwrap_or_default())).collect())
}

/// A copy of a listing's dataset in the platform's hub.
#[derive(Clone, Debug)]
pub struct HubIngestStatus {
    /// Name of the dataset in the hub.
    pub dataset_id: String,
    /// State of the copy.
    pub status: IngestStatus,
    /// Number of bytes copied so far.
    pub bytes_copied: u64,
    /// Reason why the copy failed.
    pub error: Option<String>,
}

/// Returns the copies of a listing's datasets in the platform's hub, by name.
pub fn list_hub_ingests(reader: &Reader, listing: ListingRowId) -> Result<Vec<HubIngestStatus>> {
    const SQL: &str = "SELECT dataset_id, status, bytes_copied, error FROM hub_ingests WHERE listing = ?1
         ORDER BY dataset_id";
    reader.query_all(SQL, [listing], |row| {
        Ok(HubIngestStatus {
            dataset_id: row.get(0)?,
            status: row::string_enum(row, 1)?,
            bytes_copied: row.get(2)?,
            error: row.get(3)?,
        })
    })
}
