//! Requests with an idempotency key that are sent several times and executed once.

use futures_util::future::join_all;
use serde_json::{Value, json};

use super::seller_market::{OTHER, SELLER, complete_codebase, empty_market, seller_get};
use crate::harness::{TestMarket, TestResponse};

async fn post(market: &TestMarket, key: &str, path: &str, body: &Value, idempotency: &str) -> TestResponse {
    market.call_with(key, "POST", path, body, &[("idempotency-key", idempotency)]).await
}

#[tokio::test]
async fn repeated_request_returns_the_stored_response() {
    let market = empty_market();
    let first = post(&market, SELLER, "/v2/codebases", &complete_codebase(), "k1").await;
    let repeated = post(&market, SELLER, "/v2/codebases", &complete_codebase(), "k1").await;
    assert_eq!((repeated.status, &repeated.bytes), (201, &first.bytes));
    assert_eq!(seller_get(&market, "codebases").await["total"], 1);
    // The same key with another body is rejected. Another key, route, or team makes it a separate request.
    let other =
        post(&market, SELLER, "/v2/codebases", &json!({"title": "T", "exclusivity": "available"}), "k1")
            .await;
    assert_eq!(other.problems(), ["header.Idempotency-Key idempotency_key_reused"]);
    post(&market, SELLER, "/v2/codebases", &complete_codebase(), "k2").await.expect_status(201);
    post(&market, SELLER, "/v2/asset-groups", &json!({"name": "G"}), "k1").await.expect_status(201);
    post(&market, OTHER, "/v2/codebases", &complete_codebase(), "k1").await.expect_status(201);
    assert_eq!(seller_get(&market, "codebases").await["total"], 2);
    // The key can be used again after 24 hours.
    market.clock().advance(86_400_000_000);
    post(&market, SELLER, "/v2/codebases", &complete_codebase(), "k1").await.expect_status(201);
    assert_eq!(seller_get(&market, "codebases").await["total"], 3);
}

#[tokio::test]
async fn error_response_is_not_stored() {
    let market = empty_market();
    let group = json!({"name": "G"});
    post(&market, SELLER, "/v2/asset-groups", &group, "a").await.expect_status(201);
    assert_eq!(post(&market, SELLER, "/v2/asset-groups", &group, "b").await.expect_error(409), "conflict");
    let groups = seller_get(&market, "asset-groups").await["groups"].clone();
    let created = groups.as_array().unwrap().iter().find(|group| group["name"] == "G").unwrap();
    let path = format!("/v2/asset-groups/{}", created["id"].as_str().unwrap());
    market.call(SELLER, "DELETE", &path, &Value::Null).await.expect_status(204);
    post(&market, SELLER, "/v2/asset-groups", &group, "b").await.expect_status(201);
}

#[tokio::test]
async fn malformed_key_is_rejected() {
    let market = empty_market();
    let long = "k".repeat(256);
    for key in ["", "two words", &long, "schlüssel"] {
        let response = post(&market, SELLER, "/v2/codebases", &complete_codebase(), key).await;
        assert_eq!(response.problems(), ["header.Idempotency-Key value_error"], "{key:?}");
    }
    post(&market, SELLER, "/v2/codebases", &complete_codebase(), &long[1..]).await.expect_status(201);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_repeats_are_executed_once() {
    let market = empty_market();
    let body = complete_codebase();
    let responses = join_all((0..12).map(|_| post(&market, SELLER, "/v2/codebases", &body, "k"))).await;
    let created: Vec<&TestResponse> = responses.iter().filter(|response| response.status == 201).collect();
    assert!(!created.is_empty() && created.iter().all(|response| response.bytes == created[0].bytes));
    for response in responses.iter().filter(|response| response.status != 201) {
        assert_eq!(response.expect_error(409), "idempotency_in_flight");
    }
    assert_eq!(seller_get(&market, "codebases").await["total"], 1);
}
