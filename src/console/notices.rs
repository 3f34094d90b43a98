//! Messages of a page after a form was carried out. The address of the page contains the name of the message, so the set is
//! closed.

use super::tone::Tone;
use crate::string_enum::string_enum;

/// Declares the notices: the name of each in URLs, and its text.
macro_rules! notices {
    ($($variant:ident = $name:literal, $text:literal;)+) => {
        string_enum! {
            /// A notice above the content of a page.
            Notice { $(#[doc = $text] $variant = $name,)+ }
        }

        impl Notice {
            /// Returns the text of the notice.
            pub const fn text(self) -> &'static str {
                match self { $(Notice::$variant => $text,)+ }
            }
        }
    };
}

notices! {
    SignedOut = "signed_out", "You have signed out.";
    SessionEndedUnsaved = "session_ended_unsaved", "Your session has ended, so nothing was saved. Sign in to continue.";
    NdaAccepted = "nda_accepted", "Your team has accepted the mutual NDA.";
    Bought = "bought", "You bought this. The receipt and the download are on this page.";
    Ordered = "ordered", "Your order was placed. The purchase completes when the market has your payment.";
    PreparationRequested = "preparation_requested", "The download is being prepared. Open this page again in a moment.";
    BidMade = "bid_made", "Your bid was sent to the vendor.";
    BidChanged = "bid_changed", "Your bid was changed.";
    BidWithdrawn = "bid_withdrawn", "Your bid was withdrawn.";
    ProjectBidMade = "project_bid_made", "Your bid was sent to the buyer, who decides about it.";
    TasksetsDelivered = "tasksets_delivered", "The tasksets were delivered. The buyer looks at them now.";
    EstimationRequested = "estimation_requested", "The repository is being measured. You are notified when the quote is ready.";
    EstimatedAdded = "estimated_added", "The repository is in your inventory now. It is being copied and analyzed.";
    Done = "done", "The change was made.";
    Saved = "saved", "Your changes were saved.";
    DraftSaved = "draft_saved", "The draft was saved. Attach assets next, then submit it for review.";
    Detached = "detached", "The asset was detached. It stays in your inventory.";
    Published = "published", "The opportunity was published. Vendors can see it now.";
    Extended = "extended", "The deadline was moved.";
    VendorExcluded = "vendor_excluded", "The vendor was excluded from this opportunity.";
    Closed = "closed", "The opportunity was closed. Vendors can no longer bid.";
    Canceled = "canceled", "The opportunity was canceled.";
    BidAccepted = "bid_accepted", "You accepted the bid. The vendor was notified.";
    BidDeclined = "bid_declined", "You declined the bid. The vendor was notified.";
    OfferAccepted = "offer_accepted", "You accepted the bid. The bidder was notified.";
    OfferDeclined = "offer_declined", "You declined the bid. The bidder was notified.";
    EarningsConverted = "earnings_converted", "The earnings were converted. The credits can be spent now.";
    WithdrawalRequested = "withdrawal_requested", "The withdrawal was requested. The market pays it out.";
    PayoutSaved = "payout_saved", "The payout details were saved. Your team was notified.";
    DeliveryAccepted = "delivery_accepted", "You accepted the delivery, so this bid is complete.";
    CreditsRequested = "credits_requested", "Your request was sent. The market adds the credits when it has your payment.";
    CreditRequestCanceled = "credit_request_canceled", "Your request for credits was canceled.";
    MarkedRead = "marked_read", "The notifications were marked as read.";
    MarkedOldest = "marked_oldest", "The oldest notifications were marked as read. If others are still unread, mark all as read again.";
    KeyRevoked = "key_revoked", "The key was revoked. Requests with it are refused from now on.";
    SessionEnded = "session_ended", "The session was ended.";
    SessionsEnded = "sessions_ended", "All other sessions were ended.";
    WebhookChanged = "webhook_changed", "The webhook was changed.";
    WebhookDeleted = "webhook_deleted", "The webhook was deleted.";
    TestSent = "test_sent", "A test message was queued. Its delivery is in the list below.";
    Redelivered = "redelivered", "The message was queued again.";
    GrantRevoked = "grant_revoked", "The upload grant was revoked.";
    ListingSubmitted = "listing_submitted", "The listing was submitted for review.";
    ListingWithdrawn = "listing_withdrawn", "The listing was withdrawn from review. You can change it again.";
    ListingPublished = "listing_published", "The listing is in the catalog. Buyers can find it now.";
    ListingUnpublished = "listing_unpublished", "The listing was taken out of the catalog.";
    ListingArchived = "listing_archived", "The listing was archived.";
    ListingRestored = "listing_restored", "The listing was restored.";
    FileUploaded = "file_uploaded", "The file has arrived, and is being read.";
    UploadDiscarded = "upload_discarded", "The upload was discarded.";
    CodebasesAdded = "codebases_added", "The codebases were added.";
    RepositoryLinked = "repository_linked", "The repository was linked. The market copies it now, and then reads it.";
    ReviewApproved = "review_approved", "You approved the listing. Its vendor was notified, and can publish it.";
    ReviewSentBack = "review_sent_back", "You requested changes of the listing. The vendor was notified, and can read your note.";
    ReviewRejected = "review_rejected", "You rejected the listing. The vendor was notified, and can read your note.";
    ListingCertified = "listing_certified", "The listing is certified now.";
    CertificationRevoked = "certification_revoked", "The listing is no longer certified.";
    ClockChanged = "clock_changed", "The clock of this world was changed.";
    DataDetached = "data_detached", "The data was detached. You can link other data now.";
    AssetDeleted = "asset_deleted", "The asset was deleted.";
    AssetMoved = "asset_moved", "The asset was moved.";
    RunStarted = "run_started", "The checks were started. This page shows what they find.";
    GroupCreated = "group_created", "The group was created. Move assets to it from the table.";
    GroupRenamed = "group_renamed", "The group was renamed.";
    GroupDeleted = "group_deleted", "The group was deleted.";
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
}
