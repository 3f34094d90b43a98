//! Streams of events over HTTP.

use marketplace::{domain::principals::KeyScope, mcp, rest, web};
use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::{TcpStream, tcp::OwnedReadHalf},
    sync::{oneshot, watch},
    task::JoinHandle,
};

use super::append;
use crate::harness::{BASE, TestMarket, documents::operator_document};

/// Number of streams that an operator can have in these tests.
const STREAMS: usize = 3;

/// A server, and an operator key.
struct Server {
    market: TestMarket,
    address: String,
    key: String,
    stop: Option<oneshot::Sender<()>>,
    served: JoinHandle<()>,
}

impl Server {
    /// Starts a server that processes one request at a time.
    fn start() -> Server {
        let market = TestMarket::with_settings(|settings| {
            settings.limits.held_per_principal = STREAMS as u32;
            settings.limits.in_flight = 1;
            settings.limits.queue = 0;
        });
        let key = market.operator_key("test", KeyScope::All);
        let settings = market.market().settings().clone();
        let app = mcp::App::new(rest::App::new(&settings, false)).serve(market.market().clone(), BASE);
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let (stop, stopped) = oneshot::channel();
        let served = tokio::spawn(async move {
            let stopped = async { stopped.await.unwrap_or_default() };
            web::serve(app, listener, &settings.server, watch::Sender::default(), stopped).await.unwrap();
        });
        Server { market, address, key, stop: Some(stop), served }
    }

    /// Sends a GET request, and returns the head of the response and the reader of the body.
    async fn get(&self, path: &str, headers: &str) -> (String, BufReader<OwnedReadHalf>) {
        self.request(&format!("GET {path} HTTP/1.1\r\nauthorization: Bearer {}\r\n{headers}", self.key), "")
            .await
    }

    async fn request(&self, head: &str, body: &str) -> (String, BufReader<OwnedReadHalf>) {
        let (reader, mut writer) = TcpStream::connect(&self.address).await.unwrap().into_split();
        let request = format!("{head}host: {}\r\n\r\n{body}", self.address);
        writer.write_all(request.as_bytes()).await.unwrap();
        // Closing this half would look like the end of the client.
        writer.forget();
        let mut reader = BufReader::new(reader);
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            assert!(reader.read_line(&mut head).await.unwrap() > 0, "{head}");
        }
        (head, reader)
    }

    async fn open(&self, headers: &str) -> Stream {
        let headers = format!("accept: text/event-stream\r\naccept-encoding: gzip\r\n{headers}");
        let (head, reader) = self.get("/operator/v1/events?cursor=now", &headers).await;
        assert!(head.starts_with("HTTP/1.1 200"), "{head}");
        Stream { head, reader }
    }
}

/// A stream that a client reads.
struct Stream {
    head: String,
    reader: BufReader<OwnedReadHalf>,
}

impl Stream {
    /// Returns the next event: its ID, its type, and its JSON; `None` at the end of the stream.
    async fn next(&mut self) -> Option<(String, String, Value)> {
        let (mut id, mut kind) = (String::new(), String::new());
        loop {
            let mut line = String::new();
            if self.reader.read_line(&mut line).await.unwrap() == 0 || line == "0\r\n" {
                return None;
            }
            // Lines of the chunked coding have no colon.
            match line.trim().split_once(": ") {
                Some(("id", value)) => value.clone_into(&mut id),
                Some(("event", value)) => value.clone_into(&mut kind),
                Some(("data", value)) => return Some((id, kind, serde_json::from_str(value).unwrap())),
                _ => {}
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn events_arrive_with_the_request_that_caused_them() {
    let server = Server::start();
    let mut stream = server.open("").await;
    let head = stream.head.to_lowercase();
    assert!(
        head.contains("content-type: text/event-stream\r\n")
            && head.contains("transfer-encoding: chunked\r\n")
    );
    for name in ["etag", "content-encoding", "content-length"] {
        assert!(!head.contains(&format!("\r\n{name}:")), "{head}");
    }
    let team = r#"{"name": "Tideclock", "roles": ["vendor"], "tier": 1}"#;
    let head = format!(
        "POST /operator/v1/teams HTTP/1.1\r\nauthorization: Bearer {}\r\nx-request-id: of-this-test\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n",
        server.key,
        team.len()
    );
    let (head, _) = server.request(&head, team).await;
    assert!(head.starts_with("HTTP/1.1 201"), "{head}");
    let (id, kind, event) = stream.next().await.unwrap();
    assert_eq!((kind.as_str(), &event["type"]), ("team.created", &Value::from("team.created")));
    assert_eq!(
        (event["id"].as_str(), event["request_id"].as_str()),
        (Some(id.as_str()), Some("of-this-test"))
    );
    assert_eq!(
        (&event["subject"]["kind"], &event["subject"]["id"]),
        (&Value::from("team"), &event["data"]["team_id"])
    );
    operator_document().assert_matches("MarketEvent", &event);
    // A page has the same event.
    let (_, mut reader) = server.get("/operator/v1/events?types=team.created", "connection: close\r\n").await;
    let mut page = String::new();
    reader.read_to_string(&mut page).await.unwrap();
    assert_eq!(serde_json::from_str::<Value>(&page).unwrap()["items"][0], event);
    // A client that connects again continues after its last event.
    append(&server.market, 2);
    let mut again = server.open(&format!("last-event-id: {id}\r\n")).await;
    for _ in 0..2 {
        assert_eq!(again.next().await, stream.next().await);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn streams_have_places_of_their_own() {
    let server = Server::start();
    let mut streams = Vec::new();
    for _ in 0..STREAMS {
        streams.push(server.open("").await);
    }
    let (head, _) = server.get("/operator/v1/events", "accept: text/event-stream\r\n").await;
    assert!(head.starts_with("HTTP/1.1 503") && head.to_lowercase().contains("retry-after: 5\r\n"), "{head}");
    let (head, _) = server.get("/operator/v1/events", "").await;
    assert!(head.starts_with("HTTP/1.1 200"), "a request in progress needs no place of a stream: {head}");
    let (head, _) = server
        .request(
            &format!("HEAD /operator/v1/events HTTP/1.1\r\nauthorization: Bearer {}\r\n", server.key),
            "",
        )
        .await;
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    append(&server.market, 1);
    for stream in &mut streams {
        assert!(stream.next().await.is_some());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn client_that_reads_nothing_delays_nobody() {
    let server = Server::start();
    let (_slow, mut fast) = (server.open("").await, server.open("").await);
    // More than the buffers of a connection have room for.
    for _ in 0..40 {
        append(&server.market, 500);
        for _ in 0..500 {
            assert!(fast.next().await.is_some());
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn streams_end_when_the_server_stops() {
    let mut server = Server::start();
    let mut streams = [server.open("").await, server.open("").await];
    server.stop.take().unwrap().send(()).unwrap();
    for stream in &mut streams {
        assert_eq!(stream.next().await, None);
    }
    server.served.await.unwrap();
}
