//! The statuses and stages of a listing, and the events of its history. The operations that change them are in
//! `listing_lifecycle`.

pub use super::row_ids::ListingRowId;
use crate::string_enum::string_enum;

string_enum! {
    /// The status of a listing in the platform's review.
    ReviewStatus {
        /// Not submitted yet.
        Draft = "draft",
        /// Submitted and waiting for the platform.
        InReview = "in_review",
        /// Returned to the vendor with requested changes.
        ChangesRequested = "changes_requested",
        /// Approved by the platform.
        Approved = "approved",
        /// Rejected by the platform.
        Rejected = "rejected",
    }
}

string_enum! {
    /// The status of a listing in the catalog.
    CatalogStatus {
        /// Not in the catalog.
        Unpublished = "unpublished",
        /// In the catalog.
        Published = "published",
        /// Archived by the vendor.
        Archived = "archived",
    }
}

string_enum! {
    /// The lifecycle stage of a listing, derived from its review status and its catalog status.
    LifecycleStage {
        /// Not submitted, returned with requested changes, or rejected.
        Draft = "draft",
        /// In review.
        Review = "review",
        /// Approved, but not published.
        Ready = "ready",
        /// Published.
        Active = "active",
        /// Archived.
        Archived = "archived",
    }
}

string_enum! {
    /// A view of a vendor's own listings.
    WorkspaceView {
        /// All listings, including archived ones.
        All = "all",
        /// Listings in stage `draft`.
        Drafts = "drafts",
        /// Listings in stage `review` or `ready`.
        Submitted = "submitted",
        /// Listings in the catalog.
        Live = "live",
        /// Archived listings.
        Archived = "archived",
    }
}

impl WorkspaceView {
    /// Returns the lifecycle stages that the view includes.
    pub const fn stages(self) -> &'static [LifecycleStage] {
        use LifecycleStage as S;
        match self {
            WorkspaceView::All => &[S::Draft, S::Review, S::Ready, S::Active, S::Archived],
            WorkspaceView::Drafts => &[S::Draft],
            WorkspaceView::Submitted => &[S::Review, S::Ready],
            WorkspaceView::Live => &[S::Active],
            WorkspaceView::Archived => &[S::Archived],
        }
    }
}

string_enum! {
    /// The reason why an asset was not attached to a listing.
    AttachSkip {
        /// The team has no asset with this ID.
        NotFound = "not_found",
        /// The asset is already on the listing.
        AlreadyAttached = "already_attached",
        /// The asset's kind is deprecated and accepts no new listings.
        Deprecated = "deprecated",
        /// The asset is not a codebase, has no attached data, or is incomplete.
        NotListable = "not_listable",
    }
}

string_enum! {
    /// An event in the history of a listing.
    Event {
        /// The listing was created.
        Created = "created",
        /// The text or the prices changed.
        Updated = "updated",
        /// An asset was attached.
        AssetAttached = "asset_attached",
        /// An asset was detached.
        AssetDetached = "asset_detached",
        /// The vendor submitted the listing for review.
        Submitted = "submitted",
        /// The vendor withdrew the listing from review.
        Withdrawn = "withdrawn",
        /// The platform requested changes.
        ChangesRequested = "changes_requested",
        /// The platform approved the listing.
        Approved = "approved",
        /// The platform rejected the listing.
        Rejected = "rejected",
        /// The listing was published in the catalog.
        Published = "published",
        /// The listing was removed from the catalog.
        Unpublished = "unpublished",
        /// The listing was archived.
        Archived = "archived",
        /// The listing was restored from the archive.
        Restored = "restored",
        /// A quality run certified the listing.
        Certified = "certified",
        /// The certification was revoked.
        CertificationRevoked = "certification_revoked",
    }
}

string_enum! {
    /// The actor of a listing event.
    Actor {
        /// The vendor team.
        Team = "team",
        /// Staff of the platform.
        Platform = "platform",
        /// The server, automatically.
        System = "system",
    }
}

string_enum! {
    /// How data is delivered to the buyer.
    DeliveryMethod {
        /// Download of a zip archive.
        Download = "download",
        /// Invitation to a repository.
        RepositoryTransfer = "repository_transfer",
        /// Copy into the buyer's bucket.
        BucketCopy = "bucket_copy",
        /// Access to the platform's task tools.
        PlatformAccess = "platform_access",
    }
}

string_enum! {
    /// The progress of copying data into the platform's hub.
    IngestStatus {
        /// Waiting to start.
        Pending = "pending",
        /// In progress.
        Running = "running",
        /// Finished successfully.
        Completed = "completed",
        /// Finished with an error.
        Failed = "failed",
    }
}

/// The stored state of a listing: its review status and its catalog status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListingStatus {
    /// Status in the platform's review.
    pub review: ReviewStatus,
    /// Status in the catalog.
    pub catalog: CatalogStatus,
}

impl ListingStatus {
    /// The status of a new listing.
    pub const NEW: ListingStatus =
        ListingStatus { review: ReviewStatus::Draft, catalog: CatalogStatus::Unpublished };

    /// Returns the lifecycle stage: the first that applies of archived, active, review, ready, and draft.
    pub const fn stage(self) -> LifecycleStage {
        match (self.catalog, self.review) {
            (CatalogStatus::Archived, _) => LifecycleStage::Archived,
            (CatalogStatus::Published, _) => LifecycleStage::Active,
            (CatalogStatus::Unpublished, ReviewStatus::InReview) => LifecycleStage::Review,
            (CatalogStatus::Unpublished, ReviewStatus::Approved) => LifecycleStage::Ready,
            (CatalogStatus::Unpublished, _) => LifecycleStage::Draft,
        }
    }

    /// Whether the listing can be edited in this status, including its assets.
    pub const fn is_editable(self) -> bool {
        matches!(self.stage(), LifecycleStage::Draft | LifecycleStage::Ready)
    }
}
