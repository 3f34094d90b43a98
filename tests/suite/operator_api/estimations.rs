//! Estimations that operators request in the names of vendors.

use serde_json::{Value, json};
use uuid::Uuid;

use super::sales_market::{
    asset_id, audited, event_types, get, last_event, listed, post, sales_market, team_id,
};

fn request(repository: &str) -> Value {
    json!({
        "team_id": team_id("seller"), "sku": "codebase", "channel": "github", "repo_full_name": repository,
    })
}

#[tokio::test]
async fn estimation_is_requested_and_ends() {
    let market = sales_market();
    let since = last_event(&market);
    let mut body = request("seller/tables");
    body["inventory_asset_id"] = json!(asset_id("c1"));
    let requested = post(&market, "estimations", &body).await.expect_status(201);
    assert_eq!(
        requested,
        json!({
            "id": requested["id"], "team_id": team_id("seller"), "sku": "codebase", "channel": "github",
            "repo_full_name": "seller/tables", "name": "tables", "status": "pending", "quote_low": null,
            "quote_high": null, "currency": "USD", "failure_message": null, "inventory_asset_id": asset_id("c1"),
            "created_by": team_id("seller"), "created_at": json!(market.clock().now()), "completed_at": null,
        })
    );
    assert_eq!(event_types(&market, since), ["estimation.requested"]);
    assert_eq!(listed(&market, "estimations?status=pending", "id").await, [requested["id"].clone()]);
    market.run_background();
    let path = format!("estimations/{}", requested["id"].as_str().unwrap());
    let ended = get(&market, &path).await;
    assert_eq!(ended["status"], "failed", "the host cannot be reached in tests");
    assert!(ended["failure_message"].is_string());
    assert_eq!(listed(&market, "estimations?status=pending", "id").await, [Value::Null; 0]);
    let filter = format!("estimations?team_id={}", team_id("seller"));
    assert_eq!(listed(&market, &filter, "id").await, [requested["id"].clone()]);
    assert_eq!(
        audited(&market, &requested["id"]).await,
        [("create_estimation".to_owned(), json!(team_id("seller")))]
    );
}

#[tokio::test]
async fn refused_estimations_say_why() {
    let market = sales_market();
    let mut unknown = request("seller/tables");
    unknown["team_id"] = json!(Uuid::nil());
    assert_eq!(post(&market, "estimations", &unknown).await.problems(), ["body.team_id not_found"]);
    let mut wrong_kind = request("seller/tables");
    wrong_kind["inventory_asset_id"] = json!(asset_id("files-files"));
    assert_eq!(
        post(&market, "estimations", &wrong_kind).await.problems(),
        ["body.inventory_asset_id unknown_reference"]
    );
    assert_eq!(
        post(&market, "estimations", &request("seller")).await.problems(),
        ["body.repo_full_name string_pattern_mismatch"]
    );
    for number in 0..20 {
        post(&market, "estimations", &request(&format!("seller/r{number}"))).await.expect_status(201);
    }
    let refused = post(&market, "estimations", &request("seller/r20")).await;
    assert_eq!(refused.expect_error(409), "quota_exceeded");
}
