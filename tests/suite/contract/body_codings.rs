//! Content codings of request bodies: gzip is decoded within the limits of each body, and others are refused.

use poem::http::Method;
use serde_json::{Value, json};

use super::cases::{BUYER, VENDOR};
use crate::harness::{TestMarket, TestResponse, archives::gzip};

const OPERATOR: &str = "mkt_demo_operator";

async fn send(market: &TestMarket, key: &str, path: &str, coding: &str, body: Vec<u8>) -> TestResponse {
    let headers = [
        ("host", "market.test"),
        ("x-api-key", key),
        ("content-type", "application/json"),
        ("content-encoding", coding),
    ];
    market.send_body(Method::POST, path, &headers, body).await
}

#[tokio::test]
async fn gzip_is_decoded_for_every_api() {
    let market = TestMarket::demo();
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    for (key, path, body, status) in [
        (VENDOR, "/v2/asset-groups", json!({"name": "Scans"}), 201),
        (OPERATOR, "/operator/v1/domains", json!({"slug": "tides", "label": "Tides"}), 201),
        (OPERATOR, "/sandbox/v1/worlds", json!({"name": "coded"}), 201),
        (BUYER, "/v2/mcp/", list, 200),
    ] {
        for coding in ["br", "zstd", "deflate", "gzip, gzip", "compress"] {
            let refused = send(&market, key, path, coding, body.to_string().into_bytes()).await;
            assert_eq!(refused.expect_error(415), "bad_request", "{path} {coding}");
            assert_eq!(refused.header("accept-encoding"), "gzip", "{path} {coding}");
        }
        let not_gzip = send(&market, key, path, "gzip", body.to_string().into_bytes()).await;
        assert_eq!(not_gzip.expect_error(400), "bad_request", "{path}");
        let response = send(&market, key, path, "gzip", gzip(body.to_string().as_bytes())).await;
        response.expect_status(status);
    }
    let groups = market.get(VENDOR, "/v2/asset-groups").await.ok();
    assert_eq!(groups.to_string().matches("\"Scans\"").count(), 1);
}

#[tokio::test]
async fn credentials_come_before_codings() {
    let market = TestMarket::demo();
    for (key, status, code) in
        [("mkt_unknown", 401, "unauthorized"), (BUYER, 403, "marketplace_role_required")]
    {
        let refused = send(&market, key, "/v2/asset-groups", "br", b"{}".to_vec()).await;
        assert_eq!(refused.expect_error(status), code);
    }
    let absent = send(&market, VENDOR, "/v2/nothing", "br", b"{}".to_vec()).await;
    assert_eq!(absent.status, 404);
    let without_body = send(&market, VENDOR, "/v2/asset-groups", "br", Vec::new()).await;
    assert_ne!(without_body.status, 415);
}

#[tokio::test]
async fn limits_apply_to_the_decoded_body() {
    let market = TestMarket::demo();
    let name = json!({"name": "x".repeat(64 << 20)}).to_string();
    let body = gzip(name.as_bytes());
    assert!(body.len() < 100_000);
    for path in ["/v2/asset-groups", "/v2/codebases/batch"] {
        let refused = send(&market, VENDOR, path, "gzip", body.clone()).await;
        assert_eq!(refused.expect_error(413), "payload_too_large", "{path}");
    }
    let spaces = format!("{}{}", " ".repeat(64 << 20), json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}));
    let refused = send(&market, BUYER, "/v2/mcp/", "gzip", gzip(spaces.as_bytes())).await;
    assert_eq!(refused.status, 413);
}

/// A client that compresses a retry has sent the same body.
#[tokio::test]
async fn idempotency_keys_compare_decoded_bodies() {
    let market = TestMarket::demo();
    let body = json!({"name": "Scans"}).to_string().into_bytes();
    let mut ids: Vec<Value> = Vec::new();
    for (coding, body) in [("identity", body.clone()), ("gzip", gzip(&body))] {
        let headers = [
            ("x-api-key", VENDOR),
            ("content-type", "application/json"),
            ("content-encoding", coding),
            ("idempotency-key", "one"),
        ];
        let response = market.send_body(Method::POST, "/v2/asset-groups", &headers, body).await;
        ids.push(response.expect_status(201)["id"].clone());
    }
    assert_eq!(ids[0], ids[1]);
}
