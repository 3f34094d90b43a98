use std::{fmt::Write as _, io::IoSlice};

use poem::{
    Request,
    endpoint::make,
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode},
};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader, DuplexStream},
    sync::{Notify, oneshot},
    task::JoinHandle,
    time::{Instant, sleep},
};

use super::{rated_socket::Socket, *};
use crate::Refusal;

impl Socket for DuplexStream {
    fn write_now(&self, _: &[IoSlice<'_>]) -> io::Result<usize> {
        Err(io::ErrorKind::WouldBlock.into())
    }

    fn discard_on_drop(&self) {}
}

const GET: &[u8] = b"GET / HTTP/1.1\r\nhost: a\r\n\r\n";
const LAST_GET: &[u8] = b"GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n";

/// Number of bytes of the response to `/big`.
const BIG: usize = 1 << 20;

/// When requests to `/slow` begin and end.
#[derive(Default)]
struct Gate {
    started: Notify,
    release: Notify,
}

/// Responds to `/echo` with the length of the body, to `/big` with many bytes, to `/slow` when released, to `/` with
/// the client's address, and otherwise with 404, without reading the body.
fn app(gate: Arc<Gate>) -> impl Endpoint<Output = Response> {
    make(move |mut request: Request| {
        let gate = Arc::clone(&gate);
        async move {
            let remote = request.remote_addr().as_socket_addr().unwrap().to_string();
            match request.uri().path() {
                "/echo" => {
                    let body = request.take_body().into_vec().await?;
                    Ok::<_, poem::Error>(Response::builder().body(body.len().to_string()))
                }
                "/big" => Ok(Response::builder().body(vec![b'x'; BIG])),
                "/slow" => {
                    gate.started.notify_one();
                    gate.release.notified().await;
                    Ok(Response::builder().body("slow"))
                }
                "/" => Ok(Response::builder().body(remote)),
                _ => Ok(Response::builder().status(StatusCode::NOT_FOUND).finish()),
            }
        }
    })
}

/// Answers with the kind of the refusal, and headers of its own.
const REFUSALS: Refusals = Refusals {
    to_request: |_, refusal| {
        let response = Response::builder().status(StatusCode::BAD_REQUEST).header("x-program", "1");
        Box::pin(std::future::ready(response.body(kind(&refusal))))
    },
    to_head: |_, refusal, client| {
        assert_eq!(client.to_string(), "192.0.2.7");
        let headers = [(HeaderName::from_static("x-program"), HeaderValue::from_static("1"))];
        (headers.into_iter().collect(), kind(&refusal).into())
    },
};

fn kind(refusal: &Refusal) -> &'static str {
    match refusal {
        Refusal::Malformed(_) => "malformed",
        Refusal::TooSlow(_) => "too slow",
        Refusal::UnsupportedCoding(_) => "unsupported",
    }
}

fn settings(change: impl FnOnce(&mut ConnectionSettings)) -> ConnectionSettings {
    let mut settings = ConnectionSettings::default();
    change(&mut settings);
    settings
}

fn test_ends() -> Ends {
    let (local, remote) = ("127.0.0.1:80".parse().unwrap(), "192.0.2.7:1234".parse().unwrap());
    Ends { local, remote, is_tls: false }
}

/// Opens an in-memory connection with this buffer size in each direction. Returns the client's end, and the task
/// of the connection.
fn connect_with(
    buffer: usize,
    settings: &ConnectionSettings,
) -> (DuplexStream, JoinHandle<hyper::Result<()>>) {
    let (client_end, server_end) = tokio::io::duplex(buffer);
    let limits = ConnectionLimits::new(settings, REFUSALS);
    let table = ConnectionTable::new(TableLimits::new(settings), TrustedProxies::default());
    let ends = test_ends();
    let served = tokio::spawn(async move {
        let open = table.admit(ends.remote.ip()).await.unwrap();
        let (_stopping, stopped) = watch::channel(());
        let app = Arc::new(app(Arc::default()));
        http::serve_connection(app, limits.limit_rate(server_end), &limits, ends, open.connection(), stopped)
            .await
    });
    (client_end, served)
}

