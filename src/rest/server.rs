//! Assembles the server of a market: the app's routes and pages, endpoints that layers above add, and the
//! middleware around all of them.

use std::sync::Arc;

use poem::{Endpoint, EndpointExt, Request, Response, endpoint::BoxEndpoint, error::NotFoundError};

use super::{
    api::{self, Api},
    app::{App, SharedEndpoint},
};
use crate::{
    error::Error,
    http_server::{head, request_coding},
    market::Market,
    rest::pages::landing_page,
    web::{
        cors::{Cors, CorsPolicy},
        error_layer,
        hsts::Hsts,
        in_process::InProcessRoutes,
        limits::{self, LiveRateLimits},
        monitoring::Monitor,
        problem::ApiError,
        request_id,
        responses::{compression, etag, spool},
        served_market::ServedMarket,
        shares::server_limits::ServerLimits,
        trusted_sources::{self, TrustedSources},
        world_host::{
            RedirectToStartPage, Refusal, SandboxHost, fault_answers::PlannedAnswer, faults::FaultContext,
        },
    },
    worlds::journal::{Recording, record_admission},
};

/// A builder of the HTTP server of a market.
pub struct ServerBuilder {
    app: App,
    served: Arc<ServedMarket>,
    mounted: Vec<(Arc<str>, BoxEndpoint<'static, Response>)>,
    /// What layers above serve below a path.
    below: Option<(&'static str, SharedEndpoint)>,
    excludes_routes: bool,
    limits: ServerLimits,
}

impl ServerBuilder {
    /// Creates a server with the routes of `app`. `base_url` is what [`super::base_url`] returns for the
    /// server.
    pub fn new(app: &App, market: Market, base_url: &str) -> ServerBuilder {
        let limits = ServerLimits::new(&market, app.operations());
        ServerBuilder::with_limits(app, market, base_url, limits)
    }

    /// Like [`ServerBuilder::new`], with the limits of another server.
    pub fn with_limits(app: &App, market: Market, base_url: &str, limits: ServerLimits) -> ServerBuilder {
        let served = Arc::new(ServedMarket::new(market, base_url, limits.held_requests.clone()));
        ServerBuilder {
            app: app.clone(),
            served,
            mounted: Vec::new(),
            below: None,
            excludes_routes: false,
            limits,
        }
    }

    /// Like [`ServerBuilder::new`], for layers above that serve a market without its routes: responses contain no links
    /// to bundles, which nothing would serve.
    pub fn without_routes(app: &App, market: Market, base_url: &str) -> ServerBuilder {
        let limits = ServerLimits::new(&market, app.operations());
        let served = Arc::new(ServedMarket::without_server(market, base_url));
        ServerBuilder {
            app: app.clone(),
            served,
            mounted: Vec::new(),
            below: None,
            excludes_routes: true,
            limits,
        }
    }

    /// Adds the worlds of the server, and the routes with which operators use them.
    #[must_use]
    pub fn with_sandbox(self, sandbox: Arc<SandboxHost>) -> ServerBuilder {
        let held_requests = self.limits.held_requests.clone();
        sandbox
            .set_fault_context(FaultContext { operations: Arc::clone(self.app.operations()), held_requests });
        self.served.set_sandbox(sandbox);
        self
    }

    /// Returns the limits, for servers that share them.
    pub fn limits(&self) -> ServerLimits {
        self.limits.clone()
    }

    /// Returns the monitor of the server.
    pub fn monitor(&self) -> Arc<Monitor> {
        Arc::new(Monitor::new(Arc::clone(&self.served), self.limits()))
    }

    /// Returns the market that is served.
    pub fn market(&self) -> &Market {
        self.served.market()
    }

    /// Returns the market with its server.
    pub fn served(&self) -> Arc<ServedMarket> {
        Arc::clone(&self.served)
    }

    /// Returns the routes, for in-process calls.
    pub fn in_process_routes(&self) -> InProcessRoutes {
        let (routes, agent_routes) = (self.app.endpoint(), self.app.agent_endpoint());
        InProcessRoutes::new(routes, agent_routes, Arc::clone(&self.served))
    }

    /// Mounts an endpoint of a layer above at exactly `path`, for all methods.
    #[must_use]
    pub fn mount(
        mut self,
        path: impl Into<Arc<str>>,
        endpoint: impl Endpoint<Output = Response> + 'static,
    ) -> ServerBuilder {
        self.mounted.push((path.into(), endpoint.boxed()));
        self
    }

    /// Mounts an endpoint of a layer above at `path` and below it, for all methods.
    #[must_use]
    pub fn mount_below(mut self, path: &'static str, endpoint: SharedEndpoint) -> ServerBuilder {
        self.below = Some((path, endpoint));
        self
    }

    /// Returns the APIs of the market: those of the app, of which worlds lack one.
    fn apis(&self) -> Vec<&'static Api> {
        let mut apis = self.app.apis();
        apis.retain(|api| !api.is_sandbox() || self.served.sandbox().is_some());
        apis
    }

    /// Mounts the pages for people: the landing page and the docs page of each API.
    fn with_pages(self) -> ServerBuilder {
        let app = self.app.clone();
        let link_base = self.served.link_base().clone();
        let console = self.below.as_ref().map(|(path, _)| *path);
        let landing = landing_page::landing_page(self.apis(), link_base, console, app.has_demo_keys());
        let pages = app.docs_pages(self.served.sandbox().is_some()).iter().cloned();
        pages.fold(self.mount("/", landing), |builder, (path, page)| builder.mount(path, page))
    }

    /// Wraps the routes in their middleware, innermost first. Each middleware module states the reason for
    /// its position.
    pub fn build(mut self) -> BoxEndpoint<'static, Response> {
        if !self.excludes_routes {
            self = self.with_pages();
        }
        let market = self.market().clone();
        let (settings, clock) = (market.settings(), Arc::clone(market.clock()));
        let apis = self.apis();
        let docs = docs_paths(&apis).into();
        let is_same_origin_only =
            move |path: &str| apis.iter().any(|api| api.cors == CorsPolicy::SameOrigin && api.has_path(path));
        let cors = Cors::new(&settings.server.cors_origins, is_same_origin_only);
        let budgets = LiveRateLimits::of_market(&market);
        let proxies = settings.proxies();
        let (counted_proxies, hsts) = (proxies.clone(), Hsts::new(settings));
        let ServerLimits { capacity, transfers, counts, .. } = self.limits;
        let routes = (!self.excludes_routes).then(|| self.app.endpoint());
        let spooling = market.clone();
        let sandbox = self.app.apis().into_iter().find(|api| api.is_sandbox());
        let hidden = sandbox.filter(|_| self.served.sandbox().is_none());
        // Requests for worlds are checked before they are admitted.
        let sources = (settings.keys.allow_fixture_keys && !market.is_world())
            .then(|| TrustedSources::new(&settings.server, self.served.base_url()));
        Dispatcher { routes, served: self.served, mounted: self.mounted, below: self.below, docs, hidden }
            .around(error_layer::layer)
            .around(move |inner, request| spool::layer(spooling.clone(), inner, request))
            .around(etag::layer)
            .around(compression::layer)
            .around(head::layer)
            .around(move |inner, request| capacity.clone().layer(inner, request))
            .around(move |inner, request| Arc::clone(&transfers).layer(inner, request))
            .around(move |inner, request| {
                let (limits, proxies) = (budgets.current(), counted_proxies.clone());
                async move { limits::layer(limits, &proxies, inner, request).await }
            })
            .around(move |inner, request| cors.clone().layer(inner, request))
            .around(move |inner, request| trusted_sources::layer(sources.clone(), inner, request))
            .around(move |inner, request| hsts.clone().layer(inner, request))
            .around(move |inner, request| {
                let counts = Some(Arc::clone(&counts));
                request_id::layer(Arc::clone(&clock), proxies.clone(), counts, inner, request)
            })
            .boxed()
    }
}

