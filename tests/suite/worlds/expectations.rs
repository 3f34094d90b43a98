//! Expectations: how often a world was called.

use serde_json::{Value, json};

use super::journal_story::{BUYER, OPERATOR, VENDOR, WorldCaller};
use crate::harness::elements;

async fn world() -> WorldCaller {
    let world = WorldCaller::new("one", json!({})).await;
    world.call(BUYER, "GET", "/v2/wallet", &Value::Null).await.ok();
    for name in ["Tides", "Berths"] {
        world.call(VENDOR, "POST", "/v2/asset-groups", &json!({"name": name})).await.expect_status(201);
    }
    world.call(VENDOR, "POST", "/v2/asset-groups", &json!({"name": 1})).await.expect_status(422);
    world.call(VENDOR, "GET", "/v2/listings/browse?limit=2", &Value::Null).await.ok();
    world.call("mkt_nobody", "GET", "/v2/wallet", &Value::Null).await.expect_status(401);
    world.sandbox("POST", "/clock", &json!({"advance": "1s"})).await.ok();
    world
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_that_match_are_counted() {
    let world = world().await;
    for (calls, numbers) in [
        (json!({}), vec![1, 2, 3, 4, 5, 6]),
        (json!({"operation": "create_asset_group"}), vec![2, 3, 4]),
        (json!({"operation": "create_asset_group", "status": 201}), vec![2, 3]),
        (json!({"method": "get", "path": "/v2/*"}), vec![1, 5, 6]),
        (json!({"team": "Lumen Codeworks"}), vec![2, 3, 4, 5]),
        (json!({"code": "unauthorized"}), vec![6]),
        (json!({"query": {"limit": 2}}), vec![5]),
        (json!({"headers": {"Content-Type": "application/json"}}), vec![2, 3, 4]),
        (json!({"body": {"name": "Berths"}}), vec![3]),
        (json!({"operation": "delete_codebase"}), vec![]),
    ] {
        let expectation = json!({"match": calls, "times": numbers.len()});
        let met = world.sandbox("POST", "/expectations", &expectation).await.ok();
        assert_eq!(met, json!({"called": numbers.len(), "numbers": numbers, "dropped": 0}), "{expectation}");
    }
    // No request can match these, so `times: 0` would hold without a test.
    for unknown in [
        json!({"operation": "create_asset"}),
        json!({"operation": "change_world_clock"}),
        json!({"operation": "create_codebase", "api": "buyer"}),
    ] {
        let expectation = json!({"match": unknown, "times": 0});
        let refused = world.sandbox("POST", "/expectations", &expectation).await;
        assert_eq!(refused.problems(), ["body.match.operation value_error"], "{expectation}");
    }
    for (counts, is_met) in [
        (json!({}), true),
        (json!({"times": 2}), false),
        (json!({"at_least": 3}), true),
        (json!({"at_least": 4}), false),
        (json!({"at_most": 3}), true),
        (json!({"at_most": 2}), false),
        (json!({"at_least": 1, "at_most": 5}), true),
    ] {
        let mut expectation = counts.clone();
        expectation["match"] = json!({"operation": "create_asset_group"});
        let response = world.sandbox("POST", "/expectations", &expectation).await;
        assert_eq!(response.status, if is_met { 200 } else { 422 }, "{counts}");
    }
    assert_eq!(world.journal("").await.len(), 7, "expectations are not in the journal");
}

#[tokio::test(flavor = "multi_thread")]
async fn nearest_calls_say_what_differs() {
    let world = world().await;
    let expectation = json!({
        "match": {"operation": "create_asset_group", "team": "Kestrel Labs", "body": {"name": "Tide"}},
        "times": 1,
    });
    let response = world.sandbox("POST", "/expectations", &expectation).await;
    assert_eq!(response.problems(), ["body.match expectation_failed"; 4]);
    let messages: Vec<String> = elements(&response.json()["detail"])
        .map(|problem| problem["msg"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(messages[0], "Expected 1 matching call, found 0.");
    let differs = |number: u32, name: &str| {
        format!(
            "Request {number}, POST /v2/asset-groups: the team is Lumen Codeworks, expected Kestrel Labs; \
             `body.name` is {name}, expected \"Tide\"."
        )
    };
    assert_eq!(messages[1..], [differs(4, "1"), differs(3, "\"Berths\""), differs(2, "\"Tides\"")]);
    let too_many = json!({"match": {"operation": "get_wallet", "status": 200}, "times": 0});
    let response = world.sandbox("POST", "/expectations", &too_many).await;
    let message = response.json()["detail"][0]["msg"].as_str().unwrap().to_owned();
    assert_eq!(message, "Expected 0 matching calls, found 1. Their numbers: 1.");
    let nearest = response.json()["detail"][1]["msg"].as_str().unwrap().to_owned();
    assert_eq!(nearest, "Request 6, GET /v2/wallet: the status is 401, expected 200.");
}

#[tokio::test(flavor = "multi_thread")]
async fn invalid_expectations_are_refused() {
    let world = WorldCaller::new("one", json!({})).await;
    for (body, expected) in [
        (json!({"times": 1, "at_least": 1}), "body value_error"),
        (json!({"at_least": 2, "at_most": 1}), "body value_error"),
        (json!({"times": -1}), "body.times greater_than_equal"),
        (json!({"match": {"status": 42}}), "body.match.status greater_than_equal"),
        (json!({"match": {"code": "nothing"}}), "body.match.code enum"),
        (json!({"match": {"color": 1}}), "body.match.color extra_forbidden"),
        (json!({"match": {"query": {"a": []}}}), "body.match.query.a value_error"),
    ] {
        assert_eq!(world.sandbox("POST", "/expectations", &body).await.problems(), [expected], "{body}");
    }
    let path = "/sandbox/v1/worlds/one/expectations";
    let response = world.market.call(BUYER, "POST", path, &json!({"times": 0})).await;
    assert_eq!(response.expect_error(403), "operator_required");
    world.market.call(OPERATOR, "POST", path, &json!({"times": 0})).await.ok();
}

#[tokio::test(flavor = "multi_thread")]
async fn api_tells_operations_of_the_same_name_apart() {
    let world = WorldCaller::new("one", json!({})).await;
    let then = json!({"status": 503, "code": "at_capacity"});
    let fault = json!({"match": {"operation": "list_assets", "api": "vendor", "next": 1}, "then": then});
    let added = world.sandbox("POST", "/faults", &fault).await.expect_status(201);
    assert_eq!(added["match"]["api"], "vendor");
    let read = async |key: &str, path: &str| world.call(key, "GET", path, &Value::Null).await.status;
    assert_eq!(read(OPERATOR, "/operator/v1/assets").await, 200);
    assert_eq!(read(VENDOR, "/v2/assets").await, 503);
    assert_eq!(read(BUYER, "/v2/wallet").await, 200);
    for (calls, numbers) in [
        (json!({"operation": "list_assets"}), vec![2, 3]),
        (json!({"operation": "list_assets", "api": "operator"}), vec![2]),
        (json!({"operation": "list_assets", "api": "vendor"}), vec![3]),
        // Vendors and buyers share this operation.
        (json!({"operation": "get_wallet", "api": "vendor"}), vec![4]),
        (json!({"operation": "get_wallet", "api": "buyer"}), vec![4]),
        (json!({"operation": "get_wallet", "api": "operator"}), vec![]),
    ] {
        let expectation = json!({"match": calls, "times": numbers.len()});
        let met = world.sandbox("POST", "/expectations", &expectation).await.ok();
        assert_eq!(met["numbers"], json!(numbers), "{expectation}");
    }
    let entries = world.journal("operation=list_assets&api=operator").await;
    assert_eq!(entries.iter().map(|entry| &entry["number"]).collect::<Vec<_>>(), [&json!(2)]);
    let unknown = json!({"match": {"operation": "create_codebase", "api": "buyer"}, "then": then});
    let refused = world.sandbox("POST", "/faults", &unknown).await;
    assert_eq!(refused.problems(), ["body.match.operation value_error"]);
}
