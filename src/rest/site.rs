//! Assembles the HTTP server: the routes of both APIs, their OpenAPI documents, endpoints that layers above
//! add, and the middleware around all of them.

use std::sync::Arc;

use poem::{Endpoint, EndpointExt, Request, Response, endpoint::BoxEndpoint, middleware::AddData};
use serde_json::Value;

use super::{
    App, Side, blobs, buyer, capacity::Capacity, catalog, compression, cors::Origins, declarations,
    direct::Direct, document_value, etag, failures, head, limits, limits::Limits, once, pages, request_id,
    router, vendor,
};
use crate::{error::Error, market::Market, rest::problem::Failure};

/// A builder of the HTTP server.
pub struct Site {
    market: Market,
    routes: Direct,
    vendors: Value,
    buyers: Value,
    guests: Vec<(&'static str, BoxEndpoint<'static, Response>)>,
    is_guests_only: bool,
}

impl Site {
    /// Creates the routes of both APIs and their documents. `base_url` is the base URL of all links that the
    /// server generates.
    pub fn new(market: Market, base_url: &str) -> Site {
        let [vendors, buyers] = [Side::Vendor, Side::Buyer].map(|side| document_value(side, base_url));
        let app = Arc::new(App {
            market: market.clone(),
            base_url: base_url.to_owned(),
            front_pages: catalog::FrontPages::default(),
            in_flight: once::InFlight::default(),
        });
        let apis = (catalog::apis(), vendor::apis(), buyer::apis());
        declarations::check(&apis);
        let mut routes = router::routes(apis).at(blobs::PART, blobs::part(Arc::clone(&app)));
        for (side, document) in [(Side::Vendor, &vendors), (Side::Buyer, &buyers)] {
            let name = side.name();
            routes = routes
                .at(format!("/{name}/openapi.json"), pages::json(document))
                .at(format!("/{name}/docs"), pages::html(document, base_url));
        }
        let routes = Direct::new(routes.with(AddData::new(app)).boxed());
        Site { market, routes, vendors, buyers, guests: Vec::new(), is_guests_only: false }
    }

    /// Returns the market that is served.
    pub const fn market(&self) -> &Market {
        &self.market
    }

    /// Returns the routes, for in-process calls.
    pub fn direct(&self) -> Direct {
        self.routes.clone()
    }

    /// Returns the OpenAPI document of one API.
    pub const fn document(&self, side: Side) -> &Value {
        match side {
            Side::Vendor => &self.vendors,
            Side::Buyer => &self.buyers,
        }
    }

    /// Mounts an endpoint of a layer above at exactly `path`, for all methods.
    #[must_use]
    pub fn with(mut self, path: &'static str, guest: impl Endpoint<Output = Response> + 'static) -> Site {
        self.guests.push((path, guest.boxed()));
        self
    }

    /// Excludes the REST routes, so that only the endpoints added by [`Site::with`] are served.
    #[must_use]
    pub const fn guests_only(mut self) -> Site {
        self.is_guests_only = true;
        self
    }

    /// Wraps the routes in their middleware, innermost first. Each middleware module states the reason for
    /// its position.
    pub fn finish(self) -> BoxEndpoint<'static, Response> {
        let settings = self.market.settings();
        let origins = Origins::new(&settings.server.cors_origins);
        let limits = Limits::new(&settings.limits, &self.market.stopwatch()).map(Arc::new);
        let capacity = Capacity::new(settings);
        let routes = (!self.is_guests_only).then_some(self.routes);
        Rooms { routes, guests: self.guests }
            .around(failures::layer)
            .around(etag::layer)
            .around(compression::layer)
            .around(head::layer)
            .around(move |inner, request| capacity.clone().layer(inner, request))
            .around(move |inner, request| limits::layer(limits.clone(), inner, request))
            .around(move |inner, request| origins.clone().layer(inner, request))
            .around(request_id::layer)
            .boxed()
    }
}

/// Dispatches a request to a mounted endpoint, or else to the routes.
struct Rooms {
    routes: Option<Direct>,
    guests: Vec<(&'static str, BoxEndpoint<'static, Response>)>,
}

impl Endpoint for Rooms {
    type Output = Response;

    async fn call(&self, request: Request) -> poem::Result<Response> {
        let guest = self.guests.iter().find(|(path, _)| *path == request.uri().path());
        match (guest, &self.routes) {
            (Some((_, guest)), _) => guest.call(request).await,
            (None, Some(routes)) => routes.call(request).await,
            (None, None) => Err(Failure(Error::UnknownPath).into()),
        }
    }
}
