//! TCP connections: limits on their number, on the size and arrival time of request heads, on the rest of
//! bodies that no response needed, and on the rate at which a client reads responses.
//!
//! The framework's own server is not used: it has no timeout for request headers, and it spins when the
//! process runs out of file descriptors.

mod cut;
mod exchange;
mod framing;
mod handshake;
mod head_errors;
mod http;
mod rated_socket;
mod request_body;
mod socket;
mod table;
mod write_rate;

use std::{io, net::SocketAddr, sync::Arc, time::Duration};

use poem::{Endpoint, Response};
use rustix::process::{Resource, getrlimit};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore, watch},
};

pub use self::cut::Cut;
use self::{
    http::{ConnectionLimits, Ends},
    table::{ConnectionTable, TableLimits},
};
use crate::{ConnectionSettings, Refusals, tls::Certificates, trusted_proxies::TrustedProxies};

/// Delay before the next `accept` after one has failed.
const ACCEPT_RETRY_DELAY: Duration = Duration::from_millis(50);

/// Maximum number of connections beyond `server.max_connections`, which are being closed in favor of new
/// ones.
const MAX_CLOSING: usize = 64;

/// Status of a server while it runs.
#[derive(Debug, Default)]
pub struct Signals {
    /// The number of connections. Receivers are notified when the first one is opened, and when the last one has ended.
    pub connected: watch::Sender<usize>,
    /// Whether the server is stopping, so that requests which wait for something should end.
    pub stopping: watch::Sender<bool>,
}

/// Where a server accepts connections, and whether they have TLS.
#[derive(Debug)]
pub struct Listener {
    socket: std::net::TcpListener,
    certificates: Option<Arc<Certificates>>,
    proxies: TrustedProxies,
}

impl Listener {
    /// Accepts connections with TLS.
    pub fn with_tls(socket: std::net::TcpListener, certificates: Arc<Certificates>) -> Listener {
        Listener { socket, certificates: Some(certificates), proxies: TrustedProxies::default() }
    }

    /// Exempts these proxies from the limits of one address, since their connections are those of many clients.
    #[must_use]
    pub fn behind(self, proxies: TrustedProxies) -> Listener {
        Listener { proxies, ..self }
    }
}

/// Accepts connections without TLS.
impl From<std::net::TcpListener> for Listener {
    fn from(socket: std::net::TcpListener) -> Listener {
        Listener { socket, certificates: None, proxies: TrustedProxies::default() }
    }
}

/// Serves connections until `stop` resolves, then lets running requests finish for up to `drain_seconds`.
pub async fn serve(
    app: impl Endpoint<Output = Response> + 'static,
    listener: impl Into<Listener>,
    settings: &ConnectionSettings,
    refusals: Refusals,
    signals: Signals,
    stop: impl Future<Output = ()>,
) -> io::Result<()> {
    let (settings, closing) = within_descriptors(settings, getrlimit(Resource::Nofile).current);
    let settings = &settings;
    let connected = Arc::new(signals.connected);
    let app = Arc::new(app);
    let limits = Arc::new(ConnectionLimits::new(settings, refusals));
    let drain = Duration::from_secs(settings.drain_seconds);
    let Listener { socket: listener, certificates, proxies } = listener.into();
    let listener = TcpListener::from_std(listener)?;
    let local = listener.local_addr()?;
    let permits = Arc::new(Semaphore::new(settings.max_connections as usize + closing));
    let table = ConnectionTable::new(TableLimits::new(settings), proxies);
    let (stopping, stopped) = watch::channel(());
    let mut stop = std::pin::pin!(stop);
    loop {
        let (permit, socket, remote, admitted) = tokio::select! {
            () = &mut stop => break,
            admitted = accept(&listener, &permits, &table) => admitted,
        };
        let Some(open) = admitted else {
            tracing::debug!(%remote, "connection rejected: too many requests in progress");
            continue;
        };
        let (app, limits, stopped) = (Arc::clone(&app), Arc::clone(&limits), stopped.clone());
        let certificates = certificates.clone();
        let counted = CountedConnection::new(&connected);
        tokio::spawn(async move {
            let (_permit, _counted) = (permit, counted);
            let ends = Ends { local, remote, is_tls: certificates.is_some() };
            let connection = open.connection();
            let served = match certificates {
                None => {
                    let socket = limits.limit_rate(socket);
                    http::serve_connection(app, socket, &limits, ends, connection, stopped).await
                }
                // Boxed, since its state is larger than that of connections without TLS.
                Some(certificates) => {
                    let shaken = handshake::accept(
                        &certificates,
                        socket,
                        &limits,
                        connection,
                        remote,
                        stopped.clone(),
                    );
                    match Box::pin(shaken).await {
                        Some(stream) => {
                            Box::pin(http::serve_connection(app, stream, &limits, ends, connection, stopped))
                                .await
                        }
                        None => Ok(()),
                    }
                }
            };
            if let Err(error) = served {
                tracing::debug!(%remote, %error, "connection ended early");
            }
        });
    }
    drop((listener, stopped));
    signals.stopping.send_replace(true);
    let _ = stopping.send(());
    // Every connection holds a receiver until it ends.
    if tokio::time::timeout(drain, stopping.closed()).await.is_err() {
        tracing::warn!("drain period ended with requests still running");
    }
    Ok(())
}

