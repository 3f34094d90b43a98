//! Faults of connections: cuts, delays, and responses that stall, over TCP.

use std::net::SocketAddr;

use serde_json::{Value, json};

use super::{BUYER, OPERATOR, add, create_world, list, sandbox};
use crate::{
    harness::TestMarket,
    worlds::tcp::{Client, Server, content_length, header},
};

/// Number of responses that stall at the same time in the largest test.
const STALLS: usize = 256;

/// Returns the names of the teams of the world `one`.
async fn team_names(market: &TestMarket) -> Vec<String> {
    let page = market.get(OPERATOR, "/w/one/operator/v1/teams?limit=100").await.ok();
    page["items"].as_array().unwrap().iter().map(|team| team["name"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn connection_is_cut_before_in_the_head_and_in_the_body() {
    let server = Server::start().await;
    let mut other = server.connect().await;
    other.send("GET", "/w/one/v2/wallet", BUYER, "", "").await;
    let whole = other.head().await;
    let length = content_length(&whole);
    let body = other.body(length).await;
    for cut in ["before", "headers", "body"] {
        add(&server.market, json!({"operation": "get_wallet", "next": 1}), json!({"cut": cut})).await;
    }
    assert_eq!(server.get_until_closed("/w/one/v2/wallet").await, "");
    // The second fault has seen the first request, too.
    sandbox(&server.market, "DELETE", "one/faults", Value::Null).await.expect_status(204);
    add(&server.market, json!({"operation": "get_wallet", "nth": 1}), json!({"cut": "headers"})).await;
    add(&server.market, json!({"operation": "get_wallet", "nth": 2}), json!({"cut": "body"})).await;
    let head = server.get_until_closed("/w/one/v2/wallet").await;
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n") && !head.contains("\r\n\r\n"), "{head}");
    assert!((whole.len() / 3..whole.len()).contains(&head.len()), "{head}");
    let cut = server.get_until_closed("/w/one/v2/wallet").await;
    let (head, part) = cut.split_once("\r\n\r\n").unwrap();
    assert!(head.contains("x-sandbox-fault: fault-5"), "{head}");
    assert_eq!((content_length(&head.to_lowercase()), part), (length, &body[..length / 2]));
    // Other connections, and later requests, are not affected.
    other.send("GET", "/w/one/v2/wallet", BUYER, "", "").await;
    let head = other.head().await;
    assert!(head.starts_with("http/1.1 200") && !head.contains("x-sandbox-fault"), "{head}");
    assert_eq!(other.body(length).await, body);
}

#[tokio::test(flavor = "multi_thread")]
async fn response_without_a_body_is_cut_in_its_head() {
    let server = Server::start().await;
    add(&server.market, json!({"operation": "get_wallet"}), json!({"cut": "body"})).await;
    let mut client = server.connect().await;
    client.send("HEAD", "/w/one/v2/wallet", BUYER, "", "").await;
    let head = client.rest().await;
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n") && !head.contains("\r\n\r\n"), "{head}");
}

#[tokio::test(flavor = "multi_thread")]
async fn cut_before_executes_nothing_and_cut_after_write_executes_once() {
    let server = Server::start().await;
    let post = async |name: &str| {
        let team = json!({"name": name, "roles": ["buyer"], "tier": 1}).to_string();
        let mut client = server.connect().await;
        let headers = format!("idempotency-key: {name}\r\nconnection: close\r\n");
        client.send("POST", "/w/one/operator/v1/teams", OPERATOR, &headers, &team).await;
        client.rest().await
    };
    add(&server.market, json!({"operation": "create_team", "nth": 1}), json!({"cut": "before"})).await;
    add(&server.market, json!({"operation": "create_team", "nth": 2}), json!({"cut": "after_write"})).await;
    assert_eq!(post("First").await, "");
    assert!(!team_names(&server.market).await.contains(&"First".to_owned()));
    assert_eq!(post("Second").await, "");
    assert!(team_names(&server.market).await.contains(&"Second".to_owned()));
    // The same key and body get the response that was lost, and no second team.
    for name in ["Second", "First"] {
        assert!(post(name).await.starts_with("HTTP/1.1 201"), "{name}");
        let count = team_names(&server.market).await.iter().filter(|other| *other == name).count();
        assert_eq!(count, 1, "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn delay_holds_up_no_other_request_and_ends_with_the_world() {
    let server = Server::start().await;
    let then = json!({"status": 503, "code": "at_capacity", "delay_ms": [60_000, 60_000]});
    add(&server.market, json!({"operation": "get_wallet", "nth": 1}), then).await;
    let mut delayed = server.connect().await;
    delayed.send("GET", "/w/one/v2/wallet", BUYER, "", "").await;
    while list(&server.market).await[0]["used"] == 0 {
        tokio::task::yield_now().await;
    }
    let mut other = server.connect().await;
    other.send("GET", "/w/one/v2/wallet", BUYER, "", "").await;
    assert!(other.head().await.starts_with("http/1.1 200"));
    let mut byte = [0];
    assert!(delayed.stream.try_read(&mut byte).is_err(), "nothing was sent yet");
    sandbox(&server.market, "POST", "one/reset", Value::Null).await.ok();
    assert!(delayed.head().await.starts_with("http/1.1 503"));
    // A short delay ends by itself.
    add(&server.market, json!({"operation": "get_wallet"}), json!({"delay_ms": [1, 5]})).await;
    other.body(other.received.len()).await;
    let mut again = server.connect().await;
    again.send("GET", "/w/one/v2/wallet", BUYER, "", "").await;
    assert!(again.head().await.contains("x-sandbox-fault: fault-1"));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_waits_in_a_world_ends_when_it_is_deleted() {
    let server = Server::start().await;
    add(&server.market, json!({"operation": "get_wallet"}), json!({"delay_ms": 60_000})).await;
    let mut delayed = server.connect().await;
    delayed.send("GET", "/w/one/v2/wallet", BUYER, "", "").await;
    let mut stream = server.connect().await;
    let headers = "accept: text/event-stream\r\n";
    stream.send("GET", "/w/one/operator/v1/events?cursor=now", OPERATOR, headers, "").await;
    assert!(stream.head().await.starts_with("http/1.1 200"));
    let mut waiting = server.connect().await;
    waiting.send("GET", "/sandbox/v1/worlds/one/webhooks?wait=60s", OPERATOR, "", "").await;
    while list(&server.market).await[0]["used"] == 0 || held_requests(&server.market).await != 2 {
        tokio::task::yield_now().await;
    }
    sandbox(&server.market, "DELETE", "one", Value::Null).await.expect_status(204);
    let head = waiting.head().await;
    assert!(head.starts_with("http/1.1 404"), "{head}");
    assert!(waiting.body(content_length(&head)).await.contains("world_not_found"));
    // It was executed before.
    assert!(delayed.head().await.starts_with("http/1.1 200"));
    assert!(!stream.rest().await.contains("event: "));
}

/// Returns the number of requests that are held open.
async fn held_requests(market: &TestMarket) -> u64 {
    let text = String::from_utf8(market.get(OPERATOR, "/metrics").await.bytes).unwrap();
    let mut lines = text.lines();
    let value = lines.find_map(|line| line.strip_prefix(r#"marketplace_used_slots{limit="held_requests"} "#));
    value.unwrap().parse::<f64>().unwrap() as u64
}

#[tokio::test(flavor = "multi_thread")]
async fn slow_body_is_complete() {
    let server = Server::start().await;
    let mut client = server.connect().await;
    client.send("GET", "/w/one/v2/wallet", BUYER, "", "").await;
    let length = content_length(&client.head().await);
    let body = client.body(length).await;
    let then = json!({"body_bytes_per_second": 10_000});
    add(&server.market, json!({"operation": "get_wallet"}), then).await;
    client.send("GET", "/w/one/v2/wallet", BUYER, "", "").await;
    assert_eq!(content_length(&client.head().await), length);
    assert_eq!(client.body(length).await, body);
}

#[tokio::test(flavor = "multi_thread")]
async fn responses_and_streams_stall_until_the_world_is_reset() {
    let server = Server::start().await;
    add(&server.market, json!({}), json!({"stall": true})).await;
    let mut client = server.connect().await;
    client.send("GET", "/w/one/v2/wallet", BUYER, "", "").await;
    let length = content_length(&client.head().await);
    client.body(length / 2).await;
    let mut stream = server.connect().await;
    let accept = "accept: text/event-stream\r\n";
    stream.send("GET", "/w/one/operator/v1/events?cursor=now", OPERATOR, accept, "").await;
    assert!(stream.head().await.contains("content-type: text/event-stream"));
    // The first part of the stream, in the chunked coding.
    assert!(stream.body(10).await.contains("retry"));
    let mut bodiless = server.connect().await;
    bodiless.send("HEAD", "/w/one/v2/wallet", BUYER, "", "").await;
    while list(&server.market).await[0]["used"] != 3 {
        tokio::task::yield_now().await;
    }
    sandbox(&server.market, "POST", "one/reset", Value::Null).await.ok();
    assert_eq!(client.rest().await, "");
    assert!(!stream.rest().await.contains("event: "));
    assert_eq!(bodiless.rest().await, "");
}

#[tokio::test(flavor = "multi_thread")]
async fn stalled_responses_have_places_of_their_own() {
    let market = TestMarket::demo_with_settings(|settings| {
        settings.limits.held_per_principal = STALLS as u32;
        settings.limits.held = STALLS as u32;
        settings.server.max_connections_per_address = 0;
        settings.server.max_idle_connections_per_address = 0;
    });
    create_world(&market, json!({"name": "one"})).await;
    let server = Server::serve(market);
    add(&server.market, json!({"operation": "get_wallet"}), json!({"stall": true})).await;
    let mut stalled = Vec::new();
    for _ in 0..STALLS {
        let mut client = server.connect().await;
        client.send("GET", "/w/one/v2/wallet", BUYER, "", "").await;
        assert!(client.head().await.starts_with("http/1.1 200"));
        stalled.push(client);
    }
    let mut one_more = server.connect().await;
    one_more.send("GET", "/w/one/v2/wallet", BUYER, "", "").await;
    assert!(one_more.head().await.starts_with("http/1.1 503"));
    for path in ["/w/one/v2/listings/browse/categories", "/v2/wallet", "/w/one/v2/listings/browse"] {
        let status = server.market.get(BUYER, path).await.status;
        assert!([200, 404, 422].contains(&status), "{path} {status}");
    }
    // A place is free when its client has left.
    stalled.pop();
    loop {
        let mut client = server.connect().await;
        client.send("GET", "/w/one/v2/wallet", BUYER, "", "").await;
        if client.head().await.starts_with("http/1.1 200") {
            break;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn own_port_of_a_world_has_its_faults() {
    let server = Server::serve(TestMarket::demo());
    let world = create_world(&server.market, json!({"name": "one", "port": true})).await;
    add(&server.market, json!({"path": "/v2/wallet", "nth": 1}), json!({"status": 429})).await;
    add(&server.market, json!({"path": "/v2/wallet", "nth": 2}), json!({"cut": "before"})).await;
    let port = world["port_url"].as_str().unwrap().rsplit(':').next().unwrap().parse().unwrap();
    let address = SocketAddr::new(server.address.ip(), port);
    let mut client = Client::connect(address).await;
    client.send("GET", "/v2/wallet", BUYER, "", "").await;
    let head = client.head().await;
    assert!(head.starts_with("http/1.1 429") && header(&head, "x-sandbox-fault") == "fault-1", "{head}");
    client.body(content_length(&head)).await;
    client.send("GET", "/v2/wallet", BUYER, "", "").await;
    assert_eq!(client.rest().await, "");
}
