//! What a page says after a form was carried out. The address of the page names the notice, so it can only be one of these.

use crate::string_enum::string_enum;

string_enum! {
    /// A notice above the content of a page.
    Notice {
        /// The visitor has signed out.
        SignedOut = "signed_out",
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
        /// A draft was saved.
        Saved = "saved",
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
        /// The clock of a world was changed.
        ClockChanged = "clock_changed",
    }
}

impl Notice {
    /// Name of the field of the query that names the notice.
    pub const FIELD: &'static str = "notice";

    /// Returns what people read.
    pub const fn text(self) -> &'static str {
        match self {
            Notice::SignedOut => "You have signed out.",
            Notice::NdaAccepted => "Your team has accepted the mutual NDA.",
            Notice::Bought => "You bought this. The receipt and the download are on this page.",
            Notice::Ordered => {
                "Your order was placed. The purchase completes when the market has your payment."
            }
            Notice::PreparationRequested => {
                "The download is being prepared. Open this page again in a moment."
            }
            Notice::BidMade => "Your bid was sent to the vendor.",
            Notice::BidChanged => "Your bid was changed.",
            Notice::BidWithdrawn => "Your bid was withdrawn.",
            Notice::Saved => "Your changes were saved.",
            Notice::Published => "The opportunity was published. Vendors can see it now.",
            Notice::Extended => "The deadline was moved.",
            Notice::VendorExcluded => "The vendor was excluded from this opportunity.",
            Notice::Closed => "The opportunity was closed. Vendors can no longer bid.",
            Notice::Canceled => "The opportunity was canceled.",
            Notice::BidAccepted => "You accepted the bid. The vendor was notified.",
            Notice::BidDeclined => "You declined the bid. The vendor was notified.",
            Notice::DeliveryAccepted => "You accepted the delivery, so this bid is complete.",
            Notice::CreditsRequested => {
                "Your request was sent. The market adds the credits when it has your payment."
            }
            Notice::CreditRequestCanceled => "Your request for credits was canceled.",
            Notice::MarkedRead => "The notifications were marked as read.",
            Notice::KeyRevoked => "The key was revoked. Requests with it are refused from now on.",
            Notice::SessionEnded => "The session was ended.",
            Notice::SessionsEnded => "All other sessions were ended.",
            Notice::WebhookChanged => "The webhook was changed.",
            Notice::WebhookDeleted => "The webhook was deleted.",
            Notice::TestSent => "A test message was queued. Its delivery is in the list below.",
            Notice::Redelivered => "The message was queued again.",
            Notice::GrantRevoked => "The upload grant was revoked.",
            Notice::ClockChanged => "The clock of this world was changed.",
        }
    }
}
