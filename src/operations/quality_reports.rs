//! The report on all quality runs of a team.

use super::access::Vendor;
use crate::{
    error::Result,
    market::Reader,
    store::{self, quality_reports::QualityReport},
};

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
