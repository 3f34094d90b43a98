//! In-process calls of the routes, for layers above this one. A call runs the same endpoint as an HTTP
//! request, so the same authentication, validation, rate limits, and JSON apply.

use std::{fmt, sync::Arc};

use bytes::Bytes;
use poem::{Request, Response, endpoint::BoxEndpoint, http::header};

use crate::{
    domain::{teams::Team, time::Timestamp},
    error::{Error, Result},
    http_server::response_body,
    market::{CostMeter, CostTimes, Market, Requester, WorkOwner},
    operations::access::{Authenticated, AuthenticatedTeam},
    web::{
        error_layer, key_headers,
        limits::RequestLimits,
        request_id::{self, RequestId},
        served_market::ServedMarket,
        shares,
        shares::transfer_limits::{self, MemoryUse, RequestTransfers},
    },
};

/// Prefix of the routes that only agents call, which exist in process only.
pub const AGENT_PREFIX: &str = "/agents/v1";

/// Size in bytes from which the memory of a response is counted.
const MIN_COUNTED_BYTES: usize = 64 * 1024;

/// Size in bytes of a large response. The number of large responses that are processed at the same time is limited.
const MIN_LARGE_BYTES: usize = 1 << 20;

/// The routes of all APIs for one market, and those that only agents call, callable in process.
#[derive(Clone)]
pub struct InProcessRoutes {
    routes: Arc<BoxEndpoint<'static, Response>>,
    agent_routes: Arc<BoxEndpoint<'static, Response>>,
    served: Arc<ServedMarket>,
}

/// The caller of an in-process request: the team of a valid API key, and the request ID, rate limits, and
/// resources of the request that carried it.
#[derive(Clone, Debug)]
pub struct Caller {
    authenticated: AuthenticatedTeam,
    request_id: RequestId,
    request_limits: Option<RequestLimits>,
    transfers: Option<RequestTransfers>,
}

/// The proof of an in-process request, which replaces a key. Only this module can create it, so no HTTP request
/// has one.
#[derive(Clone, Debug)]
pub struct InProcessProof(Authenticated);

impl InProcessProof {
    /// Creates the proof of a command on the data directory.
    pub const fn of_local_command(authenticated: Authenticated) -> InProcessProof {
        InProcessProof(authenticated)
    }

    /// Returns the proof of an in-process request; none for a request over HTTP.
    pub fn of_request(request: &Request) -> Option<Authenticated> {
        request.data::<InProcessProof>().map(|proof| proof.0.clone())
    }
}

/// The response to an in-process call.
#[derive(Debug)]
pub struct InProcessResponse {
    /// HTTP status code.
    pub status: u16,
    /// Seconds to wait before a retry, from `Retry-After`; none if the response has no such header.
    pub retry_after: Option<u64>,
    /// The JSON body; empty if the response has none.
    pub bytes: Bytes,
    _use: ResponseUse,
}

/// The permits that a response holds until its processing ends: memory, and for a large one the permission to
/// process it. So one team's calls cannot fill the memory with lists.
#[derive(Debug, Default)]
struct ResponseUse {
    _memory: Option<MemoryUse>,
    _work: Option<Box<dyn fmt::Debug + Send + Sync>>,
}

impl ResponseUse {
    /// Counts a response with this number of bytes. Fails if its team or all requests together have too much
    /// in memory.
    async fn count(transfers: Option<&RequestTransfers>, bytes: usize) -> Result<ResponseUse> {
        let Some(transfers) = transfers.filter(|_| bytes >= MIN_COUNTED_BYTES) else {
            return Ok(ResponseUse::default());
        };
        let mut memory = transfers.memory();
        memory.grow(bytes as u64).await?;
        let work: Option<Box<dyn fmt::Debug + Send + Sync>> =
            if bytes >= MIN_LARGE_BYTES { Some(Box::new(transfers.heavy_work().await?)) } else { None };
        Ok(ResponseUse { _memory: Some(memory), _work: work })
    }
}

impl Caller {
    /// Authenticates the API key of an HTTP request, and takes over the request's ID and rate limits. Fails
    /// if it is not a key of a team, after the request was counted for its principal.
    pub async fn from_request(market: &Market, request: &Request) -> Result<Caller> {
        let key = key_headers::api_key(request.headers())?;
        let requester = RequestLimits::client_requester(request, market.settings());
        let authenticated = Authenticated::authenticate(market, requester, key).await?;
        request_id::set_caller(request, authenticated.team().cloned(), authenticated.key_id());
        shares::count_for(market, request, authenticated.principal()).await?;
        let authenticated = AuthenticatedTeam::authorize(authenticated)?;
        let mut caller = Caller::new(authenticated, RequestId::from_request(request));
        caller.request_limits = request.data::<RequestLimits>().cloned();
        caller.transfers = transfer_limits::of_request(request).cloned();
        Ok(caller)
    }

    /// Authenticates an API key that did not come over HTTP. The caller gets a new request ID and no limits.
    pub async fn from_key(market: &Market, key: &str) -> Result<Caller> {
        let requester = Requester::new(WorkOwner::Process, CostMeter::default());
        let authenticated = AuthenticatedTeam::authenticate(market, requester, key).await?;
        Ok(Caller::new(authenticated, RequestId::generate(market.clock())))
    }

