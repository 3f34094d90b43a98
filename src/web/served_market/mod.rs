//! A market, with what serving it needs beyond the market itself.

pub mod first_page_cache;

use std::sync::{Arc, OnceLock};

use poem::{FromRequest, Request, RequestBody};

use crate::{
    error::{Error, Result},
    market::Market,
    web::{
        limits::sign_ins::SignInLimits,
        link_base::LinkBase,
        problem::ApiError,
        served_market::first_page_cache::FirstPageCache,
        shares::{held_requests::HeldRequests, in_flight::InFlight},
        world_host::SandboxHost,
    },
};

/// A market that is served, with the rule for its links and the state that is kept between requests. All handlers
/// get it.
pub struct ServedMarket {
    market: Market,
    link_base: LinkBase,
    /// Whether something serves bundles at the base URL.
    serves_bundles: bool,
    first_pages: FirstPageCache,
    in_flight: InFlight,
    held_requests: HeldRequests,
    sign_ins: SignInLimits,
    /// The worlds of the server; none without a sandbox, and in the market of a world.
    sandbox: OnceLock<Arc<SandboxHost>>,
}

impl ServedMarket {
    /// Creates the state for a market. `base_url` is what [`crate::web::link_base::base_url`] returns for the server.
    pub fn new(market: Market, base_url: &str, held_requests: HeldRequests) -> ServedMarket {
        ServedMarket {
            link_base: LinkBase::new(market.settings(), base_url),
            held_requests,
            market,
            serves_bundles: true,
            first_pages: FirstPageCache::default(),
            in_flight: InFlight::default(),
            sign_ins: SignInLimits::new(),
            sandbox: OnceLock::new(),
        }
    }

    /// Sets the worlds of the server.
    pub fn set_sandbox(&self, sandbox: Arc<SandboxHost>) {
        let _ = self.sandbox.set(sandbox);
    }

    /// Returns the worlds of the server, if it has a sandbox.
    pub fn sandbox(&self) -> Option<&Arc<SandboxHost>> {
        self.sandbox.get()
    }

    /// Returns the worlds of the server, for routes that only a server with a sandbox has.
    pub fn require_sandbox(&self) -> Result<Arc<SandboxHost>> {
        self.sandbox().cloned().ok_or_else(|| Error::UnknownPath(String::new()))
    }

    /// Creates the state for a market that has no server. Its responses contain no links to bundles.
    pub fn without_server(market: Market, base_url: &str) -> ServedMarket {
        let held_requests = HeldRequests::without_server(&market);
        ServedMarket { serves_bundles: false, ..ServedMarket::new(market, base_url, held_requests) }
    }

    /// Whether responses contain links to bundles.
    pub const fn serves_bundles(&self) -> bool {
        self.serves_bundles
    }

    /// Returns the market of a request, which [`crate::rest::server::ServerBuilder`] adds to every request.
    pub fn from_request(request: &Request) -> Result<&ServedMarket> {
        let served = request.data::<Arc<ServedMarket>>().map(Arc::as_ref);
        served.ok_or_else(|| Error::internal("no market in the request"))
    }

    /// Like [`ServedMarket::from_request`], as a shared value.
    pub fn shared(request: &Request) -> Result<Arc<ServedMarket>> {
        request
            .data::<Arc<ServedMarket>>()
            .cloned()
            .ok_or_else(|| Error::internal("no market in the request"))
    }

    /// Returns the market that the handlers operate on.
    pub const fn market(&self) -> &Market {
        &self.market
    }

    /// Returns the base URL of the addresses that the server stores, without a trailing slash. It does not
    /// depend on the request.
    pub fn base_url(&self) -> &str {
        self.link_base.base_url()
    }

    /// Returns the rule for links in responses.
    pub const fn link_base(&self) -> &LinkBase {
        &self.link_base
    }

    /// Returns the cache of unfiltered first pages of the catalog.
    pub const fn first_pages(&self) -> &FirstPageCache {
        &self.first_pages
    }

    /// Returns the requests with an idempotency key that are in progress.
    pub const fn in_flight(&self) -> &InFlight {
        &self.in_flight
    }

    /// Returns the failures to sign in.
    pub const fn sign_ins(&self) -> &SignInLimits {
        &self.sign_ins
    }

    /// Returns the places of requests that are held open.
    pub const fn held_requests(&self) -> &HeldRequests {
        &self.held_requests
    }
}

/// The base URL of links in the response to a request, without a trailing slash.
pub struct LinkBaseUrl(pub String);

impl<'a> FromRequest<'a> for LinkBaseUrl {
    async fn from_request(request: &'a Request, _: &mut RequestBody) -> poem::Result<Self> {
        let served = ServedMarket::from_request(request).map_err(ApiError)?;
        Ok(LinkBaseUrl(served.link_base().for_request(request)))
    }
}
