//! Connections: how many are open, and how large and how slow the head of a request may be.
//!
//! The framework's own server is not used: it waits for a head without end, and spins when the system has no more handles.

use std::{convert::Infallible, io, net::SocketAddr, sync::Arc, time::Duration};

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

use crate::config::ServerSettings;

/// How long to wait before the next connection is taken, when one could not be.
const BREATH: Duration = Duration::from_millis(50);

/// What a connection may do.
#[derive(Clone, Copy, Debug)]
struct Bounds {
    head_bytes: usize,
    head_time: Duration,
}

impl Bounds {
    fn new(settings: &ServerSettings) -> Bounds {
        Bounds {
            head_bytes: settings.max_header_bytes as usize,
            head_time: Duration::from_secs(settings.header_seconds.into()),
        }
    }

    /// HTTP/1.1 within these bounds.
    fn protocol(self) -> http1::Builder {
        let mut builder = http1::Builder::new();
        builder.timer(TokioTimer::new()).header_read_timeout(self.head_time).max_buf_size(self.head_bytes);
        builder
    }
}

/// Serves until `stop` resolves, then gives running requests time to finish, as the settings say.
pub async fn serve(
    app: impl Endpoint<Output = Response> + 'static,
    listener: std::net::TcpListener,
    settings: &ServerSettings,
    stop: impl Future<Output = ()>,
) -> io::Result<()> {
    let (app, bounds) = (Arc::new(app), Bounds::new(settings));
    let drain = Duration::from_secs(settings.drain_seconds);
    let listener = TcpListener::from_std(listener)?;
    let local = listener.local_addr()?;
    let places = Arc::new(Semaphore::new(settings.max_connections as usize));
    let open = GracefulShutdown::new();
    let mut stop = std::pin::pin!(stop);
    loop {
        let (place, socket, remote) = tokio::select! {
            () = &mut stop => break,
            taken = take(&listener, &places) => taken,
        };
        let connection = connection(Arc::clone(&app), socket, bounds, local, remote);
        let connection = open.watch(connection);
        tokio::spawn(async move {
            let _place = place;
            if let Err(fault) = connection.await {
                tracing::debug!(%remote, %fault, "a connection ended early");
            }
        });
    }
    drop(listener);
    if tokio::time::timeout(drain, open.shutdown()).await.is_err() {
        tracing::warn!("requests were still running when the time to finish them was over");
    }
    Ok(())
}

/// The next connection, once there is a place for it.
async fn take(
    listener: &TcpListener,
    places: &Arc<Semaphore>,
) -> (OwnedSemaphorePermit, TcpStream, SocketAddr) {
    let place = Arc::clone(places).acquire_owned().await.expect("the places stay open");
    loop {
        match listener.accept().await {
            Ok((socket, remote)) => {
                // Answers are written whole, so there is nothing to gather.
                let _ = socket.set_nodelay(true);
                return (place, socket, remote);
            }
            Err(cause) => {
                tracing::warn!(%cause, "a connection could not be taken");
                tokio::time::sleep(BREATH).await;
            }
        }
    }
}

/// Answers the requests of a connection, one after the other.
fn connection<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(
    app: Arc<impl Endpoint<Output = Response> + 'static>,
    socket: S,
    bounds: Bounds,
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
    bounds.protocol().serve_connection(TokioIo::new(socket), service)
}

#[cfg(test)]
mod tests {
    use poem::endpoint::make_sync;
    use tokio::{
        io::{AsyncReadExt, AsyncWriteExt, DuplexStream},
        time::Instant,
    };

    use super::*;

    const BOUNDS: Bounds = Bounds { head_bytes: 8192, head_time: Duration::from_secs(30) };

    /// The other end of a connection that is served.
    fn dial() -> DuplexStream {
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        let app = make_sync(|request: Request| {
            Response::builder().body(request.remote_addr().as_socket_addr().unwrap().to_string())
        });
        let (local, remote) = ("127.0.0.1:80".parse().unwrap(), "192.0.2.7:1234".parse().unwrap());
        tokio::spawn(connection(Arc::new(app), theirs, BOUNDS, local, remote));
        ours
    }

    async fn everything(mut end: DuplexStream) -> String {
        let mut text = String::new();
        end.read_to_string(&mut text).await.unwrap();
        text
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_knows_where_it_comes_from() {
        let mut end = dial();
        end.write_all(b"GET / HTTP/1.1\r\nconnection: close\r\n\r\n").await.unwrap();
        let answer = everything(end).await;
        assert!(answer.starts_with("HTTP/1.1 200") && answer.ends_with("192.0.2.7:1234"), "{answer}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_head_that_does_not_come_ends_the_connection() {
        for sent in [&b""[..], b"GET / HTTP/1.1\r\nx-", b"GET / HTTP/1.1\r\nhost: a\r\n\r\n"] {
            let mut end = dial();
            let began = Instant::now();
            end.write_all(sent).await.unwrap();
            everything(end).await;
            assert_eq!(began.elapsed().as_secs(), 30, "{}", String::from_utf8_lossy(sent));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_head_that_trickles_ends_the_connection_no_later() {
        let mut end = dial();
        let began = Instant::now();
        end.write_all(b"GET / HTTP/1.1\r\nx: ").await.unwrap();
        while end.write_all(b"a").await.is_ok() {
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
        assert!(began.elapsed().as_secs() <= 31);
    }

    #[tokio::test(start_paused = true)]
    async fn a_head_that_is_too_large_is_refused() {
        let mut end = dial();
        let head = format!("GET / HTTP/1.1\r\nx: {}\r\n\r\n", "a".repeat(9000));
        end.write_all(head.as_bytes()).await.unwrap();
        assert!(everything(end).await.starts_with("HTTP/1.1 431 "));
    }
}
