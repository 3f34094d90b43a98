//! Messages of a page after a form was carried out. The address of the page contains the name of the message, so the set is
//! closed.

use super::tone::Tone;
use crate::string_enum::string_enum;

string_enum! {
    /// A notice above the content of a page.
    Notice {
        /// The visitor has signed out.
        SignedOut = "signed_out",
        /// A form was sent without a session, so it was not carried out.
        SessionEndedUnsaved = "session_ended_unsaved",
        /// The NDA was accepted.
        NdaAccepted = "nda_accepted",
        /// A purchase was completed.
        Bought = "bought",
        /// A purchase by invoice was ordered.
        Ordered = "ordered",
        /// The preparation of a download was requested.
        PreparationRequested = "preparation_requested",
        /// A bid was made.
        BidMade = "bid_made",
        /// A bid was changed.
        BidChanged = "bid_changed",
        /// A bid was withdrawn.
        BidWithdrawn = "bid_withdrawn",
        /// A bid on a project was made.
        ProjectBidMade = "project_bid_made",
        /// Tasksets were delivered.
        TasksetsDelivered = "tasksets_delivered",
        /// An estimation was requested.
        EstimationRequested = "estimation_requested",
        /// An estimated repository was added to the inventory.
        EstimatedAdded = "estimated_added",
        /// A change of a record was made.
        Done = "done",
        /// A draft was saved.
        Saved = "saved",
        /// A listing was written.
        DraftSaved = "draft_saved",
        /// An asset was detached from a listing.
        Detached = "detached",
        /// An opportunity was published.
        Published = "published",
        /// A deadline was moved.
        Extended = "extended",
        /// A vendor was excluded from an opportunity.
        VendorExcluded = "vendor_excluded",
        /// An opportunity was closed.
        Closed = "closed",
        /// An opportunity was canceled.
        Canceled = "canceled",
        /// A bid on an opportunity was accepted.
        BidAccepted = "bid_accepted",
        /// A bid on an opportunity was declined.
        BidDeclined = "bid_declined",
        /// A bid on a listing of the team was accepted.
        OfferAccepted = "offer_accepted",
        /// A bid on a listing of the team was declined.
        OfferDeclined = "offer_declined",
        /// Earnings were converted into credits.
        EarningsConverted = "earnings_converted",
        /// A withdrawal was requested.
        WithdrawalRequested = "withdrawal_requested",
        /// It was stated how the team is paid.
        PayoutSaved = "payout_saved",
        /// A delivery was accepted.
        DeliveryAccepted = "delivery_accepted",
        /// Credits were requested.
        CreditsRequested = "credits_requested",
        /// A request for credits was canceled.
        CreditRequestCanceled = "credit_request_canceled",
        /// Notifications were marked as read.
        MarkedRead = "marked_read",
        /// A key was revoked.
        KeyRevoked = "key_revoked",
        /// A session was ended.
        SessionEnded = "session_ended",
        /// All other sessions were ended.
        SessionsEnded = "sessions_ended",
        /// A webhook was changed.
        WebhookChanged = "webhook_changed",
        /// A webhook was deleted.
        WebhookDeleted = "webhook_deleted",
        /// A test message was sent.
        TestSent = "test_sent",
        /// A delivery is sent again.
        Redelivered = "redelivered",
        /// An upload grant was revoked.
        GrantRevoked = "grant_revoked",
        /// A listing was submitted for review.
        ListingSubmitted = "listing_submitted",
        /// A listing was withdrawn from review.
        ListingWithdrawn = "listing_withdrawn",
        /// A listing was published.
        ListingPublished = "listing_published",
        /// A listing was taken out of the catalog.
        ListingUnpublished = "listing_unpublished",
        /// A listing was archived.
        ListingArchived = "listing_archived",
        /// A listing was restored.
        ListingRestored = "listing_restored",
        /// A file was uploaded.
        FileUploaded = "file_uploaded",
        /// An upload was discarded.
        UploadDiscarded = "upload_discarded",
        /// Codebases were added.
        CodebasesAdded = "codebases_added",
        /// A repository was linked.
        RepositoryLinked = "repository_linked",
        /// A reviewer approved a listing.
        ReviewApproved = "review_approved",
        /// A reviewer requested changes of a listing.
        ReviewSentBack = "review_sent_back",
        /// A reviewer rejected a listing.
        ReviewRejected = "review_rejected",
        /// A reviewer certified a listing.
        ListingCertified = "listing_certified",
        /// A reviewer revoked the certification of a listing.
        CertificationRevoked = "certification_revoked",
        /// The clock of a world was changed.
        ClockChanged = "clock_changed",
        /// The data of an asset was detached.
        DataDetached = "data_detached",
        /// An asset was deleted.
        AssetDeleted = "asset_deleted",
        /// An asset was moved to another group.
        AssetMoved = "asset_moved",
        /// A quality run was started.
        RunStarted = "run_started",
        /// A group of assets was created.
        GroupCreated = "group_created",
        /// A group of assets was renamed.
        GroupRenamed = "group_renamed",
        /// A group of assets was deleted.
        GroupDeleted = "group_deleted",
    }
}

impl Notice {
    /// Name of the field of the query that names the notice.
    pub const FIELD: &'static str = "notice";

