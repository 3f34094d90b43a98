//! Raw data: stages, uploads, titles, and the fields that it does not have.

use serde_json::{Value, json};

use super::stock::{OTHER, change, empty, make, read, seller, stock, upload};
use crate::harness::TestMarket;

fn path(row: &Value) -> String {
    format!("raw-data/{}", row["id"].as_str().unwrap())
}

fn link(url: &str) -> Value {
    json!({"channel": "zip", "url": url})
}

fn described() -> Value {
    json!({"title": "Letters", "description": "Scans.", "domain_tags": ["legal"], "price_usd": 90})
}

/// Asset stage rule 4.
#[tokio::test]
async fn stages_follow_metadata_and_upload() {
    let market = empty();
    let url = upload(&market, "Seller house");
    let mut whole = described();
    whole["data"] = link(&url);
    let row = make(&market, "raw-data", whole).await;
    assert_eq!((&row["stage"], &row["missing"]), (&json!("complete"), &json!([])));
    assert_eq!(row["data"]["channel"], "zip");
    assert_eq!(row["data"]["archive_bytes"], 22);
    let row = make(&market, "raw-data", json!({"title": "Bare", "data": link(&url)})).await;
    assert_eq!(row["stage"], "incomplete");
    assert_eq!(row["missing"], json!(["description", "domain_tags", "price_usd"]));
    let mut proposal = described();
    proposal["title"] = json!("Proposal");
    let row = make(&market, "raw-data", proposal).await;
    assert_eq!((&row["stage"], &row["data"]), (&json!("proposed"), &Value::Null));
    let data = make(&market, &format!("{}/data", path(&row)), link(&url)).await;
    assert_eq!((&data["asset_id"], &data["manifest_url"]), (&row["id"], &Value::Null));
    assert_eq!(read(&market, &path(&row)).await["stage"], "complete");
    assert_eq!(seller(&market, "DELETE", &path(&row), Value::Null).await.refused(409), "data_attached");
    seller(&market, "DELETE", &format!("{}/data", path(&row)), Value::Null).await.with(204);
    assert_eq!(read(&market, &path(&row)).await["stage"], "proposed");
    seller(&market, "DELETE", &path(&row), Value::Null).await.with(204);
    assert_eq!(seller(&market, "GET", &path(&row), Value::Null).await.refused(404), "not_found");
}

/// "An `exclusivity` value sent on raw data is refused."
#[tokio::test]
async fn raw_data_has_no_exclusivity() {
    let market = empty();
    let mut body = described();
    body["exclusivity"] = json!("available");
    assert_eq!(
        seller(&market, "POST", "raw-data", body).await.problems(),
        ["body.exclusivity extra_forbidden"]
    );
    let row = make(&market, "raw-data", described()).await;
    let answer = seller(&market, "PATCH", &path(&row), json!({"exclusivity": "available"})).await;
    assert_eq!(answer.problems(), ["body.exclusivity extra_forbidden"]);
    assert_eq!(row.get("exclusivity"), None);
}

/// Only the team's own uploads can be attached. Another team's upload is rejected like an unknown URL.
#[tokio::test]
async fn only_the_teams_own_uploads_attach() {
    let market = empty();
    let (own, other) = (upload(&market, "Seller house"), upload(&market, "Both house"));
    let row = make(&market, "raw-data", described()).await;
    let mut told = Vec::new();
    for url in [other.as_str(), "https://example.com/x.zip", &own.replace(".zip", ""), &own.to_uppercase()] {
        let answer = seller(&market, "POST", &format!("{}/data", path(&row)), link(url)).await;
        told.push((answer.problems(), answer.json()["detail"][0]["msg"].clone()));
        let answer = seller(&market, "POST", "raw-data", json!({"title": "T", "data": link(url)})).await;
        assert_eq!(answer.problems()[0].split(' ').next(), Some("body.data.url"), "{url}");
    }
    assert_eq!(told[0], told[1], "another team's upload must look like an unknown one");
    assert_eq!(told[0].0, ["body.url unknown_reference"]);
    let wrong = json!({"channel": "github", "url": own});
    assert_eq!(
        seller(&market, "POST", &format!("{}/data", path(&row)), wrong).await.problems(),
        ["body.channel enum"]
    );
    assert_eq!(read(&market, "raw-data").await["total"], 1);
    assert_eq!(market.call(OTHER, "GET", "/v2/raw-data", &Value::Null).await.ok()["total"], 0);
    let whole = json!({"channel": "zip", "url": own, "manifest_url": "https://example.com/manifest.json"});
    let data = make(&market, &format!("{}/data", path(&row)), whole).await;
    assert_eq!(data["manifest_url"], "https://example.com/manifest.json");
    let again = seller(&market, "POST", &format!("{}/data", path(&row)), link(&own)).await;
    assert_eq!(again.refused(409), "data_attached");
}

