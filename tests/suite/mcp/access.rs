//! Access: a key sees the tools for its team's roles, and errors tell an agent what to do.

use marketplace::operations::keys;
use marketplace::{
    market::Requester,
    rest::{App, ServerBuilder},
    web::Caller,
};
use poem::http::Method;
use serde_json::{Value, json};

use super::{PATH, call, names, post, tools};
use crate::{
    contract::cases::{BUYER, LOCKED_VENDOR, VENDOR},
    harness::{TestMarket, demo},
};

const LIST: &str = r#"{"jsonrpc":"2.0","id":"seven","method":"tools/list"}"#;

#[tokio::test]
async fn missing_or_invalid_key_is_unauthorized() {
    for headers in [
        &[][..],
        &[("authorization", "Bearer wrong")],
        &[("authorization", "Basic bWt0")],
        &[("x-api-key", "")],
        &[("platform-api-key", "mkt_other")],
    ] {
        for method in ["initialize", "tools/list", "tools/call", "ping", "server/discover", "nonsense"] {
            let mut all_headers = vec![("host", "market.test"), ("content-type", "application/json")];
            all_headers.extend(headers);
            let body = json!({"jsonrpc": "2.0", "id": "seven", "method": method}).to_string();
            let response = demo().send_body(Method::POST, PATH, &all_headers, body.into_bytes()).await;
            let body = response.expect_status(401);
            assert_eq!(body["error"]["message"], "Unauthorized");
            assert_eq!(
                (&body["jsonrpc"], &body["id"]),
                (&json!("2.0"), &Value::Null),
                "the body is not read"
            );
            assert_eq!(response.header("www-authenticate"), "Bearer");
            assert!(body["error"]["data"]["message"].as_str().unwrap().len() > 20);
        }
    }
}

#[tokio::test]
async fn key_is_accepted_in_each_of_three_headers() {
    for header in [
        ("authorization", "Bearer mkt_demo_buyer"),
        ("platform-api-key", "mkt_demo_buyer"),
        ("x-api-key", "mkt_demo_buyer"),
    ] {
        let all_headers = [("host", "market.test"), ("content-type", "application/json"), header];
        let response =
            demo().send_body(Method::POST, PATH, &all_headers, LIST.as_bytes().to_vec()).await.ok();
        assert_eq!(response["result"]["tools"].as_array().unwrap().len(), 17);
    }
}

#[tokio::test]
async fn tools_depend_on_team_roles() {
    let buyer = tools(demo(), BUYER).await;
    assert_eq!(
        names(&buyer),
        [
            "get_current_team",
            "browse_listings",
            "get_listings",
            "get_listing_quality",
            "aggregate",
            "list_purchases",
            "list_offers",
            "get_spending",
            "preview_taskset_tasks",
            "list_taxonomy",
            "get_listing",
            "get_taskset",
            "get_wallet",
            "list_notifications",
            "list_own_opportunities",
            "get_own_opportunity",
            "list_project_bids",
        ]
    );
    assert_eq!(names(&tools(demo(), VENDOR).await), names(&tools(demo(), LOCKED_VENDOR).await));
    for key in ["mkt_demo_no_role", "mkt_demo_no_nda"] {
        assert_eq!(names(&tools(demo(), key).await), ["get_current_team", "list_taxonomy"], "{key}");
    }
    let domains = call(demo(), "mkt_demo_no_role", "list_taxonomy", json!({"kind": "domains"})).await.ok();
    assert_eq!(domains["domains"].as_array().unwrap().len(), 20);
}

#[tokio::test]
async fn errors_for_missing_rights_name_the_human_action() {
    let team = call(demo(), "mkt_demo_no_role", "get_current_team", json!({})).await.ok();
    assert_eq!((&team["roles"], &team["browse_access"]), (&json!([]), &Value::Null));
    assert!(team["next_step"].as_str().unwrap().contains("role"));
    let team = call(demo(), "mkt_demo_no_nda", "get_current_team", json!({})).await.ok();
    assert_eq!(team["nda_accepted"], false);
    assert!(team["next_step"].as_str().unwrap().contains("NDA"));
    for tool in ["browse_listings", "get_wallet", "list_assets", "list_own_listings"] {
        let error = call(demo(), "mkt_demo_no_nda", tool, json!({})).await.error();
        assert_eq!(error["code"], "nda_required", "{tool}");
        assert!(error["next_step"].as_str().unwrap().contains("tell the user"), "{error}");
        assert!(!error["request_id"].as_str().unwrap().is_empty());
    }
}

#[tokio::test]
async fn browse_gate_allows_only_the_unfiltered_first_page() {
    let page =
        call(demo(), LOCKED_VENDOR, "browse_listings", json!({"limit": 5, "fields": ["id"]})).await.ok();
    assert_eq!((&page["locked"], page["items"].as_array().unwrap().len()), (&json!(true), 5));
    let listing = &page["items"][0]["id"];
    for (tool, arguments) in [
        ("browse_listings", json!({"query": "cobol"})),
        ("browse_listings", json!({"sort": "recent"})),
        ("get_listing", json!({"listing_id": listing})),
        ("get_listing_quality", json!({"listing_id": listing})),
        ("get_listings", json!({"ids": [listing]})),
    ] {
        let error = call(demo(), LOCKED_VENDOR, tool, arguments).await.error();
        assert_eq!(error["code"], "listing_browse_locked", "{tool}");
        assert!(error["next_step"].as_str().unwrap().contains("browse_access"), "{error}");
    }
    call(demo(), LOCKED_VENDOR, "list_own_listings", json!({})).await.ok();
    let access = call(demo(), LOCKED_VENDOR, "get_browse_access", json!({})).await.ok();
    let team = call(demo(), LOCKED_VENDOR, "get_current_team", json!({})).await.ok();
    assert_eq!(access["unlocked"], false);
    assert_eq!(team["browse_access"], access);
}

#[tokio::test]
async fn revoked_key_is_rejected() {
    let market = TestMarket::demo();
    let team = call(&market, BUYER, "get_current_team", json!({})).await.ok();
    let team = team["id"].as_str().unwrap();
    let result = market.write(|writer| keys::create(writer, team, "agent", None));
    let (id, key) = result.unwrap();
    assert_eq!(call(&market, &key, "get_current_team", json!({})).await.ok()["id"], team);
    market.write(|writer| keys::revoke(writer, id)).unwrap();
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "get_wallet"}});
    assert_eq!(post(&market, &key, &body).await.expect_status(401)["error"]["message"], "Unauthorized");
}

/// The key of a call is read once, although its operations run as requests of their own.
#[tokio::test]
async fn operations_of_a_call_do_not_read_its_key_again() {
    let market = TestMarket::demo();
    let routes = ServerBuilder::new(
        &App::new(market.market().settings(), false),
        market.market().clone(),
        "http://market.test",
    )
    .in_process_routes();
    let caller = Caller::from_key(market.market(), VENDOR).await.unwrap();
    let mut counts = Vec::new();
    for _ in 0..2 {
        let before = market.market().statement_count();
        assert_eq!(routes.get(&caller, "/v2/wallet").await.unwrap().status, 200);
        counts.push(market.market().statement_count() - before);
        // Each write clears the cache of keys.
        market.market().write(Requester::process(), |_| Ok(())).await.unwrap();
    }
    let before = market.market().statement_count();
    market.get(VENDOR, "/v2/wallet").await.ok();
    let over_http = market.market().statement_count() - before;
    assert!(counts[0] == counts[1] && counts[1] < over_http, "{counts:?}, {over_http} with the key");
}
