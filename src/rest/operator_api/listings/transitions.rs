//! Transitions of listings: what their vendors do, and what the platform decides.

use poem_openapi::{Object, OpenApi};
use serde_json::json;
use uuid::Uuid;

use super::types::ListingOut;
use crate::{
    domain::{events::EventType, listings::Actor},
    error::{Code, Result},
    market::Writer,
    operations::{
        access::{ActingOperator, Platform, Vendor},
        certifications, listing_lifecycle as lifecycle,
    },
    rest::{
        idempotent::Idempotent,
        json::JsonResult,
        operator_api::{
            changes,
            routes::{self, routes},
        },
        request_body::{Body, MaybeInvalid},
        route::{Call, Path, Route, Target},
        shapes::strings::Note,
    },
};

/// What the vendor has to know of a decision.
#[derive(Debug, Object)]
pub struct ListingNote {
    /// What the vendor has to know.
    note: MaybeInvalid<Note>,
}

/// A place among the featured listings.
#[derive(Debug, Object)]
pub struct FeaturedPlace {
    /// The place, from 1.
    #[oai(validator(minimum(value = "1"), maximum(value = "1000000")))]
    place: MaybeInvalid<i64>,
}

routes! {
    /// `POST /operator/v1/listings/{listing_id}/submit`
    SubmitListing: ActingOperator = routes::post_to(
        "submit_listing",
        Target::Record("listings", "delphi-pumplog"),
        None,
        Actor::Team,
        &[
            EventType::ListingSubmitted,
            EventType::QualityRunStarted,
            EventType::QualityRunCancelled,
            EventType::WalletDebited,
            EventType::WalletCredited,
        ],
    ).with_conflicts(&[Code::InvalidTransition, Code::RunInProgress, Code::NoLongerAvailable]);
    /// `POST /operator/v1/listings/{listing_id}/withdraw`
    WithdrawListing: ActingOperator = routes::post(
        "withdraw_listing",
        "listings",
        Actor::Team,
        &[EventType::ListingWithdrawn, EventType::QualityRunCancelled, EventType::WalletCredited],
    ).with_conflicts(&[Code::InvalidTransition]);
    /// `POST /operator/v1/listings/{listing_id}/approve`
    ApproveListing: ActingOperator =
        routes::post("approve_listing", "listings", Actor::Platform, &[EventType::ListingApproved]).with_conflicts(&[Code::InvalidTransition, Code::NoLongerAvailable]);
    /// `POST /operator/v1/listings/{listing_id}/request-changes`
    RequestListingChanges: ActingOperator = routes::post_body(
        "request_listing_changes",
        "listings",
        || json!({"note": "Please add the license of the vendored libraries."}),
        Actor::Platform,
        &[EventType::ListingChangesRequested],
    ).with_conflicts(&[Code::InvalidTransition]);
    /// `POST /operator/v1/listings/{listing_id}/reject`
    RejectListing: ActingOperator = routes::post_body(
        "reject_listing",
        "listings",
        || json!({"note": "The data contains personal details."}),
        Actor::Platform,
        &[EventType::ListingRejected],
    ).with_conflicts(&[Code::InvalidTransition]);
    /// `POST /operator/v1/listings/{listing_id}/publish`
    PublishListing: ActingOperator =
        routes::post("publish_listing", "listings", Actor::Team, &[EventType::ListingPublished]).with_conflicts(&[Code::InvalidTransition, Code::NoLongerAvailable]);
    /// `POST /operator/v1/listings/{listing_id}/unpublish`
    UnpublishListing: ActingOperator =
        routes::post("unpublish_listing", "listings", Actor::Team, &[EventType::ListingUnpublished]).with_conflicts(&[Code::InvalidTransition]);
    /// `POST /operator/v1/listings/{listing_id}/archive`
    ArchiveListing: ActingOperator = routes::post(
        "archive_listing",
        "listings",
        Actor::Team,
        &[EventType::ListingArchived, EventType::ListingOffersDeclined, EventType::OfferDeclined],
    ).with_conflicts(&[Code::InvalidTransition]);
    /// `POST /operator/v1/listings/{listing_id}/restore`
    RestoreListing: ActingOperator =
        routes::post("restore_listing", "listings", Actor::Team, &[EventType::ListingRestored]).with_conflicts(&[Code::InvalidTransition, Code::NoLongerAvailable]);
    /// `POST /operator/v1/listings/{listing_id}/certify`
    CertifyListing: ActingOperator =
        routes::post("certify_listing", "listings", Actor::Platform, &[EventType::ListingCertified]);
    /// `POST /operator/v1/listings/{listing_id}/revoke`
    RevokeListingCertification: ActingOperator = routes::post(
        "revoke_listing_certification",
        "listings",
        Actor::Platform,
        &[EventType::ListingCertificationRevoked],
    );
    /// `POST /operator/v1/listings/{listing_id}/feature`
    FeatureListing: ActingOperator = routes::post_body(
        "feature_listing",
        "listings",
        || json!({"place": 90}),
        Actor::Platform,
        &[EventType::ListingFeatured],
    );
    /// `POST /operator/v1/listings/{listing_id}/unfeature`
    UnfeatureListing: ActingOperator =
        routes::post("unfeature_listing", "listings", Actor::Platform, &[EventType::ListingUnfeatured]);
}

