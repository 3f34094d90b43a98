//! Markets with a small inventory for the vendor tests, and API calls as the seller.

use std::fmt::Write as _;

use marketplace::{
    clock::fixture_record_id,
    config::Settings,
    domain::row_ids::GrantRowId,
    market::Market,
    operations::{self, grants::GrantInput},
};
use serde_json::{Value, json};

use crate::{
    catalog::small_market,
    harness::{TestMarket, TestResponse, grant_input, uploads::import_zip},
};

/// API key of the seller, the vendor that most tests act as.
pub const SELLER: &str = "mkt_seller";
/// API key of a second vendor, which is also a buyer (team `both`).
pub const OTHER: &str = "mkt_both";

/// Returns a market with the teams of [`small_market::small_market_with`] and these records.
pub fn market_with(more: &Value) -> TestMarket {
    small_market::small_market_with(&[], more)
}

/// Returns a market with the teams of [`small_market::small_market_with`] and no assets or listings.
pub fn empty_market() -> TestMarket {
    market_with(&json!({}))
}

/// Like [`empty_market`], with changed settings.
pub fn empty_market_with(change: impl FnOnce(&mut Settings)) -> TestMarket {
    let market = TestMarket::with_settings(change);
    small_market::seed_market(&market, &[], &json!({}));
    market
}

/// Returns the ID of a seeded record.
pub fn seeded_id(collection: &str, key: &str) -> String {
    fixture_record_id(collection, key).to_string()
}

/// Returns the request body of a codebase with complete metadata and no data.
pub fn complete_codebase() -> Value {
    json!({
        "title": "Ledger", "exclusivity": "available", "description": "A general ledger.", "domain_tags": ["finance"],
        "price_usd": 1200.5, "lines_of_code": 90_000, "commits": 4_000, "contributors": 12, "merged_prs": 300,
        "history_start": "2015-03-02", "history_end": "2025-11-30", "ci_on_prs": true,
    })
}

/// Returns the request body that links a GitHub repository.
pub fn github_link() -> Value {
    json!({"channel": "github", "repo_full_name": "acme/ledger"})
}

/// Calls the API as the seller. `path` is relative to `/v2/` and not yet percent-encoded.
pub async fn seller_call(market: &TestMarket, method: &str, path: &str, body: Value) -> TestResponse {
    market.call(SELLER, method, &format!("/v2/{}", percent_encoded(path)), &body).await
}

/// Percent-encodes the spaces, quotes, and non-ASCII characters of a path.
fn percent_encoded(path: &str) -> String {
    let mut escaped = String::new();
    for byte in path.bytes() {
        if byte.is_ascii_graphic() && byte != b'"' {
            escaped.push(byte.into());
        } else {
            write!(escaped, "%{byte:02X}").unwrap();
        }
    }
    escaped
}

/// Sends a GET as the seller and returns the body. Panics unless the status is 200.
pub async fn seller_get(market: &TestMarket, path: &str) -> Value {
    seller_call(market, "GET", path, Value::Null).await.ok()
}

/// Sends a POST as the seller and returns the body. Panics unless the status is 201.
pub async fn seller_post(market: &TestMarket, path: &str, body: Value) -> Value {
    seller_call(market, "POST", path, body).await.expect_status(201)
}

/// Sends a PATCH as the seller and returns the body. Panics unless the status is 200.
pub async fn seller_patch(market: &TestMarket, path: &str, body: Value) -> Value {
    seller_call(market, "PATCH", path, body).await.ok()
}

/// Uploads an empty zip for a team, given by name, and returns the URL of the upload.
pub fn upload_empty_zip(market: &TestMarket, team: &str) -> String {
    upload_zip(market, team, b"PK\x05\x06\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0")
}

/// Uploads these bytes for a team, given by name, and returns the URL of the upload.
pub fn upload_zip(market: &TestMarket, team: &str, bytes: &[u8]) -> String {
    import_zip(market.market(), team, bytes)
}

/// Returns a taskset with one task for each case of an import: `built`, `two` (two versions), `gone`
/// (deleted), `bare` (no version), `waiting` (no build), `broken` (latest build failed), and `raw` (no
/// description).
pub fn taskset_record(key: &str, team: &str) -> Value {
    let version = |builds: Value, traces: Value| json!({"created_at": "-P50D", "current_state": "live", "lifecycle_stage": "accepted", "builds": builds, "traces": traces});
    let built = json!([{"status": "succeeded", "created_at": "-P49D"}]);
    let failed =
        json!([{"status": "succeeded", "created_at": "-P49D"}, {"status": "failed", "created_at": "-P48D"}]);
    let runs = json!([
        {"model": "heron", "reward": 0, "graded_at": "-P9D", "build_version": 1},
        {"model": "heron", "reward": 1, "graded_at": "-P8D", "build_version": 1},
        {"reward": 0.5, "graded_at": "-P7D", "build_version": 1,
            "qa": {"reward_hacking": {"status": "completed", "verdict": "concern", "findings": 2},
                "failure_analysis": {"status": "running"}}},
        {"model": "wren", "build_version": 1},
    ]);
    let task = |name: &str, versions: Value| {
        json!({"key": name, "name": format!("Task {name}"), "description": format!("About {name}."), "tags": [],
            "created_at": "-P60D", "column_values": {"minutes": 12}, "versions": versions})
    };
    let mut gone = task("gone", json!([version(built.clone(), json!([]))]));
    gone["deleted_at"] = json!("-P10D");
    let mut raw = task("raw", json!([version(built.clone(), json!([]))]));
    raw.as_object_mut().unwrap().remove("description");
    json!({
        "key": key, "team": team, "name": format!("Set {key}"), "created_at": "-P70D",
        "columns": [{"name": "minutes", "label": "Minutes", "kind": "number"}],
        "tasks": [
            task("built", json!([version(built.clone(), runs)])),
            task("two", json!([version(built.clone(), json!([])), version(built, json!([]))])),
            gone,
            task("bare", json!([])),
            task("waiting", json!([version(json!([]), json!([]))])),
            task("broken", json!([version(failed, json!([]))])),
            raw,
        ],
    })
}

/// Returns the ID of a task of a taskset.
pub fn task_id(taskset: &str, task: &str) -> String {
    seeded_id("tasks", &format!("{taskset}/{task}"))
}

/// Returns the titles of the items of a list, in order.
pub fn titles(list: &Value) -> Vec<&str> {
    list["items"].as_array().unwrap().iter().map(|item| item["title"].as_str().unwrap()).collect()
}

/// Creates an upload grant of the seller and returns its row ID and its token.
pub fn create_grant(market: &Market, max_bytes: Option<u64>) -> (GrantRowId, String) {
    let grant = GrantInput { max_bytes, ..grant_input("Seller house", "Ledger") };
    market.write_blocking(|writer| operations::grants::create(writer, &grant)).unwrap()
}
