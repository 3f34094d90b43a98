//! Rounds of a listing's review. The status of the listing is in `listings`.

use crate::string_enum::string_enum;

string_enum! {
    /// How a round of a review ended.
    ReviewDecision {
        /// The platform approved the listing.
        Approved = "approved",
        /// The platform requested changes.
        ChangesRequested = "changes_requested",
        /// The platform rejected the listing.
        Rejected = "rejected",
        /// The vendor withdrew the listing before the platform decided.
        Withdrawn = "withdrawn",
    }
}
