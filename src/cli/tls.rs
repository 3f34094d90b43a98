//! TLS of the server: its certificate, which is read again when its files change, and the address that redirects to the
//! server.

use std::{
    net::{SocketAddr, TcpListener},
    path::Path,
    sync::Arc,
};

use tokio::task::JoinHandle;

use super::CommandError;
use crate::{
    config::{Prepared, Settings},
    http_server::{connections::Listener, tls::Certificates},
    market::Market,
    web::{self, https_redirect::HttpsRedirect, monitoring::Monitor},
};

/// Reads the certificate that the settings name; `None` if the server has no TLS.
pub(super) fn load(settings: &Settings) -> Result<Option<Arc<Certificates>>, CommandError> {
    let tls = &settings.tls;
    if !tls.is_enabled() {
        return Ok(None);
    }
    let loaded = Certificates::load(Path::new(&tls.certificate), Path::new(&tls.key));
    // Not the fault of the command line: the files may be replaced right now, so a service tries again.
    let loaded =
        loaded.map_err(|error| CommandError::Other(format!("tls.certificate or tls.key: {error}")))?;
    Ok(Some(Arc::new(loaded)))
}

/// Makes a reload of the settings replace the certificate, and the monitor report a certificate that cannot be
/// replaced.
pub(super) fn follow(certificates: &Arc<Certificates>, market: &Market, monitor: &Monitor) {
    monitor.watch_certificates(Arc::clone(certificates));
    let certificates = Arc::clone(certificates);
    market.live_settings().register(move |_| {
        let prepared =
            certificates.prepare().map_err(|error| format!("tls.certificate or tls.key: {error}"))?;
        Ok(prepared.map(|pair| {
            let certificates = Arc::clone(&certificates);
            let apply = Box::new(move || certificates.replace(pair));
            Prepared { what: "the certificate".to_owned(), apply }
        }))
    });
}

/// Returns where the server accepts connections.
pub(super) fn listener(socket: TcpListener, certificates: Option<Arc<Certificates>>) -> Listener {
    match certificates {
        Some(certificates) => Listener::with_tls(socket, certificates),
        None => socket.into(),
    }
}

/// Redirects requests to the server with TLS that listens on this address, until the task is aborted.
pub(super) fn redirect(socket: TcpListener, settings: &Settings, address: SocketAddr) -> JoinHandle<()> {
    let endpoint = HttpsRedirect::new(settings, address);
    web::listening::spawn(endpoint, socket, &settings.server, "the redirect to TLS")
}
