//! Quality runs of the assets and listings of a vendor.

use uuid::Uuid;

use super::{Filter, FromRow, Records, TeamRecord, TeamRecords};
use crate::{
    domain::{
        assets::Kind,
        money::Cents,
        quality_runs::{RunStatus, RunTrigger},
        time::Timestamp,
    },
    store::quality_runs::read_trigger,
};

/// What a run checks.
#[derive(Clone, Debug)]
pub enum RunSubject {
    /// A listing with all of its assets.
    Listing {
        /// ID of the listing.
        id: Uuid,
        /// Title of the listing.
        title: String,
    },
    /// One asset.
    Asset {
        /// ID of the asset.
        id: Uuid,
        /// Title of the asset, or the name of its repository.
        title: String,
        /// Kind of the asset.
        kind: Kind,
        /// Whether the vendor has deleted it; its ID then finds nothing.
        is_deleted: bool,
    },
}

/// A run, as its vendor sees it in a list.
#[derive(Clone, Debug, FromRow)]
pub struct TeamRun {
    /// ID of the run.
    pub id: Uuid,
    /// What it checks.
    #[row(with = read_subject)]
    pub subject: RunSubject,
    /// Sequence number among the runs of the subject, from 1.
    pub run_number: u32,
    /// Status of the run.
    pub status: RunStatus,
    /// Who or what started it.
    #[row(with = read_trigger)]
    pub triggered_by: RunTrigger,
    /// Amount charged for it.
    pub charge: Cents,
    /// Time at which it was started.
    pub started_at: Timestamp,
    /// Time at which it ended; `None` until then.
    pub completed_at: Option<Timestamp>,
    /// Number of its checks.
    pub checks: u64,
    /// Number of its checks that passed.
    pub passed: u64,
    /// Number of its mandatory checks that did not pass.
    pub mandatory_not_passed: u64,
}

fn read_subject(row: &rusqlite::Row) -> rusqlite::Result<RunSubject> {
    let title = row.get("title")?;
    Ok(match row.get("listing_uuid")? {
        Some(id) => RunSubject::Listing { id, title },
        None => RunSubject::Asset {
            id: row.get("asset_uuid")?,
            title,
            kind: row.get("asset_kind")?,
            is_deleted: row.get("is_deleted")?,
        },
    })
}

impl TeamRecord for TeamRun {
    /// `subject` is `listing` or the kind of an asset, `result` is an outcome of a run, and `text` is a part of the title of
    /// what is checked.
    const LIST: &'static TeamRecords = &Records {
        name: "quality run",
        columns: &[
            "r.uuid AS id, l.uuid AS listing_uuid, a.uuid AS asset_uuid, a.kind AS asset_kind, a.deleted_at IS NOT NULL AS is_deleted,
             coalesce(l.title, nullif(a.title, ''), d.repo_full_name, '') AS title, r.run_number, r.status, r.triggered_by,
             r.charge_cents AS charge, r.started_at, r.completed_at,
             (SELECT count(*) FROM quality_checks c WHERE c.run = r.id) AS checks,
             (SELECT count(*) FROM quality_checks c WHERE c.run = r.id AND c.status = 'passed') AS passed,
             (SELECT count(*) FROM quality_checks c WHERE c.run = r.id AND c.is_mandatory AND c.status <> 'passed')
                 AS mandatory_not_passed",
        ],
        tables: &[
            "quality_runs r LEFT JOIN listings l ON l.id = r.listing LEFT JOIN assets a ON a.id = r.asset
             LEFT JOIN data_objects d ON d.asset = r.asset",
        ],
        row_id: "r.id",
        id: "r.uuid",
        condition: None,
        filters: &[
            ("subject", Filter::Matches("coalesce(a.kind, 'listing') = ?")),
            ("result", Filter::Custom(with_result)),
            ("text", Filter::Contains("coalesce(l.title, nullif(a.title, ''), d.repo_full_name)")),
        ],
    }
    .of_team("r.team");
}

/// Whether a mandatory check of a run did not pass.
const HAS_FAILED: &str =
    "EXISTS (SELECT 1 FROM quality_checks c WHERE c.run = r.id AND c.is_mandatory AND c.status <> 'passed')";

/// Adds the condition for an outcome. An unknown one matches nothing.
fn with_result(query: super::PageQuery, value: &serde_json::Value, _: &super::Filters) -> super::PageQuery {
    match value.as_str() {
        Some("passed") => query.when("r.status = 'completed'").when(&format!("NOT {HAS_FAILED}")),
        Some("failed") => query.when("r.status = 'completed'").when(HAS_FAILED),
        Some("in_progress") => query.when("r.status IN ('queued', 'running')"),
        Some("error") => query.when("r.status = 'error'"),
        Some("cancelled") => query.when("r.status = 'cancelled'"),
        _ => query.when("0"),
    }
}
