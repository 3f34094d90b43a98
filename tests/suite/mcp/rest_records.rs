//! Records of the demo over REST, with which the answers of tools are compared, and lists as tools return them.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::call;
use crate::harness::demo;

/// Lists that belong to records, whose IDs are filters of aggregates.
pub const LISTS_OF_A_RECORD: [&str; 3] =
    ["get_listing_history", "list_latest_estimations", "list_listing_assets"];

/// ID of nothing.
pub const UNKNOWN_ID: &str = "00000000-0000-0000-0000-000000000000";

/// Lists of a tool: its name, the name of the list, and the arguments.
pub type ToolList<'a> = (&'a str, &'a str, Value);

/// Returns the items of a list that is one response.
pub async fn rest_list(key: &str, path: &str, list: &str) -> Vec<Value> {
    let response = demo().get(key, path).await.ok();
    response[list].as_array().unwrap_or_else(|| panic!("{path}: {response}")).clone()
}

/// Returns the items of a list that is paged with an offset.
pub async fn rest_pages(key: &str, path: &str, list: &str) -> Vec<Value> {
    let mut items = Vec::new();
    loop {
        let page = rest_list(key, &format!("{path}?limit=50&offset={}", items.len()), list).await;
        if page.is_empty() {
            return items;
        }
        items.extend(page);
    }
}

/// Returns the summaries of the catalog that a query (empty or with "?") matches, in order.
pub async fn rest_catalog(key: &str, query: &str) -> Vec<Value> {
    demo().list_all(key, &format!("/v2/listings/browse{query}")).await
}

/// Returns the details of all listings of the catalog, in order.
pub async fn rest_details(key: &str) -> Vec<Value> {
    let mut details = Vec::new();
    for summary in rest_catalog(key, "").await {
        let id = summary["id"].as_str().unwrap();
        details.push(demo().get(key, &format!("/v2/listings/browse/{id}")).await.ok());
    }
    details
}

/// Returns the items of a tool's list, on all pages.
pub async fn tool_list(key: &str, (tool, list, mut arguments): ToolList<'_>) -> Vec<Value> {
    let mut items = Vec::new();
    for _ in 0..100 {
        let page = call(demo(), key, tool, arguments.clone()).await.ok();
        items.extend(page[list].as_array().unwrap().clone());
        if let Some(cursor) = page["next_cursor"].as_str() {
            arguments["cursor"] = json!(cursor);
        } else if let Some(offset) = page["next_offset"].as_u64() {
            arguments["offset"] = json!(offset);
        } else {
            return items;
        }
    }
    panic!("{tool} has too many pages");
}

/// Returns the texts at a position of records, in order.
pub fn texts<'v>(records: impl IntoIterator<Item = &'v Value>, pointer: &str) -> Vec<String> {
    let text = |record: &Value| record.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
    records.into_iter().map(|record| text(record).unwrap_or_else(|| panic!("{pointer}: {record}"))).collect()
}

/// Returns the different texts at a position of records; null is left out.
pub fn values<'v>(records: impl IntoIterator<Item = &'v Value>, pointer: &str) -> BTreeSet<String> {
    let text = |record: &'v Value| record.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
    records.into_iter().filter_map(text).collect()
}

/// Asserts that fields of a row name the checks that failed, those that could not be performed, and the status of each.
pub fn assert_checks(checks: &[Value], row: &Value, [failed, errored, statuses]: [&str; 3]) {
    let keys_with = |status: &str| {
        let keys = checks.iter().filter(|check| check["status"] == status);
        keys.map(|check| check["key"].as_str().unwrap()).collect::<BTreeSet<_>>()
    };
    assert_eq!(row[failed], json!(keys_with("failed")), "{row}");
    assert_eq!(row[errored], json!(keys_with("error")), "{row}");
    let row_statuses = row[statuses].as_object().unwrap();
    let all: BTreeSet<&str> = checks.iter().map(|check| check["key"].as_str().unwrap()).collect();
    assert!(row_statuses.keys().eq(all), "{row}");
    for (key, status) in row_statuses {
        let worst = ["failed", "error", "running", "queued", "passed"]
            .into_iter()
            .find(|status| keys_with(status).contains(key.as_str()));
        assert_eq!(status.as_str(), worst, "{key} of {row}");
    }
}
