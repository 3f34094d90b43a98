//! Quality runs and their checks.

use uuid::Uuid;

use super::{Reader, Writer, row};
use crate::{
    domain::{
        assets::Kind,
        listings::ListingNumber,
        money::Cents,
        quality::{CheckKind, CheckStatus, RunStatus},
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
}

/// Adds a check to a run.
pub fn insert_check(writer: &Writer, run: i64, check: &NewCheck) -> Result<i64> {
    const SQL: &str = "INSERT INTO quality_checks (uuid, run, asset, kind, key, label, is_mandatory, is_informational, status)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
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
