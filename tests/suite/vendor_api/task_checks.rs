//! Quality checks of tasks.

use marketplace::operations::{self, access::Platform};
use serde_json::{Value, json};
use uuid::Uuid;

use super::{
    quality_runs::{check_results, market},
    seller_market::{seeded_id, seller_get},
};
use crate::harness::TestMarket;

/// Runs the checks of the listing `a`. Returns the key and the status of each check of an asset.
async fn check(market: &TestMarket) -> Vec<(String, String)> {
    let listing: Uuid = seeded_id("listings", "a").parse().unwrap();
    market
        .market()
        .write_blocking(|writer| {
            operations::listing_lifecycle::start_run(writer, Platform::of_process(), listing)
        })
        .unwrap();
    market.run_background();
    let view = seller_get(market, &format!("listings/{listing}/qc?task_rows=all")).await;
    let checks = check_results(&view["latest_run"]).into_iter();
    checks.filter(|(key, ..)| key != "assets_present").map(|(key, status, _)| (key, status)).collect()
}

/// Buyers of a task asset get the version that it names, also if the task has later versions or was deleted.
#[tokio::test]
async fn task_asset_is_checked_in_its_own_version() {
    let complete = json!({"created_at": "-P50D", "current_state": "live", "lifecycle_stage": "accepted",
        "brief": {"prompt": "Sort it."}, "builds": [{"status": "succeeded", "created_at": "-P49D"}],
        "traces": [{"model": "m", "reward": 1, "graded_at": "-P40D", "build_version": 1}]});
    let empty = json!({"created_at": "-P45D", "current_state": "draft", "lifecycle_stage": "authoring"});
    let deleted_at = json!("-P20D");
    for (versions, deleted_at, expected) in [
        ([&complete, &empty], &Value::Null, "passed"),
        ([&empty, &complete], &Value::Null, "failed"),
        ([&complete, &empty], &deleted_at, "passed"),
    ] {
        let mut versions = versions.map(Clone::clone);
        versions[0]["created_at"] = json!("-P55D");
        let task = json!({"key": "one", "name": "One", "created_at": "-P60D", "deleted_at": deleted_at, "versions": versions});
        let market = market(&json!({
            "tasksets": [{"key": "s", "team": "seller", "name": "S", "created_at": "-P70D", "columns": [], "tasks": [task]}],
            "assets": [{"key": "one", "team": "seller", "sku": "task", "title": "One", "created_at": "-P30D",
                "task": {"task": "s/one", "version": 1, "task_type": "coding"}}],
            "listings": [{"key": "a", "team": "seller", "title": "A", "description": "D", "price_usd": 9, "created_at": "-P9D",
                "assets": ["one"]}],
        }));
        let expected = ["prompts_complete", "tasks_graded", "environment_builds"]
            .map(|key| (key.to_owned(), expected.to_owned()));
        assert_eq!(check(&market).await, expected, "deleted: {deleted_at}");
    }
}
