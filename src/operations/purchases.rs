//! Purchases of a buyer.

use super::access::Buyer;
use crate::{
    error::Result,
    market::Reader,
    store::{self, purchases::Purchase},
};

/// Returns the team's completed purchases, newest first.
pub fn list(reader: &Reader, buyer: &Buyer) -> Result<Vec<Purchase>> {
    store::purchases::list(reader.rows, buyer.team_row_id())
}
