//! Request bodies that never arrive or arrive slowly, and large responses.

use marketplace::{domain::principals::PrincipalKind, rest::APIS};
use poem::{Body, http::Method};
use serde_json::{Value, json};
use tokio::{io::AsyncWriteExt, time::Instant};

use super::cases::{BUYER, VENDOR};
use crate::harness::{TestMarket, TestResponse, documents::documents};

const JSON: (&str, &str) = ("content-type", "application/json");

/// Sends a request whose body never arrives, and checks that the response does not wait for it.
async fn send_without_body(market: &TestMarket, method: &str, path: &str, key: &str) -> TestResponse {
    let (_sender, receiver) = tokio::io::duplex(64);
    let start = Instant::now();
    let headers = [("host", "market.test"), ("x-api-key", key), JSON];
    let method = Method::from_bytes(method.as_bytes()).unwrap();
    let response = market.send_body(method, path, &headers, Body::from_async_read(receiver)).await;
    assert_eq!(start.elapsed().as_secs(), 0, "{path} waits for the body");
    response
}

fn demo_market() -> TestMarket {
    TestMarket::demo()
}

#[tokio::test(start_paused = true)]
async fn credentials_role_and_query_are_checked_before_the_body() {
    let market = demo_market();
    let operations = APIS
        .iter()
        .zip(documents())
        .flat_map(|(api, document)| document.operations().iter().map(move |operation| (api, operation)));
    for (api, operation) in operations {
        let (method, path) = (operation.method.as_str(), operation.path.replace(['{', '}'], ""));
        if !["POST", "PUT", "PATCH"].contains(&method) {
            continue;
        }
        let id = "6f1f2f9e-0c5b-4a55-8f43-6f2d1f0e9a11";
        let path = path.split('/').map(|step| match step {
            "job_id" => "7",
            step if step.ends_with("_id") => id,
            step => step,
        });
        let path = path.collect::<Vec<_>>().join("/");
        let unknown = send_without_body(&market, method, &path, "mkt_unknown").await;
        assert_eq!(unknown.expect_error(401), "unauthorized", "{path}");
        let no_nda = send_without_body(&market, method, &path, "mkt_demo_no_nda").await;
        assert_eq!(no_nda.status, 403, "{path}");
        let buyer = send_without_body(&market, method, &path, BUYER).await;
        let code = match api.keys {
            PrincipalKind::Team => "marketplace_role_required",
            PrincipalKind::Operator => "operator_required",
        };
        assert_eq!(buyer.expect_error(403), code, "{path}");
        let invalid = send_without_body(&market, method, &format!("{path}?no_such=1"), api.demo_key).await;
        assert_eq!(invalid.problems(), ["query.no_such extra_forbidden"], "{path}");
    }
}

#[tokio::test(start_paused = true)]
async fn clients_without_a_key_hold_no_body_slot() {
    let market = TestMarket::demo_with_settings(|settings| settings.limits.bodies = 1);
    let mut senders = Vec::new();
    for _ in 0..300 {
        let (mut sender, receiver) = tokio::io::duplex(64);
        sender.write_all(b"{").await.unwrap();
        let body = Body::from_async_read(receiver);
        let response =
            market.send_body(Method::POST, "/v2/mcp/", &[("host", "market.test"), JSON], body).await;
        assert_eq!(response.expect_status(401)["id"], Value::Null);
        senders.push(sender);
    }
    let created = market.call(VENDOR, "POST", "/v2/asset-groups", &json!({"name": "Scans"})).await;
    assert_eq!(created.status, 201);
}

