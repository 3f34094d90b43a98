//! Stable error codes. Clients match on them, so a code never changes its meaning.

use crate::string_enum::string_enum;

string_enum! {
    /// A stable, machine-readable error code.
    Code {
        /// The request is malformed.
        BadRequest = "bad_request",
        /// The cursor is malformed or was issued for a different request.
        InvalidCursor = "invalid_cursor",
        /// The API key is missing, unknown, expired, or revoked.
        Unauthorized = "unauthorized",
        /// The operation requires a marketplace role that the owner of the key lacks.
        MarketplaceRoleRequired = "marketplace_role_required",
        /// The team has not accepted the mutual NDA.
        NdaRequired = "nda_required",
        /// The team has too few published listings to browse the catalog.
        ListingBrowseLocked = "listing_browse_locked",
        /// The operation is for operators of the marketplace.
        OperatorRequired = "operator_required",
        /// The operation is not allowed.
        Forbidden = "forbidden",
        /// The resource does not exist, or the caller cannot access it.
        NotFound = "not_found",
        /// The world does not exist, or has ended.
        WorldNotFound = "world_not_found",
        /// The path does not support the request method.
        MethodNotAllowed = "method_not_allowed",
        /// The request did not arrive in time.
        RequestTimeout = "request_timeout",
        /// The resource already exists, or its state does not allow the operation.
        Conflict = "conflict",
        /// The current status does not allow this transition.
        InvalidTransition = "invalid_transition",
        /// Data is attached to the asset and must be detached first.
        DataAttached = "data_attached",
        /// No data is attached to the asset.
        DataNotAttached = "data_not_attached",
        /// The server has no files of the attached data.
        DataNotReadable = "data_not_readable",
        /// The asset is on a listing that is in review or published.
        AssetInUse = "asset_in_use",
        /// The default group cannot be changed or deleted.
        DefaultGroup = "default_group",
        /// The group still contains assets.
        GroupNotEmpty = "group_not_empty",
        /// The listing is in review, published, or archived, and cannot be edited.
        ListingNotEditable = "listing_not_editable",
        /// A quality run of the asset or listing has not finished.
        RunInProgress = "run_in_progress",
        /// The team does not have enough credits.
        InsufficientCredits = "insufficient_credits",
        /// The team does not have enough available earnings, or a refund is not covered by the vendor's earnings.
        InsufficientEarnings = "insufficient_earnings",
        /// The time in which the purchase can be refunded is over.
        RefundWindowClosed = "refund_window_closed",
        /// An asset was sold exclusively.
        NoLongerAvailable = "no_longer_available",
        /// Another request with the same idempotency key is still in progress.
        IdempotencyInFlight = "idempotency_in_flight",
        /// The team has used up a quota.
        QuotaExceeded = "quota_exceeded",
        /// The server has as many worlds as it may have.
        TooManyWorlds = "too_many_worlds",
        /// Parts of the upload are missing.
        PartsMissing = "parts_missing",
        /// The upload grant has expired or was revoked.
        GrantExpired = "grant_expired",
        /// The upload grant was already used.
        GrantConsumed = "grant_consumed",
        /// The purchase was refunded.
        PurchaseRefunded = "purchase_refunded",
        /// Events after the cursor were removed.
        CursorExpired = "cursor_expired",
        /// The record changed since the caller read it.
        PreconditionFailed = "precondition_failed",
        /// The request body is too large.
        PayloadTooLarge = "payload_too_large",
        /// The request exceeds a rate limit.
        RateLimited = "rate_limited",
        /// The server failed to process the request.
        InternalError = "internal_error",
        /// The server is at capacity or did not respond in time.
        AtCapacity = "at_capacity",
        /// The disk of the server is full.
        StorageFull = "storage_full",
    }
}

/// Declares an enum of some of the codes, which converts to [`Code`].
macro_rules! subset_of_codes {
    ($(#[$meta:meta])* $name:ident { $($variant:ident),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name {
            $(#[doc = concat!("See [`Code::", stringify!($variant), "`].")] $variant),+
        }

        impl From<$name> for Code {
            fn from(code: $name) -> Code {
                match code {
                    $($name::$variant => Code::$variant),+
                }
            }
        }
    };
}

subset_of_codes! {
    /// Why the current state does not allow an operation. The HTTP status is 409.
    StateCode {
        DataAttached,
        DataNotAttached,
        DataNotReadable,
        AssetInUse,
        DefaultGroup,
        GroupNotEmpty,
        ListingNotEditable,
        RunInProgress,
        InsufficientCredits,
        InsufficientEarnings,
        RefundWindowClosed,
        NoLongerAvailable,
        IdempotencyInFlight,
        TooManyWorlds,
    }
}

subset_of_codes! {
    /// Why a resource is no longer available. The HTTP status is 410.
    GoneCode {
        GrantExpired,
        GrantConsumed,
        PurchaseRefunded,
        CursorExpired,
    }
}
