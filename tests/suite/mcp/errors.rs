//! Errors of tools: each says what was wrong and what to do next, and no check can be bypassed.

use serde_json::{Value, json};

use super::{call, names, post, request, result, tools};
use crate::{
    contract::cases::{BOTH, BUYER, VENDOR},
    harness::{TestMarket, demo},
};

const UNKNOWN_ID: &str = "00000000-0000-0000-0000-000000000000";

#[tokio::test]
async fn unknown_argument_lists_the_known_ones() {
    let error = call(demo(), BUYER, "browse_listings", json!({"min_pice": 3})).await.error();
    assert_eq!(error["code"], "unknown_argument");
    assert!(error["message"].as_str().unwrap().contains("Did you mean `min_price`?"), "{error}");
    assert!(error["next_step"].as_str().unwrap().contains("max_price_per_task"), "{error}");
    for tool in tools(demo(), BOTH).await {
        let name = tool["name"].as_str().unwrap();
        let code = call(demo(), BOTH, name, json!({"no_such_argument": 1})).await.error_code();
        assert_eq!(code, "unknown_argument", "{name}");
    }
}

/// Returns values of the arguments that a tool requires.
fn required_arguments(tool: &Value) -> Value {
    let required = tool["inputSchema"]["required"].as_array().into_iter().flatten();
    let value = |name: &str| match name {
        "kind" => json!("domains"),
        "list" => json!("browse_listings"),
        "ids" | "asset_id" => json!([UNKNOWN_ID]),
        _ => json!(UNKNOWN_ID),
    };
    let with_value = |name: &Value| {
        let name = name.as_str().unwrap();
        (name.to_owned(), value(name))
    };
    Value::Object(required.map(with_value).collect())
}

/// Returns an answer, and an error without the ID of its request.
fn without_request_id(text: &str) -> Value {
    let mut answer: Value = serde_json::from_str(text).unwrap();
    if let Some(error) = answer["error"].as_object_mut() {
        error.remove("request_id");
    }
    answer
}

#[tokio::test]
async fn null_and_empty_text_mean_that_an_optional_argument_is_absent() {
    for tool in tools(demo(), BOTH).await {
        let name = tool["name"].as_str().unwrap();
        let required = required_arguments(&tool);
        let expected = without_request_id(&call(demo(), BOTH, name, required.clone()).await.text);
        let properties = tool["inputSchema"]["properties"].as_object().into_iter().flatten();
        for absent in [json!(null), json!("")] {
            let mut arguments = required.clone();
            for (argument, _) in properties.clone().filter(|(argument, _)| required.get(argument).is_none()) {
                arguments[argument] = absent.clone();
            }
            let found = without_request_id(&call(demo(), BOTH, name, arguments.clone()).await.text);
            assert_eq!(found, expected, "{name} {arguments}");
        }
    }
    let expected =
        call(demo(), BUYER, "browse_listings", json!({"tags": ["software-engineering"]})).await.text;
    let arguments = json!({"tags": ["software-engineering", "", null], "languages": [""], "query": [""]});
    assert_eq!(call(demo(), BUYER, "browse_listings", arguments).await.text, expected);
}

#[tokio::test]
async fn every_list_rejects_a_limit_of_500() {
    for tool in tools(demo(), BOTH).await {
        let name = tool["name"].as_str().unwrap();
        if tool["inputSchema"]["properties"]["limit"].is_null() {
            continue;
        }
        let mut arguments = required_arguments(&tool);
        arguments["limit"] = json!(500);
        let error = call(demo(), BOTH, name, arguments).await.error();
        assert_eq!(error["code"], "invalid_arguments", "{name}: {error}");
        assert!(error["message"].as_str().unwrap().contains("`limit`"), "{name}: {error}");
    }
}

