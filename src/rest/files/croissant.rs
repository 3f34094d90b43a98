//! Descriptions of listings in Croissant. The route is in no OpenAPI document, since the format has its own.

use poem::{Body, Endpoint, Request, RequestBody, Response, endpoint::make, http::header};

use crate::{
    error::Result,
    operations::{access::ListingViewer, croissant},
    rest::{arguments::params, prelude::*, router},
    web::{auth::Policy, bundle_urls, limits::RequestLimits, path_params, served_market::ServedMarket},
};

/// The route of a description.
pub const ROUTE: &str = "/v2/listings/browse/{listing_id}/croissant";

/// The media type of JSON-LD.
const MEDIA_TYPE: &str = "application/ld+json";

/// Returns the endpoint that sends descriptions.
pub fn endpoint() -> impl Endpoint<Output = Response> + 'static {
    router::get_only(make(async |request| send(&request).await))
}

async fn send(request: &Request) -> poem::Result<Response> {
    let served = ServedMarket::shared(request).map_err(ApiError)?;
    let viewer = admit(&served, request).await.map_err(ApiError)?;
    let listing = path_params::first(request).and_then(|id| Uuid::try_parse(&id).ok());
    let listing = listing.ok_or_else(|| ApiError(Error::not_found("listing")))?;
    params::reject_query(request, &mut RequestBody::new(Body::empty())).await?;
    let addresses = bundle_urls::addresses(&served.link_base().for_request(request), listing);
    let requester = viewer.requester();
    let describe = move |reader: &Reader| croissant::describe(reader, &viewer, listing, addresses);
    let document = served.market().read(requester, describe).await.map_err(ApiError)?;
    Ok(Response::builder()
        .header(header::CACHE_CONTROL, "private, no-cache")
        .content_type(MEDIA_TYPE)
        .body(document))
}

async fn admit(served: &ServedMarket, request: &Request) -> Result<ListingViewer> {
    RequestLimits::set_budget(request, Budget::Catalog);
    let authenticated = ListingViewer::identify(served, request).await?;
    ListingViewer::admit(served, authenticated, request).await
}
