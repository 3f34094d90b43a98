//! Messages to teams.

use super::vocabulary::vocabulary;

vocabulary! {
    /// What a message tells.
    NotificationType {
        /// A buyer posted an opportunity.
        OpportunityPublished = "opportunity_published",
        /// It was closed.
        OpportunityClosed = "opportunity_closed",
        /// It was called off.
        OpportunityCancelled = "opportunity_cancelled",
        /// A listing passed review.
        ListingApproved = "listing_approved",
        /// A listing came back from review.
        ListingChangesRequested = "listing_changes_requested",
        /// A listing was refused.
        ListingRejected = "listing_rejected",
        /// Somebody bid on a listing.
        OfferReceived = "offer_received",
        /// A bid was accepted.
        OfferAccepted = "offer_accepted",
        /// A bid was declined.
        OfferDeclined = "offer_declined",
        /// A bid ran out.
        OfferExpired = "offer_expired",
        /// A listing was sold.
        SaleCompleted = "sale_completed",
        /// A quality run ended.
        QualityCheckCompleted = "quality_check_completed",
        /// A quote is ready.
        EstimationCompleted = "estimation_completed",
        /// A project bid was accepted.
        ProjectBidAccepted = "project_bid_accepted",
        /// A project bid was declined.
        ProjectBidDeclined = "project_bid_declined",
        /// An asset kind will be retired.
        AssetTypeDeprecated = "asset_type_deprecated",
    }
}
