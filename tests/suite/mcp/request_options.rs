//! Options of a request in headers and in its address: its tools, and the text of answers.

use poem::http::Method;
use serde_json::{Value, json};

use super::{PATH, names};
use crate::{
    contract::cases::{BOTH, BUYER},
    harness::{TestMarket, demo},
};

/// Calls a protocol method with headers, at an address that may have a query, and returns the response message.
async fn request_with(
    market: &TestMarket,
    key: &str,
    headers: &[(&str, &str)],
    path: &str,
    (method, params): (&str, Value),
) -> Value {
    let key = format!("Bearer {key}");
    let mut all =
        vec![("host", "market.test"), ("content-type", "application/json"), ("authorization", &key)];
    all.extend(headers);
    let body = json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params});
    market.send_body(Method::POST, path, &all, body.to_string().into_bytes()).await.json()
}

/// Returns the names of the tools that a request with these headers lists, sorted.
async fn listed(market: &TestMarket, key: &str, headers: &[(&str, &str)], path: &str) -> Vec<String> {
    let message = request_with(market, key, headers, path, ("tools/list", json!({}))).await;
    let tools = message["result"]["tools"].as_array().unwrap_or_else(|| panic!("{message}"));
    let mut listed: Vec<String> = names(tools).into_iter().map(str::to_owned).collect();
    listed.sort();
    listed
}

#[tokio::test]
async fn headers_and_addresses_select_tools() {
    let purchases = ["get_current_team", "get_spending", "list_offers", "list_purchases"];
    let with_wallet = ["get_current_team", "get_spending", "get_wallet", "list_offers", "list_purchases"];
    let wallet = ["get_current_team", "get_wallet"];
    for (headers, path, expected) in [
        (&[("x-mcp-toolsets", "purchases")][..], PATH, &purchases[..]),
        (&[("X-MCP-Toolsets", " purchases , sales ")], PATH, &purchases),
        (&[("x-mcp-toolsets", "purchases"), ("x-mcp-tools", "get_wallet")], PATH, &with_wallet),
        (&[("x-mcp-tools", "get_wallet")], PATH, &wallet),
        (&[], "/v2/mcp/?tools=get_wallet", &wallet),
        (&[], "/v2/mcp/?toolsets=purchases&tools=get_wallet", &with_wallet),
        // A header replaces the address.
        (&[("x-mcp-toolsets", "purchases")], "/v2/mcp/?toolsets=catalog", &purchases),
        // A tool of another role stays unavailable.
        (&[("x-mcp-tools", "list_sales")], PATH, &["get_current_team"]),
    ] {
        assert_eq!(listed(demo(), BUYER, headers, path).await, expected, "{headers:?} {path}");
    }
    let by_default = listed(demo(), BUYER, &[], PATH).await;
    assert_eq!(listed(demo(), BUYER, &[("x-mcp-toolsets", "")], PATH).await, by_default);
    let all = listed(demo(), BUYER, &[("x-mcp-toolsets", "all")], PATH).await;
    assert_eq!(listed(demo(), BUYER, &[("x-mcp-toolsets", "catalog,all")], PATH).await, all);
    // Few questions need this one, so it is only listed if a client selects it.
    assert!(all.contains(&"get_browse_access".to_owned()));
    assert!(!by_default.contains(&"get_browse_access".to_owned()));
    let called =
        request_with(demo(), BUYER, &[], PATH, ("tools/call", json!({"name": "get_browse_access"}))).await;
    assert_eq!(called["result"]["isError"], false, "{called}");
}

#[tokio::test]
async fn every_tool_is_in_a_toolset_and_every_toolset_has_tools() {
    let all = listed(demo(), BOTH, &[("x-mcp-toolsets", "all")], PATH).await;
    let mut found = std::collections::BTreeSet::new();
    for toolset in [
        "account",
        "catalog",
        "purchases",
        "requests",
        "assets",
        "listings",
        "quality",
        "sales",
        "opportunities",
    ] {
        let tools = listed(demo(), BOTH, &[("x-mcp-toolsets", toolset)], PATH).await;
        assert!(tools.len() > 2, "{toolset}: {tools:?}");
        found.extend(tools);
    }
    assert_eq!(found.len(), all.len());
}

#[tokio::test]
async fn unknown_names_are_refused_with_the_known_ones() {
    for (headers, expected) in [
        (("x-mcp-toolsets", "catalogue"), "Toolsets: all, account, catalog, purchases"),
        (("x-mcp-tools", "get_walet"), "Tools: get_current_team, browse_listings"),
        (("mcp-text", "long"), "must be `full` or `short`"),
    ] {
        let call = ("tools/call", json!({"name": "get_wallet"}));
        let refused = request_with(demo(), BUYER, &[headers], PATH, call).await;
        assert_eq!(refused["error"]["code"], -32602, "{refused}");
        assert!(refused["error"]["message"].as_str().unwrap().contains(expected), "{refused}");
    }
}

