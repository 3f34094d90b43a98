//! Quality runs and their checks.

use uuid::Uuid;

use super::{Reader, Writer, row};
use crate::{
    domain::{
        assets::Kind,
        listings::ListingNumber,
        money::Cents,
        quality::{CheckKind, CheckStatus, IngestStatus, RunStatus},
        teams::TeamNumber,
        time::Timestamp,
        vocabulary::Vocabulary,
    },
    error::Result,
};

/// What a run is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A listing with its assets.
    Listing(ListingNumber),
    /// One asset, by its row number.
    Asset(i64),
}

/// A run to be.
#[derive(Debug)]
pub struct NewRun<'a> {
    /// Its id.
    pub id: Uuid,
    /// What it is about.
    pub subject: Subject,
    /// How far it is.
    pub status: RunStatus,
    /// Who asked for it.
    pub triggered_by: &'a str,
    /// What a reviewer said.
    pub review_feedback: Option<&'a str>,
    /// Why it broke.
    pub error: Option<&'a str>,
    /// What it cost.
    pub charge: Cents,
    /// When it started.
    pub started_at: Timestamp,
    /// When it ended.
    pub completed_at: Option<Timestamp>,
}

/// Adds a run, numbered after the earlier ones of its subject.
pub fn insert_run(writer: &Writer, run: &NewRun) -> Result<i64> {
    const SQL: &str =
        "INSERT INTO quality_runs (uuid, listing, asset, run_number, status, triggered_by, review_feedback,
             error, charge_cents, started_at, completed_at)
         VALUES (?1, ?2, ?3,
             (SELECT count(*) + 1 FROM quality_runs WHERE listing IS ?2 AND asset IS ?3),
             ?4, ?5, ?6, ?7, ?8, ?9, ?10)";
    let (listing, asset) = match run.subject {
        Subject::Listing(listing) => (Some(listing.0), None),
        Subject::Asset(asset) => (None, Some(asset)),
    };
    writer.insert(
        SQL,
        (
            run.id,
            listing,
            asset,
            run.status.word(),
            run.triggered_by,
            run.review_feedback,
            run.error,
            run.charge.0,
            run.started_at.0,
            run.completed_at.map(|at| at.0),
        ),
    )
}

/// A check to be.
#[derive(Debug)]
pub struct NewCheck<'a> {
    /// Its id.
    pub id: Uuid,
    /// The asset that it looks at; the whole listing where there is none.
    pub asset: Option<i64>,
    /// Who or what does it.
    pub kind: CheckKind,
    /// What it looks for, as a slug.
    pub key: &'a str,
    /// The same for people.
    pub label: &'a str,
    /// Whether the run fails with it.
    pub is_mandatory: bool,
    /// Whether it only informs.
    pub is_informational: bool,
    /// Its result.
    pub status: CheckStatus,
    /// What it found, for the vendor.
    pub message: Option<&'a str>,
}

/// Adds a check to a run.
pub fn insert_check(writer: &Writer, run: i64, check: &NewCheck) -> Result<i64> {
    const SQL: &str = "INSERT INTO quality_checks (uuid, run, asset, kind, key, label, is_mandatory, is_informational, status, message)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";
    writer.insert(
        SQL,
        (
            check.id,
            run,
            check.asset,
            check.kind.word(),
            check.key,
            check.label,
            check.is_mandatory,
            check.is_informational,
            check.status.word(),
            check.message,
        ),
    )
}

/// A check as buyers may see it: with nothing in it that names or numbers the vendor's own records.
#[derive(Clone, Debug)]
pub struct EvidenceCheck {
    /// What it looks for, as a slug.
    pub key: String,
    /// The same for people.
    pub label: String,
    /// Who or what does it.
    pub kind: CheckKind,
    /// The kind of the asset that it looks at; nothing where it looks at the whole listing.
    pub asset_kind: Option<Kind>,
    /// Whether the run fails with it.
    pub is_mandatory: bool,
    /// Whether it only informs.
    pub is_informational: bool,
    /// Its result.
    pub status: CheckStatus,
}

