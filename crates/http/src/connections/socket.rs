//! The stream of a connection, as the HTTP library sees it: checks request heads, and completes the error responses of the
//! library.

use std::{
    io::{self, IoSlice},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::{exchange::Exchange, framing::Framing, head_errors};

/// Replacement for a malformed head: a byte that no head may contain, and the end of the head. The parser rejects
/// it at once. The same holds for the lines after the last chunk of a body.
const REJECTED_HEAD: &[u8] = b"\0\r\n\r\n";

/// The transport of a connection: a socket, or TLS over a socket.
pub trait Stream: AsyncRead + AsyncWrite + Unpin + Send + 'static {}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> Stream for S {}

/// The stream of a connection.
pub struct LimitedSocket<S> {
    inner: S,
    exchange: Arc<Exchange>,
    framing: Framing,
    /// The part of [`REJECTED_HEAD`] that the parser has not received yet, if a head or the end of a body is malformed.
    rejection: Option<&'static [u8]>,
    /// The rest of the data that replaces the response of the library: another error response, or a part of its head.
    last_bytes: Vec<u8>,
}

impl<S: Stream> LimitedSocket<S> {
    /// Wraps a stream.
    pub fn new(inner: S, exchange: Arc<Exchange>) -> LimitedSocket<S> {
        let framing = Framing::default();
        LimitedSocket { inner, exchange, framing, rejection: None, last_bytes: Vec::new() }
    }

    /// Whether the client has sent a part of a request head.
    pub fn is_in_head(&self) -> bool {
        self.framing.is_in_head()
    }

    /// Returns the stream.
    pub fn into_inner(self) -> S {
        self.inner
    }

    /// Checks the bytes received after `start`. Those after a malformed line do not reach the parser.
    fn check_received(&mut self, buffer: &mut ReadBuf<'_>, start: usize) {
        let Err((at, cause)) = self.framing.advance(&buffer.filled()[start..]) else {
            if self.framing.is_unknown() {
                self.exchange.close_after_response();
            }
            return;
        };
        tracing::debug!(?cause, "request rejected");
        buffer.set_filled(start + at);
        self.rejection = Some(REJECTED_HEAD);
        if at == 0 {
            self.receive_rejection(buffer);
        }
    }

    fn receive_rejection(&mut self, buffer: &mut ReadBuf<'_>) {
        let Some(rest) = &mut self.rejection else { return };
        let (now, later) = rest.split_at(rest.len().min(buffer.remaining()));
        buffer.put_slice(now);
        *rest = later;
    }

    /// Keeps the first half of a head, to be written as the last bytes of the connection. The rest is dropped.
    fn cut_head(&mut self, data: &[IoSlice<'_>]) {
        // The library begins with the head, in one piece.
        let Some(first) = data.first().filter(|_| !self.exchange.is_cut()) else { return };
        let length = memchr::memmem::find(first, b"\r\n\r\n").unwrap_or(first.len());
        self.last_bytes = first[..length / 2].to_vec();
        self.exchange.cut();
    }

    /// Writes the bytes that replace those of the library.
    fn poll_last_bytes(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.last_bytes.is_empty() {
            let this = &mut *self;
            let written = ready!(Pin::new(&mut this.inner).poll_write(context, &this.last_bytes))?;
            if written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.last_bytes.drain(..written);
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: Stream> AsyncRead for LimitedSocket<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.rejection.is_some() {
            self.receive_rejection(buffer);
            return Poll::Ready(Ok(()));
        }
        let start = buffer.filled().len();
        ready!(Pin::new(&mut self.inner).poll_read(context, buffer))?;
        self.check_received(buffer, start);
        Poll::Ready(Ok(()))
    }
}

impl<S: Stream> AsyncWrite for LimitedSocket<S> {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, data: &[u8]) -> Poll<io::Result<usize>> {
        self.poll_write_vectored(context, &[IoSlice::new(data)])
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        data: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = &mut *self;
        // Without a request, the library writes only its own error responses, each in one piece.
        if !this.exchange.is_busy()
            && let Some(response) =
                data.first().and_then(|head| head_errors::replacement(head, &this.exchange))
        {
            this.last_bytes = response;
            this.exchange.close_after_response();
            return Poll::Ready(Ok(data.iter().map(|slice| slice.len()).sum()));
        }
        if this.exchange.cuts_head() {
            this.cut_head(data);
            return Poll::Ready(Ok(data.iter().map(|slice| slice.len()).sum()));
        }
        Pin::new(&mut this.inner).poll_write_vectored(context, data)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_last_bytes(context))?;
        ready!(Pin::new(&mut self.inner).poll_flush(context))?;
        if self.exchange.is_cut() {
            return Poll::Ready(Err(io::ErrorKind::ConnectionAborted.into()));
        }
        // The library calls this when it has nothing left to write.
        self.exchange.flushed();
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_last_bytes(context))?;
        Pin::new(&mut self.inner).poll_shutdown(context)
    }
}
