//! The report on all quality runs of a team.

use uuid::Uuid;

use super::{Reader, row::FromRow};
use crate::{
    domain::{
        money::Cents,
        quality_checks::{CheckKind, CheckStatus},
        quality_runs::RunStatus,
        teams::TeamRowId,
        time::Timestamp,
    },
    error::Result,
    store::quality_checks::{self, CheckRow},
};

/// A run in the report on all runs of a team.
#[derive(Clone, Debug, FromRow)]
#[row(by_position)]
pub struct QualityReport {
    /// ID of the run.
    pub run_id: Uuid,
    /// ID of the listing; `None` if the run checks an asset.
    pub listing_id: Option<Uuid>,
    /// Title of the listing; `None` if the run checks an asset.
    pub listing_title: Option<String>,
    /// Sequence number among the runs of the listing or the asset, from 1.
    pub run_number: u32,
    /// State of the run.
    pub status: RunStatus,
    /// Amount charged for the run.
    pub charge: Cents,
    /// Time at which the run was started.
    pub started_at: Timestamp,
    /// Time at which the run finished; `None` until then.
    pub completed_at: Option<Timestamp>,
    /// Number of mandatory checks that have not passed.
    pub mandatory_not_passed: u32,
    /// Number of environment checks that passed.
    pub environment_checks_passed: u32,
    /// Number of environment checks.
    pub environment_checks: u32,
}

/// What a check found.
#[derive(Clone, Debug, FromRow)]
pub struct Finding {
    /// ID of the run.
    #[row(name = "run_uuid")]
    pub run: Uuid,
    /// ID and title of the listing that the run checks; `None` if it checks an asset.
    #[row(pair("listing_uuid", "listing_title"))]
    pub listing: Option<(Uuid, String)>,
    /// The check.
    #[row(with = quality_checks::read_check)]
    pub check: CheckRow,
}

/// Returns a page of the runs of a team's listings and assets, newest first.
pub fn list_page(reader: &Reader, team: TeamRowId, limit: usize, offset: u64) -> Result<Vec<QualityReport>> {
    // The inner query selects the page first, so that only the checks of its runs are read.
    const SQL: &str = "SELECT r.uuid, l.uuid, l.title, r.run_number, r.status, r.charge_cents, r.started_at,
             r.completed_at,
             count(c.id) FILTER (WHERE c.is_mandatory AND c.status <> 'passed'),
             count(c.id) FILTER (WHERE c.kind = 'environment' AND c.status = 'passed'),
             count(c.id) FILTER (WHERE c.kind = 'environment')
         FROM (
             SELECT * FROM quality_runs WHERE team = ?1 ORDER BY started_at DESC, id DESC LIMIT ?2 OFFSET ?3) r
         LEFT JOIN listings l ON l.id = r.listing
         LEFT JOIN quality_checks c ON c.run = r.id
         GROUP BY r.id ORDER BY r.started_at DESC, r.id DESC";
    reader.query_all(SQL, (team, limit as i64, offset as i64), QualityReport::from_row)
}

/// Returns the number of runs of a team's listings and assets.
pub fn count(reader: &Reader, team: TeamRowId) -> Result<u64> {
    const SQL: &str = "SELECT count(*) FROM quality_runs WHERE team = ?1";
    reader.query_one(SQL, [team], |row| row.get(0))
}

/// Number of a team's newest runs whose findings are read.
pub const MAX_RUNS_OF_FINDINGS: u32 = 1_000;

/// The newest completed runs of a team (?1), at most ?2, each of which is the latest completed one of its asset or listing. Runs of
/// assets that were deleted are left out.
const LATEST_RUNS: &str = "SELECT r.id FROM (
         SELECT id, listing, asset, run_number FROM quality_runs WHERE team = ?1 AND status = 'completed'
         ORDER BY started_at DESC, id DESC LIMIT ?2) r
     WHERE NOT EXISTS (
         SELECT 1 FROM quality_runs x WHERE x.asset = r.asset AND x.run_number > r.run_number AND x.status = 'completed')
     AND NOT EXISTS (
         SELECT 1 FROM quality_runs x
         WHERE x.listing = r.listing AND x.run_number > r.run_number AND x.status = 'completed')
     AND NOT EXISTS (SELECT 1 FROM assets a WHERE a.id = r.asset AND a.deleted_at IS NOT NULL)";

/// What a check found in the latest runs of a team.
#[derive(Clone, Debug, FromRow)]
pub struct FoundByCheck {
    /// Slug of the check.
    pub key: String,
    /// Name of the check for people.
    pub label: String,
    /// Who or what performs the check.
    pub kind: CheckKind,
    /// Whether a run fails if the check fails.
    pub is_mandatory: bool,
    /// The worse one of the statuses.
    pub status: CheckStatus,
    /// Number of findings: checks that failed or had no result.
    pub findings: u64,
    /// Number of the assets, and of the listings as a whole, that have findings.
    pub subjects: u64,
}

/// Returns the findings of the latest runs of a team by check: failed checks first, then those with the most findings.
pub fn findings_by_check(reader: &Reader, team: TeamRowId) -> Result<Vec<FoundByCheck>> {
    let sql = format!(
        "SELECT c.key, max(c.label) AS label, max(c.kind) AS kind, max(c.is_mandatory) AS is_mandatory,
             iif(sum(c.status = 'failed') > 0, 'failed', 'error') AS status, count(*) AS findings,
             count(DISTINCT coalesce(c.asset, -c.run)) AS subjects
         FROM quality_checks c
         WHERE c.run IN ({LATEST_RUNS}) AND c.status IN ('failed', 'error')
         GROUP BY c.key ORDER BY is_mandatory DESC, 5 DESC, findings DESC, c.key"
    );
    reader.query_all(&sql, (team, MAX_RUNS_OF_FINDINGS), FoundByCheck::from_row)
}

/// Returns the findings of a check in the latest runs of a team, newest first: the IDs of the runs, with the checks.
pub fn findings_of_check(reader: &Reader, team: TeamRowId, key: &str, limit: usize) -> Result<Vec<Finding>> {
    let sql = format!(
        "SELECT {}, (SELECT r.uuid FROM quality_runs r WHERE r.id = c.run) AS run_uuid,
             (SELECT l.uuid FROM quality_runs r JOIN listings l ON l.id = r.listing WHERE r.id = c.run) AS listing_uuid,
             (SELECT l.title FROM quality_runs r JOIN listings l ON l.id = r.listing WHERE r.id = c.run) AS listing_title {}
         WHERE c.run IN ({LATEST_RUNS}) AND c.status IN ('failed', 'error') AND c.key = ?3
         ORDER BY c.id DESC LIMIT ?4",
        quality_checks::CHECK_COLUMNS,
        quality_checks::CHECK_TABLES
    );
    reader.query_all(&sql, (team, MAX_RUNS_OF_FINDINGS, key, limit as i64), Finding::from_row)
}
