//! Everything that is served over HTTP, put together: the routes of both sides, their documents, what layers above put
//! beside them, and the layers around it all.

use std::sync::Arc;

use poem::{Endpoint, EndpointExt, Request, Response, endpoint::BoxEndpoint, middleware::AddData};
use serde_json::Value;

use super::{
    App, Side, blobs, buyer, capacity::Capacity, catalog, compression, cors::Origins, declarations,
    direct::Direct, document_value, etag, failures, head, limits, limits::Limits, once, pages, request_id,
    router, vendor,
};
use crate::{error::Error, market::Market, rest::problem::Failure};

/// What is served, in the making.
pub struct Site {
    market: Market,
    routes: Direct,
    vendors: Value,
    buyers: Value,
    guests: Vec<(&'static str, BoxEndpoint<'static, Response>)>,
    is_guests_only: bool,
}

impl Site {
    /// The routes of both sides and their documents. `base_url` is the base of every link that the server makes.
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

    /// The market that is served.
    pub const fn market(&self) -> &Market {
        &self.market
    }

    /// The routes, for calls in process.
    pub fn direct(&self) -> Direct {
        self.routes.clone()
    }

    /// The document of one side.
    pub const fn document(&self, side: Side) -> &Value {
        match side {
            Side::Vendor => &self.vendors,
            Side::Buyer => &self.buyers,
        }
    }

    /// Puts an endpoint of a layer above at a path, whatever the method.
    #[must_use]
    pub fn with(mut self, path: &'static str, guest: impl Endpoint<Output = Response> + 'static) -> Site {
        self.guests.push((path, guest.boxed()));
        self
    }

    /// Leaves out the routes themselves, so that only what was put beside them is served.
    #[must_use]
    pub const fn guests_only(mut self) -> Site {
        self.is_guests_only = true;
        self
    }

    /// What answers requests: the routes in their layers, the innermost first; each module says why it lies where it does.
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

/// Guests at their paths, and the routes everywhere else.
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
