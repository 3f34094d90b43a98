//! Estimations: advisory quotes for the sources of a vendor.

use serde_json::{Value, json};

use super::seller_market::{OTHER, market_with, seeded_id, seller_call, seller_get, titles};
use crate::harness::{TestMarket, elements};

fn market() -> TestMarket {
    let estimation = |key: &str, team: &str, status: &str, lines: u64, days: u32, asset: Option<&str>| {
        let mut record = json!({"key": key, "team": team, "sku": "codebase", "channel": "github", "repo_full_name": format!("acme/{key}"),
            "name": key.to_uppercase(), "status": status, "created_at": format!("-P{days}D"), "created_by": "Ida"});
        if status != "pending" {
            record["completed_at"] = json!(format!("-P{days}D"));
        }
        if status == "estimated" {
            record["measured"] = json!({"lines_of_code": lines, "commits": 10, "contributors": 2, "languages": {"cobol": 100}});
        }
        if status == "failed" {
            record["failure_message"] = json!("The repository is empty.");
        }
        if let Some(asset) = asset {
            record["asset"] = json!(asset);
        }
        record
    };
    let code = |key: &str| json!({"key": key, "team": "seller", "sku": "codebase", "title": key, "created_at": "-P30D", "codebase": {"exclusivity": "available"}});
    market_with(&json!({
        "assets": [code("one"), code("two")],
        "estimations": [
            estimation("small", "seller", "estimated", 1_000, 9, Some("one")),
            estimation("large", "seller", "estimated", 900_000, 8, Some("one")),
            estimation("waiting", "seller", "pending", 0, 7, Some("two")),
            estimation("broken", "seller", "failed", 0, 6, None),
            estimation("theirs", "both", "estimated", 5_000, 5, None),
        ],
    }))
}

fn names(page: &Value) -> Vec<&str> {
    elements(&page["estimations"]).map(|one| one["name"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn estimations_are_filtered_and_sorted() {
    let market = market();
    for (query, expected) in [
        ("", &["BROKEN", "WAITING", "LARGE", "SMALL"][..]),
        ("sort=status", &["WAITING", "LARGE", "SMALL", "BROKEN"]),
        ("sort=name&sort_direction=desc", &["WAITING", "SMALL", "LARGE", "BROKEN"]),
        ("sort=quote&sort_direction=desc", &["LARGE", "SMALL", "BROKEN", "WAITING"]),
        ("sort=date", &["SMALL", "LARGE", "WAITING", "BROKEN"]),
        ("filter=inventory:is:added", &["WAITING", "LARGE", "SMALL"]),
        ("filter=inventory:is:not_added", &["BROKEN"]),
        ("filter=status:is:estimated&filter=name:contains:Larg", &["LARGE"]),
        ("filter=name:contains:ＳmÁ", &["SMALL"]),
        ("filter=name:is:ｌarge", &["LARGE"]),
        ("filter=name:is:lárge", &[]),
        ("filter=channel:is_not:github", &[]),
        ("filter=type:is:codebase&limit=1&offset=1", &["WAITING"]),
    ] {
        assert_eq!(names(&seller_get(&market, &format!("estimations?{query}")).await), expected, "{query}");
    }
    assert_eq!(seller_get(&market, "estimations?limit=1").await["total"], 4);
    for (query, problem) in [
        ("filter=status:is:done", "query.filter.0 value_error"),
        ("filter=inventory:is:added&filter=stage:is:complete", "query.filter.1 value_error"),
        ("sort=price", "query.sort enum"),
        ("limit=0", "query.limit greater_than_equal"),
    ] {
        assert_eq!(
            seller_call(&market, "GET", &format!("estimations?{query}"), Value::Null).await.problems(),
            [problem]
        );
    }
}

#[tokio::test]
async fn summary_covers_the_matching_estimations() {
    let market = market();
    let list = seller_get(&market, "estimations?sort=quote").await["estimations"].clone();
    let summary = seller_get(&market, "estimations/summary").await;
    assert_eq!(summary["estimated_sources"], 2);
    assert_eq!(summary["status_counts"], json!({"pending": 1, "estimated": 2, "unpriced": 0, "failed": 1}));
    for field in ["quote_low_cents", "quote_high_cents"] {
        let sum = list[0][field].as_i64().unwrap() + list[1][field].as_i64().unwrap();
        assert_eq!(summary[field], sum);
    }
    let bins = summary["bins"].as_array().unwrap();
    assert_eq!(bins.iter().map(|bin| bin["count"].as_u64().unwrap()).sum::<u64>(), 2);
    assert_eq!(bins[0]["low_cents"], list[0]["quote_low_cents"]);
    let none = seller_get(&market, "estimations/summary?filter=status:is:failed").await;
    assert_eq!((&none["estimated_sources"], &none["bins"]), (&json!(0), &json!([])));
}

#[tokio::test]
async fn latest_estimation_of_each_asset_is_returned() {
    let market = market();
    let (first, second) = (seeded_id("assets", "one"), seeded_id("assets", "two"));
    let latest = seller_get(
        &market,
        &format!("estimations/latest?asset_id={second}&asset_id={first}&asset_id={first}"),
    )
    .await;
    let latest_names: Vec<(&Value, &Value)> = elements(&latest["estimations"])
        .map(|first| (&first["asset_id"], &first["estimation"]["name"]))
        .collect();
    assert_eq!(latest_names, [(&json!(second), &json!("WAITING")), (&json!(first), &json!("LARGE"))]);
    assert_eq!(seller_call(&market, "GET", "estimations/latest", Value::Null).await.status, 422);
    let other_response = market
        .call(OTHER, "GET", &format!("/v2/estimations/latest?asset_id={first}"), &Value::Null)
        .await
        .ok();
    assert_eq!(other_response["estimations"], json!([]));
    // The inventory can be sorted by the latest estimation of each asset.
    let sorted = seller_get(&market, "codebases?sort=estimate").await;
    assert_eq!(sorted["items"][0]["title"], "one");
}

/// The estimation that a later fixture set adds to an asset orders lists of assets.
#[tokio::test]
async fn estimation_of_an_asset_of_an_earlier_set_orders_lists() {
    let code = |key: &str, days: u32| {
        json!({"key": key, "team": "seller", "sku": "codebase", "title": key,
        "created_at": format!("-P{days}D"), "codebase": {"exclusivity": "available"}})
    };
    let market = market_with(&json!({"assets": [code("new", 2), code("old", 30)]}));
    market.seed_json(&json!({"estimations": [{"key": "e", "team": "seller", "sku": "codebase", "channel": "github",
        "repo_full_name": "acme/old", "name": "Old", "status": "estimated", "created_at": "-P2D", "completed_at": "-P1D",
        "created_by": "Ida", "asset": "old", "measured": {"lines_of_code": 9_000, "commits": 10, "contributors": 2, "languages": {"cobol": 100}}}]}));
    assert_eq!(titles(&seller_get(&market, "codebases?sort=estimate").await), ["old", "new"]);
}
