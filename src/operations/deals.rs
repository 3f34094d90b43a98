//! Sales of a vendor, and purchases and offers of a buyer.

use super::access::{Buyer, Vendor};
use crate::{
    domain::deals::Sale,
    error::Result,
    market::Reader,
    store::{
        self,
        deals::{Offer, Purchase},
    },
};

/// Returns the team's settled sales, newest first.
pub fn sales(reader: &Reader, vendor: &Vendor) -> Result<Vec<Sale>> {
    store::deals::sales(reader.rows, vendor.number())
}

/// Returns the team's completed purchases, newest first.
pub fn purchases(reader: &Reader, buyer: &Buyer) -> Result<Vec<Purchase>> {
    store::deals::purchases(reader.rows, buyer.number())
}

/// Returns the team's offers, newest first.
pub fn offers(reader: &Reader, buyer: &Buyer) -> Result<Vec<Offer>> {
    store::deals::offers(reader.rows, buyer.number())
}