#[tokio::test(start_paused = true)]
async fn slow_team_cannot_take_the_body_slots_of_others() {
    let market = TestMarket::demo_with_settings(|settings| {
        (settings.limits.bodies, settings.limits.bodies_per_team, settings.limits.bodies_per_address) =
            (8, 2, 0);
    });
    let slow = async || {
        let (mut sender, receiver) = tokio::io::duplex(64);
        let headers = [("x-api-key", VENDOR), JSON];
        let body = Body::from_async_read(receiver);
        let response = market.send_body(Method::POST, "/v2/asset-groups", &headers, body);
        // One byte now and then does not keep the slot.
        let send = async {
            while sender.write_all(b" ").await.is_ok() {
                tokio::time::sleep(std::time::Duration::from_secs(1)).await;
            }
            std::future::pending::<()>().await;
        };
        tokio::select! {
            response = response => response,
            () = send => unreachable!(),
        }
    };
    let start = Instant::now();
    let honest = async {
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        let rejected = market.call(VENDOR, "POST", "/v2/asset-groups", &json!({"name": "Scans"})).await;
        assert_eq!(rejected.expect_error(503), "at_capacity");
        let other = market.call("mkt_demo_both", "POST", "/v2/asset-groups", &json!({"name": "Scans"})).await;
        assert_eq!(other.status, 201);
    };
    let (first, second, ()) = tokio::join!(slow(), slow(), honest);
    assert_eq!((first.expect_error(408), second.expect_error(408)).0, "request_timeout");
    assert_eq!(start.elapsed().as_secs(), 10, "they were too slow in their first window");
    let created = market.call(VENDOR, "POST", "/v2/asset-groups", &json!({"name": "Scans"})).await;
    assert_eq!(created.status, 201);
}

/// All of these come from one address. What a team holds counts for the team, and not for the address that it shares with others.
#[tokio::test(start_paused = true)]
async fn slow_bodies_do_not_reject_neighbors_at_the_same_address() {
    let market = TestMarket::demo_with_settings(|settings| {
        (settings.limits.bodies, settings.limits.bodies_per_team, settings.limits.bodies_per_address) =
            (8, 4, 1);
    });
    for (method, path) in
        [(Method::POST, "/v2/asset-groups"), (Method::GET, "/v2/wallet"), (Method::POST, "/v2/mcp/")]
    {
        let headers = [("host", "market.test"), ("x-api-key", VENDOR), JSON];
        let (senders, slow): (Vec<_>, Vec<_>) = (0..4)
            .map(|_| {
                let (sender, receiver) = tokio::io::duplex(64);
                let body = Body::from_async_read(receiver);
                (sender, market.send_body(method.clone(), path, &headers, body))
            })
            .unzip();
        let body = json!({"name": format!("Scans {method} {path}")});
        let others = async {
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
            let own = market.call(VENDOR, "POST", "/v2/asset-groups", &body).await;
            assert_eq!(own.expect_error(503), "at_capacity", "{path}: the team has its share");
            let neighbor = market.call("mkt_demo_both", "POST", "/v2/asset-groups", &body).await;
            assert_eq!(neighbor.status, 201, "{path}");
            drop(senders);
        };
        tokio::join!(futures_util::future::join_all(slow), others);
        assert_eq!(market.call(VENDOR, "POST", "/v2/asset-groups", &body).await.status, 201, "{path}");
    }
}

/// Some clients send a body with a GET. Nothing works on the request until it has arrived.
#[tokio::test(start_paused = true)]
async fn unwanted_body_holds_no_request_slot_while_it_arrives() {
    let market = TestMarket::demo_with_settings(|settings| {
        (settings.limits.in_flight, settings.limits.queue) = (1, 0);
    });
    let absent = "/v2/asset-groups/6f1f2f9e-0c5b-4a55-8f43-6f2d1f0e9a11";
    for (method, path, status) in
        [(Method::GET, "/v2/wallet", 200), (Method::HEAD, "/v2/wallet", 200), (Method::DELETE, absent, 404)]
    {
        let (mut sender, receiver) = tokio::io::duplex(64);
        let body = Body::from_async_read(receiver);
        let start = Instant::now();
        let slow = market.send_body(method.clone(), path, &[("x-api-key", VENDOR)], body);
        let others = async {
            for key in [VENDOR, "mkt_demo_both"] {
                tokio::time::sleep(std::time::Duration::from_millis(100)).await;
                assert_eq!(market.get(key, "/v2/wallet").await.status, 200, "{method} {key}");
            }
            sender.write_all(b" {}").await.unwrap();
            drop(sender);
        };
        let (response, ()) = tokio::join!(slow, others);
        assert_eq!((response.status, start.elapsed().as_millis()), (status, 200), "{method}");
    }
}

