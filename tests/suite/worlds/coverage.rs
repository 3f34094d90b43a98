//! Coverage: which outcomes of operations clients have met, and which not.

use poem::http::Method;
use serde_json::{Value, json};

use super::journal_story::{BUYER, OPERATOR, VENDOR, WorldCaller};

/// Returns the outcomes of an operation: status, code, and count.
fn outcomes(coverage: &Value, operation: &str) -> Vec<(u64, String, u64)> {
    let items = coverage["items"].as_array().unwrap();
    let Some(item) = items.iter().find(|item| item["operation"] == operation) else { return Vec::new() };
    let outcome = |outcome: &Value| {
        let code = outcome["code"].as_str().unwrap_or_default().to_owned();
        (outcome["status"].as_u64().unwrap(), code, outcome["count"].as_u64().unwrap())
    };
    item["outcomes"].as_array().unwrap().iter().map(outcome).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn outcomes_are_counted_for_a_world_and_for_all() {
    let world = WorldCaller::new("one", json!({})).await;
    let server_key = world.server_key();
    world
        .market
        .call(&server_key, "POST", "/sandbox/v1/worlds", &json!({"name": "two"}))
        .await
        .expect_status(201);
    for key in [BUYER, VENDOR, "mkt_nobody"] {
        world.call(key, "GET", "/v2/wallet", &Value::Null).await;
    }
    world.market.call(BUYER, "GET", "/w/two/v2/wallet", &Value::Null).await.ok();
    world.market.send(Method::GET, "/w/one/v2/nothing", &[]).await;
    world.sandbox("POST", "/clock", &json!({"advance": "1s"})).await.ok();
    let of_world = world.sandbox("GET", "/coverage?met=true", &Value::Null).await.ok();
    let met = |count| vec![(200, String::new(), count), (401, "unauthorized".to_owned(), 1)];
    assert_eq!(outcomes(&of_world, "get_wallet"), met(2));
    assert_eq!(of_world["items"].as_array().unwrap().len(), 1, "the sandbox API does not count");
    assert_eq!((&of_world["met_operations"], &of_world["met_outcomes"]), (&json!(1), &json!(2)));
    let all = world.sandbox("GET", "/coverage", &Value::Null).await.ok();
    let wallet = outcomes(&all, "get_wallet");
    assert!(wallet.contains(&(429, "rate_limited".to_owned(), 0)), "{wallet:?}");
    assert!(all["operations"].as_u64().unwrap() > 200 && all["outcomes"].as_u64().unwrap() > 1_000);
    let missing = world.sandbox("GET", "/coverage?met=false", &Value::Null).await.ok();
    assert!(outcomes(&missing, "get_wallet").iter().all(|(.., count)| *count == 0));
    // The counts do not change when a world ends or is reset.
    world.sandbox("POST", "/reset", &Value::Null).await.ok();
    world.sandbox("DELETE", "/journal", &Value::Null).await.expect_status(204);
    assert_eq!(world.sandbox("GET", "/coverage?met=true", &Value::Null).await.ok(), of_world);
    for name in ["one", "two"] {
        let path = format!("/sandbox/v1/worlds/{name}");
        world.market.call(&server_key, "DELETE", &path, &Value::Null).await.expect_status(204);
    }
    let path = "/sandbox/v1/coverage?met=true";
    let of_all = world.market.call(&server_key, "GET", path, &Value::Null).await.ok();
    assert_eq!(outcomes(&of_all, "get_wallet"), met(3));
    assert_eq!(world.market.call(OPERATOR, "GET", path, &Value::Null).await.status, 401, "a key of a world");
}

#[tokio::test(flavor = "multi_thread")]
async fn page_shows_every_operation_and_loads_nothing() {
    let world = WorldCaller::new("one", json!({})).await;
    world.call(BUYER, "GET", "/v2/wallet", &Value::Null).await.ok();
    let response = world.sandbox("GET", "/coverage?format=html", &Value::Null).await;
    assert_eq!((response.status, response.header("content-type")), (200, "text/html; charset=utf-8"));
    assert!(response.header("content-security-policy").starts_with("default-src 'none'"));
    let page = String::from_utf8(response.bytes.clone()).unwrap();
    for part in [
        "World one: 1 of ",
        "<code>get_wallet</code>",
        "<span class=\"chip met\">200 ×1</span>",
        "<h2>Operator API</h2>",
    ] {
        assert!(page.contains(part), "{part}");
    }
    for external in ["<script", "http://", "https://", "@import", "{"] {
        let found = page.split("</style>").nth(1).unwrap();
        let found = if external == "{" { found.contains("{subject}") } else { found.contains(external) };
        assert!(!found, "{external}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn outcomes_that_no_client_gets_do_not_count() {
    let world = WorldCaller::new("one", json!({})).await;
    for (cut, status) in [("before", Value::Null), ("after_write", json!(200)), ("headers", json!(200))] {
        let fault = json!({"match": {"operation": "get_wallet", "next": 1}, "then": {"cut": cut}});
        let fault = world.sandbox("POST", "/faults", &fault).await.expect_status(201);
        world.market.get(BUYER, "/w/one/v2/wallet").await;
        let last = world.journal("operation=get_wallet").await.pop().unwrap();
        assert_eq!((&last["status"], &last["fault_id"]), (&status, &fault["id"]), "{cut}");
    }
    let coverage = world.sandbox("GET", "/coverage?met=true", &Value::Null).await.ok();
    assert_eq!((&coverage["met_operations"], &coverage["met_outcomes"]), (&json!(0), &json!(0)));
    world.call(BUYER, "GET", "/v2/wallet", &Value::Null).await.ok();
    let coverage = world.sandbox("GET", "/coverage?met=true", &Value::Null).await.ok();
    assert_eq!(outcomes(&coverage, "get_wallet"), [(200, String::new(), 1)]);
}
