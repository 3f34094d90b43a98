//! Bids and purchases.

use uuid::Uuid;

use super::{money::Cents, time::Timestamp, vocabulary::vocabulary};

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

/// A sale as its vendor may know of it. There is no buyer in it, so that nothing made of it can name one.
#[derive(Clone, Debug)]
pub struct Sale {
    /// The sale's id.
    pub id: Uuid,
    /// The listing.
    pub listing_id: Uuid,
    /// The listing's title.
    pub listing_title: String,
    /// What was bought.
    pub kind: PurchaseKind,
    /// What the vendor gets: the price without the platform's part.
    pub amount: Cents,
    /// When it was paid.
    pub paid_at: Timestamp,
}
