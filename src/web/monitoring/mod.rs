//! Monitoring of a server: whether it is alive and ready (`/healthz`, `/readyz`), and its metrics (`/metrics`).
//!
//! The first two are for everybody. No limit applies to them, since a busy server must not look like a dead one. They name only
//! conditions. Metrics name operations, limits, and kinds of work, never a team, a world, or a path.

mod classic_text;
mod families;
mod metrics;
mod process;
pub mod readiness;
mod replica_state;

use std::sync::{
    Arc, OnceLock,
    atomic::{AtomicBool, Ordering},
};

use poem::{
    Endpoint, EndpointExt, Request, Response,
    endpoint::BoxEndpoint,
    http::{HeaderMap, Method, StatusCode, header},
};
use serde::Serialize;

use crate::{
    clock::Clock,
    domain::time::Timestamp,
    error::{Error, Result},
    http_server::tls::Certificates,
    operations::access::Operator,
    string_enum::string_enum,
    web::{
        auth::{self, Policy},
        problem::ApiError,
        request_counts::METRICS_PATH,
        request_id,
        served_market::ServedMarket,
        shares::server_limits::ServerLimits,
    },
};
pub use replica_state::{ReplicaState, ReplicationState};

use readiness::{Condition, Readiness};

/// Path that says whether the server is alive.
pub const ALIVE_PATH: &str = "/healthz";

/// Path that says whether the server can do its work.
pub const READY_PATH: &str = "/readyz";

/// Content type of metrics, unless a client prefers another one.
const OPENMETRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Watches the server of a market.
pub struct Monitor {
    served: Arc<ServedMarket>,
    limits: ServerLimits,
    readiness: Readiness,
    is_draining: AtomicBool,
    certificates: OnceLock<Arc<Certificates>>,
    /// The state of the replica, if the server is one.
    replica: OnceLock<Arc<ReplicaState>>,
    /// The state of the replication, if the server is a primary.
    replication: OnceLock<Arc<ReplicationState>>,
    started_at: Timestamp,
    /// Only one scrape reads the database at a time.
    scraping: tokio::sync::Mutex<()>,
}

/// The answer about the state of a server.
#[derive(Debug, Serialize)]
struct State {
    status: &'static str,
    failed: Vec<Condition>,
    /// Conditions that need attention, although the server can do its work. Left out if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<Note>,
}

string_enum! {
    /// Something that needs attention, although the server can do its work.
    Note {
        /// The files of the certificate have changed, and cannot be used.
        CertificateNotReplaced = "certificate_not_replaced",
        /// Many callers share the limits of one address.
        CallersShareAddress = "callers_share_address",
        /// The primary of the replica cannot be reached, so nothing can be changed here.
        PrimaryAway = "primary_away",
        /// The copy of the replica is not kept current, or is more than 40 seconds behind the primary.
        CopyNotCurrent = "copy_not_current",
        /// Litestream does not run, so what is changed now is not replicated.
        NotReplicated = "not_replicated",
    }
}

impl Monitor {
    /// Creates the monitor of a server with these limits.
    pub fn new(served: Arc<ServedMarket>, limits: ServerLimits) -> Monitor {
        Monitor {
            readiness: Readiness::new(served.market()),
            served,
            limits,
            is_draining: AtomicBool::new(false),
            certificates: OnceLock::new(),
            replica: OnceLock::new(),
            replication: OnceLock::new(),
            started_at: Clock::System.now(),
            scraping: tokio::sync::Mutex::default(),
        }
    }

    /// Records that the server is stopping: it finishes the requests in progress, and should get no others.
    pub fn begin_draining(&self) {
        self.is_draining.store(true, Ordering::Relaxed);
    }

    /// Adds a note if the certificate of the server is not the one in its files.
    pub fn watch_certificates(&self, certificates: Arc<Certificates>) {
        let _ = self.certificates.set(certificates);
    }

    /// Also reports the state of a replica.
    pub fn watch_replica(&self, state: Arc<ReplicaState>) {
        let _ = self.replica.set(state);
    }

    /// Also reports the state of the replication of a primary.
    pub fn watch_replication(&self, state: Arc<ReplicationState>) {
        let _ = self.replication.set(state);
    }

    /// Returns what needs attention.
    fn find_notes(&self) -> Vec<Note> {
        let mut notes = Vec::new();
        if self.certificates.get().is_some_and(|certificates| certificates.failure().is_some()) {
            notes.push(Note::CertificateNotReplaced);
        }
        if self.limits.counts.shared_addresses.is_found() {
            notes.push(Note::CallersShareAddress);
        }
        if let Some(replica) = self.replica.get() {
            notes.extend(replica.is_primary_away().then_some(Note::PrimaryAway));
            notes.extend((!replica.is_current()).then_some(Note::CopyNotCurrent));
        }
        if self.replication.get().is_some_and(|replication| !replication.is_running()) {
            notes.push(Note::NotReplicated);
        }
        notes
    }