#[tokio::test]
async fn invalid_arguments_are_rejected_by_name() {
    for (tool, arguments, code, named) in [
        ("get_listing", json!({}), "missing_argument", "`listing_id`"),
        ("get_listing", json!({"listing_id": null}), "missing_argument", "`listing_id`"),
        ("get_listing", json!({"listing_id": 7}), "invalid_arguments", "`listing_id`"),
        // Text that would turn the path into that of another operation.
        ("get_listing", json!({"listing_id": "purchases"}), "invalid_arguments", "purchases"),
        ("get_listing", json!({"listing_id": "../opportunities"}), "invalid_arguments", "`listing_id`"),
        ("get_listing", json!({"listing_id": ""}), "invalid_arguments", "`listing_id`"),
        ("get_listing", json!({"listing_id": UNKNOWN_ID}), "not_found", "listing"),
        ("list_taxonomy", json!({}), "missing_argument", "`kind`"),
        ("list_taxonomy", json!({"kind": "words"}), "invalid_arguments", "content_tags"),
        ("list_taxonomy", json!({"kind": 3}), "invalid_arguments", "`kind`"),
        ("list_taxonomy", json!({"kind": "task_filters", "limit": 3}), "invalid_arguments", "`limit`"),
        ("list_sales", json!({"offset": -1}), "invalid_arguments", "`offset`"),
        ("list_sales", json!({"limit": 0}), "invalid_arguments", "`limit`"),
        ("list_sales", json!({"limit": "many"}), "invalid_arguments", "`limit`"),
        ("browse_listings", json!({"min_price": "much"}), "invalid_arguments", "min_price"),
        ("browse_listings", json!({"tags": {"a": 1}}), "invalid_arguments", "`tags`"),
        // By the name that was sent.
        ("browse_listings", json!({"certified": "yes"}), "invalid_arguments", "`certified` "),
        ("get_listing", json!({"id": "x"}), "invalid_arguments", "`id` must be a UUID"),
        ("browse_listings", json!({"query": ["a", "b"]}), "invalid_arguments", "`query`"),
        ("browse_listings", json!({"cursor": "forged"}), "invalid_cursor", "cursor"),
        ("browse_listings", json!({"fields": ["titel"]}), "invalid_arguments", "titel"),
        ("browse_listings", json!({"fields": ["title.deeper"]}), "invalid_arguments", "deeper"),
        ("browse_listings", json!({"fields": ["a["]}), "invalid_arguments", "a["),
        ("browse_listings", json!({"fields": [7]}), "invalid_arguments", "7"),
        ("browse_listings", json!({"fields": ["items"]}), "invalid_arguments", "`limit`"),
        ("browse_listings", json!({"fields": ["items[0:2]"]}), "invalid_arguments", "the list itself"),
        ("browse_listings", json!({"fields": "id,titel"}), "invalid_arguments", "titel"),
        (
            "browse_listings",
            json!({"fields": (0..65).map(|index| format!("assets[{index}]")).collect::<Vec<_>>()}),
            "invalid_arguments",
            "64",
        ),
        ("browse_listings", json!({"offset": -20}), "invalid_arguments", "`offset`"),
        ("list_assets", json!({"cursor": "x"}), "unknown_argument", "`offset`"),
        (
            "get_asset",
            json!({"asset_id": UNKNOWN_ID, "fields": ["missing"]}),
            "invalid_arguments",
            "`kind` codebase or",
        ),
        // The range of a list selects assets, and the second one fields of each.
        (
            "get_listing",
            json!({"listing_id": UNKNOWN_ID, "fields": ["assets[0:1][0:1].id"]}),
            "invalid_arguments",
            "there is no `id`",
        ),
        ("get_listings", json!({"ids": [UNKNOWN_ID, "x"]}), "invalid_arguments", "ids[1]"),
        ("get_opportunity", json!({"opportunity_id": UNKNOWN_ID}), "not_found", "list_opportunities"),
        ("get_own_opportunity", json!({"opportunity_id": UNKNOWN_ID}), "not_found", "another `kind`"),
        ("browse_listings", json!({"fields": ["next_cursor.x"]}), "invalid_arguments", "x"),
        ("list_assets", json!({"filter": ["stage:was:complete"]}), "invalid_arguments", "filter"),
        ("list_assets", json!({"sort": "beauty"}), "invalid_arguments", "sort"),
        ("get_current_team", json!({"team": "other"}), "unknown_argument", "team"),
    ] {
        let error = call(demo(), BOTH, tool, arguments.clone()).await.error();
        assert_eq!(error["code"], code, "{tool} {arguments}: {error}");
        assert!(error.to_string().contains(named), "{tool} {arguments}: {error}");
    }
}

