//! The report on all quality runs of a team.

use uuid::Uuid;

use super::{Reader, row};
use crate::{
    domain::{money::Cents, quality_runs::RunStatus, teams::TeamRowId, time::Timestamp},
    error::Result,
};

/// A run in the report on all runs of a team.
#[derive(Clone, Debug)]
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
    reader.query_all(SQL, (team, limit as i64, offset as i64), |row| {
        Ok(QualityReport {
            run_id: row.get(0)?,
            listing_id: row.get(1)?,
            listing_title: row.get(2)?,
            run_number: row.get(3)?,
            status: row::string_enum(row, 4)?,
            charge: Cents(row.get(5)?),
            started_at: row::time(row, 6)?,
            completed_at: row::optional_time(row, 7)?,
            mandatory_not_passed: row.get(8)?,
            environment_checks_passed: row.get(9)?,
            environment_checks: row.get(10)?,
        })
    })
}

/// Returns the number of runs of a team's listings and assets.
pub fn count(reader: &Reader, team: TeamRowId) -> Result<u64> {
    const SQL: &str = "SELECT count(*) FROM quality_runs WHERE team = ?1";
    reader.query_one(SQL, [team], |row| row.get(0))
}
