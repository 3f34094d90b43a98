//! While fixture keys are accepted, nothing is answered to requests for other hosts, or from pages of other origins.

use std::net::SocketAddr;

use poem::http::Method;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use super::cases::{BUYER, OPERATOR};
use crate::harness::{TestMarket, TestResponse, demo, documents::documents};

/// Paths that are not operations: pages, documents, files, the agent server, worlds, and unknown ones.
const OTHER_PATHS: [&str; 12] = [
    "/",
    "/vendor/docs",
    "/operator/openapi.json",
    "/sandbox/docs",
    "/v2/mcp/",
    "/v2/mcp/server-card",
    "/.well-known/mcp/catalog.json",
    "/v2/blobs/uploads/6f1f2f9e-0c5b-4a55-8f43-6f2d1f0e9a11/1",
    "/v2/blobs/bundles/6f1f2f9e-0c5b-4a55-8f43-6f2d1f0e9a11",
    "/w/example/v2/wallet",
    "/w/none/v2/wallet",
    "/nowhere",
];

/// A preflight request of a browser.
const PREFLIGHT: (&str, &str) = ("access-control-request-method", "POST");

fn assert_refused(response: &TestResponse, status: u16, code: &str, what: &str) {
    assert_eq!((response.status, response.expect_error(status).as_str()), (status, code), "{what}");
    assert!(!response.header("x-request-id").is_empty(), "{what}");
    assert_eq!(response.header("access-control-allow-origin"), "", "{what}");
}

#[tokio::test]
async fn every_route_checks_host_and_origin() {
    let operations = documents().iter().flat_map(|document| {
        let operations = document.operations().iter();
        operations
            .map(|operation| (operation.method.as_str().to_owned(), operation.path.replace(['{', '}'], "")))
    });
    let others = OTHER_PATHS.iter().flat_map(|path| {
        ["GET", "POST", "PUT", "OPTIONS", "HEAD"].map(|method| (method.to_owned(), (*path).to_owned()))
    });
    let mut count = 0;
    for (method, path) in operations.chain(others) {
        let what = format!("{method} {path}");
        let method = Method::from_bytes(method.as_bytes()).unwrap();
        let send = async |headers: &[(&str, &str)]| {
            let key = ("x-api-key", OPERATOR);
            let response =
                demo().send(method.clone(), &path, &[headers, &[key, PREFLIGHT][..]].concat()).await;
            // The response to HEAD has no body.
            if method == Method::HEAD { (response.status, None) } else { (response.status, Some(response)) }
        };
        for (headers, status, code) in [
            (&[("host", "evil.example")][..], 421, "bad_request"),
            (&[("host", "evil.example"), ("origin", "http://evil.example")], 421, "bad_request"),
            (&[("host", "localhost"), ("origin", "http://evil.example")], 403, "forbidden"),
            (&[("host", "localhost"), ("origin", "null")], 403, "forbidden"),
        ] {
            let (actual, response) = send(headers).await;
            assert_eq!(actual, status, "{what}");
            if let Some(response) = response {
                assert_refused(&response, status, code, &what);
            }
        }
        // Requests that are not refused could change the market, or the journal of its world, which other tests read.
        if method == Method::GET && !path.starts_with("/w/") {
            let (status, _) = send(&[("host", "localhost:9000"), ("origin", "http://localhost:9000")]).await;
            assert_ne!(status, 421, "{what}");
        }
        count += 1;
    }
    assert!(count > 200, "{count} operations and paths");
}

/// Without fixture keys, only worlds and the agent server refuse other hosts: worlds have fixture keys of their own.
#[tokio::test(flavor = "multi_thread")]
async fn worlds_check_host_and_origin_also_if_the_server_does_not() {
    let market = TestMarket::with_settings(|settings| {
        settings.keys.allow_fixture_keys = false;
        settings.server.trusted_hosts = vec!["shop".to_owned()];
    });
    let new = marketplace::worlds::NewWorld { name: Some("one".to_owned()), ..Default::default() };
    let world = market.worlds().create(&new, None).unwrap();
    let key = ("x-api-key", "mkt_demo_operator");
    for (path, host, origin, status) in [
        ("/v2/wallet", "evil.example", "http://evil.example", 401),
        ("/vendor/docs", "evil.example", "http://evil.example", 200),
        ("/w/one/operator/v1/teams", "evil.example", "http://localhost", 421),
        ("/w/one/operator/v1/teams", "localhost", "http://evil.example", 403),
        ("/w/one/operator/v1/teams", "localhost:9000", "http://localhost:9000", 200),
        ("/w/one/operator/v1/teams", "shop:9000", "http://shop:9000", 200),
        ("/w/two/operator/v1/teams", "evil.example", "http://localhost", 421),
        ("/w/two/operator/v1/teams", "localhost", "http://localhost", 404),
    ] {
        let response = market.send(Method::GET, path, &[key, ("host", host), ("origin", origin)]).await;
        assert_eq!(response.status, status, "{path} {host} {origin}");
        assert!(!response.header("x-request-id").is_empty(), "{path} {host} {origin}");
    }
    let journal = world.journal().list(0, 10, |_| true);
    assert_eq!(journal.entries.len(), 2, "requests that are refused are in no journal");
}

