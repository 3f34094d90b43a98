//! What those who run a server watch: whether it is alive and ready (`/healthz`, `/readyz`), and its metrics (`/metrics`).
//!
//! The first two are for everybody, and outside of all limits, so that a busy server is not taken for a dead one. They name
//! conditions, and nothing else. Metrics name operations, limits, and kinds of work, never a team, a world, or a path.

mod families;
mod metrics;
mod process;
pub mod readiness;

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use poem::{
    Endpoint, EndpointExt, Request, Response,
    endpoint::BoxEndpoint,
    http::{Method, StatusCode, header},
};
use serde::Serialize;

use crate::{
    clock::Clock,
    domain::time::Timestamp,
    error::{Error, Result},
    operations::access::Operator,
    web::{
        auth::{self, Policy},
        problem::{self, ApiError},
        request_counts::METRICS_PATH,
        request_id::{self, RequestId},
        served_market::ServedMarket,
        shares::server_limits::ServerLimits,
    },
};
use readiness::{Condition, Readiness};

/// Path that says whether the server is alive.
pub const ALIVE_PATH: &str = "/healthz";

/// Path that says whether the server can do its work.
pub const READY_PATH: &str = "/readyz";

/// Content type of metrics.
const OPENMETRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Watches the server of a market.
pub struct Monitor {
    served: Arc<ServedMarket>,
    limits: ServerLimits,
    readiness: Readiness,
    is_draining: AtomicBool,
    started_at: Timestamp,
    /// Only one scrape reads the database at a time.
    scraping: tokio::sync::Mutex<()>,
}

/// The answer about the state of a server.
#[derive(Debug, Serialize)]
struct State {
    status: &'static str,
    failed: Vec<Condition>,
}

impl Monitor {
    /// Creates what watches a server with these limits.
    pub fn new(served: Arc<ServedMarket>, limits: ServerLimits) -> Monitor {
        Monitor {
            readiness: Readiness::new(served.market()),
            served,
            limits,
            is_draining: AtomicBool::new(false),
            started_at: Clock::System.now(),
            scraping: tokio::sync::Mutex::default(),
        }
    }

    /// Records that the server is stopping: it finishes what it has begun, and should get nothing else.
    pub fn begin_draining(&self) {
        self.is_draining.store(true, Ordering::Relaxed);
    }

    /// Returns the conditions of being ready that are not met.
    async fn find_failed(&self) -> Vec<Condition> {
        let mut failed = self.readiness.find_failed(self.served.market()).await;
        if self.is_draining.load(Ordering::Relaxed) {
            failed.push(Condition::NotDraining);
        }
        failed
    }

    /// Returns the response to a request for the state of the server; `None` to any other.
    async fn respond_with_state(&self, request: &Request) -> Option<Response> {
        let is_ready_path = match request.uri().path() {
            ALIVE_PATH => false,
            READY_PATH => true,
            _ => return None,
        };
        if !is_read(request) {
            return Some(not_allowed(request));
        }
        let failed = if is_ready_path { self.find_failed().await } else { Vec::new() };
        let status = if failed.is_empty() { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
        let state = State {
            status: match (is_ready_path, failed.is_empty()) {
                (false, _) => "alive",
                (true, true) => "ready",
                (true, false) => "not_ready",
            },
            failed,
        };
        let body = serde_json::to_vec(&state).unwrap_or_default();
        Some(uncached(status).content_type("application/json").body(body))
    }

    /// Returns the metrics.
    async fn respond_with_metrics(&self) -> Result<Response> {
        let text = self.scrape().await?;
        Ok(uncached(StatusCode::OK).content_type(OPENMETRICS).body(text))
    }
}

/// Adds the paths that say whether the server is alive and ready to its endpoint, before everything else.
pub fn with_state(
    monitor: Arc<Monitor>,
    server: BoxEndpoint<'static, Response>,
) -> BoxEndpoint<'static, Response> {
    let watched = server.around(move |inner, request: Request| {
        let monitor = Arc::clone(&monitor);
        async move {
            // Boxed, since the future of every request has room for those that are not.
            match request.uri().path() {
                ALIVE_PATH | READY_PATH => {
                    let responded = Box::pin(monitor.respond_with_state(&request)).await;
                    Ok(responded.unwrap_or_default())
                }
                _ => inner.call(request).await,
            }
        }
    });
    watched.boxed()
}

/// The metrics for keys of operators, at the address of the server.
pub struct MetricsForOperators(pub Arc<Monitor>);

impl MetricsForOperators {
    async fn respond(&self, request: &Request) -> Result<Response> {
        if !is_read(request) {
            return Err(Error::MethodNotAllowed(allowed_methods()));
        }
        let served = ServedMarket::from_request(request)?;
        let authenticated = auth::identify(served, request).await?;
        Operator::admit(served, authenticated, request).await?;
        self.0.respond_with_metrics().await
    }
}

impl Endpoint for MetricsForOperators {
    type Output = Response;

    async fn call(&self, request: Request) -> poem::Result<Response> {
        Ok(self.respond(&request).await.map_err(ApiError)?)
    }
}

/// Everything that is watched, without a key, for an address of its own.
pub struct MonitoringAddress(pub Arc<Monitor>);

impl Endpoint for MonitoringAddress {
    type Output = Response;

    async fn call(&self, request: Request) -> poem::Result<Response> {
        if let Some(response) = self.0.respond_with_state(&request).await {
            return Ok(response);
        }
        if request.uri().path() != METRICS_PATH {
            return Ok(request_id::refuse(request, Error::UnknownPath(String::new())).await);
        }
        if !is_read(&request) {
            return Ok(not_allowed(&request));
        }
        match self.0.respond_with_metrics().await {
            Ok(response) => Ok(response),
            Err(error) => Ok(request_id::refuse(request, error).await),
        }
    }
}

fn is_read(request: &Request) -> bool {
    [Method::GET, Method::HEAD].contains(request.method())
}

fn allowed_methods() -> Vec<String> {
    [Method::GET, Method::HEAD].map(|method| method.to_string()).into()
}

fn not_allowed(request: &Request) -> Response {
    let error = Error::MethodNotAllowed(allowed_methods());
    problem::error_response(&error, RequestId::from_request(request).as_str())
}

/// Returns the start of a response that nobody keeps.
fn uncached(status: StatusCode) -> poem::ResponseBuilder {
    Response::builder().status(status).header(header::CACHE_CONTROL, "no-store")
}