/// A connection that is open, in the number of connections.
struct CountedConnection(Arc<watch::Sender<usize>>);

impl CountedConnection {
    fn new(connected: &Arc<watch::Sender<usize>>) -> CountedConnection {
        connected.send_if_modified(|count| {
            *count += 1;
            *count == 1
        });
        CountedConnection(Arc::clone(connected))
    }
}

impl Drop for CountedConnection {
    fn drop(&mut self) {
        self.0.send_if_modified(|count| {
            *count -= 1;
            *count == 0
        });
    }
}

/// A connection that was accepted. Without a place in the table, it must be closed.
type Accepted = (OwnedSemaphorePermit, TcpStream, SocketAddr, Option<table::OpenConnection>);

/// Accepts the next connection, and finds a place for it in the table.
async fn accept(listener: &TcpListener, permits: &Arc<Semaphore>, table: &Arc<ConnectionTable>) -> Accepted {
    let permit = Arc::clone(permits).acquire_owned().await.expect("the semaphore is never closed");
    loop {
        match listener.accept().await {
            Ok((socket, remote)) => {
                // Responses are written in one piece, so Nagle's algorithm would only delay them.
                let _ = socket.set_nodelay(true);
                let admitted = table.admit(remote.ip()).await;
                return (permit, socket, remote, admitted);
            }
            Err(cause) if is_client_error(&cause) => {}
            Err(cause) => {
                tracing::warn!(%cause, "connection not accepted");
                // The process may have no file descriptor left.
                table.evict_one();
                tokio::time::sleep(ACCEPT_RETRY_DELAY).await;
            }
        }
    }
}

/// Limits the connections, and those that are being closed, to half of the files that the process may have open. The other half
/// is for the database, the search index, bodies, and child processes. Also returns the number of connections that are being
/// closed.
fn within_descriptors(
    settings: &ConnectionSettings,
    descriptors: Option<u64>,
) -> (ConnectionSettings, usize) {
    let half = descriptors.and_then(|limit| usize::try_from(limit / 2).ok()).unwrap_or(usize::MAX);
    let closing = MAX_CLOSING.min(half / 4);
    let most = u32::try_from(half - closing).unwrap_or(u32::MAX).max(1);
    if settings.max_connections > most {
        tracing::warn!(
            descriptors,
            max_connections = most,
            "fewer connections than server.max_connections are open at a time, since the process may have too few files open"
        );
    }
    (ConnectionSettings { max_connections: settings.max_connections.min(most), ..*settings }, closing)
}

/// Whether `accept` failed because the client has already closed the connection.
fn is_client_error(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset, Interrupted};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset | Interrupted)
}

#[cfg(test)]
mod tests;