/// The checks of a listing's latest completed run, in their order; nothing where no run was completed.
pub fn latest_evidence(reader: &Reader, listing: ListingNumber) -> Result<Vec<EvidenceCheck>> {
    const SQL: &str =
        "SELECT c.key, c.label, c.kind, a.kind AS asset_kind, c.is_mandatory, c.is_informational, c.status
         FROM quality_checks c LEFT JOIN assets a ON a.id = c.asset
         WHERE c.run = (
             SELECT id FROM quality_runs WHERE listing = ?1 AND status = 'completed'
             ORDER BY run_number DESC LIMIT 1)
         ORDER BY c.id";
    reader.all(SQL, [listing.0], |row| {
        Ok(EvidenceCheck {
            key: row.get("key")?,
            label: row.get("label")?,
            kind: row::word(row, "kind")?,
            asset_kind: row::optional_word(row, "asset_kind")?,
            is_mandatory: row.get("is_mandatory")?,
            is_informational: row.get("is_informational")?,
            status: row::word(row, "status")?,
        })
    })
}

/// A run as its vendor sees it, without its checks.
#[derive(Clone, Debug)]
pub struct RunRow {
    /// Its row number.
    pub number: i64,
    /// Its id.
    pub id: Uuid,
    /// Its place among the runs of its subject.
    pub run_number: u32,
    /// How far it is.
    pub status: RunStatus,
    /// Who asked for it.
    pub triggered_by: String,
    /// What a reviewer said.
    pub review_feedback: Option<String>,
    /// Why it broke.
    pub error: Option<String>,
    /// What it cost.
    pub charge: Cents,
    /// When it started.
    pub started_at: Timestamp,
    /// When it ended.
    pub completed_at: Option<Timestamp>,
}

/// A listing's latest run.
pub fn latest_run(reader: &Reader, listing: ListingNumber) -> Result<Option<RunRow>> {
    const SQL: &str =
        "SELECT id, uuid, run_number, status, triggered_by, review_feedback, error, charge_cents, started_at,
             completed_at
         FROM quality_runs WHERE listing = ?1 ORDER BY run_number DESC LIMIT 1";
    reader.first(SQL, [listing.0], read_run)
}

