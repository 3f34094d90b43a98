//! In-process calls of the routes, for layers above this one. A call runs the same endpoint as an HTTP
//! request, so the same authentication, validation, rate limits, and JSON apply.

use std::sync::Arc;

use bytes::Bytes;
use poem::{
    Endpoint, Request, Response,
    endpoint::BoxEndpoint,
    http::{HeaderValue, header},
};

use super::{
    capacity::Slot, error_layer, key_headers, limits::RequestLimits, request_id::RequestId,
    resources::RequestResources, response_body,
};
use crate::{
    domain::teams::Team,
    error::{Error, Result},
    market::{Market, Requester},
    operations::access::AuthenticatedTeam,
};

/// The routes of both APIs, callable in process.
#[derive(Clone)]
pub struct InProcessRoutes(Arc<BoxEndpoint<'static, Response>>);

/// The caller of an in-process request: a valid API key, and the request ID and rate limits of the request
/// that carried it.
#[derive(Clone, Debug)]
pub struct Caller {
    authenticated: AuthenticatedTeam,
    credentials: HeaderValue,
    request_id: RequestId,
    request_limits: Option<RequestLimits>,
}

/// The response to an in-process call.
#[derive(Clone, Debug)]
pub struct InProcessResponse {
    /// HTTP status code.
    pub status: u16,
    /// Seconds to wait before a retry, from `Retry-After`; none if the response has no such header.
    pub retry_after: Option<u64>,
    /// The JSON body; empty if the response has none.
    pub bytes: Bytes,
}

impl Caller {
    /// Authenticates the API key of an HTTP request, and takes over the request's ID and rate limits.
    pub async fn from_request(market: &Market, request: &Request) -> Result<Caller> {
        let key = key_headers::api_key(request.headers())?;
        let requester = RequestLimits::client_requester(request, market.settings());
        let mut caller = Caller::authenticate(market, requester, key).await?;
        RequestResources::set_team(request, caller.team().row_id);
        Slot::assign_to_team(request, caller.team().row_id).await?;
        caller.request_id = RequestId::from_request(request);
        caller.request_limits = request.data::<RequestLimits>().cloned();
        Ok(caller)
    }

    /// Authenticates an API key that did not come over HTTP. The caller gets a new request ID and no rate
    /// limits.
    pub async fn from_key(market: &Market, key: &str) -> Result<Caller> {
        Caller::authenticate(market, Requester::process(), key).await
    }

    async fn authenticate(market: &Market, requester: Requester, key: &str) -> Result<Caller> {
        let authenticated = AuthenticatedTeam::authenticate(market, requester, key).await?;
        let mut credentials = HeaderValue::from_str(&format!("Bearer {key}")).map_err(Error::internal)?;
        credentials.set_sensitive(true);
        Ok(Caller { authenticated, credentials, request_id: RequestId::generate(), request_limits: None })
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
}

impl InProcessRoutes {
    pub(super) fn new(routes: BoxEndpoint<'static, Response>) -> InProcessRoutes {
        InProcessRoutes(Arc::new(routes))
    }

    pub(super) async fn call(&self, request: Request) -> poem::Result<Response> {
        self.0.call(request).await
    }

    /// Performs a GET of `path`, which may include a query string.
    pub async fn get(&self, caller: &Caller, path: &str) -> Result<InProcessResponse> {
        let uri = path.parse().map_err(Error::internal)?;
        let request = Request::builder().uri(uri).header(header::AUTHORIZATION, caller.credentials.clone());
        let mut request = request.finish();
        request.set_data(caller.request_id.clone());
        if let Some(request_limits) = &caller.request_limits {
            request.set_data(request_limits.clone());
        }
        let mut response = error_layer::layer(Arc::clone(&self.0), request).await.map_err(Error::internal)?;
        let retry_after = response.header(header::RETRY_AFTER).and_then(|seconds| seconds.parse().ok());
        let status = response.status().as_u16();
        let bytes = response_body::take_in_memory(&mut response).await.unwrap_or_default();
        Ok(InProcessResponse { status, retry_after, bytes })
    }
}
