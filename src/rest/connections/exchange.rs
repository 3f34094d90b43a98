//! What the parts of a connection tell each other about the current request and its response.

use std::{
    io,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    task::{Context, Poll},
};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use http_body_util::combinators::BoxBody;

use super::table::Connection;

/// The state of the current request of a connection. Only the connection's task uses it.
#[derive(Debug)]
pub struct Exchange {
    connection: Arc<Connection>,
    /// Whether the HTTP library has the whole response, of which a part may not be sent yet.
    has_response: AtomicBool,
    /// Whether the connection ends with the current response, although the client may still be sending.
    is_closing: AtomicBool,
}

impl Exchange {
    /// Creates the state of a connection without a request.
    pub fn new(connection: Arc<Connection>) -> Exchange {
        Exchange { connection, has_response: AtomicBool::new(false), is_closing: AtomicBool::new(false) }
    }

    /// Marks the connection as busy: its request head is complete.
    pub fn begin(&self) {
        self.has_response.store(false, Relaxed);
        self.connection.begin_request();
    }

    /// Marks the connection as idle if everything that was sent until now includes the whole response.
    pub fn flushed(&self) {
        if self.has_response.load(Relaxed) {
            self.has_response.store(false, Relaxed);
            self.connection.end_request();
        }
    }

    /// Marks the connection as idle in any case.
    pub fn end(&self) {
        self.connection.end_request();
    }

    /// Whether a request is running or its response is being sent.
    pub fn is_busy(&self) -> bool {
        self.connection.is_busy()
    }

    /// Makes the current response the last one of the connection.
    pub fn close_after_response(&self) {
        self.is_closing.store(true, Relaxed);
    }

    /// Whether the current response is the last one of the connection.
    pub fn is_closing(&self) -> bool {
        self.is_closing.load(Relaxed)
    }
}

/// The body of a response. Dropping it means that the HTTP library has the whole response.
pub struct ResponseBody {
    inner: BoxBody<Bytes, io::Error>,
    exchange: Arc<Exchange>,
}

impl ResponseBody {
    /// Wraps a body.
    pub const fn new(inner: BoxBody<Bytes, io::Error>, exchange: Arc<Exchange>) -> ResponseBody {
        ResponseBody { inner, exchange }
    }
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        Pin::new(&mut self.inner).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

impl Drop for ResponseBody {
    fn drop(&mut self) {
        self.exchange.has_response.store(true, Relaxed);
    }
}