fn connect() -> DuplexStream {
    connect_with(1 << 16, &settings(|_| {})).0
}

async fn read_all(mut end: impl AsyncRead + Unpin) -> String {
    let mut text = String::new();
    end.read_to_string(&mut text).await.unwrap();
    text
}

/// A response, as a client reads it from a connection.
#[derive(Debug)]
struct Received {
    status: StatusCode,
    headers: HeaderMap,
    body: Vec<u8>,
}

impl Received {
    /// Reads a response with a `Content-Length`. Fails if the connection ends before.
    async fn read(end: &mut (impl AsyncRead + Unpin)) -> io::Result<Received> {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(end.read_u8().await?);
        }
        let head = String::from_utf8(head).unwrap();
        let mut lines = head.lines().take_while(|line| !line.is_empty());
        let status = lines.next().unwrap()[9..12].parse().unwrap();
        let header = |line: &str| {
            let (name, value) = line.split_once(": ").unwrap();
            (name.parse::<poem::http::HeaderName>().unwrap(), value.parse().unwrap())
        };
        let headers: HeaderMap = lines.map(header).collect();
        let length =
            headers.get("content-length").map_or(0, |length| length.to_str().unwrap().parse().unwrap());
        let mut body = vec![0; length];
        end.read_exact(&mut body).await?;
        Ok(Received { status, headers, body })
    }

    fn closes(&self) -> bool {
        self.headers.get("connection").is_some_and(|value| value == "close")
    }
}