    /// Name of the field of the query with the ID of the listing that the notice is about.
    pub const ABOUT: &'static str = "about";

    /// Returns the tone: only one notice is about something that was not done.
    pub const fn tone(self) -> Tone {
        if matches!(self, Notice::SessionEndedUnsaved) { Tone::Warning } else { Tone::Good }
    }

    /// Returns what people read.
    pub const fn text(self) -> &'static str {
        match self {
            Notice::SignedOut => "You have signed out.",
            Notice::SessionEndedUnsaved => {
                "Your session has ended, so nothing was saved. Sign in to continue."
            }
            Notice::NdaAccepted => "Your team has accepted the mutual NDA.",
            Notice::Bought => "You bought this. The receipt and the download are on this page.",
            Notice::Ordered => {
                "Your order was placed. The purchase completes when the market has your payment."
            }
            Notice::PreparationRequested => {
                "The download is being prepared. Open this page again in a moment."
            }
            Notice::BidMade => "Your bid was sent to the vendor.",
            Notice::ProjectBidMade => "Your bid was sent to the buyer, who decides about it.",
            Notice::TasksetsDelivered => "The tasksets were delivered. The buyer looks at them now.",
            Notice::EstimationRequested => {
                "The repository is being measured. You are notified when the quote is ready."
            }
            Notice::EstimatedAdded => {
                "The repository is in your inventory now. It is being copied and analyzed."
            }
            Notice::BidChanged => "Your bid was changed.",
            Notice::BidWithdrawn => "Your bid was withdrawn.",
            Notice::Done => "The change was made.",
            Notice::Saved => "Your changes were saved.",
            Notice::DraftSaved => "The draft was saved. Attach assets next, then submit it for review.",
            Notice::Detached => "The asset was detached. It stays in your inventory.",
            Notice::Published => "The opportunity was published. Vendors can see it now.",
            Notice::Extended => "The deadline was moved.",
            Notice::VendorExcluded => "The vendor was excluded from this opportunity.",
            Notice::Closed => "The opportunity was closed. Vendors can no longer bid.",
            Notice::Canceled => "The opportunity was canceled.",
            Notice::BidAccepted => "You accepted the bid. The vendor was notified.",
            Notice::BidDeclined => "You declined the bid. The vendor was notified.",
            Notice::OfferAccepted => "You accepted the bid. The bidder was notified.",
            Notice::OfferDeclined => "You declined the bid. The bidder was notified.",
            Notice::EarningsConverted => "The earnings were converted. The credits can be spent now.",
            Notice::WithdrawalRequested => "The withdrawal was requested. The market pays it out.",
            Notice::PayoutSaved => "The payout details were saved. Your team was notified.",
            Notice::DeliveryAccepted => "You accepted the delivery, so this bid is complete.",
            Notice::CreditsRequested => {
                "Your request was sent. The market adds the credits when it has your payment."
            }
            Notice::CreditRequestCanceled => "Your request for credits was canceled.",
            Notice::MarkedRead => "The notifications were marked as read.",
            Notice::KeyRevoked => "The key was revoked. Requests with it are refused from now on.",
            Notice::SessionEnded => "The session was ended.",
            Notice::SessionsEnded => "All other sessions were ended.",
            Notice::FileUploaded => "The file has arrived, and is being read.",
            Notice::UploadDiscarded => "The upload was discarded.",
            Notice::CodebasesAdded => "The codebases were added.",
            Notice::RepositoryLinked => {
                "The repository was linked. The market copies it now, and then reads it."
            }
            Notice::WebhookChanged => "The webhook was changed.",
            Notice::WebhookDeleted => "The webhook was deleted.",
            Notice::TestSent => "A test message was queued. Its delivery is in the list below.",
            Notice::Redelivered => "The message was queued again.",
            Notice::GrantRevoked => "The upload grant was revoked.",
            Notice::DataDetached => "The data was detached. You can link other data now.",
            Notice::AssetDeleted => "The asset was deleted.",
            Notice::AssetMoved => "The asset was moved.",
            Notice::RunStarted => "The checks were started. This page shows what they find.",
            Notice::GroupCreated => "The group was created. Move assets to it from the table.",
            Notice::GroupRenamed => "The group was renamed.",
            Notice::GroupDeleted => "The group was deleted.",
            Notice::ListingSubmitted => "The listing was submitted for review.",
            Notice::ListingWithdrawn => "The listing was withdrawn from review. You can change it again.",
            Notice::ListingPublished => "The listing is in the catalog. Buyers can find it now.",
            Notice::ListingUnpublished => "The listing was taken out of the catalog.",
            Notice::ListingArchived => "The listing was archived.",
            Notice::ListingRestored => "The listing was restored.",
            Notice::ReviewApproved => {
                "You approved the listing. Its vendor was notified, and can publish it."
            }
            Notice::ReviewSentBack => {
                "You requested changes of the listing. The vendor was notified, and can read your note."
            }
            Notice::ReviewRejected => {
                "You rejected the listing. The vendor was notified, and can read your note."
            }
            Notice::ListingCertified => "The listing is certified now.",
            Notice::CertificationRevoked => "The listing is no longer certified.",
            Notice::ClockChanged => "The clock of this world was changed.",
        }
    }
}