#[tokio::test]
async fn unknown_parameters_of_the_address_are_refused() {
    for (query, unknown) in [("toolset=catalog", "toolset"), ("tools=get_wallet&color=red", "color")] {
        let path = format!("{PATH}?{query}");
        for call in [("tools/list", json!({})), ("tools/call", json!({"name": "get_wallet"}))] {
            let refused = request_with(demo(), BUYER, &[], &path, call).await;
            assert_eq!(refused["error"]["code"], -32602, "{refused}");
            let expected = format!(
                "There is no parameter \"{unknown}\" of the address. Parameters: schemas, text, toolsets, tools."
            );
            assert_eq!(refused["error"]["message"], expected);
        }
    }
}

#[tokio::test]
async fn tools_that_are_not_selected_are_neither_callable_nor_named() {
    let selected = [("x-mcp-toolsets", "purchases")];
    let call = ("tools/call", json!({"name": "get_wallet"}));
    let refused = request_with(demo(), BUYER, &selected, PATH, call).await;
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
    assert_eq!(refused["error"]["message"], "Tool not selected: get_wallet, of the toolset account");
    let call = ("tools/call", json!({"name": "list_purchases"}));
    let called = request_with(demo(), BUYER, &selected, PATH, call).await;
    assert_eq!(called["result"]["isError"], false, "{called}");
    let hello = json!({
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"},
    });
    let initialized = request_with(demo(), BUYER, &selected, PATH, ("initialize", hello)).await;
    let instructions = initialized["result"]["instructions"].as_str().unwrap();
    assert!(instructions.contains("Only some tools are selected"), "{instructions}");
    assert!(!instructions.contains("browse_listings"), "{instructions}");
    let prompts = request_with(demo(), BUYER, &selected, PATH, ("prompts/list", json!({}))).await;
    let prompts = names(prompts["result"]["prompts"].as_array().unwrap()).join(" ");
    assert_eq!(prompts, "compare_listings");
}

#[tokio::test]
async fn settings_select_tools_unless_a_request_does() {
    let market = TestMarket::demo_with_settings(|settings| {
        settings.agents.toolsets = vec![marketplace::config::Toolset::Purchases];
        settings.agents.tools = vec!["get_wallet".to_owned()];
        settings.agents.text = marketplace::config::TextDetail::Short;
    });
    let selected = listed(&market, BUYER, &[], PATH).await;
    assert_eq!(selected, ["get_current_team", "get_spending", "get_wallet", "list_offers", "list_purchases"]);
    let other = listed(&market, BUYER, &[("x-mcp-toolsets", "requests")], PATH).await;
    assert!(
        other.contains(&"list_own_opportunities".to_owned()) && !other.contains(&"get_wallet".to_owned())
    );
    let call = ("tools/call", json!({"name": "get_wallet"}));
    let called = request_with(&market, BUYER, &[], PATH, call).await;
    assert_eq!(called["result"]["content"][0]["text"], "One record; see structuredContent.");
}

#[tokio::test]
async fn text_is_short_for_clients_that_ask_for_it() {
    let browse = || ("tools/call", json!({"name": "browse_listings", "arguments": {"limit": 3}}));
    let short = [("mcp-text", "short")];
    for (headers, path) in [(&short[..], PATH), (&[], "/v2/mcp/?text=short"), (&short, "/v2/mcp/?text=full")]
    {
        let called = request_with(demo(), BUYER, headers, path, browse()).await;
        assert_eq!(called["result"]["content"][0]["text"], "3 of 107 items; see structuredContent.");
        let full = request_with(demo(), BUYER, &[], PATH, browse()).await;
        assert_eq!(called["result"]["structuredContent"], full["result"]["structuredContent"]);
        assert_eq!(called["result"]["_meta"], full["result"]["_meta"]);
    }
    for (name, expected) in [
        ("get_wallet", "One record; see structuredContent."),
        ("list_own_opportunities", " items; see structuredContent."),
    ] {
        let called = request_with(demo(), BUYER, &short, PATH, ("tools/call", json!({"name": name}))).await;
        let text = called["result"]["content"][0]["text"].as_str().unwrap();
        assert!(text.ends_with(expected), "{name}: {text}");
    }
    // An error always says what is wrong.
    let call = ("tools/call", json!({"name": "browse_listings", "arguments": {"limit": 1000}}));
    let failed = request_with(demo(), BUYER, &short, PATH, call).await;
    assert_eq!(failed["result"]["isError"], true);
    assert!(failed["result"]["content"][0]["text"].as_str().unwrap().contains("next_step"), "{failed}");
}
