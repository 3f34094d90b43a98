//! Notifications to teams.

use crate::string_enum::string_enum;

string_enum! {
    /// The type of a notification.
    NotificationType {
        /// A buyer published an opportunity.
        OpportunityPublished = "opportunity_published",
        /// An opportunity was closed.
        OpportunityClosed = "opportunity_closed",
        /// An opportunity was canceled.
        OpportunityCancelled = "opportunity_cancelled",
        /// The platform approved a listing.
        ListingApproved = "listing_approved",
        /// The platform requested changes to a listing.
        ListingChangesRequested = "listing_changes_requested",
        /// The platform rejected a listing.
        ListingRejected = "listing_rejected",
        /// A buyer bid on a listing.
        OfferReceived = "offer_received",
        /// A bid was accepted.
        OfferAccepted = "offer_accepted",
        /// A bid was declined.
        OfferDeclined = "offer_declined",
        /// A bid expired.
        OfferExpired = "offer_expired",
        /// A listing was sold.
        SaleCompleted = "sale_completed",
        /// A quality run finished.
        QualityCheckCompleted = "quality_check_completed",
        /// The quote of an estimation is ready.
        EstimationCompleted = "estimation_completed",
        /// A project bid was accepted.
        ProjectBidAccepted = "project_bid_accepted",
        /// A project bid was declined.
        ProjectBidDeclined = "project_bid_declined",
        /// An asset kind was deprecated and will be retired.
        AssetTypeDeprecated = "asset_type_deprecated",
    }
}
