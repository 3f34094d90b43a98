//! The report on all quality runs of a team.

use uuid::Uuid;

use super::{access::Vendor, quality_runs::CheckedRun, team_records};
use crate::{
    error::{Error, Result},
    market::Reader,
    store::{
        self,
        quality_reports::{Finding, FoundByCheck, QualityReport},
        records::team_lists::quality_runs::TeamRun,
    },
};

pub use crate::store::quality_reports::MAX_RUNS_OF_FINDINGS;

/// Returns a page of the runs of all the team's listings and assets, newest first, and their total number.
pub fn list(
    reader: &Reader,
    vendor: &Vendor,
    limit: usize,
    offset: u64,
) -> Result<(Vec<QualityReport>, u64)> {
    let team = vendor.team_row_id();
    Ok((
        store::quality_reports::list_page(reader.rows, team, limit, offset)?,
        store::quality_reports::count(reader.rows, team)?,
    ))
}

/// Returns one of the team's runs with what it checks, and with its checks.
pub fn find_run(reader: &Reader, vendor: &Vendor, id: Uuid) -> Result<(TeamRun, CheckedRun)> {
    let summary: TeamRun = team_records::find(reader.rows, vendor, id)?;
    let run = store::quality_runs::find(reader.rows, id)?;
    let run = run.ok_or_else(|| Error::internal("a quality run disappeared while it was read"))?;
    Ok((summary, CheckedRun::read(reader.rows, run)?))
}

/// Returns what the checks found in the latest runs of the team's assets and listings, among its newest
/// [`MAX_RUNS_OF_FINDINGS`] runs.
pub fn findings_by_check(reader: &Reader, vendor: &Vendor) -> Result<Vec<FoundByCheck>> {
    store::quality_reports::findings_by_check(reader.rows, vendor.team_row_id())
}

/// Returns the newest findings of a check in the same runs.
pub fn findings_of_check(reader: &Reader, vendor: &Vendor, key: &str, limit: usize) -> Result<Vec<Finding>> {
    store::quality_reports::findings_of_check(reader.rows, vendor.team_row_id(), key, limit)
}
