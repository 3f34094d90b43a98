//! Serves an endpoint over HTTP. Requests that are refused before the endpoint get the same kind of answer as all other errors.

use poem::{
    Endpoint, EndpointExt, Response,
    http::{HeaderMap, StatusCode},
};
use std::{
    io,
    net::{IpAddr, TcpListener},
};
use tokio::{sync::watch, task::JoinHandle};

use crate::{
    clock::Clock,
    config::ServerSettings,
    error::Error,
    http_server::{
        Refusal, Refusals,
        connections::{self, Listener, Signals},
    },
    web::{
        problem,
        request_id::{self, RequestId, refuse},
        shares::held_requests::ServerStop,
    },
};

const REFUSALS: Refusals = Refusals {
    to_request: |request, refusal| Box::pin(refuse(request, refusal.into())),
    to_head: respond_to_head,
};

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Error {
        match refusal {
            Refusal::Malformed(message) => Error::Malformed(message),
            Refusal::TooSlow(message) => Error::RequestTimeout(message),
            Refusal::UnsupportedCoding(codings) => Error::UnsupportedCoding(codings),
        }
    }
}

/// Serves requests until `stop` resolves, then lets running requests finish for up to `server.drain_seconds`.
/// `connected` is set to the number of connections; its receivers are notified when the first one is opened, and when the
/// last one has ended.
pub async fn serve(
    app: impl Endpoint<Output = Response> + 'static,
    listener: impl Into<Listener>,
    settings: &ServerSettings,
    connected: watch::Sender<usize>,
    stop: impl Future<Output = ()>,
) -> io::Result<()> {
    let signals = Signals { connected, ..Signals::default() };
    let app = app.data(ServerStop::new(signals.stopping.subscribe())).around(request_id::complete);
    let listener = listener.into().behind(settings.trusted_proxies.clone());
    connections::serve(app, listener, &settings.connections(), REFUSALS, signals, stop).await
}

/// Maximum number of connections at an address besides that of the server, such as that of the metrics.
const MAX_SIDE_CONNECTIONS: u32 = 64;

/// Serves an endpoint at an address of its own, for a few clients, until the task is aborted. `what` names it if that fails.
pub fn spawn(
    app: impl Endpoint<Output = Response> + 'static,
    socket: TcpListener,
    settings: &ServerSettings,
    what: &'static str,
) -> JoinHandle<()> {
    let max_connections = settings.max_connections.min(MAX_SIDE_CONNECTIONS);
    let settings = ServerSettings { max_connections, ..settings.clone() };
    tokio::spawn(async move {
        let served = serve(app, socket, &settings, watch::Sender::default(), std::future::pending()).await;
        if let Err(cause) = served {
            tracing::error!(%cause, what, "an address is no longer served");
        }
    })
}

fn respond_to_head(status: StatusCode, refusal: Refusal, client: IpAddr) -> (HeaderMap, Vec<u8>) {
    let id = RequestId::generate(&Clock::System);
    tracing::info!(request_id = id.as_str(), status = status.as_u16(), %client, "request head rejected");
    let error = Error::from(refusal);
    let mut response = problem::error_response(&error, id.as_str());
    response.headers_mut().insert(request_id::HEADER, id.header_value());
    (response.headers().clone(), problem::error_body(&error, id.as_str()))
}
