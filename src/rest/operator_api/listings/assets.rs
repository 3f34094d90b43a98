//! Attaching assets to listings, and detaching them.

use poem_openapi::{Object, OpenApi};
use serde_json::json;
use uuid::Uuid;

use super::types::{ListingOut, asset_ids};
use crate::{
    domain::{events::EventType, listings::Actor},
    error::{Code, Error},
    operations::{access::ActingOperator, listing_assets, listings},
    rest::{
        idempotent::Idempotent,
        json::JsonResult,
        operator_api::{
            changes, references,
            routes::{self, routes},
        },
        request_body::{Body, MaybeInvalid},
        route::{Call, Path, Target},
    },
};

/// The assets to attach.
#[derive(Debug, Object)]
pub struct AssetsToAttach {
    /// IDs of assets of the vendor, of any kind. Each must be complete or proposed, and not attached yet.
    #[oai(validator(min_items = 1, max_items = 1000))]
    asset_ids: Vec<MaybeInvalid<Uuid>>,
}

/// The asset to detach.
#[derive(Debug, Object)]
pub struct AssetToDetach {
    /// ID of an asset of the listing.
    asset_id: MaybeInvalid<Uuid>,
}

routes! {
    /// `POST /operator/v1/listings/{listing_id}/attach`
    AttachListingAssets: ActingOperator = routes::post_to(
        "attach_listing_assets",
        Target::Record("listings", "lumen-draft-oct"),
        Some(|| json!({"asset_ids": ["38b28206-20c1-55d4-9f66-f6011c61f2ce"]})),
        Actor::Team,
        &[EventType::ListingAssetsAttached, EventType::ListingCertificationRevoked],
    ).with_conflicts(&[Code::ListingNotEditable, Code::NoLongerAvailable]);
    /// `POST /operator/v1/listings/{listing_id}/detach`
    DetachListingAsset: ActingOperator = routes::post_to(
        "detach_listing_asset",
        Target::Record("listings", "sable-ticketing"),
        Some(|| json!({"asset_id": "7ead8900-8029-5a79-8807-92be675eb226"})),
        Actor::Team,
        &[EventType::ListingAssetDetached, EventType::ListingCertificationRevoked],
    ).with_conflicts(&[Code::ListingNotEditable]);
}

pub struct ListingAssetsApi;

#[OpenApi(prefix_path = "/operator/v1", tag = "crate::rest::tags::Tag::Listings")]
impl ListingAssetsApi {
    /// Attach assets to a listing
    ///
    /// Attaches assets to a listing in stage `draft` or `ready`, as its vendor: all of them or none. This ends the
    /// approval and the certification of the listing.
    #[oai(path = "/listings/:listing_id/attach", method = "post", operation_id = "attach_listing_assets")]
    async fn attach(
        &self,
        call: Call<AttachListingAssets>,
        idempotent: Idempotent,
        /// ID of the listing.
        listing_id: Path<Uuid>,
        body: Body<AssetsToAttach>,
    ) -> JsonResult<ListingOut> {
        let id = listing_id.0;
        changes::post_body(call, idempotent, body, move |writer, platform, body: AssetsToAttach| {
            let vendor = platform.vendor_of_listing(writer.rows, id)?;
            let listing = listings::find_own(writer.rows, &vendor, id)?;
            let assets = asset_ids(body.asset_ids)?;
            listing_assets::attach_all(writer, &vendor, Actor::Team, &listing, &assets, false).map(|()| id)
        })
        .await
    }

    /// Detach an asset from a listing
    ///
    /// Detaches an asset from a listing in stage `draft` or `ready`, as its vendor. This ends the approval and the
    /// certification of the listing.
    #[oai(path = "/listings/:listing_id/detach", method = "post", operation_id = "detach_listing_asset")]
    async fn detach(
        &self,
        call: Call<DetachListingAsset>,
        idempotent: Idempotent,
        /// ID of the listing.
        listing_id: Path<Uuid>,
        body: Body<AssetToDetach>,
    ) -> JsonResult<ListingOut> {
        let id = listing_id.0;
        changes::post_body(call, idempotent, body, move |writer, platform, body: AssetToDetach| {
            let vendor = platform.vendor_of_listing(writer.rows, id)?;
            let asset = body.asset_id.into_valid()?;
            let detached = listing_assets::detach(writer, &vendor, Actor::Team, id, asset);
            detached.map(|()| id).map_err(as_reference)
        })
        .await
    }
}

/// Converts the error for an asset that does not exist, or is not on the listing: a body refers to it.
fn as_reference(error: Error) -> Error {
    match error {
        Error::NotFound(_) => references::unknown("asset_id", "asset of the listing"),
        other => other,
    }
}
