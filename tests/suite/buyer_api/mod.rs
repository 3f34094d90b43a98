//! Tests of the buyer API: a buyer's own opportunities, purchases, and offers.

mod opportunities;
mod purchases_and_offers;
