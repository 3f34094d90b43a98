//! TCP connections: limits on their number, on the size and arrival time of request headers, and on the time
//! that a client takes to read a response.
//!
//! The framework's own server is not used: it has no timeout for request headers, and it spins when the
//! process runs out of file descriptors.

use std::{
    collections::{HashMap, hash_map::Entry},
    convert::Infallible,
    io,
    net::{IpAddr, SocketAddr},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::{GracefulConnection, GracefulShutdown},
};
use poem::{
    Addr, Endpoint, Request, Response,
    http::{self, uri::Scheme},
    web::{LocalAddr, RemoteAddr},
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore},
};
use tokio_io_timeout::TimeoutWriter;

use super::client_network::client_network;
use crate::config::ServerSettings;

/// Delay before the next `accept` after one has failed.
const ACCEPT_RETRY_DELAY: Duration = Duration::from_millis(50);

/// The limits of one connection.
#[derive(Clone, Copy, Debug)]
struct ConnectionLimits {
    max_header_bytes: usize,
    header_timeout: Duration,
    write_timeout: Duration,
}

impl ConnectionLimits {
    fn new(settings: &ServerSettings) -> ConnectionLimits {
        ConnectionLimits {
            max_header_bytes: settings.max_header_bytes as usize,
            header_timeout: Duration::from_secs(settings.header_seconds.into()),
            write_timeout: Duration::from_secs(settings.write_seconds.into()),
        }
    }

    /// Returns an HTTP/1.1 protocol configuration with these limits.
    fn http_builder(self) -> http1::Builder {
        let mut builder = http1::Builder::new();
        builder
            .timer(TokioTimer::new())
            .header_read_timeout(self.header_timeout)
            .max_buf_size(self.max_header_bytes);
        builder
    }
}

/// Serves connections until `stop` resolves, then lets running requests finish for up to `drain_seconds`.
pub async fn serve(
    app: impl Endpoint<Output = Response> + 'static,
    listener: std::net::TcpListener,
    settings: &ServerSettings,
    stop: impl Future<Output = ()>,
) -> io::Result<()> {
    let (app, limits) = (Arc::new(app), ConnectionLimits::new(settings));
    let drain = Duration::from_secs(settings.drain_seconds);
    let listener = TcpListener::from_std(listener)?;
    let local = listener.local_addr()?;
    let permits = Arc::new(Semaphore::new(settings.max_connections as usize));
    let counts = ConnectionCounts::default();
    let graceful = GracefulShutdown::new();
    let mut stop = std::pin::pin!(stop);
    loop {
        let (permit, socket, remote) = tokio::select! {
            () = &mut stop => break,
            accepted = accept(&listener, &permits) => accepted,
        };
        let Some(counted) =
            CountedConnection::try_new(&counts, remote.ip(), settings.max_connections_per_address)
        else {
            tracing::debug!(%remote, "connection rejected: too many from this address");
            continue;
        };
        let connection = serve_connection(Arc::clone(&app), socket, limits, local, remote);
        let connection = graceful.watch(connection);
        tokio::spawn(async move {
            let _guards = (permit, counted);
            if let Err(error) = connection.await {
                tracing::debug!(%remote, %error, "connection ended early");
            }
        });
    }
    drop(listener);
    if tokio::time::timeout(drain, graceful.shutdown()).await.is_err() {
        tracing::warn!("drain period ended with requests still running");
    }
    Ok(())
}

/// Number of open connections by client network; see [`client_network`].
type ConnectionCounts = Arc<Mutex<HashMap<IpAddr, u32>>>;

/// An open connection that counts towards the limit of its client network. Dropping it ends the count.
struct CountedConnection {
    counts: ConnectionCounts,
    network: IpAddr,
}

impl CountedConnection {
    /// Counts a connection, or returns none if the client network already has `max`. If `max` is 0, there
    /// is no limit.
    fn try_new(all_counts: &ConnectionCounts, address: IpAddr, max: u32) -> Option<CountedConnection> {
        let network = client_network(address);
        let mut counts = all_counts.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counts.entry(network).or_default();
        if max > 0 && *count >= max {
            return None;
        }
        *count += 1;
        Some(CountedConnection { counts: Arc::clone(all_counts), network })
    }
}

impl Drop for CountedConnection {
    fn drop(&mut self) {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Entry::Occupied(mut count) = counts.entry(self.network) {
            *count.get_mut() -= 1;
            if *count.get() == 0 {
                count.remove();
            }
        }
    }
}