    /// Returns the conditions of being ready that are not met.
    async fn find_failed(&self) -> Vec<Condition> {
        let mut failed = self.readiness.find_failed(self.served.market()).await;
        if self.is_draining.load(Ordering::Relaxed) {
            failed.push(Condition::NotDraining);
        }
        failed
    }

    /// Returns the response to a request for whether the server is alive, or, if `is_ready_path`, whether it is ready.
    async fn respond_with_state(&self, request: Request, is_ready_path: bool) -> Response {
        if !is_read(&request) {
            return refuse_method(request).await;
        }
        let failed = if is_ready_path { self.find_failed().await } else { Vec::new() };
        let notes = if is_ready_path { self.find_notes() } else { Vec::new() };
        let degrading = [Note::PrimaryAway, Note::CopyNotCurrent, Note::NotReplicated];
        let is_degraded = notes.iter().any(|note| degrading.contains(note));
        let status = if failed.is_empty() { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
        let state = State {
            status: match (is_ready_path, failed.is_empty()) {
                (false, _) => "alive",
                (true, true) if is_degraded => "degraded",
                (true, true) => "ready",
                (true, false) => "not_ready",
            },
            failed,
            notes,
        };
        let body = serde_json::to_vec(&state).unwrap_or_default();
        uncached(status).content_type("application/json").body(body)
    }

    /// Returns the metrics in the format that these headers of the request prefer.
    async fn respond_with_metrics(&self, headers: &HeaderMap) -> Result<Response> {
        let metrics = self.scrape().await?;
        let (content_type, text) = if classic_text::is_preferred(headers) {
            (classic_text::CONTENT_TYPE, classic_text::from_openmetrics(&metrics))
        } else {
            (OPENMETRICS, metrics)
        };
        Ok(uncached(StatusCode::OK).content_type(content_type).body(text))
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
            match is_ready_path(&request) {
                // Boxed, since it would enlarge the future of every request.
                Some(is_ready_path) => Ok(Box::pin(monitor.respond_with_state(request, is_ready_path)).await),
                None => inner.call(request).await,
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
        self.0.respond_with_metrics(request.headers()).await
    }
}

impl Endpoint for MetricsForOperators {
    type Output = Response;

    async fn call(&self, request: Request) -> poem::Result<Response> {
        Ok(self.respond(&request).await.map_err(ApiError)?)
    }
}

/// All paths of monitoring, without a key, for a separate address.
pub struct MonitoringEndpoint(pub Arc<Monitor>);

impl Endpoint for MonitoringEndpoint {
    type Output = Response;

    async fn call(&self, request: Request) -> poem::Result<Response> {
        if let Some(is_ready_path) = is_ready_path(&request) {
            return Ok(self.0.respond_with_state(request, is_ready_path).await);
        }
        if request.uri().path() != METRICS_PATH {
            return Ok(request_id::refuse(request, Error::UnknownPath(String::new())).await);
        }
        if !is_read(&request) {
            return Ok(refuse_method(request).await);
        }
        let metrics = self.0.respond_with_metrics(request.headers()).await;
        match metrics {
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

async fn refuse_method(request: Request) -> Response {
    request_id::refuse(request, Error::MethodNotAllowed(allowed_methods())).await
}

/// Whether a request asks if the server is ready, rather than alive; `None` if it asks for neither.
fn is_ready_path(request: &Request) -> Option<bool> {
    match request.uri().path() {
        ALIVE_PATH => Some(false),
        READY_PATH => Some(true),
        _ => None,
    }
}

/// Whether a path is one of monitoring, which each server answers itself.
pub fn is_monitoring_path(path: &str) -> bool {
    [ALIVE_PATH, READY_PATH, METRICS_PATH].contains(&path)
}

/// Returns the response about the state of a replica that has no copy of the database yet.
pub fn respond_without_market(request: &Request) -> Response {
    let (status, state, failed) = match is_ready_path(request) {
        Some(false) => (StatusCode::OK, "alive", Vec::new()),
        _ => (StatusCode::SERVICE_UNAVAILABLE, "not_ready", vec![Condition::DatabaseReadable]),
    };
    let body = serde_json::to_vec(&State { status: state, failed, notes: Vec::new() }).unwrap_or_default();
    uncached(status).content_type("application/json").body(body)
}

/// Returns the start of a response that must not be cached.
fn uncached(status: StatusCode) -> poem::ResponseBuilder {
    Response::builder().status(status).header(header::CACHE_CONTROL, "no-store")
}
