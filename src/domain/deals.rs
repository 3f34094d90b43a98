//! Bids and purchases.

use super::vocabulary::vocabulary;

vocabulary! {
    /// Where a bid stands.
    OfferStatus {
        /// Waiting for the vendor: an active bid.
        Submitted = "submitted",
        /// Taken by the vendor.
        Accepted = "accepted",
        /// Refused by the vendor.
        Declined = "declined",
        /// Taken back by the buyer.
        Withdrawn = "withdrawn",
        /// Left unanswered for too long.
        Expired = "expired",
    }
}

vocabulary! {
    /// Where a purchase stands.
    PurchaseStatus {
        /// Being paid.
        Pending = "pending",
        /// Paid.
        Completed = "completed",
        /// Called off before it was paid.
        Cancelled = "cancelled",
        /// Paid back.
        Refunded = "refunded",
    }
}

vocabulary! {
    /// What was bought.
    PurchaseKind {
        /// The whole listing at its price.
        Full = "full",
        /// Its sample.
        Sample = "sample",
        /// The whole listing at the price of an accepted bid.
        AcceptedBid = "accepted_bid",
    }
}

vocabulary! {
    /// Which assets a purchase covers.
    ScopeMode {
        /// All of them.
        All = "all",
        /// A sample of them.
        Sample = "sample",
        /// Named ones.
        Selection = "selection",
    }
}
