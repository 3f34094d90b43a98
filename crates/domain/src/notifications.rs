//! Notifications to teams: their types, and who receives each.

use std::fmt::Write as _;

use crate::string_enum::{StringEnum, string_enum};

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
        /// How the team is paid was changed.
        PayoutSetupChanged = "payout_setup_changed",
    }
}

impl NotificationType {
    /// Returns when a notification of this type is sent.
    pub const fn occasion(self) -> &'static str {
        use NotificationType as T;
        match self {
            T::OpportunityPublished => "an opportunity or project opportunity is published",
            T::OpportunityClosed => "a published opportunity or project opportunity is closed",
            T::OpportunityCancelled => "a published opportunity or project opportunity is canceled",
            T::ListingApproved => "the platform approves a listing",
            T::ListingChangesRequested => "the platform requests changes of a listing",
            T::ListingRejected => "the platform rejects a listing",
            T::OfferReceived => "a buyer bids on a listing",
            T::OfferAccepted => "a vendor accepts a bid on a listing",
            T::OfferDeclined => {
                "a bid on a listing is declined, by the vendor or because the listing is archived"
            }
            T::OfferExpired => "a bid on a listing is not decided in time",
            T::SaleCompleted => "a purchase is completed",
            T::QualityCheckCompleted => "a quality run ends",
            T::EstimationCompleted => "an estimation ends, with a quote or without",
            T::ProjectBidAccepted => "a buyer accepts a project bid",
            T::ProjectBidDeclined => "a buyer declines a project bid",
            T::AssetTypeDeprecated => "an asset type is deprecated",
            T::PayoutSetupChanged => "the payout setup of a team is changed",
        }
    }

    /// Returns the teams that receive notifications of this type.
    pub const fn recipients(self) -> &'static str {
        use NotificationType as T;
        match self {
            T::OpportunityPublished => {
                "all teams with the vendor role that have accepted the NDA and are not excluded; the owner"
            }
            T::OpportunityClosed | T::OpportunityCancelled => {
                "teams that were notified of the publication and are not excluded; teams with a bid that was \
                 neither declined nor withdrawn; the owner"
            }
            T::ListingApproved
            | T::ListingChangesRequested
            | T::ListingRejected
            | T::OfferReceived
            | T::SaleCompleted => "the vendor of the listing",
            T::OfferAccepted | T::OfferDeclined | T::OfferExpired => "the buyer that bid",
            T::QualityCheckCompleted => "the vendor of the asset or listing",
            T::EstimationCompleted => "the team that requested the estimation",
            T::ProjectBidAccepted | T::ProjectBidDeclined => "the vendor that bid",
            T::AssetTypeDeprecated => "all teams with assets or listings of the type",
            T::PayoutSetupChanged => "the team",
        }
    }
}

/// Returns the table of all types, their occasions, and their recipients in Markdown.
pub fn recipients_table() -> String {
    let mut table = "| type | sent when | recipients |\n| - | - | - |\n".to_owned();
    for kind in NotificationType::ALL {
        let (name, occasion, recipients) = (kind.as_str(), kind.occasion(), kind.recipients());
        let _ = writeln!(table, "| `{name}` | {occasion} | {recipients} |");
    }
    table
}
