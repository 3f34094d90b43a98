//! Sales of a vendor.

use super::access::Vendor;
use crate::{domain::sales::Sale, error::Result, market::Reader, store};

/// Returns the team's settled sales, newest first.
pub fn list(reader: &Reader, vendor: &Vendor) -> Result<Vec<Sale>> {
    store::sales::list(reader.rows, vendor.team_row_id())
}
