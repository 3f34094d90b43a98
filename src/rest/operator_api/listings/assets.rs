//! Attaching assets to listings, and detaching them.

use super::types::{ListingOut, asset_ids};
use crate::{
    operations::{listing_assets, listings},
    rest::operator_api::prelude::*,
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

#[routes(prefix = "/operator/v1", tag = Listings)]
impl ListingAssetsApi {
    /// Attach assets to a listing
    ///
    /// Attaches assets to a listing in stage `draft` or `ready`, as its vendor: all of them or none. This ends the
    /// approval and the certification of the listing.
    #[post(
        "/listings/{listing_id}/attach",
        routes::change_of(
            Target::Record("listings", "lumen-draft-oct"),
            Actor::Team,
            &[EventType::ListingAssetsAttached, EventType::ListingCertificationRevoked],
        )
        .with_conflicts(&[Code::ListingNotEditable, Code::NoLongerAvailable]),
    )]
    async fn attach_listing_assets(
        change: Change,
        listing_id: Path<Uuid>,
        #[example(json!({"asset_ids": ["38b28206-20c1-55d4-9f66-f6011c61f2ce"]}))] body: Body<AssetsToAttach>,
    ) -> JsonResult<ListingOut> {
        let id = listing_id.0;
        changes::post_body(change, body, move |writer, platform, body: AssetsToAttach| {
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
    #[post(
        "/listings/{listing_id}/detach",
        routes::change_of(
            Target::Record("listings", "sable-ticketing"),
            Actor::Team,
            &[EventType::ListingAssetDetached, EventType::ListingCertificationRevoked],
        )
        .with_conflicts(&[Code::ListingNotEditable]),
    )]
    async fn detach_listing_asset(
        change: Change,
        listing_id: Path<Uuid>,
        #[example(json!({"asset_id": "7ead8900-8029-5a79-8807-92be675eb226"}))] body: Body<AssetToDetach>,
    ) -> JsonResult<ListingOut> {
        let id = listing_id.0;
        changes::post_body(change, body, move |writer, platform, body: AssetToDetach| {
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
