//! The requests of one connection, one after the other, and its end.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use hyper::{
    body::{Body as _, Incoming},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use poem::{
    Addr, Body, Endpoint, Request, RequestParts, Response,
    http::{self, HeaderMap, HeaderValue, Version, header, uri::Scheme},
    web::{LocalAddr, RemoteAddr},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    sync::watch,
    time::timeout,
};

use super::{
    cut::{Cut, NoResponse},
    exchange::{Exchange, ResponseBody},
    head_errors::{self, NOSNIFF},
    rated_socket::{RatedSocket, Socket},
    request_body::RequestBody,
    socket::{LimitedSocket, Stream},
    table::Connection,
    write_rate::{WriteLimits, WriteRate},
};
use crate::{ConnectionSettings, Refusals, host, transfer_coding};

/// Maximum time for which a connection is read after its last response, so that a client that is still sending
/// sees the response instead of a reset (RFC 9112, 9.6).
const MAX_LINGER: Duration = Duration::from_secs(5);

/// Maximum time without data during that time.
const MAX_LINGER_PAUSE: Duration = Duration::from_secs(1);

/// Number of bytes that are read at once during that time.
const LINGER_BUFFER: usize = 8192;

/// The limits of one connection.
#[derive(Clone, Debug)]
pub struct ConnectionLimits {
    http: http1::Builder,
    write: WriteLimits,
    refusals: Refusals,
    /// Time for a TLS handshake: as much as for a request head.
    handshake: Duration,
}

impl ConnectionLimits {
    /// Takes the limits from the settings.
    pub fn new(settings: &ConnectionSettings, refusals: Refusals) -> ConnectionLimits {
        let mut http = http1::Builder::new();
        let head = Duration::from_secs(settings.header_seconds.into());
        http.timer(TokioTimer::new())
            .header_read_timeout(head)
            .max_header_size(settings.max_header_bytes as usize)
            .max_buf_size(settings.max_header_bytes as usize);
        ConnectionLimits { http, write: WriteLimits::new(settings), refusals, handshake: head }
    }

    /// Returns the socket with the limit on how slowly its client may read.
    pub fn limit_rate<S: Socket>(&self, socket: S) -> RatedSocket<S> {
        RatedSocket::new(socket, WriteRate::new(self.write))
    }

    /// Returns the time for a TLS handshake.
    pub const fn handshake_time(&self) -> Duration {
        self.handshake
    }

    /// Returns how the program responds to refused requests.
    pub const fn refusals(&self) -> Refusals {
        self.refusals
    }
}

/// The addresses of a connection's ends.
#[derive(Clone, Copy, Debug)]
pub struct Ends {
    /// The server's end.
    pub local: SocketAddr,
    /// The client's end.
    pub remote: SocketAddr,
    /// Whether the connection has TLS.
    pub is_tls: bool,
}

/// Serves the requests of a connection until either side closes it. After a message on `stopping`, only the
/// running request is completed. Fails if the client disconnects early, or sends no valid HTTP.
pub async fn serve_connection<S: Stream>(
    app: Arc<impl Endpoint<Output = Response> + 'static>,
    stream: S,
    limits: &ConnectionLimits,
    ends: Ends,
    connection: &Arc<Connection>,
    mut stopping: watch::Receiver<()>,
) -> hyper::Result<()> {
    let exchange = Arc::new(Exchange::new(Arc::clone(connection), ends.remote.ip(), limits.refusals));
    let socket = LimitedSocket::new(stream, Arc::clone(&exchange));
    let shared = Arc::clone(&exchange);
    let service = service_fn(move |request: http::Request<Incoming>| {
        shared.begin();
        let (app, exchange) = (Arc::clone(&app), Arc::clone(&shared));
        async move { respond(app.as_ref(), request, ends, exchange).await.ok_or(NoResponse) }
    });
    let mut served = limits.http.serve_connection(TokioIo::new(socket), service);
    let mut is_stopping = false;
    let result = loop {
        tokio::select! {
            // This comes first, so that an arrived request is seen before its connection is closed.
            biased;
            result = &mut served => break result,
            () = connection.evicted() => return Ok(()),
            _ = stopping.changed(), if !is_stopping => {
                is_stopping = true;
                std::pin::Pin::new(&mut served).graceful_shutdown();
            }
        }
    };
    let socket = served.into_parts().io.into_inner();
    let error_response = result.as_ref().err().and_then(|error| head_error(error, &socket, &exchange));
    if error_response.is_some() || exchange.is_closing() || exchange.is_cut() {
        exchange.end();
        let mut socket = socket.into_inner();
        let closing = async {
            if let Some(response) = error_response {
                respond_and_end(socket, &response).await;
                return;
            }
            if exchange.is_cut() {
                let _ = timeout(MAX_LINGER_PAUSE, socket.shutdown()).await;
            }
            linger(socket).await;
        };
        tokio::select! {
            () = closing => {}
            () = connection.evicted() => {}
            _ = stopping.changed(), if !is_stopping => {}
        }
    }
    result
}

