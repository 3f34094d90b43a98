//! State of the current request and its response, which the parts of a connection share.

use std::{
    io,
    net::IpAddr,
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
use crate::Refusals;

/// The state of the current request of a connection. Only the connection's task uses it.
#[derive(Debug)]
pub struct Exchange {
    connection: Arc<Connection>,
    /// The address of the client.
    client: IpAddr,
    refusals: Refusals,
    /// Whether the HTTP library has the whole response, of which a part may not be sent yet.
    has_response: AtomicBool,
    /// Whether the connection ends with the current response, although the client may still be sending.
    is_closing: AtomicBool,
    /// Whether the connection is to be closed in the middle of the head of the current response.
    cuts_head: AtomicBool,
    /// Whether to close the connection as soon as the library has sent its part of the response.
    is_cut: AtomicBool,
}

impl Exchange {
    /// Creates the state of a connection without a request.
    pub fn new(connection: Arc<Connection>, client: IpAddr, refusals: Refusals) -> Exchange {
        let [has_response, is_closing, cuts_head, is_cut] = Default::default();
        Exchange { connection, client, refusals, has_response, is_closing, cuts_head, is_cut }
    }

    /// Returns the address of the client.
    pub const fn client(&self) -> IpAddr {
        self.client
    }

    /// Returns how the program answers what is refused.
    pub const fn refusals(&self) -> &Refusals {
        &self.refusals
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

    /// Makes the connection end in the middle of the head of the current response.
    pub fn cut_head(&self) {
        self.cuts_head.store(true, Relaxed);
    }

    /// Whether the connection is to be closed in the middle of the head of the current response.
    pub fn cuts_head(&self) -> bool {
        self.cuts_head.load(Relaxed)
    }

    /// Closes the connection after the existing part of the current response is sent.
    pub fn cut(&self) {
        self.is_cut.store(true, Relaxed);
    }

    /// Whether [`Self::cut`] was called.
    pub fn is_cut(&self) -> bool {
        self.is_cut.load(Relaxed)
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
        let frame = Pin::new(&mut self.inner).poll_frame(context);
        if let Poll::Ready(Some(Err(cause))) = &frame {
            tracing::debug!(%cause, "response cut off");
            // The library would drop its unsent data. Make it send the data now, which then fails.
            self.exchange.cut();
            return Poll::Pending;
        }
        frame
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
