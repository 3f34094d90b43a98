//! Quality runs of the operator API.

use serde_json::{Value, json};

use super::{Operator, UNKNOWN, id};
use crate::catalog::small_market::published;

/// A market with a published listing, and credits of its vendor in US dollars.
fn operator(credits: u32) -> Operator {
    let entries = json!([{"key": "credits", "team": "seller", "entry_type": "adjustment",
        "amount_usd": credits, "description": "Credits", "created_at": "-P9D"}]);
    let records = if credits == 0 { json!({}) } else { json!({"ledger_entries": entries}) };
    Operator::new(&[published("a", 9, &json!({}))], records)
}

#[tokio::test]
async fn run_of_a_listing_is_started_listed_and_canceled() {
    let operator = operator(100);
    let listing = id("listings", "a");
    let run = operator.post("/quality-runs", json!({"listing_id": listing})).await;
    assert_eq!(
        (&run["status"], &run["passed"], &run["triggered_by"], &run["listing_id"], &run["asset_id"]),
        (&json!("queued"), &Value::Null, &json!("platform"), &json!(listing), &Value::Null)
    );
    assert_ne!(run["charge"], "0.00");
    let path = format!("/quality-runs/{}", run["id"].as_str().unwrap());
    assert_eq!(operator.get(&path).await, run);
    assert_eq!(operator.get(&format!("/listings/{listing}")).await["latest_quality_run_id"], run["id"]);
    let seller = id("teams", "seller");
    for (query, expected) in [
        ("status=queued".to_owned(), 1),
        ("status=completed".to_owned(), 0),
        (format!("listing_id={listing}&team_id={seller}"), 1),
        (format!("asset_id={}", id("assets", "a-files")), 0),
        (format!("team_id={UNKNOWN}"), 0),
    ] {
        assert_eq!(operator.list(&format!("/quality-runs?{query}"), "id").await.len(), expected, "{query}");
    }
    let again = operator.refusal("/quality-runs", json!({"listing_id": listing})).await;
    assert_eq!(again, (409, "run_in_progress".to_owned()));
    let canceled = operator.post(&format!("{path}/cancel"), Value::Null).await;
    assert_eq!((&canceled["status"], &canceled["charge"]), (&json!("cancelled"), &json!("0.00")));
    let refused = operator.call("POST", &format!("{path}/cancel"), &Value::Null).await;
    assert_eq!(refused.expect_status(409)["error"]["details"], json!({"from": "cancelled", "allowed": []}));
    // A canceled run is not carried out.
    operator.market.run_background();
    assert_eq!(operator.get(&path).await, canceled);
    let events = operator.events();
    for expected in ["quality_run.started", "wallet.debited", "quality_run.cancelled", "wallet.credited"] {
        assert_eq!(events.iter().filter(|event| **event == expected).count(), 1, "{expected} in {events:?}");
    }
    let subject = run["id"].as_str().unwrap().to_owned();
    let entry = |operation: &str| (operation.to_owned(), "quality_run".to_owned(), subject.clone());
    assert_eq!(operator.audit().await, [entry("create_quality_run"), entry("cancel_quality_run")]);
}

#[tokio::test]
async fn completed_run_has_its_checks() {
    let operator = operator(100);
    let run = operator.post("/quality-runs", json!({"listing_id": id("listings", "a")})).await;
    operator.market.run_background();
    let run = operator.get(&format!("/quality-runs/{}", run["id"].as_str().unwrap())).await;
    let checks = run["checks"].as_array().unwrap();
    let has_unmet = checks.iter().any(|check| check["mandatory"] == true && check["status"] != "passed");
    assert!(!checks.is_empty());
    assert_eq!((&run["status"], &run["passed"]), (&json!("completed"), &json!(!has_unmet)));
    assert!(checks.iter().any(|check| check["asset_id"] == id("assets", "a-files")));
    let listed = operator.get("/quality-runs").await["items"][0].clone();
    assert_eq!(
        (&listed["id"], &listed["passed"], &listed["checks"]),
        (&run["id"], &run["passed"], &Value::Null)
    );
}

#[tokio::test]
async fn run_needs_one_subject_with_data_and_credits() {
    let operator = operator(0);
    for (body, status, code) in [
        (json!({}), 422, "value_error"),
        (json!({"listing_id": id("listings", "a"), "asset_id": id("assets", "a-files")}), 422, "value_error"),
        (json!({"listing_id": UNKNOWN}), 422, "not_found"),
        (json!({"asset_id": UNKNOWN}), 422, "not_found"),
        (json!({"asset_id": id("assets", "a-files")}), 409, "data_not_attached"),
        (json!({"listing_id": id("listings", "a")}), 409, "insufficient_credits"),
    ] {
        assert_eq!(
            operator.refusal("/quality-runs", body.clone()).await,
            (status, code.to_owned()),
            "{body}"
        );
    }
    assert!(operator.events().is_empty() && operator.audit().await.is_empty());
}
