//! Two worlds that are made alike, and get the same calls, respond alike: statuses, headers, and bodies.

use std::{collections::BTreeMap, sync::Arc};

use marketplace::worlds::JobTiming;
use poem::http::Method;
use serde_json::{Value, json};

use super::{Sandbox, journal_story::WorldCaller};
use crate::{
    contract::{
        cases::{OPERATOR, VENDOR, cases},
        operator_operations::call_operator_operations_on,
        write_operations::call_write_operations_on,
    },
    harness::{TestMarket, TestResponse},
    mcp,
};

/// Sends one GET request per operation.
async fn read_some(market: &TestMarket) {
    for row in cases().filter(|row| row.documented().method == "GET") {
        if let Some((key, path)) = row.ok_requests().into_iter().next() {
            market.get(key, &path).await;
        }
    }
}

/// Calls tools of the agent server, and reads pages and documents.
async fn read_as_agent(market: &TestMarket) {
    let call = |name: &str, arguments: Value| ("tools/call", json!({"name": name, "arguments": arguments}));
    let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    for (method, params) in [
        ("initialize", hello),
        ("tools/list", json!({})),
        call("browse_listings", json!({"query": "data", "limit": 5})),
        call("get_listing", json!({"listing_id": "none"})),
        call("get_wallet", json!({})),
    ] {
        let body = json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params});
        mcp::post(market, VENDOR, &body).await;
    }
    for path in
        ["/", "/vendor/openapi.json", "/vendor/docs", "/operator/openapi.json", "/operator/docs", "/nowhere"]
    {
        market.send(Method::GET, path, &[]).await;
    }
}

fn assert_alike(one: &[(String, TestResponse)], other: &[(String, TestResponse)]) {
    assert_eq!(one.len(), other.len());
    let mut differences = Vec::new();
    for ((request, a), (other_request, b)) in one.iter().zip(other) {
        assert_eq!(request, other_request);
        let headers = |response: &TestResponse| {
            let mut headers = response.headers.clone();
            headers.remove("date");
            headers
        };
        let text = |response: &TestResponse| String::from_utf8_lossy(&response.bytes).into_owned();
        if (a.status, headers(a), text(a)) != (b.status, headers(b), text(b)) {
            differences.push(format!(
                "{request}:\n{:?} {}\n{:?} {}",
                headers(a),
                text(a),
                headers(b),
                text(b)
            ));
        }
    }
    differences.truncate(3);
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

#[tokio::test]
async fn worlds_made_alike_respond_alike_to_every_operation() {
    let sandbox = Sandbox::new(2);
    let mut all = Vec::new();
    for name in ["one", "other"] {
        let world = sandbox.create(name, "demo");
        world.set_job_timing(JobTiming::OnAdvance);
        let market = TestMarket::of_world(Arc::clone(&world));
        read_some(&market).await;
        call_write_operations_on(&market).await;
        call_operator_operations_on(&market).await;
        read_as_agent(&market).await;
        let start = world.clock().now;
        world.advance_to(start.plus_micros(super::DAY)).unwrap();
        read_some(&market).await;
        all.push(market.take_responses());
    }
    let succeeded = all[0].iter().filter(|(_, response)| response.status < 300).count();
    assert!(succeeded > 400, "{succeeded} of {} requests succeeded", all[0].len());
    assert_alike(&all[0], &all[1]);
}

#[tokio::test]
async fn reads_and_failures_change_no_later_id_or_secret() {
    let sandbox = Sandbox::new(2);
    let worlds = ["quiet", "busy"].map(|name| sandbox.create(name, "demo"));
    let [quiet, busy] = worlds.each_ref().map(|world| TestMarket::of_world(Arc::clone(world)));
    let group = json!({"name": "Group"});
    let key = json!({"name": "Another", "scope": "read"});
    let keys = "/operator/v1/operator-keys";
    for body in [json!({}), json!({"name": ""}), json!({"name": 1})] {
        busy.get(VENDOR, "/v2/asset-groups").await.ok();
        assert!(busy.call(VENDOR, "POST", "/v2/asset-groups", &body).await.status >= 400);
        assert!(busy.call(OPERATOR, "POST", keys, &body).await.status >= 400);
        assert_eq!(busy.send(Method::GET, "/nowhere", &[]).await.status, 404);
    }
    let mut states = Vec::new();
    for market in [&quiet, &busy] {
        let created = market.call(VENDOR, "POST", "/v2/asset-groups", &group).await.expect_status(201);
        let key = market.call(OPERATOR, "POST", keys, &key).await.expect_status(201);
        states.push((created["id"].clone(), key));
    }
    assert_eq!(states[0], states[1]);
    let [quiet, busy] = worlds.each_ref().map(|world| world.clock());
    assert_eq!((quiet.now, quiet.secret_count), (busy.now, busy.secret_count));
}

/// The IDs of requests to the server itself are random.
#[tokio::test(flavor = "multi_thread")]
async fn advance_on_request_leaves_nothing_of_the_request_in_the_world() {
    let mut audits = Vec::new();
    for _ in 0..2 {
        let world = WorldCaller::new("one", json!({})).await;
        world.sandbox("POST", "/clock", &json!({"advance": "1d"})).await.ok();
        world.sandbox("POST", "/clock", &json!({"set": "2026-04-01T00:00:00Z"})).await.ok();
        let audit = world.call(OPERATOR, "GET", "/operator/v1/audit?limit=100", &Value::Null).await.ok();
        assert!(!audit["items"].as_array().unwrap().is_empty());
        audits.push(audit);
    }
    assert_eq!(audits[0], audits[1]);
}

#[tokio::test(flavor = "multi_thread")]
async fn settings_of_a_world_are_those_that_are_its_own() {
    let new = json!({"settings": {"fees.buyer_percent": 2.5}});
    let world = WorldCaller::new("one", new).await;
    let list = async |key: &str, path: &str| {
        let settings = world.market.call(key, "GET", path, &Value::Null).await.ok();
        let items = settings["items"].as_array().unwrap().clone();
        items.into_iter().map(|item| (item["key"].as_str().unwrap().to_owned(), item["value"].clone()))
    };
    let own: BTreeMap<String, Value> = list(OPERATOR, "/w/one/operator/v1/settings").await.collect();
    let server = list(&world.server_key(), "/operator/v1/settings").await;
    assert_eq!((&own["fees.buyer_percent"], &own["limits.other"]), (&json!(2.5), &json!(0)));
    for (key, _) in server {
        let section = key.split('.').next().unwrap();
        let is_of_server = ["server", "sandbox", "log", "data", "blobs"].contains(&section);
        assert!(!(is_of_server && own.contains_key(&key)), "{key}");
        assert!(section != "fees" || own.contains_key(&key), "{key}");
    }
}
