//! The entries of a vendor's earnings.

use super::access::Vendor;
use crate::{
    error::Result,
    market::Reader,
    store::{self, earnings::EarningsChange},
};

/// Returns a page of the entries of the team's earnings, newest first, and their total number.
pub fn list(
    reader: &Reader,
    vendor: &Vendor,
    limit: usize,
    offset: u64,
) -> Result<(Vec<EarningsChange>, u64)> {
    let team = vendor.team_row_id();
    Ok((
        store::earnings::list_page(reader.rows, team, limit, offset)?,
        store::earnings::count(reader.rows, team)?,
    ))
}
