//! Listings of all vendors.

mod assets;
mod history;
mod transitions;
mod types;

use poem_openapi::{Object, OpenApi};
use serde::Serialize;
use serde_json::json;
use uuid::Uuid;

use self::types::{ListingIn, ListingOut, ListingPage, ListingPatch, NewListing};
use super::{
    changes,
    pages::{self, ListQuery},
    references, resources,
    routes::{self, DEMO_TEAM, routes},
};
use crate::{
    domain::{
        events::EventType,
        listings::{Actor, CatalogStatus, LifecycleStage, ReviewStatus},
    },
    error::{Code, Result},
    market::Writer,
    operations::{
        access::{ActingOperator, Operator, Platform},
        listing_drafts, listing_lifecycle, listings,
    },
    rest::{
        enum_value::EnumValue,
        idempotent::Idempotent,
        if_match::IfMatch,
        json::JsonResult,
        params::Params,
        request_body::Body,
        route::{Call, DeclaredRoute, Path},
    },
    store,
};

/// All routes of listings, in the order of the document.
pub fn apis() -> impl OpenApi {
    (ListingsApi, history::ListingHistoryApi, assets::ListingAssetsApi, transitions::ListingTransitionsApi)
}

/// The routes.
pub fn routes() -> Vec<DeclaredRoute> {
    [ROUTES, history::ROUTES, assets::ROUTES, transitions::ROUTES].concat()
}

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

routes! {
    /// `GET /operator/v1/listings`
    ListListings: Operator = routes::list(
        "list_listings",
        &["stage=active&certified=true&limit=2", "review_status=in_review", "featured=true", "title=nothing"],
    );
    /// `POST /operator/v1/listings`
    CreateListing: ActingOperator = routes::create(
        "create_listing",
        || json!({
            "team_id": DEMO_TEAM,
            "title": "Tide gauge firmware",
            "description": "Firmware of a tide gauge, with eight years of history.",
            "domain_tags": ["logistics"],
            "price": "12000.00",
            "currency": "USD",
            "accepts_bids": true,
        }),
        Actor::Team,
        &[EventType::ListingCreated, EventType::ListingAssetsAttached],
    );
    /// `GET /operator/v1/listings/{listing_id}`
    GetListing: Operator = routes::get("get_listing", "listings");
    /// `PATCH /operator/v1/listings/{listing_id}`
    UpdateListing: ActingOperator = routes::patch(
        "update_listing",
        "listings",
        || json!({"price": "11500.00", "accepts_bids": true}),
        Actor::Team,
        &[EventType::ListingUpdated],
    ).with_conflicts(&[Code::ListingNotEditable, Code::NoLongerAvailable]);
}

pub struct ListingsApi;

#[OpenApi(prefix_path = "/operator/v1", tag = "crate::rest::tags::Tag::Listings")]
impl ListingsApi {
    /// List listings
    ///
    /// Returns the listings of all vendors in every stage, newest first.
    #[oai(path = "/listings", method = "get", operation_id = "list_listings")]
    async fn list(
        &self,
        call: Call<ListListings>,
        query: Params<ListQuery<ListingFilters>>,
    ) -> JsonResult<ListingPage> {
        pages::list(call, query).await
    }

    /// Create a listing
    ///
    /// Creates a draft for a vendor, with assets if the body has any: all of them or nothing.
    #[oai(path = "/listings", method = "post", operation_id = "create_listing")]
    async fn create(
        &self,
        call: Call<CreateListing>,
        idempotent: Idempotent,
        body: Body<ListingIn>,
    ) -> JsonResult<ListingOut, 201> {
        changes::post_body(call, idempotent, body, |writer, platform, body: ListingIn| {
            let NewListing { team, fields, asset_ids } = body.into_listing(writer.rows)?;
            let vendor = platform.vendor(references::team(writer.rows, "team_id", team)?)?;
            listing_drafts::create(writer, &vendor, Actor::Team, &fields, &asset_ids)
        })
        .await
    }

    /// Get a listing
    ///
    /// Returns a listing in any stage.
    #[oai(path = "/listings/:listing_id", method = "get", operation_id = "get_listing")]
    async fn get(
        &self,
        call: Call<GetListing>,
        /// ID of the listing.
        listing_id: Path<Uuid>,
    ) -> JsonResult<ListingOut> {
        resources::get(call, listing_id.0).await
    }

    /// Update a listing
    ///
    /// Changes the texts, the prices, or the terms of a listing, as its vendor. Another title, description, or tag
    /// ends the approval, and is refused in stage `review`, `active`, or `archived`; the other fields can be changed
    /// in stage `draft`, `ready`, or `active`.
    #[oai(path = "/listings/:listing_id", method = "patch", operation_id = "update_listing")]
    async fn update(
        &self,
        call: Call<UpdateListing>,
        if_match: IfMatch,
        /// ID of the listing.
        listing_id: Path<Uuid>,
        body: Body<ListingPatch>,
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
