//! The TLS handshake of a connection. The connection already has its place in the table, and can be closed to make
//! room, like any other on which no request is running.

use std::{net::SocketAddr, sync::Arc};

use tokio::{net::TcpStream, sync::watch, time::timeout};
use tokio_rustls::{TlsAcceptor, server::TlsStream};

use super::{
    exchange::Exchange,
    head_errors,
    http::{self, ConnectionLimits},
    rated_socket::RatedSocket,
    table::Connection,
};
use crate::tls::Certificates;

/// Returns the stream after the handshake; `None` if the handshake fails. A client that sends HTTP without TLS gets an
/// error response.
pub async fn accept(
    certificates: &Arc<Certificates>,
    socket: TcpStream,
    limits: &ConnectionLimits,
    connection: &Arc<Connection>,
    remote: SocketAddr,
    mut stopping: watch::Receiver<()>,
) -> Option<TlsStream<RatedSocket<TcpStream>>> {
    let shaken = async {
        if is_without_tls(&socket).await {
            let exchange = Exchange::new(Arc::clone(connection), remote.ip(), limits.refusals());
            let response = head_errors::without_tls_response(&exchange);
            http::respond_and_end(socket, &response).await;
            return None;
        }
        let acceptor = TlsAcceptor::from(Certificates::newest(certificates).await);
        match acceptor.accept(limits.limit_rate(socket)).await {
            Ok(stream) => Some(stream),
            Err(error) => {
                tracing::debug!(%remote, %error, "TLS handshake failed");
                None
            }
        }
    };
    tokio::select! {
        shaken = timeout(limits.handshake_time(), shaken) => shaken.unwrap_or_else(|_| {
            tracing::debug!(%remote, "TLS handshake took too long");
            None
        }),
        () = connection.evicted() => None,
        _ = stopping.changed() => None,
    }
}

/// Whether the data of a client begins like an HTTP request. A TLS record does not begin with a letter.
async fn is_without_tls(socket: &TcpStream) -> bool {
    let mut first = [0];
    matches!(socket.peek(&mut first).await, Ok(1)) && first[0].is_ascii_alphabetic()
}
