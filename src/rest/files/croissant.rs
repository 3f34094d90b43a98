//! Descriptions of listings in Croissant. The route is in no OpenAPI document, since the format has its own.

use poem::{
    Request, Response, Route,
    http::{Method, header},
};

use super::admission;
use crate::{
    error::Result,
    operations::{access::ListingViewer, croissant},
    rest::{arguments::params, prelude::*, router},
    web::{bundle_urls, path_params, served_market::ServedMarket},
};

/// The route of a description.
const ROUTE: &str = "/v2/listings/browse/{listing_id}/croissant";

/// The media type of JSON-LD.
const MEDIA_TYPE: &str = "application/ld+json";

/// Adds the route of descriptions.
pub fn add_routes(routes: Route) -> Route {
    routes.at(path_params::framework_path(ROUTE), router::answered_by(Method::GET, send))
}

async fn send(request: Request) -> Result<Response> {
    let served = ServedMarket::shared(&request)?;
    let viewer: ListingViewer = admission::admit(&served, &request, Budget::Catalog).await?;
    let listing = path_params::first(&request).and_then(|id| Uuid::try_parse(&id).ok());
    let listing = listing.ok_or_else(|| Error::not_found("listing"))?;
    params::check_no_query(&request)?;
    let addresses = bundle_urls::addresses(&served.link_base().for_request(&request), listing);
    let requester = viewer.requester();
    let describe = move |reader: &Reader| croissant::describe(reader, &viewer, listing, addresses);
    let document = served.market().read(requester, describe).await?;
    Ok(Response::builder()
        .header(header::CACHE_CONTROL, "private, no-cache")
        .content_type(MEDIA_TYPE)
        .body(document))
}
