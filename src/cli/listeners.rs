//! The sockets of a server, and how it has ended.

use std::{
    io,
    net::{SocketAddr, TcpListener},
    sync::Arc,
};

use tokio::task::JoinError;

use super::{CommandError, CommandResult, process::bind_listener, tls};
use crate::{config::Settings, http_server::tls::Certificates};

/// The sockets of a server, which are bound.
pub(super) struct Listeners {
    pub(super) server: TcpListener,
    /// The listener of the metrics, if they have their own address.
    pub(super) monitoring: Option<TcpListener>,
    /// The listener for requests without TLS, if they are redirected.
    pub(super) redirecting: Option<TcpListener>,
    /// The certificate, if the server has TLS of its own.
    pub(super) certificates: Option<Arc<Certificates>>,
}

impl Listeners {
    /// Binds the addresses that the settings name, and reads the certificate.
    pub(super) fn bind(settings: &Settings) -> Result<Listeners, CommandError> {
        let bind_optional = |address: Option<SocketAddr>, flag| {
            address.map(|address| bind_listener(address, flag)).transpose()
        };
        Ok(Listeners {
            server: bind_listener(settings.server.listen, "--listen")?,
            monitoring: bind_optional(settings.metrics.listen, "metrics.listen")?,
            redirecting: bind_optional(settings.tls.redirect_listen, "tls.redirect_listen")?,
            certificates: tls::load(settings)?,
        })
    }

    /// Returns the address of the server.
    pub(super) fn address(&self) -> Result<SocketAddr, CommandError> {
        local_address(&self.server)
    }
}

/// Returns the address of a socket.
pub(super) fn local_address(listener: &TcpListener) -> Result<SocketAddr, CommandError> {
    listener.local_addr().map_err(|cause| CommandError::Other(cause.to_string()))
}

/// Returns the result of the task of a server.
pub(super) fn served_result(served: Result<io::Result<()>, JoinError>) -> CommandResult {
    let stopped = |cause: &dyn std::fmt::Display| CommandError::Other(format!("the server stopped: {cause}"));
    served.map_err(|panic| stopped(&panic))?.map_err(|cause| stopped(&cause))
}
