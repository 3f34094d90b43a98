//! Quality runs of data that the server has no files of.

use marketplace::domain::listing_lifecycle::Operation;
use serde_json::{Value, json};
use uuid::Uuid;

use super::{
    quality_runs::{check_results, get_credits, market},
    seller_market::{seeded_id, seller_call, seller_get},
};
use crate::harness::listing_lifecycle;

/// "A run that a team requests on data that cannot be read is 409 `data_not_readable`, before any charge. A
/// submit is never refused for that."
#[tokio::test]
async fn run_of_unreadable_data_is_refused_before_any_charge() {
    let data = |channel: &str, archive: &str, analysis: &str| {
        let mut data = json!({"channel": channel, "archive_status": archive, "analysis_status": analysis, "attached_at": "-P5D"});
        if channel != "zip" {
            data["repo_full_name"] = json!("acme/x");
        }
        data
    };
    let cases = [
        ("repository", "codebase", data("github", "completed", "completed")),
        ("archive", "codebase", data("zip", "completed", "completed")),
        ("files", "raw_data", data("zip", "completed", "completed")),
        ("unanalyzed", "raw_data", data("zip", "completed", "failed")),
        ("uncopied", "codebase", data("gitlab", "failed", "skipped")),
        // Nothing copies or analyzes data whose progress a fixture states.
        ("pending", "codebase", data("github", "pending", "pending")),
        ("running", "raw_data", data("zip", "completed", "running")),
    ];
    let assets: Vec<Value> = cases
        .iter()
        .map(|(key, sku, data)| {
            let mut record =
                json!({"key": key, "team": "seller", "sku": sku, "title": key, "created_at": "-P9D"});
            record[*sku] = json!({"data": data});
            if *sku == "codebase" {
                record[*sku]["exclusivity"] = json!("available");
            }
            record
        })
        .collect();
    let keys: Vec<&str> = cases.iter().map(|(key, ..)| *key).collect();
    let market = market(&json!({
        "assets": assets,
        "listings": [{"key": "all", "team": "seller", "title": "A", "description": "D", "price_usd": 9, "created_at": "-P9D", "assets": keys}],
    }));
    for (key, sku, _) in &cases {
        let collection = if *sku == "codebase" { "codebases" } else { "raw-data" };
        let path = format!("{collection}/{}", seeded_id("assets", key));
        let refused = seller_call(&market, "POST", &format!("{path}/qc/runs"), Value::Null).await;
        assert_eq!(refused.expect_error(409), "data_not_readable", "{key}");
        assert_eq!(seller_get(&market, &format!("{path}/qc")).await["latest_run"], Value::Null, "{key}");
    }
    assert_eq!(get_credits(&market).await, json!("12.00"));
    assert_eq!(seller_get(&market, "listings/qc-reports").await["total"], 0);
    let listing: Uuid = seeded_id("listings", "all").parse().unwrap();
    market.write(|writer| listing_lifecycle::perform(writer, listing, Operation::Submit)).unwrap();
    market.run_background();
    let run = seller_get(&market, &format!("listings/{listing}/qc")).await["latest_run"].clone();
    assert_eq!((&run["status"], &run["mandatory_passed"]), (&json!("completed"), &json!(false)), "{run:#}");
    let checks = check_results(&run);
    assert_eq!(
        checks.iter().filter(|(key, status, _)| key == "archive_intact" && status == "failed").count(),
        7
    );
    assert!(checks.iter().all(|(.., message)| !message.contains("no longer exists")), "{checks:#?}");
}
