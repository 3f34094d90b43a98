//! Listings of all vendors.

use self::types::{ListingIn, ListingOut, ListingPage, ListingPatch, NewListing};
use crate::{
    domain::listings::{CatalogStatus, LifecycleStage, ReviewStatus},
    operations::{listing_drafts, listing_lifecycle, listings},
    rest::operator_api::prelude::*,
    store,
};

mod assets;
mod history;
mod transitions;
mod types;

/// The handlers of all routes of listings.
pub type Apis =
    (ListingsApi, history::ListingHistoryApi, assets::ListingAssetsApi, transitions::ListingTransitionsApi);

/// What the list of listings can be filtered by.
#[derive(Debug, Object, Serialize)]
pub struct ListingFilters {
    /// ID of the vendor team.
    team_id: Option<Uuid>,
    /// Title of the listing, as it is.
    title: Option<String>,
    /// Status in the review.
    review_status: Option<EnumValue<ReviewStatus>>,
    /// Status in the catalog.
    catalog_status: Option<EnumValue<CatalogStatus>>,
    /// Lifecycle stage. Listings in stage `review` wait for a decision.
    stage: Option<EnumValue<LifecycleStage>>,
    /// Whether the listing is sold once, exclusively.
    exclusive: Option<bool>,
    /// Whether the listing has a place among the featured listings.
    featured: Option<bool>,
    /// Whether the listing is certified.
    certified: Option<bool>,
}

#[routes(prefix = "/operator/v1", tag = Listings)]
impl ListingsApi {
    /// List listings
    ///
    /// Returns the listings of all vendors in every stage, newest first.
    #[get(
        "/listings",
        routes::list(&[
            "stage=active&certified=true&limit=2",
            "review_status=in_review",
            "featured=true",
            "title=nothing",
        ]),
    )]
    async fn list_listings(
        call: Call<Operator>,
        query: Params<ListQuery<ListingFilters>>,
    ) -> JsonResult<ListingPage> {
        pages::list(call, query).await
    }

    /// Create a listing
    ///
    /// Creates a draft for a vendor, with assets if the body has any: all of them or nothing.
    #[post(
        "/listings",
        routes::create(Actor::Team, &[EventType::ListingCreated, EventType::ListingAssetsAttached]),
    )]
    async fn create_listing(
        change: Change,
        #[example(json!({
                    "team_id": DEMO_TEAM,
                    "title": "Tide gauge firmware",
                    "description": "Firmware of a tide gauge, with eight years of history.",
                    "domain_tags": ["logistics"],
                    "price": "12000.00",
                    "currency": "USD",
                    "accepts_bids": true,
                }))]
        body: Body<ListingIn>,
    ) -> JsonResult<ListingOut, 201> {
        changes::post_body(change, body, |writer, platform, body: ListingIn| {
            let NewListing { team, fields, asset_ids } = body.into_listing(writer.rows)?;
            let vendor = platform.vendor(references::team(writer.rows, "team_id", team)?)?;
            listing_drafts::create(writer, &vendor, Actor::Team, &fields, &asset_ids)
        })
        .await
    }

    /// Get a listing
    ///
    /// Returns a listing in any stage.
    #[get("/listings/{listing_id}", routes::get("listings"))]
    async fn get_listing(call: Call<Operator>, listing_id: Path<Uuid>) -> JsonResult<ListingOut> {
        resources::get(call, listing_id.0).await
    }

    /// Update a listing
    ///
    /// Changes the texts, the prices, or the terms of a listing, as its vendor. Another title, description, or tag
    /// ends the approval, and is refused in stage `review`, `active`, or `archived`; the other fields can be changed
    /// in stage `draft`, `ready`, or `active`.
    #[patch(
        "/listings/{listing_id}",
        routes::change("listings", Actor::Team, &[EventType::ListingUpdated])
            .with_conflicts(&[Code::ListingNotEditable, Code::NoLongerAvailable]),
    )]
    async fn update_listing(
        call: Call<ActingOperator>,
        if_match: IfMatch,
        listing_id: Path<Uuid>,
        #[example(json!({"price": "11500.00", "accepts_bids": true}))] body: Body<ListingPatch>,
    ) -> JsonResult<ListingOut> {
        changes::patch(call, if_match, listing_id.0, body, update).await
    }
}

/// Changes the fields of a listing that a body states. A body that changes nothing has no effect in any stage.
fn update(writer: &mut Writer, platform: Platform, id: &Uuid, patch: ListingPatch) -> Result<()> {
    let listing = listings::find(writer.rows, platform, *id)?;
    let stored = store::listings::find_fields(writer.rows, listing.row_id)?;
    let mut fields = stored.clone();
    patch.apply(writer.rows, &mut fields)?;
    if fields == stored {
        return Ok(());
    }
    let vendor = platform.vendor_of_listing(writer.rows, *id)?;
    listing_lifecycle::update(writer, &vendor, Actor::Team, *id, &fields).map(drop)
}
