//! Concurrent writes: no change is lost, and nothing is created twice.

use std::collections::BTreeSet;

use futures_util::future::join_all;
use serde_json::{Value, json};

use super::seller_market::{
    SELLER, complete_codebase, empty_market, market_with, seeded_id, seller_get, seller_post, taskset_record,
};

fn post<'m>(
    market: &'m crate::harness::TestMarket,
    path: &'m str,
    body: &'m Value,
) -> impl Future<Output = crate::harness::TestResponse> + 'm {
    market.call(SELLER, "POST", path, body)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_titles_are_numbered_without_gaps_or_duplicates() {
    let market = empty_market();
    let body = json!({"title": "Scans", "suffix_title": true});
    let responses = join_all((0..20).map(|_| post(&market, "/v2/raw-data", &body))).await;
    let titles: BTreeSet<String> = responses
        .iter()
        .map(|response| response.expect_status(201)["title"].as_str().unwrap().to_owned())
        .collect();
    let expected = std::iter::once("Scans".to_owned()).chain((2..=20).map(|n| format!("Scans ({n})")));
    assert_eq!(titles, expected.collect());
    // Without `suffix_title`, exactly one request succeeds.
    let body = json!({"title": "Maps"});
    let responses = join_all((0..10).map(|_| post(&market, "/v2/raw-data", &body))).await;
    assert_eq!(responses.iter().filter(|response| response.status == 201).count(), 1);
    assert!(responses.iter().all(|response| [201, 409].contains(&response.status)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_imports_create_each_asset_once() {
    let market = market_with(&json!({"tasksets": [taskset_record("s", "seller")]}));
    let body = json!({"task_type": "coding", "taskset_id": seeded_id("tasksets", "s")});
    let responses = join_all((0..8).map(|_| post(&market, "/v2/tasks/import", &body))).await;
    let count = |field: &str| -> usize {
        responses.iter().map(|response| response.ok()[field].as_array().unwrap().len()).sum()
    };
    assert_eq!((count("imported"), count("existing")), (3, 21));
    assert_eq!(seller_get(&market, "tasks").await["total"], 3);
    assert_eq!(
        seller_get(&market, "asset-groups").await["groups"].as_array().unwrap().len(),
        2,
        "the taskset must have exactly one group"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_changes_are_all_applied() {
    let market = empty_market();
    let row = seller_post(&market, "codebases", complete_codebase()).await;
    let path = format!("/v2/codebases/{}", row["id"].as_str().unwrap());
    let changes: Vec<Value> = ["commits", "contributors", "merged_prs", "lines_of_code", "price_usd"]
        .iter()
        .map(|field| json!({*field: 7}))
        .collect();
    join_all(changes.iter().map(|change| market.call(SELLER, "PATCH", &path, change))).await.iter().for_each(
        |response| {
            response.ok();
        },
    );
    let row = market.call(SELLER, "GET", &path, &Value::Null).await.ok();
    for field in ["commits", "contributors", "merged_prs", "lines_of_code"] {
        assert_eq!(row[field], 7, "{field}");
    }
    assert_eq!(row["price_usd"], 7.0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_refresh_requests_share_one_refresh() {
    let market = empty_market();
    let responses = join_all((0..8).map(|_| post(&market, "/v2/tasks/refresh-qc", &Value::Null))).await;
    let ids: BTreeSet<String> =
        responses.iter().map(|response| response.expect_status(202)["refresh"]["id"].to_string()).collect();
    assert_eq!(ids.len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_creations_of_a_group_succeed_once() {
    let market = empty_market();
    let body = json!({"name": "Old"});
    let responses = join_all((0..10).map(|_| post(&market, "/v2/asset-groups", &body))).await;
    assert_eq!(responses.iter().filter(|response| response.status == 201).count(), 1);
    assert!(
        responses
            .iter()
            .filter(|response| response.status != 201)
            .all(|response| response.expect_error(409) == "conflict")
    );
}
