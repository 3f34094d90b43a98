//! The server of a replica: it answers reads from its copy, and forwards other requests.

use std::{
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use poem::{Endpoint, Request, Response};
use tokio::{sync::Notify, task::JoinHandle, time::timeout};

use super::{forwarding::Forwarder, reporting, served_copy::ServedCopy, shared::Shared, supervision};
use crate::{
    config::Settings,
    error::{Error, Result},
    http_server::tls::Certificates,
    mcp::App,
    web::{
        monitoring::{self, MonitoringEndpoint},
        positions::StatedPosition,
        request_kinds,
        shares::held_requests::ServerStop,
    },
};

/// Maximum time that a request waits until the copy contains the writes of its client.
const POSITION_TIMEOUT: Duration = Duration::from_secs(1);

/// The endpoint of a replica.
pub struct ReplicaEndpoint {
    shared: Arc<Shared>,
    forwarder: Arc<Forwarder>,
}

/// The metrics and the state of a replica, for an address of their own.
#[derive(Clone)]
pub struct ReplicaMonitoringEndpoint(Arc<Shared>);

impl ReplicaMonitoringEndpoint {
    /// Tries to read the copy. This proves progress even without a complete copy.
    pub fn try_to_read(&self) {
        if let Some(copy) = self.0.current() {
            let _ = copy.market.latest_change();
        }
    }

    /// Records that the server is stopping.
    pub fn begin_draining(&self) {
        self.0.begin_draining();
    }
}

impl Endpoint for ReplicaMonitoringEndpoint {
    type Output = Response;

    async fn call(&self, request: Request) -> poem::Result<Response> {
        match self.0.current() {
            Some(copy) => MonitoringEndpoint(Arc::clone(&copy.monitor)).call(request).await,
            None => Ok(monitoring::respond_without_market(&request)),
        }
    }
}

/// A replica that is being kept current. Dropping it ends Litestream.
pub struct ReplicaServer {
    reporting: JoinHandle<()>,
    stop_reporting: Arc<Notify>,
    is_stopping: Arc<AtomicBool>,
    supervision: Option<thread::JoinHandle<()>>,
}

/// Starts to restore a copy below a directory, and returns its server. Until the copy is there, reads are forwarded. Must be called
/// in a runtime.
pub fn serve(
    settings: &Settings,
    app: App,
    certificates: Option<Arc<Certificates>>,
    (base_url, program): (&str, PathBuf),
) -> Result<(ReplicaServer, ReplicaEndpoint)> {
    let shared = Arc::new(Shared::new(settings, app, certificates, (base_url, program))?);
    let forwarder = Arc::new(Forwarder::new(settings)?);
    let endpoint = ReplicaEndpoint { shared: Arc::clone(&shared), forwarder: Arc::clone(&forwarder) };
    let stop_reporting = Arc::new(Notify::new());
    let reporting = reporting::run(Arc::clone(&shared), forwarder, Arc::clone(&stop_reporting));
    let reporting = tokio::spawn(reporting);
    let is_stopping = Arc::new(AtomicBool::default());
    let stopping = Arc::clone(&is_stopping);
    let supervision = thread::Builder::new()
        .name("replica".to_owned())
        .spawn(move || supervision::run(&shared, &stopping))
        .map_err(Error::internal)?;
    let supervision = Some(supervision);
    Ok((ReplicaServer { reporting, stop_reporting, is_stopping, supervision }, endpoint))
}

impl ReplicaServer {
    /// Reports to the primary what was not reported yet, and ends Litestream.
    pub async fn end(mut self) {
        self.stop_reporting.notify_one();
        let _ = (&mut self.reporting).await;
        // Ending Litestream takes a moment.
        let _ = tokio::task::spawn_blocking(move || drop(self)).await;
    }
}

impl Drop for ReplicaServer {
    fn drop(&mut self) {
        self.is_stopping.store(true, Ordering::SeqCst);
        if let Some(thread) = self.supervision.take() {
            let _ = thread.join();
        }
    }
}

impl ReplicaEndpoint {
    /// Returns the metrics and the state of the replica.
    pub fn monitoring(&self) -> ReplicaMonitoringEndpoint {
        ReplicaMonitoringEndpoint(Arc::clone(&self.shared))
    }

    /// Returns the copy that answers a request; `None` if the primary has to.
    async fn choose(&self, request: &Request) -> Option<Arc<ServedCopy>> {
        let copy = self.shared.current()?;
        if monitoring::is_monitoring_path(request.uri().path()) {
            return Some(copy);
        }
        if !request_kinds::only_reads(request) || self.shared.state.is_outdated() {
            return None;
        }
        if self.shared.is_stale() && !self.shared.state.is_primary_away() {
            return None;
        }
        let position = match copy.positions.find(request.headers()) {
            StatedPosition::None => return Some(copy),
            StatedPosition::At(position) => position,
            StatedPosition::Unreadable => return None,
        };
        timeout(POSITION_TIMEOUT, copy.wait_for(position)).await.is_ok().then_some(copy)
    }
}

impl Endpoint for ReplicaEndpoint {
    type Output = Response;

    async fn call(&self, mut request: Request) -> poem::Result<Response> {
        match self.choose(&request).await {
            Some(copy) => {
                if let Some(stop) = ServerStop::of_request(&request) {
                    request.set_data(stop.or_end_of_market(copy.end.subscribe()));
                }
                copy.endpoint.call(request).await
            }
            None if monitoring::is_monitoring_path(request.uri().path()) => {
                Ok(monitoring::respond_without_market(&request))
            }
            None => Ok(self.forwarder.forward(request, &self.shared.state).await),
        }
    }
}