pub(super) fn read_run(row: &rusqlite::Row) -> rusqlite::Result<RunRow> {
    Ok(RunRow {
        number: row.get("id")?,
        id: row.get("uuid")?,
        run_number: row.get("run_number")?,
        status: row::word(row, "status")?,
        triggered_by: row.get("triggered_by")?,
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
    /// Its id.
    pub id: Uuid,
    /// The asset that it looks at: kind, title, id and repository; nothing where it looks at the whole listing.
    pub asset: Option<CheckedAsset>,
    /// Who or what does it.
    pub kind: CheckKind,
    /// What it looks for, as a slug.
    pub key: String,
    /// The same for people.
    pub label: String,
    /// Whether the run fails with it.
    pub is_mandatory: bool,
    /// Whether it only informs.
    pub is_informational: bool,
    /// Its result.
    pub status: CheckStatus,
    /// What it found, for the vendor.
    pub message: Option<String>,
}

/// An asset that a check looks at.
#[derive(Clone, Debug)]
pub struct CheckedAsset {
    /// Its id.
    pub id: Uuid,
    /// Its kind.
    pub kind: Kind,
    /// Its title.
    pub title: String,
    /// `owner/name` of its repository, where one is linked.
    pub repo_full_name: Option<String>,
}

/// The checks of a run, in their order.
pub fn checks(reader: &Reader, run: i64) -> Result<Vec<CheckRow>> {
    const SQL: &str = "SELECT c.uuid, c.kind, c.key, c.label, c.is_mandatory, c.is_informational, c.status,
             a.uuid, a.kind, a.title, d.repo_full_name, c.message
         FROM quality_checks c LEFT JOIN assets a ON a.id = c.asset LEFT JOIN data_objects d ON d.asset = a.id
         WHERE c.run = ?1 ORDER BY c.id";
    reader.all(SQL, [run], |row| {
        let asset = match row.get::<_, Option<Uuid>>(7)? {
            Some(id) => Some(CheckedAsset {
                id,
                kind: row::word(row, 8)?,
                title: row.get(9)?,
                repo_full_name: row.get(10)?,
            }),
            None => None,
        };
        Ok(CheckRow {
            id: row.get(0)?,
            asset,
            kind: row::word(row, 1)?,
            key: row.get(2)?,
            label: row.get(3)?,
            is_mandatory: row.get(4)?,
            is_informational: row.get(5)?,
            status: row::word(row, 6)?,
            message: row.get(11)?,
        })
    })
}

/// A copy of a listing's dataset into the platform's hub.
#[derive(Clone, Debug)]
pub struct Ingest {
    /// The dataset's name in the hub.
    pub dataset_id: String,
    /// How far it is.
    pub status: IngestStatus,
    /// Bytes copied so far.
    pub bytes_copied: u64,
    /// Why it failed.
    pub error: Option<String>,
}

/// Copies of a listing's datasets into the platform's hub, by name.
pub fn hub_ingests(reader: &Reader, listing: ListingNumber) -> Result<Vec<Ingest>> {
    const SQL: &str = "SELECT dataset_id, status, bytes_copied, error FROM hub_ingests WHERE listing = ?1
         ORDER BY dataset_id";
    reader.all(SQL, [listing.0], |row| {
        Ok(Ingest {
            dataset_id: row.get(0)?,
            status: row::word(row, 1)?,
            bytes_copied: row.get(2)?,
            error: row.get(3)?,
        })
    })
}

/// A run in the report over all of a team's runs.
#[derive(Clone, Debug)]
pub struct Report {
    /// The run's id.
    pub run_id: Uuid,
    /// The listing.
    pub listing_id: Uuid,
    /// The listing's title.
    pub listing_title: String,
    /// The run's place among those of the listing.
    pub run_number: u32,
    /// How far it is.
    pub status: RunStatus,
    /// What it cost.
    pub charge: Cents,
    /// When it started.
    pub started_at: Timestamp,
    /// When it ended.
    pub completed_at: Option<Timestamp>,
    /// Mandatory checks that have not passed.
    pub mandatory_open: u32,
    /// Checks of environments that passed.
    pub environments_passed: u32,
    /// Checks of environments.
    pub environments: u32,
}

/// Runs of all of a team's listings, newest first.
pub fn reports(reader: &Reader, team: TeamNumber, limit: usize, offset: u64) -> Result<Vec<Report>> {
    // The page is cut before checks are counted, so that those of other runs are not read.
    const SQL: &str = "SELECT r.uuid, r.listing_uuid, r.title, r.run_number, r.status, r.charge_cents, r.started_at,
             r.completed_at,
             count(c.id) FILTER (WHERE c.is_mandatory AND c.status <> 'passed'),
             count(c.id) FILTER (WHERE c.kind = 'environment' AND c.status = 'passed'),
             count(c.id) FILTER (WHERE c.kind = 'environment')
         FROM (
             SELECT q.*, l.uuid AS listing_uuid, l.title FROM listings l JOIN quality_runs q ON q.listing = l.id
             WHERE l.team = ?1 ORDER BY q.started_at DESC, q.id DESC LIMIT ?2 OFFSET ?3) r
         LEFT JOIN quality_checks c ON c.run = r.id
         GROUP BY r.id ORDER BY r.started_at DESC, r.id DESC";
    reader.all(SQL, (team.0, limit as i64, offset as i64), |row| {
        Ok(Report {
            run_id: row.get(0)?,
            listing_id: row.get(1)?,
            listing_title: row.get(2)?,
            run_number: row.get(3)?,
            status: row::word(row, 4)?,
            charge: Cents(row.get(5)?),
            started_at: row::time(row, 6)?,
            completed_at: row::optional_time(row, 7)?,
            mandatory_open: row.get(8)?,
            environments_passed: row.get(9)?,
            environments: row.get(10)?,
        })
    })
}

/// How many runs a team's listings have had.
pub fn report_count(reader: &Reader, team: TeamNumber) -> Result<u64> {
    const SQL: &str =
        "SELECT count(*) FROM listings l JOIN quality_runs q ON q.listing = l.id WHERE l.team = ?1";
    reader.one(SQL, [team.0], |row| row.get(0))
}
