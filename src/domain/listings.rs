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
    /// A slice of a vendor's own listings.
    WorkspaceView {
        /// Every listing, those that were put away among them.
        All = "all",
        /// Those that the vendor works on.
        Drafts = "drafts",
        /// Those in review, and those that wait to be published.
        Submitted = "submitted",
        /// Those in the catalog.
        Live = "live",
        /// Those that were put away.
        Archived = "archived",
    }
}

impl WorkspaceView {
    /// The stages of the listings in the slice.
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

vocabulary! {
    /// Why an asset was not attached to a listing.
    AttachSkip {
        /// The team has no such asset.
        NotFound = "not_found",
        /// It stands on the listing already.
        AlreadyAttached = "already_attached",
        /// Its kind accepts no new listings.
        Deprecated = "deprecated",
        /// It is no codebase, has no data, or lacks something.
        NotListable = "not_listable",
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

/// A listing's row number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ListingNumber(pub i64);

/// Where a listing stands: the two statuses that the platform keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status {
    /// The platform's review.
    pub review: ReviewStatus,
    /// What the market sees.
    pub catalog: CatalogStatus,
}

impl Status {
    /// Where every listing begins.
    pub const NEW: Status = Status { review: ReviewStatus::Draft, catalog: CatalogStatus::Unpublished };

    /// The listing's stage, the first that fits: archived, active, review, ready, else draft.
    pub const fn stage(self) -> LifecycleStage {
        match (self.catalog, self.review) {
            (CatalogStatus::Archived, _) => LifecycleStage::Archived,
            (CatalogStatus::Published, _) => LifecycleStage::Active,
            (CatalogStatus::Unpublished, ReviewStatus::InReview) => LifecycleStage::Review,
            (CatalogStatus::Unpublished, ReviewStatus::Approved) => LifecycleStage::Ready,
            (CatalogStatus::Unpublished, _) => LifecycleStage::Draft,
        }
    }

    /// Where a move leads, or nothing where it is not allowed from here. Events that are not moves ([`Event::Updated`],
    /// certifications, assets) lead nowhere.
    #[allow(clippy::match_same_arms)] // One row a move reads better than rows that share what they lead to.
    pub const fn after(self, event: Event) -> Option<Status> {
        use {CatalogStatus as C, ReviewStatus as R};
        let (review, catalog) = match (event, self.review, self.catalog) {
            (Event::Submitted, R::Draft | R::ChangesRequested, C::Unpublished) => {
                (R::InReview, C::Unpublished)
            }
            (Event::Withdrawn, R::InReview, C::Unpublished) => (R::Draft, C::Unpublished),
            (Event::Approved, R::InReview, C::Unpublished) => (R::Approved, C::Unpublished),
            (Event::ChangesRequested, R::InReview, C::Unpublished) => (R::ChangesRequested, C::Unpublished),
            (Event::Rejected, R::InReview, C::Unpublished) => (R::Rejected, C::Unpublished),
            (Event::Published, R::Approved, C::Unpublished) => (R::Approved, C::Published),
            (Event::Unpublished, review, C::Published) => (review, C::Unpublished),
            (Event::Restored, review, C::Archived) => (review, C::Unpublished),
            (Event::Archived, review, C::Unpublished | C::Published) if !matches!(review, R::InReview) => {
                (review, C::Archived)
            }
            _ => return None,
        };
        Some(Status { review, catalog })
    }

    /// The moves that are allowed from here.
    pub fn allowed(self) -> Vec<Event> {
        use super::vocabulary::Vocabulary;
        Event::ALL.iter().copied().filter(|event| self.after(*event).is_some()).collect()
    }

    /// Whether the listing's assets may be changed here.
    pub const fn takes_assets(self) -> bool {
        matches!(self.stage(), LifecycleStage::Draft | LifecycleStage::Ready)
    }
}

impl Event {
    /// Who does it.
    pub const fn actor(self) -> Actor {
        match self {
            Event::Approved | Event::Rejected | Event::ChangesRequested => Actor::Platform,
            Event::Certified | Event::CertificationRevoked => Actor::System,
            _ => Actor::Team,
        }
    }
}

/// What a listing still lacks before it can be submitted, in the order in which people fill it in.
pub fn missing_for_review(
    title: &str,
    description: &str,
    has_price: bool,
    assets: usize,
) -> Vec<&'static str> {
    let pieces = [
        ("title", title.trim().is_empty()),
        ("description", description.trim().is_empty()),
        ("price", !has_price),
        ("assets", assets == 0),
    ];
    pieces.into_iter().filter_map(|(name, is_missing)| is_missing.then_some(name)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::vocabulary::Vocabulary;
    use super::*;

    /// Every status × every event, as one committed table.
    #[test]
    fn transitions() {
        use std::fmt::Write as _;
        let mut table = String::new();
        for review in ReviewStatus::ALL {
            for catalog in CatalogStatus::ALL {
                let status = Status { review: *review, catalog: *catalog };
                let moves: Vec<String> = status
                    .allowed()
                    .into_iter()
                    .map(|event| {
                        format!("{} -> {}", event.word(), status.after(event).unwrap().stage().word())
                    })
                    .collect();
                writeln!(
                    table,
                    "{} {} ({}): {}",
                    review.word(),
                    catalog.word(),
                    status.stage().word(),
                    moves.join(", ")
                )
                .unwrap();
            }
        }
        insta::assert_snapshot!(table);
    }

    #[test]
    fn review_needs_words_a_price_and_an_asset() {
        assert_eq!(missing_for_review("", " ", false, 0), ["title", "description", "price", "assets"]);
        assert!(missing_for_review("T", "D", true, 1).is_empty());
    }
}
