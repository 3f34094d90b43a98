//! Tests of the buyer API: a buyer's own opportunities, purchases, and offers.

mod deals;
mod opportunities;
