//! The life of a listing: its statuses, its stage, and the moves between them.

use super::vocabulary::vocabulary;

vocabulary! {
    /// Where the platform's review of a listing stands.
    ReviewStatus {
        /// Being written.
        Draft = "draft",
        /// Waiting for the platform.
        InReview = "in_review",
        /// Sent back with remarks.
        ChangesRequested = "changes_requested",
        /// Accepted.
        Approved = "approved",
        /// Refused.
        Rejected = "rejected",
    }
}

vocabulary! {
    /// Whether the market sees a listing.
    CatalogStatus {
        /// It does not.
        Unpublished = "unpublished",
        /// It does.
        Published = "published",
        /// It was put away.
        Archived = "archived",
    }
}

vocabulary! {
    /// Where a listing stands in its life, in one word for vendors.
    LifecycleStage {
        /// Being written, or sent back.
        Draft = "draft",
        /// In review.
        Review = "review",
        /// Approved and not published.
        Ready = "ready",
        /// Published.
        Active = "active",
        /// Put away.
        Archived = "archived",
    }
}

vocabulary! {
    /// What happened to a listing.
    Event {
        /// It was made.
        Created = "created",
        /// Its words or prices changed.
        Updated = "updated",
        /// An asset was added.
        AssetAttached = "asset_attached",
        /// An asset was taken off.
        AssetDetached = "asset_detached",
        /// It was handed in for review.
        Submitted = "submitted",
        /// It was taken back from review.
        Withdrawn = "withdrawn",
        /// The platform asked for changes.
        ChangesRequested = "changes_requested",
        /// The platform accepted it.
        Approved = "approved",
        /// The platform refused it.
        Rejected = "rejected",
        /// It went into the catalog.
        Published = "published",
        /// It was taken out of the catalog.
        Unpublished = "unpublished",
        /// It was put away.
        Archived = "archived",
        /// It was taken out of the archive.
        Restored = "restored",
        /// A quality run certified it.
        Certified = "certified",
        /// Its certification ended.
        CertificationRevoked = "certification_revoked",
    }
}

vocabulary! {
    /// Who did something.
    Actor {
        /// The vendor team.
        Team = "team",
        /// A person of the platform.
        Platform = "platform",
        /// The server by itself.
        System = "system",
    }
}

vocabulary! {
    /// How data reaches its buyer.
    DeliveryMethod {
        /// A zip to download.
        Download = "download",
        /// An invitation to a repository.
        RepositoryTransfer = "repository_transfer",
        /// A copy into the buyer's bucket.
        BucketCopy = "bucket_copy",
        /// Access to the platform's task tools.
        PlatformAccess = "platform_access",
    }
}
