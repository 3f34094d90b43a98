//! Sales as vendors may know of them, and purchases and bids as their buyers do.

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

/// The team's settled sales, newest first.
pub fn sales(reader: &Reader, vendor: &Vendor) -> Result<Vec<Sale>> {
    store::deals::sales(reader.rows, vendor.number())
}

/// The team's completed purchases, newest first.
pub fn purchases(reader: &Reader, buyer: &Buyer) -> Result<Vec<Purchase>> {
    store::deals::purchases(reader.rows, buyer.number())
}

/// The team's bids, newest first.
pub fn offers(reader: &Reader, buyer: &Buyer) -> Result<Vec<Offer>> {
    store::deals::offers(reader.rows, buyer.number())
}
