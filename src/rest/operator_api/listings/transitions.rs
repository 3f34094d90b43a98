//! Transitions of listings: steps of their vendors, and decisions of the platform.

use super::types::ListingOut;
use crate::{
    operations::{certifications, listing_lifecycle as lifecycle},
    rest::{operator_api::prelude::*, shapes::strings::Note},
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

#[routes(prefix = "/operator/v1", tag = Listings)]
impl ListingTransitionsApi {
    /// Submit a listing
    ///
    /// Submits a listing for review, as its vendor, and starts a quality run of it. The listing needs a title, a
    /// description, a price, and an asset. Without enough credits of the vendor, it is reviewed without a run; then
    /// `latest_quality_run_id` stays as it is.
    #[post(
        "/listings/{listing_id}/submit",
        routes::transition_of(
            Target::Record("listings", "delphi-pumplog"),
            Actor::Team,
            &[
                EventType::ListingSubmitted,
                EventType::QualityRunStarted,
                EventType::QualityRunCancelled,
                EventType::WalletDebited,
                EventType::WalletCredited,
            ],
        )
        .with_conflicts(&[Code::RunInProgress, Code::NoLongerAvailable]),
    )]
    async fn submit_listing(change: Change, listing_id: Path<Uuid>) -> JsonResult<ListingOut> {
        on_own(change, listing_id, lifecycle::submit).await
    }

    /// Withdraw a listing
    ///
    /// Withdraws a listing from review, as its vendor, and cancels its quality run.
    #[post(
        "/listings/{listing_id}/withdraw",
        routes::transition(
            "listings",
            Actor::Team,
            &[EventType::ListingWithdrawn, EventType::QualityRunCancelled, EventType::WalletCredited],
        ),
    )]
    async fn withdraw_listing(change: Change, listing_id: Path<Uuid>) -> JsonResult<ListingOut> {
        on_own(change, listing_id, lifecycle::withdraw).await
    }

    /// Approve a listing
    ///
    /// Approves a listing in review. Its vendor is notified, and can publish it. It need not be certified.
    #[post(
        "/listings/{listing_id}/approve",
        routes::transition("listings", Actor::Platform, &[EventType::ListingApproved])
            .with_conflicts(&[Code::NoLongerAvailable]),
    )]
    async fn approve_listing(change: Change, listing_id: Path<Uuid>) -> JsonResult<ListingOut> {
        changes::transition(change, listing_id, lifecycle::approve).await
    }

    /// Request changes of a listing
    ///
    /// Returns a listing in review to its vendor, with a note that says what to change. The note becomes its
    /// `review_feedback`, and part of the notification.
    #[post(
        "/listings/{listing_id}/request-changes",
        routes::transition("listings", Actor::Platform, &[EventType::ListingChangesRequested]),
    )]
    async fn request_listing_changes(
        change: Change,
        listing_id: Path<Uuid>,
        #[example(json!({
            "note": "Please add the license of the vendored libraries.",
        }))]
        body: Body<ListingNote>,
    ) -> JsonResult<ListingOut> {
        let id = listing_id.0;
        changes::post_body(change, body, move |writer, platform, body: ListingNote| {
            let note = body.note.into_valid()?.0;
            lifecycle::request_changes(writer, platform, Actor::Platform, id, Some(&note)).map(|_| id)
        })
        .await
    }

    /// Reject a listing
    ///
    /// Rejects a listing in review, with a note that says why. The note becomes its `review_feedback`, and part of the
    /// notification. The listing cannot be submitted again.
    #[post(
        "/listings/{listing_id}/reject",
        routes::transition("listings", Actor::Platform, &[EventType::ListingRejected]),
    )]
    async fn reject_listing(
        change: Change,
        listing_id: Path<Uuid>,
        #[example(json!({"note": "The data contains personal details."}))] body: Body<ListingNote>,
    ) -> JsonResult<ListingOut> {
        let id = listing_id.0;
        changes::post_body(change, body, move |writer, platform, body: ListingNote| {
            let note = body.note.into_valid()?.0;
            lifecycle::reject(writer, platform, Actor::Platform, id, Some(&note)).map(|_| id)
        })
        .await
    }

    /// Publish a listing
    ///
    /// Publishes an approved listing in the catalog, as its vendor.
    #[post(
        "/listings/{listing_id}/publish",
        routes::transition("listings", Actor::Team, &[EventType::ListingPublished])
            .with_conflicts(&[Code::NoLongerAvailable]),
    )]
    async fn publish_listing(change: Change, listing_id: Path<Uuid>) -> JsonResult<ListingOut> {
        on_own(change, listing_id, lifecycle::publish).await
    }

    /// Unpublish a listing
    ///
    /// Removes a listing from the catalog, as its vendor. Its offers stay.
    #[post(
        "/listings/{listing_id}/unpublish",
        routes::transition("listings", Actor::Team, &[EventType::ListingUnpublished]),
    )]
    async fn unpublish_listing(change: Change, listing_id: Path<Uuid>) -> JsonResult<ListingOut> {
        on_own(change, listing_id, lifecycle::unpublish).await
    }

    /// Archive a listing
    ///
    /// Archives a listing that is not in review, as its vendor, and declines the offers on it.
    #[post(
        "/listings/{listing_id}/archive",
        routes::transition(
            "listings",
            Actor::Team,
            &[EventType::ListingArchived, EventType::ListingOffersDeclined, EventType::OfferDeclined],
        ),
    )]
    async fn archive_listing(change: Change, listing_id: Path<Uuid>) -> JsonResult<ListingOut> {
        on_own(change, listing_id, lifecycle::archive).await
    }

    /// Restore a listing
    ///
    /// Restores a listing from the archive, as its vendor. It keeps its review status, and is not published. Refused
    /// (409 `no_longer_available`) while one of its assets is sold exclusively.
    #[post(
        "/listings/{listing_id}/restore",
        routes::transition("listings", Actor::Team, &[EventType::ListingRestored])
            .with_conflicts(&[Code::NoLongerAvailable]),
    )]
    async fn restore_listing(change: Change, listing_id: Path<Uuid>) -> JsonResult<ListingOut> {
        on_own(change, listing_id, lifecycle::restore).await
    }

    /// Certify a listing
    ///
    /// Certifies a listing in its current form, whatever its quality runs found. A change of its assets ends the
    /// certification.
    #[post(
        "/listings/{listing_id}/certify",
        routes::change("listings", Actor::Platform, &[EventType::ListingCertified]),
    )]
    async fn certify_listing(change: Change, listing_id: Path<Uuid>) -> JsonResult<ListingOut> {
        changes::transition(change, listing_id, certifications::certify).await
    }

    /// Revoke the certification of a listing
    ///
    /// Revokes the certification of a listing that has one.
    #[post(
        "/listings/{listing_id}/revoke",
        routes::change("listings", Actor::Platform, &[EventType::ListingCertificationRevoked]),
    )]
    async fn revoke_listing_certification(change: Change, listing_id: Path<Uuid>) -> JsonResult<ListingOut> {
        changes::transition(change, listing_id, certifications::revoke).await
    }

    /// Feature a listing
    ///
    /// Gives a listing a place among the featured listings, or another one. No two listings have the same place (409
    /// `conflict`).
    #[post(
        "/listings/{listing_id}/feature",
        routes::change("listings", Actor::Platform, &[EventType::ListingFeatured]),
    )]
    async fn feature_listing(
        change: Change,
        listing_id: Path<Uuid>,
        #[example(json!({"place": 90}))] body: Body<FeaturedPlace>,
    ) -> JsonResult<ListingOut> {
        let id = listing_id.0;
        changes::post_body(change, body, move |writer, platform, body: FeaturedPlace| {
            let place = body.place.into_valid()? as u32;
            lifecycle::feature(writer, platform, Actor::Platform, id, place).map(|_| id)
        })
        .await
    }

    /// Unfeature a listing
    ///
    /// Takes a listing from the featured listings.
    #[post(
        "/listings/{listing_id}/unfeature",
        routes::change("listings", Actor::Platform, &[EventType::ListingUnfeatured]),
    )]
    async fn unfeature_listing(change: Change, listing_id: Path<Uuid>) -> JsonResult<ListingOut> {
        changes::transition(change, listing_id, lifecycle::unfeature).await
    }
}

/// Performs what a vendor does with its own listing.
async fn on_own<O>(
    change: Change,
    listing_id: Path<Uuid>,
    operation: impl FnOnce(&mut Writer, &Vendor, Actor, Uuid) -> Result<O> + Send + 'static,
) -> JsonResult<ListingOut> {
    changes::transition(change, listing_id, |writer, platform, actor, id| {
        let vendor = platform.vendor_of_listing(writer.rows, id)?;
        operation(writer, &vendor, actor, id)
    })
    .await
}