    const fn new(authenticated: AuthenticatedTeam, request_id: RequestId) -> Caller {
        Caller { authenticated, request_id, request_limits: None, transfers: None }
    }

    /// Returns the team that owns the key.
    pub fn team(&self) -> &Team {
        self.authenticated.team()
    }

    /// Returns the proof that the key is valid.
    pub const fn authenticated(&self) -> &AuthenticatedTeam {
        &self.authenticated
    }

    /// Returns the request ID.
    pub fn request_id(&self) -> &str {
        self.request_id.as_str()
    }

    /// Returns the times of the request's reads and writes so far.
    pub fn times(&self) -> CostTimes {
        self.authenticated.requester().cost_meter().map(CostMeter::times).unwrap_or_default()
    }
}

impl InProcessRoutes {
    pub const fn new(
        routes: Arc<BoxEndpoint<'static, Response>>,
        agent_routes: Arc<BoxEndpoint<'static, Response>>,
        served: Arc<ServedMarket>,
    ) -> InProcessRoutes {
        InProcessRoutes { routes, agent_routes, served }
    }

    /// Whether a server listens that serves the files of the market, so that responses can have links to them.
    pub fn serves_files(&self) -> bool {
        self.served.serves_bundles()
    }

    /// Returns the time of the market.
    pub fn now(&self) -> Timestamp {
        self.served.market().clock().now()
    }

    /// Performs a GET of `path`, which may include a query string. Drop the response before the next call:
    /// until then, it holds memory, and a large one may be waited for by others.
    pub async fn get(&self, caller: &Caller, path: &str) -> Result<InProcessResponse> {
        let uri = path.parse().map_err(Error::internal)?;
        let mut request = Request::builder().uri(uri).finish();
        request.set_data(Arc::clone(&self.served));
        request.set_data(caller.request_id.clone());
        // The key was checked when the call arrived. A second check would read it on behalf of no address, as
        // one client with the agents of all teams.
        request.set_data(InProcessProof(caller.authenticated.clone().into()));
        if let Some(request_limits) = &caller.request_limits {
            request.set_data(request_limits.clone());
        }
        let is_for_agents = path.strip_prefix(AGENT_PREFIX).is_some_and(|rest| rest.starts_with('/'));
        let routes = if is_for_agents { &self.agent_routes } else { &self.routes };
        let mut response = error_layer::layer(Arc::clone(routes), request).await.map_err(Error::internal)?;
        let retry_after = response.header(header::RETRY_AFTER).and_then(|seconds| seconds.parse().ok());
        let status = response.status().as_u16();
        let bytes = response_body::take_in_memory(&mut response).await.unwrap_or_default();
        let held = ResponseUse::count(caller.transfers.as_ref(), bytes.len()).await?;
        Ok(InProcessResponse { status, retry_after, bytes, _use: held })
    }
}

#[cfg(test)]
mod tests {
    use poem::endpoint::make;

    use super::*;
    use crate::{
        clock::{Clock, Stopwatch},
        config::Settings,
        domain::teams::TeamRowId,
        error::Code,
        market::MarketId,
        web::shares::transfer_limits::TransferLimits,
    };

    /// Runs `work` with the transfers of a request of team 1.
    async fn with_transfers<F: Future<Output = ()> + Send>(
        memory_mb: u32,
        work: impl Fn(RequestTransfers) -> F + Send + Sync,
    ) {
        let mut settings = Settings::default();
        settings.limits.memory_mb = memory_mb;
        let stopwatch = Stopwatch::start(Arc::new(Clock::System));
        let endpoint = make(|request: Request| {
            RequestTransfers::set_principal(&request, MarketId(0), TeamRowId(1).into());
            let work = work(request.data::<RequestTransfers>().unwrap().clone());
            async move {
                work.await;
                Ok::<_, poem::Error>(Response::default())
            }
        });
        Arc::new(TransferLimits::new(&settings, stopwatch))
            .layer(Arc::new(endpoint), Request::default())
            .await
            .unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn responses_of_a_team_count_towards_its_memory() {
        with_transfers(4, |transfers| async move {
            let count = |bytes| ResponseUse::count(Some(&transfers), bytes);
            let first = count(600 << 10).await.unwrap();
            let error = count(600 << 10).await.unwrap_err();
            assert_eq!(error.code(), Some(Code::AtCapacity), "a quarter of 4 MB is for one team");
            count(MIN_COUNTED_BYTES - 1).await.unwrap();
            drop(first);
            count(600 << 10).await.unwrap();
        })
        .await;
    }

    #[tokio::test(start_paused = true)]
    async fn few_large_responses_are_processed_at_the_same_time() {
        with_transfers(100, |transfers| async move {
            let mut held = Vec::new();
            loop {
                let mut next = Box::pin(ResponseUse::count(Some(&transfers), MIN_LARGE_BYTES));
                match futures_util::poll!(&mut next) {
                    std::task::Poll::Ready(counted) => held.push(counted.unwrap()),
                    std::task::Poll::Pending => break,
                }
                assert!(held.len() < 10, "the memory would be enough for 25");
            }
            held.clear();
            ResponseUse::count(Some(&transfers), MIN_LARGE_BYTES).await.unwrap();
        })
        .await;
    }
}
