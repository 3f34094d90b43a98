//! Assembles the HTTP server: the routes of all APIs, their OpenAPI documents, endpoints that layers above
//! add, and the middleware around all of them.

use std::sync::Arc;

use poem::{Endpoint, EndpointExt, Request, Response, endpoint::BoxEndpoint, middleware::AddData};
use serde_json::Value;

use super::{
    api::{self, APIS, Api},
    api_documents::openapi_document,
    app::App,
    blobs,
    capacity::Capacity,
    compression,
    cors::AllowedOrigins,
    declarations, error_layer, etag, head,
    in_process::InProcessRoutes,
    landing_page, limits,
    limits::RateLimits,
    link_base::LinkBase,
    openapi_pages, request_id,
    resources::Resources,
    route::DeclaredRoute,
    router, spool,
};
use crate::{error::Error, market::Market, rest::problem::ApiError};

/// A builder of the HTTP server.
pub struct AppBuilder {
    market: Market,
    routes: InProcessRoutes,
    apis: Vec<(&'static Api, Value)>,
    mounted: Vec<(Arc<str>, BoxEndpoint<'static, Response>)>,
    link_base: LinkBase,
    excludes_routes: bool,
    has_demo_keys: bool,
}

impl AppBuilder {
    /// Creates the routes of all APIs and their documents. `base_url` is what [`super::base_url`] returns for
    /// the server.
    pub fn new(market: Market, base_url: &str) -> AppBuilder {
        AppBuilder::with_apis(market, base_url, &APIS)
    }

    /// Creates the routes of these APIs and their documents.
    pub fn with_apis(market: Market, base_url: &str, apis: &[&'static Api]) -> AppBuilder {
        let settings = market.settings();
        // Without a public URL, the server is where its document is, whatever host name that was requested from.
        let server = match settings.server.public_url.as_str() {
            "" => "/",
            url => url,
        };
        let link_base = LinkBase::new(settings, base_url);
        let app = Arc::new(App::new(market.clone(), base_url));
        let groups = api::groups(apis);
        declarations::check_declarations(&groups);
        let document = |api: &&'static Api| (*api, openapi_document(api, server, &settings.contact));
        let apis: Vec<(&'static Api, Value)> = apis.iter().map(document).collect();
        let mut routes =
            router::build_routes(&groups).at(blobs::PART_ROUTE, blobs::part_endpoint(Arc::clone(&app)));
        for (api, document) in &apis {
            routes = routes.at(format!("/{}/openapi.json", api.name), openapi_pages::json_page(document));
        }
        let routes = InProcessRoutes::new(routes.with(AddData::new(app)).boxed());
        AppBuilder {
            market,
            routes,
            apis,
            mounted: Vec::new(),
            link_base,
            excludes_routes: false,
            has_demo_keys: false,
        }
    }

    /// Returns the market that is served.
    pub const fn market(&self) -> &Market {
        &self.market
    }

    /// Returns the routes, for in-process calls.
    pub fn in_process_routes(&self) -> InProcessRoutes {
        self.routes.clone()
    }

    /// Returns the OpenAPI document of every API.
    pub fn documents(&self) -> Vec<&Value> {
        self.apis.iter().map(|(_, document)| document).collect()
    }

    /// Returns every route, in the order in which agents see their tools.
    pub fn routes(&self) -> Vec<DeclaredRoute> {
        let apis: Vec<&'static Api> = self.apis.iter().map(|(api, _)| *api).collect();
        api::groups(&apis).into_iter().flat_map(|group| (group.routes)()).collect()
    }

    /// Mounts an endpoint of a layer above at exactly `path`, for all methods.
    #[must_use]
    pub fn mount(
        mut self,
        path: impl Into<Arc<str>>,
        endpoint: impl Endpoint<Output = Response> + 'static,
    ) -> AppBuilder {
        self.mounted.push((path.into(), endpoint.boxed()));
        self
    }

    /// Shows the keys of the demo market in the pages for people.
    #[must_use]
    pub const fn with_demo_keys(mut self) -> AppBuilder {
        self.has_demo_keys = true;
        self
    }

    /// Mounts the pages for people: the landing page and the reference of each API.
    fn with_pages(self) -> AppBuilder {
        let apis = self.apis.iter().map(|(api, _)| *api).collect();
        let landing = landing_page::landing_page(apis, self.link_base.clone(), self.has_demo_keys);
        let page = |(api, document): &(&'static Api, Value)| {
            let key = if self.has_demo_keys { api.demo_key } else { "" };
            (format!("/{}/docs", api.name), openapi_pages::html_page(document, key))
        };
        let pages: Vec<_> = self.apis.iter().map(page).collect();
        pages.into_iter().fold(self.mount("/", landing), |builder, (path, page)| builder.mount(path, page))
    }

    /// Excludes the REST routes, so that only the endpoints added by [`AppBuilder::mount`] are served.
    #[must_use]
    pub const fn without_routes(mut self) -> AppBuilder {
        self.excludes_routes = true;
        self
    }

    /// Wraps the routes in their middleware, innermost first. Each middleware module states the reason for
    /// its position.
    pub fn build(mut self) -> BoxEndpoint<'static, Response> {
        if !self.excludes_routes {
            self = self.with_pages();
        }
        let settings = self.market.settings();
        let origins = AllowedOrigins::new(&settings.server.cors_origins);
        let limits = RateLimits::new(&settings.limits, &self.market.stopwatch()).map(Arc::new);
        let capacity = Capacity::new(settings, self.market.stopwatch());
        let market = self.market.clone();
        let resources = Arc::new(Resources::new(settings, self.market.stopwatch()));
        let routes = (!self.excludes_routes).then_some(self.routes);
        Dispatcher { routes, mounted: self.mounted }
            .around(error_layer::layer)
            .around(move |inner, request| spool::layer(market.clone(), inner, request))
            .around(etag::layer)
            .around(compression::layer)
            .around(head::layer)
            .around(move |inner, request| capacity.clone().layer(inner, request))
            .around(move |inner, request| Arc::clone(&resources).layer(inner, request))
            .around(move |inner, request| limits::layer(limits.clone(), inner, request))
            .around(move |inner, request| origins.clone().layer(inner, request))
            .around(request_id::layer)
            .boxed()
    }
}

/// Dispatches a request to a mounted endpoint, or else to the routes.
struct Dispatcher {
    routes: Option<InProcessRoutes>,
    mounted: Vec<(Arc<str>, BoxEndpoint<'static, Response>)>,
}

impl Endpoint for Dispatcher {
    type Output = Response;

    async fn call(&self, request: Request) -> poem::Result<Response> {
        let mounted_endpoint = self.mounted.iter().find(|(path, _)| **path == *request.uri().path());
        match (mounted_endpoint, &self.routes) {
            (Some((path, mounted_endpoint)), _) => {
                request_id::set_route(&request, Arc::clone(path));
                mounted_endpoint.call(request).await
            }
            (None, Some(routes)) => routes.call(request).await,
            (None, None) => Err(ApiError(Error::UnknownPath).into()),
        }
    }
}
