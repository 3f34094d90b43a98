//! Purchases and offers. The API calls a bid on a listing an offer.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::string_enum::string_enum;

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
    /// The status of a purchase.
    PurchaseStatus {
        /// Payment in progress.
        Pending = "pending",
        /// Paid.
        Completed = "completed",
        /// Canceled before payment.
        Cancelled = "cancelled",
        /// Refunded after payment.
        Refunded = "refunded",
    }
}

string_enum! {
    /// What a purchase buys.
    PurchaseKind {
        /// The whole listing at its buy-now price.
        Full = "full",
        /// The sample of the listing.
        Sample = "sample",
        /// The whole listing at the price of an accepted bid.
        AcceptedBid = "accepted_bid",
    }
}

string_enum! {
    /// The assets that a purchase covers.
    ScopeMode {
        /// All assets of the listing.
        All = "all",
        /// A sample of the assets.
        Sample = "sample",
        /// Selected assets.
        Selection = "selection",
    }
}

/// The assets that a purchase covers. Stored as JSON with these names.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct AssetScope {
    /// Which assets.
    pub mode: ScopeMode,
    /// IDs of the selected assets; empty unless `mode` is [`ScopeMode::Selection`].
    pub asset_ids: Vec<Uuid>,
}
