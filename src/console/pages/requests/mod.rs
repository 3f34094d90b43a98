//! Requests of buyers as vendors see them: open listing requests and projects, and the vendor's bids on projects.

pub mod bid_form;
pub mod bids;
pub mod deliver;
pub mod detail;
pub mod list;
pub mod withdraw;

use crate::{console::prelude::*, domain::opportunities::BidStatus};

/// Returns the look and the words of the status of an own bid.
const fn status_words(status: BidStatus) -> (Tone, &'static str) {
    match status {
        BidStatus::Submitted => (Tone::Waiting, "Waits for the buyer"),
        BidStatus::Accepted => (Tone::Warning, "Accepted, deliver it"),
        BidStatus::Declined => (Tone::Neutral, "Declined"),
        BidStatus::Withdrawn => (Tone::Neutral, "Withdrawn"),
        BidStatus::Delivered => (Tone::Waiting, "Delivered"),
        BidStatus::Completed => (Tone::Good, "Complete"),
    }
}