/// Accepts the next connection as soon as the number of open ones allows it.
async fn accept(
    listener: &TcpListener,
    permits: &Arc<Semaphore>,
) -> (OwnedSemaphorePermit, TcpStream, SocketAddr) {
    let permit = Arc::clone(permits).acquire_owned().await.expect("the semaphore is never closed");
    loop {
        match listener.accept().await {
            Ok((socket, remote)) => {
                // Responses are written in one piece, so Nagle's algorithm would only delay them.
                let _ = socket.set_nodelay(true);
                return (permit, socket, remote);
            }
            Err(cause) => {
                tracing::warn!(%cause, "connection not accepted");
                tokio::time::sleep(ACCEPT_RETRY_DELAY).await;
            }
        }
    }
}

/// Serves the requests of a connection one after the other.
fn serve_connection<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(
    app: Arc<impl Endpoint<Output = Response> + 'static>,
    socket: S,
    limits: ConnectionLimits,
    local: SocketAddr,
    remote: SocketAddr,
) -> impl GracefulConnection<Error = hyper::Error> + Send {
    let service = service_fn(move |request: http::Request<Incoming>| {
        let app = Arc::clone(&app);
        let ends = (LocalAddr(Addr::SocketAddr(local)), RemoteAddr(Addr::SocketAddr(remote)));
        async move {
            let request = Request::from((request, ends.0, ends.1, Scheme::HTTP));
            Ok::<http::Response<_>, Infallible>(app.get_response(request).await.into())
        }
    });
    let mut socket = TimeoutWriter::new(socket);
    socket.set_timeout(Some(limits.write_timeout));
    limits.http_builder().serve_connection(TokioIo::new(Box::pin(socket)), service)
}

#[cfg(test)]
mod tests {
    use poem::endpoint::{make, make_sync};
    use tokio::{
        io::{AsyncReadExt, AsyncWriteExt, DuplexStream},
        sync::{Notify, oneshot},
        time::Instant,
    };

    use super::*;
    use crate::config::Settings;

    const LIMITS: ConnectionLimits = ConnectionLimits {
        max_header_bytes: 8192,
        header_timeout: Duration::from_secs(30),
        write_timeout: Duration::from_secs(20),
    };

    /// Opens an in-memory connection to a server that responds with the client's address. Returns the client
    /// end.
    fn connect() -> DuplexStream {
        let (client_end, server_end) = tokio::io::duplex(1 << 16);
        let app = make_sync(|request: Request| {
            Response::builder().body(request.remote_addr().as_socket_addr().unwrap().to_string())
        });
        let (local, remote) = ("127.0.0.1:80".parse().unwrap(), "192.0.2.7:1234".parse().unwrap());
        tokio::spawn(serve_connection(Arc::new(app), server_end, LIMITS, local, remote));
        client_end
    }

    async fn read_all(mut end: DuplexStream) -> String {
        let mut text = String::new();
        end.read_to_string(&mut text).await.unwrap();
        text
    }

    #[tokio::test(start_paused = true)]
    async fn request_has_client_address() {
        let mut end = connect();
        end.write_all(b"GET / HTTP/1.1\r\nconnection: close\r\n\r\n").await.unwrap();
        let response = read_all(end).await;
        assert!(response.starts_with("HTTP/1.1 200") && response.ends_with("192.0.2.7:1234"), "{response}");
    }