/// Returns the response to a request head that was not answered.
fn head_error<S: Stream>(
    error: &hyper::Error,
    socket: &LimitedSocket<S>,
    exchange: &Exchange,
) -> Option<Vec<u8>> {
    if error.is_timeout() && socket.is_in_head() {
        return Some(head_errors::timeout_response(exchange));
    }
    // Only the beginning of HTTP/2 is rejected by the library without a response.
    let is_other_version = error.is_parse() && !exchange.is_closing() && !exchange.is_busy();
    is_other_version.then(|| head_errors::version_response(exchange))
}

/// Sends the last response of a connection, and waits until the client has it.
pub async fn respond_and_end(mut socket: impl Stream, response: &[u8]) {
    let _ = timeout(MAX_LINGER_PAUSE, socket.write_all(response)).await;
    let _ = timeout(MAX_LINGER_PAUSE, socket.shutdown()).await;
    linger(socket).await;
}

/// Reads and discards what a client sends after the last response, until it closes the connection.
async fn linger(mut socket: impl Stream) {
    let mut buffer = vec![0; LINGER_BUFFER];
    let reading =
        async { while let Ok(Ok(1..)) = timeout(MAX_LINGER_PAUSE, socket.read(&mut buffer)).await {} };
    let _ = timeout(MAX_LINGER, reading).await;
}

/// Returns the response to a request. If the request's body is not read completely until then, the rest is received, or the
/// connection is closed after the response. Returns none if the connection is to be closed instead.
async fn respond(
    app: &impl Endpoint<Output = Response>,
    request: http::Request<Incoming>,
    ends: Ends,
    exchange: Arc<Exchange>,
) -> Option<http::Response<ResponseBody>> {
    let (parts, incoming) = request.into_parts();
    let body = (!incoming.is_end_stream())
        .then(|| RequestBody::new(incoming, expects_continue(parts.version, &parts.headers)));
    let checked = host::check(parts.version, &parts.uri, &parts.headers).and_then(|()| {
        transfer_coding::check(&parts.headers).inspect_err(|_| exchange.close_after_response())
    });
    let local = LocalAddr(Addr::SocketAddr(ends.local));
    let remote = RemoteAddr(Addr::SocketAddr(ends.remote));
    let scheme = if ends.is_tls { Scheme::HTTPS } else { Scheme::HTTP };
    let request = Request::from_parts(
        RequestParts::from((parts, local, remote, scheme)),
        body.as_ref().map_or_else(Body::empty, RequestBody::to_body),
    );
    let mut response = match checked {
        Ok(()) => app.get_response(request).await,
        Err(refusal) => (exchange.refusals().to_request)(request, refusal).await,
    };
    match response.data::<Cut>() {
        None => {}
        Some(Cut::InHead) => exchange.cut_head(),
        Some(Cut::BeforeHead) => {
            exchange.cut();
            return None;
        }
    }
    if let Some(body) = body
        // Boxed: otherwise, it would enlarge the future of every request.
        && !Box::pin(body.receive_rest(response.status())).await
    {
        exchange.close_after_response();
    }
    if exchange.is_closing() {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    response.headers_mut().insert(header::X_CONTENT_TYPE_OPTIONS, NOSNIFF);
    Some(http::Response::from(response).map(|body| ResponseBody::new(body, exchange)))
}

/// Whether the client sends the body only after `100 Continue`.
fn expects_continue(version: Version, headers: &HeaderMap) -> bool {
    version >= Version::HTTP_11
        && headers
            .get(header::EXPECT)
            .is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"100-continue"))
}
