//! Faults of worlds: which cases they are for, and what they do.

pub mod answers;
mod connections;
mod others;

use serde_json::{Value, json};

use crate::harness::{TestMarket, TestResponse};

const OPERATOR: &str = "mkt_demo_operator";
pub(super) const BUYER: &str = "mkt_demo_buyer";
const VENDOR: &str = "mkt_demo_vendor";

/// Creates a demo market with a world `one`.
pub(super) async fn market_with_world() -> TestMarket {
    let market = TestMarket::demo();
    create_world(&market, json!({"name": "one"})).await;
    market
}

async fn create_world(market: &TestMarket, body: Value) -> Value {
    market.call(OPERATOR, "POST", "/sandbox/v1/worlds", &body).await.expect_status(201)
}

/// Sends a request to the part of the sandbox API for a world.
async fn sandbox(market: &TestMarket, method: &str, path: &str, body: Value) -> TestResponse {
    market.call(OPERATOR, method, &format!("/sandbox/v1/worlds/{path}"), &body).await
}

/// Adds a fault to the world `one`. Returns it.
async fn add(market: &TestMarket, cases: Value, then: Value) -> Value {
    let body = json!({"match": cases, "then": then});
    sandbox(market, "POST", "one/faults", body).await.expect_status(201)
}

/// Returns the faults of the world `one`.
async fn list(market: &TestMarket) -> Vec<Value> {
    let page = sandbox(market, "GET", "one/faults", Value::Null).await.ok();
    page["items"].as_array().unwrap().clone()
}

/// Advances the clock of the world `one`. Returns the kind and the outcome of each piece of work.
async fn advance(market: &TestMarket, duration: &str) -> Vec<(String, String)> {
    let changed = sandbox(market, "POST", "one/clock", json!({"advance": duration})).await.ok();
    let text = |work: &Value, field: &str| work[field].as_str().unwrap().to_owned();
    let done = changed["done"].as_array().unwrap();
    done.iter().map(|work| (text(work, "kind"), text(work, "outcome"))).collect()
}

/// Returns the statuses of `count` requests for the wallet of the buyer in a world.
async fn wallet_statuses(market: &TestMarket, world: &str, count: usize) -> Vec<u16> {
    let mut statuses = Vec::new();
    for _ in 0..count {
        statuses.push(market.get(BUYER, &format!("/w/{world}/v2/wallet")).await.status);
    }
    statuses
}

const UNAVAILABLE: u16 = 503;

fn unavailable() -> Value {
    json!({"status": 503, "code": "at_capacity"})
}

#[tokio::test(flavor = "multi_thread")]
async fn first_fault_that_matches_takes_effect_and_all_are_counted() {
    let market = market_with_world().await;
    let first = add(&market, json!({"operation": "get_wallet", "nth": 2}), unavailable()).await;
    assert_eq!(first["id"], "fault-1");
    assert_eq!((&first["match"]["nth"], &first["match"]["path"]), (&json!(2), &Value::Null));
    assert_eq!((&first["then"]["code"], &first["then"]["stall"]), (&json!("at_capacity"), &json!(false)));
    add(&market, json!({"path": "/v2/wal*", "next": 3}), json!({"status": 429})).await;
    add(&market, json!({"operation": "list_listings"}), json!({"status": 500})).await;
    assert_eq!(wallet_statuses(&market, "one", 4).await, [429, UNAVAILABLE, 429, 200]);
    // Faults do not apply to preflight requests, and to requests to the server or the sandbox API.
    let preflight = [("origin", "http://localhost:3000"), ("access-control-request-method", "GET")];
    market.send(poem::http::Method::OPTIONS, "/w/one/v2/wallet", &preflight).await;
    assert_eq!(market.get(BUYER, "/v2/wallet").await.status, 200);
    let counts = |fault: &Value| ["seen", "matched", "used"].map(|name| fault[name].as_u64().unwrap());
    let faults = list(&market).await;
    assert_eq!(faults.iter().map(counts).collect::<Vec<_>>(), [[4, 1, 1], [4, 3, 2], [0, 0, 0]]);
    let unmatched = sandbox(&market, "GET", "one/faults?unmatched=true", Value::Null).await.ok();
    assert_eq!(unmatched["items"], json!([faults[2]]));
    // Other worlds have none, and a fork does not get those of its origin.
    create_world(&market, json!({"name": "two", "from": "one"})).await;
    assert_eq!(wallet_statuses(&market, "two", 2).await, [200, 200]);
}

#[tokio::test(flavor = "multi_thread")]
async fn faults_are_deleted_one_by_one_together_and_by_a_reset() {
    let market = market_with_world().await;
    for status in [503, 429, 500] {
        let then =
            json!({"status": status, "code": if status == 503 { json!("at_capacity") } else { Value::Null }});
        add(&market, json!({}), then).await;
    }
    sandbox(&market, "DELETE", "one/faults/fault-1", Value::Null).await.expect_status(204);
    assert_eq!(
        sandbox(&market, "DELETE", "one/faults/fault-1", Value::Null).await.expect_error(404),
        "not_found"
    );
    assert_eq!(wallet_statuses(&market, "one", 1).await, [429]);
    sandbox(&market, "DELETE", "one/faults", Value::Null).await.expect_status(204);
    assert_eq!(wallet_statuses(&market, "one", 1).await, [200]);
    assert_eq!(add(&market, json!({}), unavailable()).await["id"], "fault-4");
    sandbox(&market, "POST", "one/reset", Value::Null).await.ok();
    assert!(list(&market).await.is_empty());
    assert_eq!(wallet_statuses(&market, "one", 1).await, [200]);
    assert_eq!(add(&market, json!({}), unavailable()).await["id"], "fault-1");
    for _ in 1..100 {
        add(&market, json!({"team": "x".repeat(200)}), unavailable()).await;
    }
    let body = json!({"match": {}, "then": unavailable()});
    let refused = sandbox(&market, "POST", "one/faults", body).await;
    assert_eq!(refused.expect_error(409), "quota_exceeded");
}

#[tokio::test(flavor = "multi_thread")]
async fn share_follows_from_the_seed() {
    let market = TestMarket::demo();
    let mut found = Vec::new();
    for (name, seed) in [("one", 5), ("two", 5), ("three", 6)] {
        create_world(&market, json!({"name": name, "seed": seed})).await;
        let body = json!({"match": {"share": 0.5}, "then": {"status": 500}});
        sandbox(&market, "POST", &format!("{name}/faults"), body).await.expect_status(201);
        found.push(wallet_statuses(&market, name, 40).await);
    }
    assert_eq!(found[0], found[1]);
    assert_ne!(found[0], found[2]);
    let failed = found[0].iter().filter(|status| **status == 500).count();
    assert!((10..=30).contains(&failed), "{failed}");
}

#[tokio::test(flavor = "multi_thread")]
async fn times_and_teams_limit_a_fault() {
    let market = market_with_world().await;
    let cases =
        json!({"team": "lumen codeworks", "from": "2026-03-02T09:00:00Z", "until": "2026-03-03T09:00:00Z"});
    add(&market, cases, unavailable()).await;
    let statuses = async || {
        let mut statuses = Vec::new();
        for key in [VENDOR, BUYER, "", OPERATOR] {
            statuses.push(market.get(key, "/w/one/v2/wallet").await.status);
        }
        statuses
    };
    let usual = [200, 200, 401, 403];
    assert_eq!(statuses().await, usual);
    advance(&market, "1d").await;
    assert_eq!(statuses().await, [UNAVAILABLE, 200, 401, 403]);
    advance(&market, "1d").await;
    assert_eq!(statuses().await, usual);
}
