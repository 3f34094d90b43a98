//! Offers: bids of buyers on listings. Their state machine, and the allowed amounts.

use super::{money::Cents, state_machine::state_machine};
use crate::string_enum::string_enum;

/// Maximum amount of an offer: 100 million dollars.
pub const MAX_AMOUNT: Cents = Cents(10_000_000_000);

string_enum! {
    /// The status of a bid on a listing.
    OfferStatus {
        /// Waiting for the vendor's decision. Only submitted bids are active.
        Submitted = "submitted",
        /// Accepted by the vendor.
        Accepted = "accepted",
        /// Declined by the vendor.
        Declined = "declined",
        /// Withdrawn by the buyer.
        Withdrawn = "withdrawn",
        /// Expired without a decision.
        Expired = "expired",
    }
}

string_enum! {
    /// An operation on an offer that exists.
    OfferOperation {
        /// Changes the amount, or how the buyer pays.
        Change = "change",
        /// Withdraws the offer, for the buyer.
        Withdraw = "withdraw",
        /// Accepts the offer, for the vendor.
        Accept = "accept",
        /// Declines the offer, for the vendor.
        Decline = "decline",
        /// Ends an offer that was not decided in time.
        Expire = "expire",
    }
}

state_machine! {
    /// Every decision is final.
    OfferStatus by OfferOperation, not requested: Expire;
    Submitted: Change => Submitted, Withdraw => Withdrawn, Accept => Accepted, Decline => Declined, Expire => Expired;
}