/// Sends a request as these lines, and returns the status of the response.
async fn status_of(address: SocketAddr, lines: &[&str]) -> u16 {
    let mut socket = TcpStream::connect(address).await.unwrap();
    let head = format!("{}\r\nConnection: close\r\n\r\n", lines.join("\r\n"));
    socket.write_all(head.as_bytes()).await.unwrap();
    let mut response = String::new();
    socket.read_to_string(&mut response).await.unwrap();
    response.split(' ').nth(1).unwrap().parse().unwrap()
}

/// Every form in which a request can name its host, over a connection.
#[tokio::test(flavor = "multi_thread")]
async fn host_is_checked_in_every_form_of_a_request() {
    let market = TestMarket::demo();
    let (address, _stop) = market.listen();
    let port = address.port();
    let key = format!("X-API-Key: {BUYER}");
    let local = format!("Host: 127.0.0.1:{port}");
    let absolute = format!("GET http://127.0.0.1:{port}/v2/wallet HTTP/1.1");
    for (lines, status) in [
        (&["GET /v2/wallet HTTP/1.1", &key, &local][..], 200),
        (&["GET /v2/wallet HTTP/1.1", &key, "Host: LocalHost"], 200),
        (&["GET /v2/wallet HTTP/1.1", &key, "Host: [::1]:9"], 200),
        (&["GET /v2/wallet HTTP/1.1", &key, "Host: evil.example"], 421),
        (&["GET /v2/wallet HTTP/1.1", &key, &format!("Host: evil.example:{port}")], 421),
        (&["GET /v2/wallet HTTP/1.1", &key, "Host: 0.0.0.0"], 421),
        (&["GET /v2/wallet HTTP/1.1", &key, "Host:"], 400),
        (&["GET /v2/wallet HTTP/1.1", &key], 400),
        (&["GET /v2/wallet HTTP/1.1", &key, &local, "Host: evil.example"], 400),
        (&["GET /v2/wallet HTTP/1.1", &key, "Host: evil.example", &local], 400),
        (&[absolute.as_str(), &key, &local], 200),
        (&["GET http://evil.example/v2/wallet HTTP/1.1", &key, "Host: evil.example"], 421),
        (&["GET http://evil.example/v2/wallet HTTP/1.1", &key, &local], 400),
        (&["GET /v2/wallet HTTP/1.0", &key], 200),
        (&["GET /v2/wallet HTTP/1.0", &key, "Host: evil.example"], 421),
        (&["GET http://evil.example/v2/wallet HTTP/1.0", &key], 421),
        (&["GET /v2/wallet HTTP/1.1", &key, &local, "Origin: http://evil.example"], 403),
        (&["GET /v2/wallet HTTP/1.1", &key, &local, "Origin: http://localhost", "Origin: null"], 403),
        (&["OPTIONS /v2/wallet HTTP/1.1", "Host: evil.example", "Access-Control-Request-Method: GET"], 421),
    ] {
        assert_eq!(status_of(address, lines).await, status, "{lines:?}");
    }
}

/// A page that has its name resolve to this machine can neither act as an operator nor have a webhook read for it.
#[tokio::test]
async fn page_of_another_host_cannot_act_as_operator() {
    let market = TestMarket::demo();
    let body = json!({"url": "http://127.0.0.1:9/internal", "event_types": ["team.created"]});
    let page = [("host", "rebound.example:8080"), ("origin", "http://rebound.example:8080")];
    let list = async || market.call(OPERATOR, "GET", "/operator/v1/webhooks", &Value::Null).await.ok();
    let before = list().await;
    let key = [("x-api-key", OPERATOR), ("content-type", "application/json")];
    let headers = [&page[..], &key].concat();
    let refused = market.send_body(Method::POST, "/operator/v1/webhooks", &headers, body.to_string()).await;
    assert_eq!(refused.expect_error(421), "bad_request");
    assert_eq!(list().await["items"], before["items"]);
}
