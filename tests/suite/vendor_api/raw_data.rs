//! Raw data: stages, uploads, titles, and the fields that it does not have.

use serde_json::{Value, json};

use super::seller_market::{
    OTHER, empty_market, market_with, seller_call, seller_get, seller_patch, seller_post, upload_empty_zip,
};
use crate::harness::TestMarket;

fn path(row: &Value) -> String {
    format!("raw-data/{}", row["id"].as_str().unwrap())
}

fn zip_link(url: &str) -> Value {
    json!({"channel": "zip", "url": url})
}

fn described_raw_data() -> Value {
    json!({"title": "Letters", "description": "Scans.", "domain_tags": ["legal"], "price_usd": 90})
}

/// Asset stage rule 4.
#[tokio::test]
async fn stage_depends_on_metadata_and_upload() {
    let market = empty_market();
    let url = upload_empty_zip(&market, "Seller house");
    let mut complete = described_raw_data();
    complete["data"] = zip_link(&url);
    let row = seller_post(&market, "raw-data", complete).await;
    assert_eq!((&row["stage"], &row["missing"]), (&json!("complete"), &json!([])));
    assert_eq!(row["data"]["channel"], "zip");
    assert_eq!(row["data"]["archive_bytes"], 22);
    let row = seller_post(&market, "raw-data", json!({"title": "Bare", "data": zip_link(&url)})).await;
    assert_eq!(row["stage"], "incomplete");
    assert_eq!(row["missing"], json!(["description", "domain_tags", "price_usd"]));
    let mut proposal = described_raw_data();
    proposal["title"] = json!("Proposal");
    let row = seller_post(&market, "raw-data", proposal).await;
    assert_eq!((&row["stage"], &row["data"]), (&json!("proposed"), &Value::Null));
    let data = seller_post(&market, &format!("{}/data", path(&row)), zip_link(&url)).await;
    assert_eq!((&data["asset_id"], &data["manifest_url"]), (&row["id"], &Value::Null));
    assert_eq!(seller_get(&market, &path(&row)).await["stage"], "complete");
    assert_eq!(
        seller_call(&market, "DELETE", &path(&row), Value::Null).await.expect_error(409),
        "data_attached"
    );
    seller_call(&market, "DELETE", &format!("{}/data", path(&row)), Value::Null).await.expect_status(204);
    assert_eq!(seller_get(&market, &path(&row)).await["stage"], "proposed");
    seller_call(&market, "DELETE", &path(&row), Value::Null).await.expect_status(204);
    assert_eq!(seller_call(&market, "GET", &path(&row), Value::Null).await.expect_error(404), "not_found");
}

/// "An `exclusivity` value sent on raw data is refused."
#[tokio::test]
async fn exclusivity_of_raw_data_is_rejected() {
    let market = empty_market();
    let mut body = described_raw_data();
    body["exclusivity"] = json!("available");
    assert_eq!(
        seller_call(&market, "POST", "raw-data", body).await.problems(),
        ["body.exclusivity extra_forbidden"]
    );
    let row = seller_post(&market, "raw-data", described_raw_data()).await;
    let response = seller_call(&market, "PATCH", &path(&row), json!({"exclusivity": "available"})).await;
    assert_eq!(response.problems(), ["body.exclusivity extra_forbidden"]);
    assert_eq!(row.get("exclusivity"), None);
}

/// Only the team's own uploads can be attached. Another team's upload is rejected like an unknown URL.
#[tokio::test]
async fn only_own_uploads_can_be_attached() {
    let market = empty_market();
    let (own, other) = (upload_empty_zip(&market, "Seller house"), upload_empty_zip(&market, "Both house"));
    let row = seller_post(&market, "raw-data", described_raw_data()).await;
    let mut problems = Vec::new();
    for url in [other.as_str(), "https://example.com/x.zip", &own.replace(".zip", ""), &own.to_uppercase()] {
        let response = seller_call(&market, "POST", &format!("{}/data", path(&row)), zip_link(url)).await;
        problems.push((response.problems(), response.json()["detail"][0]["msg"].clone()));
        let response =
            seller_call(&market, "POST", "raw-data", json!({"title": "T", "data": zip_link(url)})).await;
        assert_eq!(response.problems()[0].split(' ').next(), Some("body.data.url"), "{url}");
    }
    assert_eq!(problems[0], problems[1], "another team's upload must look like an unknown one");
    assert_eq!(problems[0].0, ["body.url unknown_reference"]);
    let wrong = json!({"channel": "github", "url": own});
    assert_eq!(
        seller_call(&market, "POST", &format!("{}/data", path(&row)), wrong).await.problems(),
        ["body.channel enum"]
    );
    assert_eq!(seller_get(&market, "raw-data").await["total"], 1);
    assert_eq!(market.call(OTHER, "GET", "/v2/raw-data", &Value::Null).await.ok()["total"], 0);
    let link = json!({"channel": "zip", "url": own, "manifest_url": "https://example.com/manifest.json"});
    let data = seller_post(&market, &format!("{}/data", path(&row)), link).await;
    assert_eq!(data["manifest_url"], "https://example.com/manifest.json");
    let second = seller_call(&market, "POST", &format!("{}/data", path(&row)), zip_link(&own)).await;
    assert_eq!(second.expect_error(409), "data_attached");
}