#[tokio::test]
async fn a_field_in_words_stands_for_other() {
    let market = empty();
    let body = json!({"title": "T", "description": "D", "domain_tags": ["other"], "price_usd": 1});
    let row = make(&market, "raw-data", body).await;
    assert_eq!(row["missing"], json!(["domain_tags"]));
    let row = change(&market, &path(&row), json!({"other_domain": "Falconry", "notes": "Ask Ida."})).await;
    assert_eq!((&row["missing"], &row["stage"]), (&json!([]), &json!("proposed")));
    assert_eq!((&row["other_domain"], &row["notes"]), (&json!("Falconry"), &json!("Ask Ida.")));
    let row = change(&market, &path(&row), json!({"other_domain": null, "notes": null})).await;
    assert_eq!((&row["missing"], &row["notes"]), (&json!(["domain_tags"]), &Value::Null));
}

async fn titled(market: &TestMarket, title: &str, suffix: bool) -> Value {
    make(market, "raw-data", json!({"title": title, "suffix_title": suffix})).await["title"].clone()
}

#[tokio::test]
async fn a_title_that_is_taken_is_refused_or_numbered() {
    let market = empty();
    assert_eq!(titled(&market, "Letters", true).await, "Letters");
    let refusal = seller(&market, "POST", "raw-data", json!({"title": "Letters"})).await;
    assert_eq!(refusal.refused(409), "conflict");
    assert_eq!(titled(&market, "Letters", true).await, "Letters (2)");
    assert_eq!(titled(&market, "Letters", true).await, "Letters (3)");
    // The lowest free number is used. Titles that only look similar do not count as taken.
    let second = read(&market, "raw-data?filter=name:is:letters (2)").await["items"][0].clone();
    seller(&market, "DELETE", &path(&second), Value::Null).await.with(204);
    assert_eq!(titled(&market, "Letters (x)", false).await, "Letters (x)");
    assert_eq!(titled(&market, "Letters", true).await, "Letters (2)");
    let long = "y".repeat(200);
    assert_eq!(titled(&market, &long, true).await, long.as_str());
    assert_eq!(titled(&market, &long, true).await, format!("{} (2)", "y".repeat(196)));
    // A PATCH cannot take the title of another asset, but it can repeat the asset's own title.
    let row = read(&market, "raw-data?filter=name:is:letters (2)").await["items"][0].clone();
    assert_eq!(
        seller(&market, "PATCH", &path(&row), json!({"title": "Letters"})).await.refused(409),
        "conflict"
    );
    assert_eq!(change(&market, &path(&row), json!({"title": "Letters (2)"})).await["title"], "Letters (2)");
    assert_eq!(change(&market, &path(&row), json!({"title": "Maps"})).await["title"], "Maps");
    // Seeded assets can have the same title. Their other fields can still be changed.
    let twin = |key: &str| json!({"key": key, "team": "seller", "sku": "raw_data", "title": "Twin", "created_at": "-P9D", "raw_data": {}});
    let twins = stock(&json!({"assets": [twin("a"), twin("b")]}));
    let twin = format!("raw-data/{}", super::stock::id("assets", "a"));
    assert_eq!(change(&twins, &twin, json!({"notes": "N", "title": "Twin"})).await["notes"], "N");
    // Titles are unique only within a team.
    market.call(OTHER, "POST", "/v2/raw-data", &json!({"title": "Letters"})).await.with(201);
}
