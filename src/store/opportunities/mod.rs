//! Opportunities that buyers post, and vendors' bids on project opportunities.

mod changes;
mod fitting;
mod insert;
mod queries;
mod recipients;

pub use changes::{BidProgress, exclude, set_activity, set_deadline, set_status, touch, update, update_bid};
pub use fitting::{Candidate, list_candidate_assets, list_candidate_listings};
pub use insert::{NewBid, NewOpportunity, insert, insert_bid};
pub(in crate::store) use queries::{BID_SOURCES, SOURCES};
pub use queries::{
    BlockingBid, concerns_team, count_unfinished, find, find_bid, find_bid_in_effect, find_by_row_id,
    list_bids_by_team, list_bids_on_opportunity, list_blocking_bids, list_by_owner, list_open,
    list_submitted_bids, list_undecided_bids, list_unfinished, name_delivered_bids, name_owed_bids,
    vendor_names,
};
pub use recipients::{Announcement, Audience, announce, find_recipients};