pub struct ListingTransitionsApi;

#[OpenApi(prefix_path = "/operator/v1", tag = "crate::rest::tags::Tag::Listings")]
impl ListingTransitionsApi {
    /// Submit a listing
    ///
    /// Submits a listing for review, as its vendor, and starts a quality run of it. The listing needs a title, a
    /// description, a price, and an asset. Without enough credits of the vendor, it is reviewed without a run; then
    /// `latest_quality_run_id` stays as it is.
    #[oai(path = "/listings/:listing_id/submit", method = "post", operation_id = "submit_listing")]
    async fn submit(
        &self,
        call: Call<SubmitListing>,
        idempotent: Idempotent,
        /// ID of the listing.
        listing_id: Path<Uuid>,
    ) -> JsonResult<ListingOut> {
        on_own(call, idempotent, listing_id, |writer, vendor, id| {
            lifecycle::submit(writer, vendor, Actor::Team, id).map(drop)
        })
        .await
    }

    /// Withdraw a listing
    ///
    /// Withdraws a listing from review, as its vendor, and cancels its quality run.
    #[oai(path = "/listings/:listing_id/withdraw", method = "post", operation_id = "withdraw_listing")]
    async fn withdraw(
        &self,
        call: Call<WithdrawListing>,
        idempotent: Idempotent,
        /// ID of the listing.
        listing_id: Path<Uuid>,
    ) -> JsonResult<ListingOut> {
        on_own(call, idempotent, listing_id, |writer, vendor, id| {
            lifecycle::withdraw(writer, vendor, Actor::Team, id).map(drop)
        })
        .await
    }

    /// Approve a listing
    ///
    /// Approves a listing in review. Its vendor is notified, and can publish it. It need not be certified.
    #[oai(path = "/listings/:listing_id/approve", method = "post", operation_id = "approve_listing")]
    async fn approve(
        &self,
        call: Call<ApproveListing>,
        idempotent: Idempotent,
        /// ID of the listing.
        listing_id: Path<Uuid>,
    ) -> JsonResult<ListingOut> {
        transition(call, idempotent, listing_id, |writer, platform, id| {
            lifecycle::approve(writer, platform, Actor::Platform, id).map(drop)
        })
        .await
    }

