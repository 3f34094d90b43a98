//! Sales of a vendor, and purchases and offers of a buyer.

use super::access::{Buyer, Vendor};
use crate::{
    domain::purchases::Sale,
    error::Result,
    market::Reader,
    store::{
        self,
        purchases::{Offer, Purchase},
    },
};

/// Returns the team's settled sales, newest first.
pub fn sales(reader: &Reader, vendor: &Vendor) -> Result<Vec<Sale>> {
    store::purchases::list_sales(reader.rows, vendor.team_row_id())
}

/// Returns the team's completed purchases, newest first.
pub fn purchases(reader: &Reader, buyer: &Buyer) -> Result<Vec<Purchase>> {
    store::purchases::list_purchases(reader.rows, buyer.team_row_id())
}

/// Returns the team's offers, newest first.
pub fn offers(reader: &Reader, buyer: &Buyer) -> Result<Vec<Offer>> {
    store::purchases::list_offers(reader.rows, buyer.team_row_id())
}