/// Dispatches a request to a mounted endpoint, or else to the routes.
struct Dispatcher {
    routes: Option<SharedEndpoint>,
    served: Arc<ServedMarket>,
    mounted: Vec<(Arc<str>, BoxEndpoint<'static, Response>)>,
    below: Option<(&'static str, SharedEndpoint)>,
    /// The pages that document the routes.
    docs: Arc<str>,
    /// An API that the routes contain, but the market does not have.
    hidden: Option<&'static Api>,
}

/// Returns the paths of the docs pages as a list in a sentence.
fn docs_paths(apis: &[&Api]) -> String {
    let paths: Vec<String> = apis.iter().map(|api| api.docs_path()).collect();
    match paths.as_slice() {
        [rest @ .., last] if rest.len() > 1 => format!("{}, and {last}", rest.join(", ")),
        few => few.join(" and "),
    }
}

impl Dispatcher {
    /// Adds to the error for an unknown path where the routes are documented.
    fn name_docs(&self, error: poem::Error) -> poem::Error {
        let is_unknown = error.is::<NotFoundError>()
            || matches!(error.downcast_ref::<ApiError>(), Some(ApiError(Error::UnknownPath(_))));
        if is_unknown { self.unknown_path() } else { error }
    }

    fn unknown_path(&self) -> poem::Error {
        ApiError(Error::UnknownPath(self.docs.as_ref().to_owned())).into()
    }
}

impl Endpoint for Dispatcher {
    type Output = Response;

    async fn call(&self, mut request: Request) -> poem::Result<Response> {
        if let Some(refusal) = request.data::<Refusal>() {
            return Err(ApiError(refusal.clone().into_error()).into());
        }
        if let Some(redirect) = request.data::<RedirectToStartPage>() {
            return Ok(redirect.respond());
        }
        if let Some(answer) = request.data::<PlannedAnswer>() {
            return Ok(answer.respond(&request, self.served.market().settings()));
        }
        if self.hidden.is_some_and(|api| api.has_path(request.uri().path())) {
            return Err(self.unknown_path());
        }
        request.set_data(Arc::clone(&self.served));
        match request.data::<Arc<Recording>>().cloned() {
            Some(recording) => {
                recording.begin();
                record_admission(recording, Box::pin(self.dispatch(request))).await
            }
            None => self.dispatch(request).await,
        }
    }
}

impl Dispatcher {
    async fn dispatch(&self, mut request: Request) -> poem::Result<Response> {
        request_coding::decode_body(&mut request);
        if let Some((prefix, endpoint)) = &self.below
            && api::is_below(request.uri().path(), prefix)
        {
            return endpoint.as_ref().call(request).await;
        }
        let mounted_endpoint = self.mounted.iter().find(|(path, _)| **path == *request.uri().path());
        match (mounted_endpoint, &self.routes) {
            (Some((path, mounted_endpoint)), _) => {
                request_id::set_route(&request, Arc::clone(path));
                mounted_endpoint.call(request).await
            }
            (None, Some(routes)) => {
                routes.as_ref().call(request).await.map_err(|error| self.name_docs(error))
            }
            (None, None) => Err(self.unknown_path()),
        }
    }
}
