//! The buyer API: a buyer's own deals.

mod deals;
mod opportunities;