#[tokio::test]
async fn tag_other_requires_other_domain() {
    let market = empty_market();
    let body = json!({"title": "T", "description": "D", "domain_tags": ["other"], "price_usd": 1});
    let row = seller_post(&market, "raw-data", body).await;
    assert_eq!(row["missing"], json!(["domain_tags"]));
    let row =
        seller_patch(&market, &path(&row), json!({"other_domain": "Falconry", "notes": "Ask Ida."})).await;
    assert_eq!((&row["missing"], &row["stage"]), (&json!([]), &json!("proposed")));
    assert_eq!((&row["other_domain"], &row["notes"]), (&json!("Falconry"), &json!("Ask Ida.")));
    let row = seller_patch(&market, &path(&row), json!({"other_domain": null, "notes": null})).await;
    assert_eq!((&row["missing"], &row["notes"]), (&json!(["domain_tags"]), &Value::Null));
}

async fn create_titled(market: &TestMarket, title: &str, suffix: bool) -> Value {
    seller_post(market, "raw-data", json!({"title": title, "suffix_title": suffix})).await["title"].clone()
}

#[tokio::test]
async fn duplicate_title_is_rejected_or_numbered() {
    let market = empty_market();
    assert_eq!(create_titled(&market, "Letters", true).await, "Letters");
    let rejection = seller_call(&market, "POST", "raw-data", json!({"title": "Letters"})).await;
    assert_eq!(rejection.expect_error(409), "conflict");
    assert_eq!(create_titled(&market, "Letters", true).await, "Letters (2)");
    assert_eq!(create_titled(&market, "Letters", true).await, "Letters (3)");
    // The lowest free number is used. Titles that only look similar do not count as taken.
    let second = seller_get(&market, "raw-data?filter=name:is:letters (2)").await["items"][0].clone();
    seller_call(&market, "DELETE", &path(&second), Value::Null).await.expect_status(204);
    assert_eq!(create_titled(&market, "Letters (x)", false).await, "Letters (x)");
    assert_eq!(create_titled(&market, "Letters", true).await, "Letters (2)");
    let long = "y".repeat(200);
    assert_eq!(create_titled(&market, &long, true).await, long.as_str());
    assert_eq!(create_titled(&market, &long, true).await, format!("{} (2)", "y".repeat(196)));
    // A PATCH cannot take the title of another asset, but it can repeat the asset's own title.
    let row = seller_get(&market, "raw-data?filter=name:is:letters (2)").await["items"][0].clone();
    assert_eq!(
        seller_call(&market, "PATCH", &path(&row), json!({"title": "Letters"})).await.expect_error(409),
        "conflict"
    );
    assert_eq!(
        seller_patch(&market, &path(&row), json!({"title": "Letters (2)"})).await["title"],
        "Letters (2)"
    );
    assert_eq!(seller_patch(&market, &path(&row), json!({"title": "Maps"})).await["title"], "Maps");
    // Seeded assets can have the same title. Their other fields can still be changed.
    let twin = |key: &str| json!({"key": key, "team": "seller", "sku": "raw_data", "title": "Twin", "created_at": "-P9D", "raw_data": {}});
    let twins = market_with(&json!({"assets": [twin("a"), twin("b")]}));
    let twin = format!("raw-data/{}", super::seller_market::seeded_id("assets", "a"));
    assert_eq!(seller_patch(&twins, &twin, json!({"notes": "N", "title": "Twin"})).await["notes"], "N");
    // Titles are unique only within a team.
    market.call(OTHER, "POST", "/v2/raw-data", &json!({"title": "Letters"})).await.expect_status(201);
}