    #[tokio::test(start_paused = true)]
    async fn missing_header_times_out() {
        for sent in [&b""[..], b"GET / HTTP/1.1\r\nx-", b"GET / HTTP/1.1\r\nhost: a\r\n\r\n"] {
            let mut end = connect();
            let start = Instant::now();
            end.write_all(sent).await.unwrap();
            read_all(end).await;
            assert_eq!(start.elapsed().as_secs(), 30, "{}", String::from_utf8_lossy(sent));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn slow_header_times_out() {
        let mut end = connect();
        let start = Instant::now();
        end.write_all(b"GET / HTTP/1.1\r\nx: ").await.unwrap();
        while end.write_all(b"a").await.is_ok() {
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
        assert!(start.elapsed().as_secs() <= 31);
    }

    #[tokio::test(start_paused = true)]
    async fn oversized_header_is_rejected() {
        let mut end = connect();
        let head = format!("GET / HTTP/1.1\r\nx: {}\r\n\r\n", "a".repeat(9000));
        end.write_all(head.as_bytes()).await.unwrap();
        assert!(read_all(end).await.starts_with("HTTP/1.1 431 "));
    }

    #[tokio::test(start_paused = true)]
    async fn client_that_does_not_read_is_disconnected() {
        let (mut client_end, server_end) = tokio::io::duplex(1 << 10);
        let app = make_sync(|_| Response::builder().body(vec![b'x'; 1 << 20]));
        let ends = ("127.0.0.1:80".parse().unwrap(), "192.0.2.7:1234".parse().unwrap());
        let served = tokio::spawn(serve_connection(Arc::new(app), server_end, LIMITS, ends.0, ends.1));
        let start = Instant::now();
        client_end.write_all(b"GET / HTTP/1.1\r\n\r\n").await.unwrap();
        assert!(served.await.unwrap().is_err());
        assert_eq!(start.elapsed().as_secs(), 20);
    }

    #[test]
    fn connections_per_network_are_limited() {
        let counts = ConnectionCounts::default();
        let open = |address: &str| CountedConnection::try_new(&counts, address.parse().unwrap(), 2);
        let (first, second) = (open("2001:db8::1"), open("2001:db8::2"));
        assert!(first.is_some() && second.is_some() && open("2001:db8::3").is_none());
        assert!(open("192.0.2.1").is_some());
        drop(first);
        assert!(open("2001:db8::3").is_some());
        drop(second);
        assert!(counts.lock().unwrap().is_empty(), "networks without connections are removed");
        assert!(
            (0..9)
                .map(|_| CountedConnection::try_new(&counts, "192.0.2.1".parse().unwrap(), 0))
                .all(|connection| connection.is_some())
        );
    }

    /// Starts a server on a free port. Returns its address, a channel that stops it, and its task.
    fn server(
        change: impl FnOnce(&mut ServerSettings),
        app: impl Endpoint<Output = Response> + 'static,
    ) -> (SocketAddr, oneshot::Sender<()>, tokio::task::JoinHandle<io::Result<()>>) {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let mut settings = Settings::default().server;
        change(&mut settings);
        let (stop, stopped) = oneshot::channel();
        let stopped = async { drop(stopped.await) };
        let served = tokio::spawn(async move { serve(app, listener, &settings, stopped).await });
        (address, stop, served)
    }

    async fn send_request(address: SocketAddr) -> TcpStream {
        let mut end = TcpStream::connect(address).await.unwrap();
        end.write_all(b"GET / HTTP/1.1\r\n\r\n").await.unwrap();
        end
    }

    async fn read_status(end: &mut TcpStream) -> String {
        let mut bytes = [0; 12];
        end.read_exact(&mut bytes).await.unwrap();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    #[tokio::test]
    async fn stop_closes_idle_connections_and_drains_requests() {
        let (started, release) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let shared = (Arc::clone(&started), Arc::clone(&release));
        let app = make(move |_| {
            let (started, release) = shared.clone();
            async move {
                started.notify_one();
                release.notified().await;
                Ok::<_, poem::Error>(Response::builder().body("done"))
            }
        });
        let (address, stop, served) = server(|_| {}, app);
        let idle = TcpStream::connect(address).await.unwrap();
        let mut running = send_request(address).await;
        started.notified().await;
        stop.send(()).unwrap();
        let mut bytes = Vec::new();
        let mut idle = idle;
        idle.read_to_end(&mut bytes).await.unwrap();
        assert!(bytes.is_empty(), "an idle connection is closed");
        assert!(!served.is_finished());
        release.notify_one();
        assert_eq!(read_status(&mut running).await, "HTTP/1.1 200");
        served.await.unwrap().unwrap();
        assert!(TcpStream::connect(address).await.is_err());
    }

    #[tokio::test]
    async fn number_of_connections_is_limited() {
        let app = || make_sync(|_| Response::builder().body("done"));
        let (address, _stop, _served) = server(|settings| settings.max_connections = 1, app());
        let mut first = send_request(address).await;
        assert_eq!(read_status(&mut first).await, "HTTP/1.1 200");
        let mut second = send_request(address).await;
        let result = tokio::time::timeout(Duration::from_millis(20), read_status(&mut second)).await;
        assert!(result.is_err(), "the connection limit is reached");
        drop(first);
        assert_eq!(read_status(&mut second).await, "HTTP/1.1 200");

        let (address, _stop, _served) = server(|settings| settings.max_connections_per_address = 1, app());
        let mut first = send_request(address).await;
        assert_eq!(read_status(&mut first).await, "HTTP/1.1 200");
        let mut bytes = Vec::new();
        // The server may close the connection before or after it reads the request, so the result does not
        // matter.
        let _ = send_request(address).await.read_to_end(&mut bytes).await;
        assert!(bytes.is_empty());
    }
}
