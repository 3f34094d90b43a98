//! The socket of a connection, as the HTTP library sees it: checks request heads, the rate at which a client
//! reads responses, and completes the error responses of the library.

use std::{
    io::{self, IoSlice},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
};

use super::{exchange::Exchange, framing::Framing, head_errors, write_rate::WriteRate};

/// What a malformed head is replaced by: a byte that no head may have, and the end of the head, so that the
/// parser rejects it at once. The same holds for the lines after the last chunk of a body.
const REJECTED_HEAD: &[u8] = b"\0\r\n\r\n";

/// A socket that a connection can use.
pub trait Socket: AsyncRead + AsyncWrite + Unpin + Send + 'static {
    /// Writes what fits into the send buffer at this moment.
    ///
    /// The runtime reports a socket as writable only when a third of its send buffer is free, which takes a slow
    /// client long. This finds out what it has read meanwhile.
    fn write_now(&self, data: &[IoSlice<'_>]) -> io::Result<usize>;

    /// Discards the data that the client has not read when the socket is dropped.
    fn discard_on_drop(&self);
}

impl Socket for TcpStream {
    fn write_now(&self, data: &[IoSlice<'_>]) -> io::Result<usize> {
        Ok(rustix::io::writev(self, data)?)
    }

    fn discard_on_drop(&self) {
        // If this fails, the system keeps the data until its own timeout.
        let _ = self.set_zero_linger();
    }
}

/// The socket of a connection.
pub struct LimitedSocket<S> {
    inner: S,
    exchange: Arc<Exchange>,
    framing: Framing,
    /// What remains to be received of [`REJECTED_HEAD`], if a head or the end of a body is malformed.
    rejection: Option<&'static [u8]>,
    rate: WriteRate,
    /// The rest of what replaces the response of the library: another error response, or a part of its head.
    last_bytes: Vec<u8>,
}

impl<S: Socket> LimitedSocket<S> {
    /// Wraps a socket.
    pub fn new(inner: S, exchange: Arc<Exchange>, rate: WriteRate) -> LimitedSocket<S> {
        let framing = Framing::default();
        LimitedSocket { inner, exchange, framing, rejection: None, rate, last_bytes: Vec::new() }
    }

    /// Whether the client has sent a part of a request head.
    pub fn is_in_head(&self) -> bool {
        self.framing.is_in_head()
    }

    /// Returns the socket.
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

    /// Keeps the first half of a head, to be written as the last bytes of the connection. What follows is dropped.
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
            let slice = [IoSlice::new(&self.last_bytes)];
            let written = ready!(write_limited(&mut self.inner, &mut self.rate, context, &slice))?;
            if written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.last_bytes.drain(..written);
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: Socket> AsyncRead for LimitedSocket<S> {
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

impl<S: Socket> AsyncWrite for LimitedSocket<S> {
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
        write_limited(&mut this.inner, &mut this.rate, context, data)
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

/// Writes to a socket, and fails if the client reads too slowly.
fn write_limited<S: Socket>(
    socket: &mut S,
    rate: &mut WriteRate,
    context: &mut Context<'_>,
    data: &[IoSlice<'_>],
) -> Poll<io::Result<usize>> {
    let result = match Pin::new(&mut *socket).poll_write_vectored(context, data) {
        Poll::Ready(Ok(written)) => rate.written(written as u64).map(|()| written),
        Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
        Poll::Pending => ready!(rate.poll_blocked(context, || socket.write_now(data), data)),
    };
    if result.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::TimedOut) {
        socket.discard_on_drop();
    }
    Poll::Ready(result)
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    use tokio::{io::AsyncReadExt, net::TcpListener};

    use super::*;

    /// Set in the process that [`write_needs_no_file_descriptor`] starts.
    const VARIABLE: &str = "MARKETPLACE_TEST_WITHOUT_DESCRIPTORS";

    #[test]
    fn write_needs_no_file_descriptor() {
        // The limit on file descriptors holds for a process, so this needs its own.
        let test = "connections::socket::tests::writes_without_free_descriptors";
        let mut command = Command::new(std::env::current_exe().unwrap());
        let output = command.args(["--exact", test]).env(VARIABLE, "1").output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && text.contains("1 passed"), "{text}");
    }

    /// Writes without a free file descriptor, if [`write_needs_no_file_descriptor`] has started this process.
    #[tokio::test]
    async fn writes_without_free_descriptors() {
        if std::env::var_os(VARIABLE).is_none() {
            return;
        }
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (client, accepted) = tokio::join!(TcpStream::connect(address), listener.accept());
        let (mut client, (socket, _)) = (client.unwrap(), accepted.unwrap());
        let limit = getrlimit(Resource::Nofile);
        setrlimit(Resource::Nofile, Rlimit { current: Some(0), ..limit }).unwrap();
        let written = socket.write_now(&[IoSlice::new(b"ab"), IoSlice::new(b"c")]);
        setrlimit(Resource::Nofile, limit).unwrap();
        assert_eq!(written.unwrap(), 3);
        let mut received = [0; 3];
        client.read_exact(&mut received).await.unwrap();
        assert_eq!(&received, b"abc");
    }
}