    /// Request changes of a listing
    ///
    /// Returns a listing in review to its vendor, with a note that says what to change. The note becomes its
    /// `review_feedback`, and part of the notification.
    #[oai(
        path = "/listings/:listing_id/request-changes",
        method = "post",
        operation_id = "request_listing_changes"
    )]
    async fn request_changes(
        &self,
        call: Call<RequestListingChanges>,
        idempotent: Idempotent,
        /// ID of the listing.
        listing_id: Path<Uuid>,
        body: Body<ListingNote>,
    ) -> JsonResult<ListingOut> {
        let id = listing_id.0;
        changes::post_body(call, idempotent, body, move |writer, platform, body: ListingNote| {
            let note = body.note.into_valid()?.0;
            lifecycle::request_changes(writer, platform, Actor::Platform, id, Some(&note)).map(|_| id)
        })
        .await
    }

    /// Reject a listing
    ///
    /// Rejects a listing in review, with a note that says why. The note becomes its `review_feedback`, and part of the
    /// notification. The listing cannot be submitted again.
    #[oai(path = "/listings/:listing_id/reject", method = "post", operation_id = "reject_listing")]
    async fn reject(
        &self,
        call: Call<RejectListing>,
        idempotent: Idempotent,
        /// ID of the listing.
        listing_id: Path<Uuid>,
        body: Body<ListingNote>,
    ) -> JsonResult<ListingOut> {
        let id = listing_id.0;
        changes::post_body(call, idempotent, body, move |writer, platform, body: ListingNote| {
            let note = body.note.into_valid()?.0;
            lifecycle::reject(writer, platform, Actor::Platform, id, Some(&note)).map(|_| id)
        })
        .await
    }

    /// Publish a listing
    ///
    /// Publishes an approved listing in the catalog, as its vendor.
    #[oai(path = "/listings/:listing_id/publish", method = "post", operation_id = "publish_listing")]
    async fn publish(
        &self,
        call: Call<PublishListing>,
        idempotent: Idempotent,
        /// ID of the listing.
        listing_id: Path<Uuid>,
    ) -> JsonResult<ListingOut> {
        on_own(call, idempotent, listing_id, |writer, vendor, id| {
            lifecycle::publish(writer, vendor, Actor::Team, id).map(drop)
        })
        .await
    }

    /// Unpublish a listing
    ///
    /// Removes a listing from the catalog, as its vendor. Its offers stay.
    #[oai(path = "/listings/:listing_id/unpublish", method = "post", operation_id = "unpublish_listing")]
    async fn unpublish(
        &self,
        call: Call<UnpublishListing>,
        idempotent: Idempotent,
        /// ID of the listing.
        listing_id: Path<Uuid>,
    ) -> JsonResult<ListingOut> {
        on_own(call, idempotent, listing_id, |writer, vendor, id| {
            lifecycle::unpublish(writer, vendor, Actor::Team, id).map(drop)
        })
        .await
    }

    /// Archive a listing
    ///
    /// Archives a listing that is not in review, as its vendor, and declines the offers on it.
    #[oai(path = "/listings/:listing_id/archive", method = "post", operation_id = "archive_listing")]
    async fn archive(
        &self,
        call: Call<ArchiveListing>,
        idempotent: Idempotent,
        /// ID of the listing.
        listing_id: Path<Uuid>,
    ) -> JsonResult<ListingOut> {
        on_own(call, idempotent, listing_id, |writer, vendor, id| {
            lifecycle::archive(writer, vendor, Actor::Team, id).map(drop)
        })
        .await
    }

    /// Restore a listing
    ///
    /// Restores a listing from the archive, as its vendor. It keeps its review status, and is not published. Refused
    /// (409 `no_longer_available`) while one of its assets is sold exclusively.
    #[oai(path = "/listings/:listing_id/restore", method = "post", operation_id = "restore_listing")]
    async fn restore(
        &self,
        call: Call<RestoreListing>,
        idempotent: Idempotent,
        /// ID of the listing.
        listing_id: Path<Uuid>,
    ) -> JsonResult<ListingOut> {
        on_own(call, idempotent, listing_id, |writer, vendor, id| {
            lifecycle::restore(writer, vendor, Actor::Team, id).map(drop)
        })
        .await
    }

    /// Certify a listing
    ///
    /// Certifies a listing in its current form, whatever its quality runs found. A change of its assets ends the
    /// certification.
    #[oai(path = "/listings/:listing_id/certify", method = "post", operation_id = "certify_listing")]
    async fn certify(
        &self,
        call: Call<CertifyListing>,
        idempotent: Idempotent,
        /// ID of the listing.
        listing_id: Path<Uuid>,
    ) -> JsonResult<ListingOut> {
        transition(call, idempotent, listing_id, |writer, platform, id| {
            certifications::certify(writer, platform, Actor::Platform, id).map(drop)
        })
        .await
    }

    /// Revoke the certification of a listing
    ///
    /// Revokes the certification of a listing that has one.
    #[oai(
        path = "/listings/:listing_id/revoke",
        method = "post",
        operation_id = "revoke_listing_certification"
    )]
    async fn revoke(
        &self,
        call: Call<RevokeListingCertification>,
        idempotent: Idempotent,
        /// ID of the listing.
        listing_id: Path<Uuid>,
    ) -> JsonResult<ListingOut> {
        transition(call, idempotent, listing_id, |writer, platform, id| {
            certifications::revoke(writer, platform, Actor::Platform, id).map(drop)
        })
        .await
    }

    /// Feature a listing
    ///
    /// Gives a listing a place among the featured listings, or another one. No two listings have the same place (409
    /// `conflict`).
    #[oai(path = "/listings/:listing_id/feature", method = "post", operation_id = "feature_listing")]
    async fn feature(
        &self,
        call: Call<FeatureListing>,
        idempotent: Idempotent,
        /// ID of the listing.
        listing_id: Path<Uuid>,
        body: Body<FeaturedPlace>,
    ) -> JsonResult<ListingOut> {
        let id = listing_id.0;
        changes::post_body(call, idempotent, body, move |writer, platform, body: FeaturedPlace| {
            let place = body.place.into_valid()? as u32;
            lifecycle::feature(writer, platform, Actor::Platform, id, place).map(|_| id)
        })
        .await
    }

    /// Unfeature a listing
    ///
    /// Takes a listing from the featured listings.
    #[oai(path = "/listings/:listing_id/unfeature", method = "post", operation_id = "unfeature_listing")]
    async fn unfeature(
        &self,
        call: Call<UnfeatureListing>,
        idempotent: Idempotent,
        /// ID of the listing.
        listing_id: Path<Uuid>,
    ) -> JsonResult<ListingOut> {
        transition(call, idempotent, listing_id, |writer, platform, id| {
            lifecycle::unfeature(writer, platform, Actor::Platform, id).map(drop)
        })
        .await
    }
}

/// Performs what a vendor does with its own listing.
async fn on_own<R: Route<Access = ActingOperator>>(
    call: Call<R>,
    idempotent: Idempotent,
    listing_id: Path<Uuid>,
    operation: impl FnOnce(&mut Writer, &Vendor, Uuid) -> Result<()> + Send + 'static,
) -> JsonResult<ListingOut> {
    transition(call, idempotent, listing_id, |writer, platform, id| {
        let vendor = platform.vendor_of_listing(writer.rows, id)?;
        operation(writer, &vendor, id)
    })
    .await
}

/// Performs a transition of a listing.
async fn transition<R: Route<Access = ActingOperator>>(
    call: Call<R>,
    idempotent: Idempotent,
    listing_id: Path<Uuid>,
    operation: impl FnOnce(&mut Writer, Platform, Uuid) -> Result<()> + Send + 'static,
) -> JsonResult<ListingOut> {
    let id = listing_id.0;
    changes::post(call, idempotent, move |writer, platform| operation(writer, platform, id).map(|()| id))
        .await
}