#[tokio::test]
async fn each_operation_bounds_its_body() {
    let market = demo_market();
    let body = json!({"name": "Scans", "x": "x".repeat(200_000)});
    let rejected = market.call(VENDOR, "POST", "/v2/asset-groups", &body).await;
    assert_eq!(rejected.expect_error(413), "payload_too_large");
    let message = rejected.json()["error"]["message"].as_str().unwrap().to_owned();
    assert!(message.contains("at most 6") || message.contains("at most 7"), "{message}");
    let escaped = r#"{"name": "\ud83d\ude00"#.to_owned() + &r"\ud83d\ude00".repeat(119) + "\"}";
    let headers = [("x-api-key", VENDOR), JSON];
    let created = market.send_body(Method::POST, "/v2/asset-groups", &headers, escaped.into_bytes()).await;
    assert_eq!(created.status, 201, "the longest name in its longest form");
}

#[tokio::test]
async fn large_response_is_spooled_with_the_same_semantics() {
    let market = demo_market();
    let item = |number: u64| {
        let columns = json!({"a": format!("{number} {}", "x".repeat(60_000))});
        json!({"title": format!("Large {number}"), "exclusivity": "available", "extra_columns": columns})
    };
    let items: Vec<Value> = (0..100).map(item).collect();
    let created = market.call(VENDOR, "POST", "/v2/codebases/batch", &json!({"items": items})).await;
    assert_eq!(created.expect_status(201)["items"].as_array().unwrap().len(), 100);
    let path = "/v2/codebases?limit=100";
    let plain = market.get(VENDOR, path).await;
    assert!(plain.bytes.len() > 5_000_000);
    assert_eq!(plain.header("content-length"), plain.bytes.len().to_string());
    assert_eq!(plain.ok()["items"].as_array().unwrap().len(), 100);
    let etag = plain.header("etag");
    let key = ("x-api-key", VENDOR);
    let cached = market.send(Method::GET, path, &[key, ("if-none-match", etag)]).await;
    assert_eq!((cached.status, cached.bytes.len(), cached.header("etag")), (304, 0, etag));
    let head = market.send(Method::HEAD, path, &[key]).await;
    assert_eq!((head.bytes.len(), head.header("content-length")), (0, plain.header("content-length")));
    for (coding, decode) in [
        (
            "gzip",
            (|bytes: &[u8]| {
                let mut decoded = Vec::new();
                std::io::Read::read_to_end(&mut flate2::read::GzDecoder::new(bytes), &mut decoded).unwrap();
                decoded
            }) as fn(&[u8]) -> Vec<u8>,
        ),
        ("zstd", |bytes| zstd::decode_all(bytes).unwrap()),
        ("br", |bytes| {
            let mut decoded = Vec::new();
            brotli::BrotliDecompress(&mut &*bytes, &mut decoded).unwrap();
            decoded
        }),
    ] {
        let encoded = market.send(Method::GET, path, &[key, ("accept-encoding", coding)]).await;
        assert_eq!(
            (encoded.header("content-encoding"), encoded.header("etag")),
            (coding, format!("W/{etag}").as_str())
        );
        assert!(encoded.bytes.len() < 1_000_000);
        assert!(decode(&encoded.bytes) == plain.bytes, "{coding}");
    }
}

#[tokio::test]
async fn unread_responses_do_not_take_the_memory_of_others() {
    use poem::{Endpoint, Request};
    let market = TestMarket::demo_with_settings(|settings| settings.limits.memory_mb = 4);
    let columns = json!({"a": "x".repeat(60_000)});
    let item = json!({"title": "Large", "exclusivity": "available", "extra_columns": columns});
    let created = market.call(VENDOR, "POST", "/v2/codebases/batch", &json!({"items": vec![item; 10]})).await;
    assert_eq!(created.status, 201);
    let app = marketplace::mcp::app(market.market().clone(), crate::harness::BASE);
    let get = async |key: &str| {
        let path = "/v2/codebases?limit=10".parse().unwrap();
        app.get_response(Request::builder().uri(path).header("x-api-key", key).finish()).await
    };
    // A response of 0.6 MB, of which a team can hold one in its quarter of 4 MB.
    let unread = get(VENDOR).await;
    assert_eq!(unread.status().as_u16(), 200);
    assert_eq!(get(VENDOR).await.status().as_u16(), 503);
    assert_eq!(get("mkt_demo_both").await.status().as_u16(), 200);
    drop(unread);
    assert_eq!(get(VENDOR).await.status().as_u16(), 200);
}
