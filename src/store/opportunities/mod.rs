//! Opportunities that buyers post, and vendors' bids on project opportunities.

mod new;
mod rows;

pub use new::{NewBid, NewOpportunity, insert, insert_bid};
pub use rows::{bids_of_opportunity, bids_of_team, find, open, owned};
