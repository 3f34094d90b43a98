//! Opportunities that buyers post, and vendors' bids on project opportunities.

mod insert;
mod queries;

pub use insert::{NewBid, NewOpportunity, insert, insert_bid};
pub use queries::{
    concerns_team, find, list_bids_by_team, list_bids_on_opportunity, list_by_owner, list_open,
};