#[tokio::test]
async fn common_argument_spellings_of_models_are_accepted() {
    let same = [
        json!({"tags": ["software-engineering"], "min_price": 100, "limit": 3}),
        json!({"tags": "software-engineering", "min_price": "100", "limit": "3"}),
        json!({"tags": ["software-engineering"], "min_price": 100.0, "limit": 3.0, "max_price": null, "query": null}),
    ];
    let first = call(demo(), BUYER, "browse_listings", same[0].clone()).await.ok();
    assert_eq!(first["items"].as_array().unwrap().len(), 3);
    for other in &same[1..] {
        assert_eq!(call(demo(), BUYER, "browse_listings", other.clone()).await.ok(), first);
    }
    let none = result(demo(), BUYER, "tools/call", json!({"name": "get_wallet"})).await;
    assert_eq!(none["isError"], false);
}

#[tokio::test]
async fn malformed_params_differ_from_unknown_methods() {
    for (method, params) in [
        ("tools/call", json!({"name": "get_wallet", "arguments": "{}"})),
        ("tools/call", json!({"name": "get_wallet", "arguments": [1]})),
        ("tools/call", json!({"arguments": {}})),
        ("resources/read", json!({"address": "marketplace://guide"})),
        ("prompts/get", json!({"name": 7})),
    ] {
        let response = request(demo(), BUYER, method, params).await;
        assert_eq!(response["error"]["code"], -32602, "{response}");
        assert!(response["error"]["message"].as_str().unwrap().contains("`params`"), "{response}");
    }
}

#[tokio::test]
async fn empty_filtered_list_has_a_hint() {
    for (tool, arguments) in [
        ("browse_listings", json!({"tags": ["no-such-tag"]})),
        ("list_own_opportunities", json!({"status": "no-such-status"})),
    ] {
        let page = call(demo(), BOTH, tool, arguments).await.ok();
        assert_eq!(page["items"], json!([]));
        assert!(page["hint"].as_str().unwrap().contains("Nothing matches"), "{page}");
        assert!(!page["notice"].to_string().contains("Nothing matches"), "{page}");
    }
    let none = call(demo(), "mkt_demo_vendor", "list_tasks", json!({})).await.ok();
    assert!(none["hint"].is_null(), "{none}");
}

#[tokio::test]
async fn records_of_another_team_are_not_found() {
    let own = call(demo(), VENDOR, "list_own_listings", json!({"limit": 1, "fields": ["id"]})).await.ok();
    let listing = &own["items"][0]["id"];
    let asset = call(demo(), VENDOR, "list_codebases", json!({"limit": 1, "fields": ["id"]})).await.ok();
    let asset = &asset["items"][0]["id"];
    for (tool, arguments) in [
        ("get_own_listing", json!({"listing_id": listing})),
        ("get_listing_history", json!({"listing_id": listing})),
        ("list_listing_assets", json!({"listing_id": listing})),
        ("get_listing_qc", json!({"listing_id": listing})),
        ("get_asset", json!({"asset_id": asset})),
        ("get_asset", json!({"asset_id": asset, "kind": "codebase"})),
        ("get_codebase_structure", json!({"asset_id": asset})),
        ("get_asset_qc", json!({"asset_id": asset, "kind": "codebase"})),
    ] {
        call(demo(), VENDOR, tool, arguments.clone()).await.ok();
        let error = call(demo(), BOTH, tool, arguments).await.error();
        assert_eq!(error["code"], "not_found", "{tool}: {error}");
        assert!(error["next_step"].as_str().unwrap().contains("IDs"), "{error}");
    }
}

