//! The socket of a connection with the limit on the rate at which its client reads: below TLS, so that the limit
//! applies to handshakes, and to data that TLS has buffered.

use std::{
    io::{self, IoSlice},
    pin::Pin,
    task::{Context, Poll, ready},
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
};

use super::write_rate::WriteRate;

/// A socket that a connection can use.
pub trait Socket: AsyncRead + AsyncWrite + Unpin + Send + 'static {
    /// Writes as much as fits into the send buffer at this moment.
    ///
    /// The runtime reports a socket as writable only when a third of its send buffer is free, which takes long with a slow
    /// client. This measures how much the client has read meanwhile.
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

/// A socket whose writes fail if the client reads too slowly.
pub struct RatedSocket<S> {
    inner: S,
    rate: WriteRate,
}

impl<S: Socket> RatedSocket<S> {
    /// Wraps a socket.
    pub const fn new(inner: S, rate: WriteRate) -> RatedSocket<S> {
        RatedSocket { inner, rate }
    }
}

impl<S: Socket> AsyncRead for RatedSocket<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_read(context, buffer)
    }
}

impl<S: Socket> AsyncWrite for RatedSocket<S> {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, data: &[u8]) -> Poll<io::Result<usize>> {
        self.poll_write_vectored(context, &[IoSlice::new(data)])
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        data: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let RatedSocket { inner, rate } = &mut *self;
        let result = match Pin::new(&mut *inner).poll_write_vectored(context, data) {
            Poll::Ready(Ok(written)) => rate.written(written as u64).map(|()| written),
            Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
            Poll::Pending => ready!(rate.poll_blocked(context, || inner.write_now(data), data)),
        };
        if result.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::TimedOut) {
            inner.discard_on_drop();
        }
        Poll::Ready(result)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(context)
    }
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
        // The limit on file descriptors applies to a whole process, so this needs a process of its own.
        let test = "connections::rated_socket::tests::writes_without_free_descriptors";
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