/// Asserts that the rest of a connection is one error response with all that belongs to it.
async fn assert_error(end: impl AsyncRead + Unpin, status: u16, kind: &str, request: &str) {
    let mut end = BufReader::new(end);
    let response = Received::read(&mut end).await.unwrap();
    assert_eq!(response.status, status, "{request}");
    assert_eq!(String::from_utf8_lossy(&response.body), kind, "{request}");
    assert_eq!(response.headers["x-program"], "1");
    assert_eq!(response.headers["x-content-type-options"], "nosniff");
    assert!(response.closes() && read_all(end).await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn request_has_client_address() {
    let mut end = connect();
    end.write_all(LAST_GET).await.unwrap();
    let response = read_all(end).await;
    assert!(response.starts_with("HTTP/1.1 200") && response.ends_with("192.0.2.7:1234"), "{response}");
    assert!(response.contains("x-content-type-options: nosniff\r\n"), "{response}");
}

#[tokio::test(start_paused = true)]
async fn incomplete_head_times_out() {
    for (sent, expected) in
        [(&b""[..], ""), (b"\r\n", ""), (b"GET / HTTP/1.1\r\nx-", "HTTP/1.1 408 "), (GET, "HTTP/1.1 200 ")]
    {
        let mut end = connect();
        let start = Instant::now();
        end.write_all(sent).await.unwrap();
        let response = read_all(end).await;
        assert!(response.starts_with(expected) && response.is_empty() == expected.is_empty(), "{response}");
        assert_eq!(start.elapsed().as_secs(), 30, "{}", String::from_utf8_lossy(sent));
    }
    let mut end = connect();
    end.write_all(b"GET / HTTP/1.1\r\nx-").await.unwrap();
    assert_error(end, 408, "too slow", "").await;
}

#[tokio::test(start_paused = true)]
async fn slow_head_times_out() {
    let mut end = connect();
    let start = Instant::now();
    end.write_all(b"GET / HTTP/1.1\r\nx: ").await.unwrap();
    while end.write_all(b"a").await.is_ok() {
        sleep(Duration::from_secs(1)).await;
    }
    assert!(start.elapsed().as_secs() <= 36, "30 seconds, and 5 to read the error");
}

#[tokio::test(start_paused = true)]
async fn malformed_heads_are_errors_with_a_body() {
    let long = "a".repeat(140_000);
    for (head, status) in [
        (format!("GET / HTTP/1.1\r\nhost: a\r\nx: {long}\r\n\r\n"), 431),
        (format!("GET /{} HTTP/1.1\r\nhost: a\r\n\r\n", &long[..70_000]), 414),
        (format!("GET / HTTP/1.1\r\n{}\r\n", "x: y\r\n".repeat(101)), 431),
        ("GET / HTTP/1.1\r\nhost: a\nx: y\r\n\r\n".to_owned(), 400),
        ("GET / HTTP/1.1\nhost: a\n\n".to_owned(), 400),
        ("GET / HTTP/1.1\r\nhost: a\r\n\n".to_owned(), 400),
        ("\nGET / HTTP/1.1\r\nhost: a\r\n\r\n".to_owned(), 400),
        ("\r\n".repeat(10), 400),
        ("GET / HTTP/1.1\r\nhost: a\rx: y\r\n\r\n".to_owned(), 400),
        ("GET / HTTP/1.1\r\nhost : a\r\n\r\n".to_owned(), 400),
        ("POST /echo HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n".to_owned(), 400),
        ("POST /echo HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked, gzip\r\n\r\n".to_owned(), 400),
        ("POST /echo HTTP/1.0\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n".to_owned(), 400),
        ("GET / HTTP/1.1\r\n\r\n".to_owned(), 400),
        ("GET / HTTP/2.0\r\nhost: a\r\n\r\n".to_owned(), 400),
        ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_owned(), 400),
    ] {
        let close = head.replace("\r\n\r\n", "\r\nconnection: close\r\n\r\n");
        let head = if head.starts_with("GET / HTTP/1.1\r\n\r\n") { close } else { head };
        // Whole, and in two pieces, after a request whose response is read.
        for end_of_first in [head.len(), 20.min(head.len() / 2)] {
            let (mut end, _served) = connect_with(1 << 20, &settings(|_| {}));
            end.write_all(GET).await.unwrap();
            Received::read(&mut end).await.unwrap();
            end.write_all(&head.as_bytes()[..end_of_first]).await.unwrap();
            tokio::task::yield_now().await;
            let _ = end.write_all(&head.as_bytes()[end_of_first..]).await;
            assert_error(end, status, "malformed", &head[..head.len().min(90)]).await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn pipelined_requests_are_served_in_order() {
    let mut requests = Vec::new();
    let mut lengths = String::new();
    for length in 1..40 {
        let body = "\n".repeat(length);
        let _ = write!(lengths, "{length} ");
        requests.extend(if length % 3 == 0 {
            format!("POST /echo HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n{length:x}\r\n{body}\r\n0\r\n\r\n")
        } else {
            format!("POST /echo HTTP/1.1\r\nhost: a\r\ncontent-length: {length}\r\n\r\n{body}")
        }.into_bytes());
    }
    requests.extend(LAST_GET);
    for piece in [1, 7, 1000, requests.len()] {
        let (client_end, _served) = connect_with(1 << 16, &settings(|_| {}));
        let (mut reader, mut writer) = tokio::io::split(client_end);
        let requests = requests.clone();
        tokio::spawn(async move {
            for piece in requests.chunks(piece) {
                writer.write_all(piece).await.unwrap();
                tokio::task::yield_now().await;
            }
        });
        let mut received = String::new();
        for _ in 1..40 {
            let response = Received::read(&mut reader).await.unwrap();
            let _ = write!(received, "{} ", String::from_utf8(response.body).unwrap());
        }
        assert_eq!(received, lengths);
        assert!(Received::read(&mut reader).await.unwrap().closes());
    }
}

#[tokio::test(start_paused = true)]
async fn request_with_two_lengths_is_the_last_of_its_connection() {
    let smuggled = String::from_utf8(GET.to_vec()).unwrap();
    for lengths in [
        "content-length: 5\r\ntransfer-encoding: chunked",
        "transfer-encoding: chunked\r\ncontent-length: 90",
    ] {
        let mut end = connect();
        let request = format!("POST /echo HTTP/1.1\r\nhost: a\r\n{lengths}\r\n\r\n0\r\n\r\n{smuggled}");
        end.write_all(request.as_bytes()).await.unwrap();
        let response = Received::read(&mut end).await.unwrap();
        assert!(response.body == b"0" && response.closes());
        assert_eq!(read_all(end).await, "", "the request after it is not served");
    }
}

#[tokio::test(start_paused = true)]
async fn invalid_hosts_are_rejected() {
    for head in [
        "GET / HTTP/1.1\r\nhost: [::1].evil",
        "GET / HTTP/1.1\r\nhost: a@b",
        "GET / HTTP/1.1\r\nhost: a\r\nhost: a",
        "GET http://b/ HTTP/1.1\r\nhost: a",
        "GET / HTTP/1.1\r\nx: y",
    ] {
        let mut end = connect();
        end.write_all(format!("{head}\r\nconnection: close\r\n\r\n").as_bytes()).await.unwrap();
        assert_error(end, 400, "malformed", head).await;
    }
    let mut end = connect();
    end.write_all(b"GET http://[::1]:80/ HTTP/1.1\r\nhost: [::1]:80\r\n\r\n").await.unwrap();
    assert_eq!(Received::read(&mut end).await.unwrap().status, 200);
}

const BIG_GET: &[u8] = b"GET /big HTTP/1.1\r\nhost: a\r\n\r\n";

/// Reads the response to `/big` with `bytes` each second. Returns the number of bytes and of seconds.
async fn read_slowly(settings: &ConnectionSettings, bytes: usize) -> (usize, u64) {
    let (mut end, _served) = connect_with(1 << 10, settings);
    end.write_all(BIG_GET).await.unwrap();
    let start = Instant::now();
    let mut buffer = vec![0; bytes];
    let mut total = 0;
    while total < BIG {
        let mut second = 0;
        while second < bytes {
            match end.read(&mut buffer[second..]).await.unwrap() {
                0 => return (total + second, start.elapsed().as_secs()),
                count => second += count,
            }
        }
        total += second;
        sleep(Duration::from_secs(1)).await;
    }
    (total, start.elapsed().as_secs())
}

#[tokio::test(start_paused = true)]
async fn client_that_reads_too_slowly_is_disconnected() {
    let limited = settings(|settings| settings.min_bytes_per_second = 1024);
    for bytes in [1, 100, 900] {
        let (total, seconds) = read_slowly(&limited, bytes).await;
        // After the end, the contents of the buffers are still read.
        assert!(total < BIG && seconds >= 10, "{bytes} {total} {seconds}");
        let (mut end, served) = connect_with(1 << 10, &limited);
        end.write_all(BIG_GET).await.unwrap();
        let start = Instant::now();
        let reading = tokio::spawn(async move {
            let mut buffer = vec![0; bytes];
            while end.read_exact(&mut buffer).await.is_ok() {
                sleep(Duration::from_secs(1)).await;
            }
        });
        assert!(served.await.unwrap().is_err());
        assert!(start.elapsed().as_secs() <= 60, "{bytes}");
        reading.abort();
    }
    let (total, seconds) = read_slowly(&limited, 1100).await;
    assert!(total >= BIG, "a client with the minimum rate is served: {total} {seconds}");
}

#[tokio::test(start_paused = true)]
async fn client_that_does_not_read_is_disconnected() {
    for (change, seconds) in [
        ((|_| {}) as fn(&mut ConnectionSettings), 30),
        (|settings| settings.min_bytes_per_second = 0, 30),
        (|settings| settings.write_seconds = 3, 3),
    ] {
        let (mut end, served) = connect_with(1 << 10, &settings(change));
        let start = Instant::now();
        end.write_all(BIG_GET).await.unwrap();
        assert!(served.await.unwrap().is_err());
        assert_eq!(start.elapsed().as_secs(), seconds);
    }
}

mod bodies;
mod framing_of_library;
mod listening;
mod tls;