#[tokio::test]
async fn rate_limit_error_says_how_long_to_wait() {
    let market = TestMarket::demo_with_settings(|settings| settings.limits.catalog = 2);
    for _ in 0..2 {
        call(&market, BUYER, "browse_listings", json!({})).await.ok();
    }
    let error = call(&market, BUYER, "get_browse_access", json!({})).await.error();
    assert_eq!(error["code"], "rate_limited");
    assert_eq!(error["next_step"], "Wait 30 s, then call again.");
    call(&market, BUYER, "get_wallet", json!({})).await.ok();
    call(&market, BOTH, "browse_listings", json!({})).await.ok();
}

#[tokio::test]
async fn unknown_tool_is_a_protocol_error() {
    for name in ["no_such_tool", "create_codebase", "DELETE", ""] {
        let response = request(demo(), BOTH, "tools/call", json!({"name": name, "arguments": {}})).await;
        assert_eq!(response["error"]["code"], -32602, "{response}");
        assert_eq!(response["error"]["message"], format!("Unknown tool: {name}"));
        assert!(response["error"]["data"]["next_step"].as_str().unwrap().contains("get_current_team"));
    }
    let buyers = tools(demo(), BUYER).await;
    for tool in names(&tools(demo(), VENDOR).await) {
        if !names(&buyers).contains(&tool) {
            let response: Value =
                request(demo(), BUYER, "tools/call", json!({"name": tool, "arguments": {}})).await;
            assert_eq!(response["error"]["message"], format!("Unknown tool: {tool}"));
        }
    }
}

#[tokio::test]
async fn errors_do_not_repeat_long_input() {
    let long = "x".repeat(200_000);
    let deep = "a.".repeat(100_000);
    let list = json!(vec![long.as_str(); 4]);
    for (tool, arguments) in [
        ("browse_listings", json!({"fields": [deep]})),
        ("browse_listings", json!({"fields": [long]})),
        ("browse_listings", json!({"fields": [[list]]})),
        ("browse_listings", json!({"limit": long})),
        ("browse_listings", json!({"query": long})),
        ("browse_listings", json!({"query": list})),
        ("browse_listings", json!({"cursor": "x".repeat(50_000)})),
        ("browse_listings", json!({"tags": vec!["y".repeat(500); 60]})),
        ("get_listing", json!({"listing_id": long})),
        ("get_listing", json!({"listing_id": list})),
        ("list_taxonomy", json!({"kind": long})),
        ("list_taxonomy", json!({"kind": list})),
        ("list_assets", json!({"filter": vec!["z".repeat(2_000); 20]})),
        ("list_assets", json!({"filter": vec![format!("name:{}:z", "\u{1}".repeat(2_000)); 20]})),
    ] {
        let arguments_start: String = arguments.to_string().chars().take(60).collect();
        let params = json!({"name": tool, "arguments": arguments});
        let body = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params});
        let response = post(demo(), VENDOR, &body).await;
        assert!(response.bytes.len() < 60_000, "{tool} {arguments_start}: {} bytes", response.bytes.len());
    }
    for (method, params) in [
        (long.as_str(), json!({})),
        ("tools/call", json!({"name": long})),
        ("tools/call", json!({"name": "get_wallet", "arguments": {"x".repeat(999): 1}})),
        ("resources/read", json!({"uri": long})),
        ("prompts/get", json!({"name": long})),
        ("prompts/get", json!({"name": "find_data", "arguments": {"goal": long}})),
        (
            "prompts/get",
            json!({"name": "find_data", "arguments": {"goal": "a", "budget_usd": "b".repeat(9_000)}}),
        ),
        (
            "completion/complete",
            json!({
                "ref": {"type": "ref/prompt", "name": "compare_listings"},
                "argument": {"name": "listing_ids", "value": format!("{long},")},
            }),
        ),
        (
            "initialize",
            json!({"protocolVersion": long, "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}),
        ),
    ] {
        let body = json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params});
        let response = post(demo(), BUYER, &body).await;
        assert!(response.bytes.len() < 60_000, "{method:.30}: {} bytes", response.bytes.len());
    }
}
