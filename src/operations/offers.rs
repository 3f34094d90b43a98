//! Offers of a buyer.

use super::access::Buyer;
use crate::{
    error::Result,
    market::Reader,
    store::{self, offers::Offer},
};

/// Returns the team's offers, newest first.
pub fn list(reader: &Reader, buyer: &Buyer) -> Result<Vec<Offer>> {
    store::offers::list(reader.rows, buyer.team_row_id())
}
