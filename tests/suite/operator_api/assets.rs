//! Assets of the operator API.

use serde_json::{Value, json};

use super::{Operator, UNKNOWN, id};
use crate::catalog::small_market::listing;

fn operator() -> Operator {
    let asset = |key: &str, team: &str, change: Value| {
        let mut record = json!({"key": key, "team": team, "sku": "codebase", "title": key, "created_at": "-P95D",
            "codebase": {"exclusivity": "available"}});
        record.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        record
    };
    Operator::new(
        &[listing("a", &json!({})), listing("b", &json!({"assets": ["a-files", "code"]}))],
        json!({"assets": [
            asset("code", "seller", json!({"description": "Code.", "price_usd": 12.5, "domain_tags": ["logistics"]})),
            asset("other", "both", json!({})),
        ]}),
    )
}

#[tokio::test]
async fn assets_are_filtered_by_team_kind_stage_and_listing() {
    let operator = operator();
    let [code, other, files] = ["code", "other", "a-files"].map(|key| id("assets", key));
    let (seller, both, listing) = (id("teams", "seller"), id("teams", "both"), id("listings", "b"));
    for (query, mut expected) in [
        (String::new(), vec![&code, &other, &files]),
        (format!("team_id={both}"), vec![&other]),
        (format!("team_id={UNKNOWN}"), vec![]),
        ("kind=raw_data".to_owned(), vec![&files]),
        (format!("kind=codebase&team_id={seller}"), vec![&code]),
        ("stage=incomplete".to_owned(), vec![&code, &other, &files]),
        ("stage=complete".to_owned(), vec![]),
        (format!("listing_id={listing}"), vec![&code, &files]),
        (format!("listing_id={listing}&kind=codebase"), vec![&code]),
    ] {
        let mut found = operator.list(&format!("/assets?{query}"), "id").await;
        found.sort_by_key(Value::to_string);
        expected.sort();
        assert_eq!(json!(found), json!(expected), "{query}");
    }
}

#[tokio::test]
async fn asset_shows_what_it_lacks_and_where_it_is_listed() {
    let operator = operator();
    let asset = operator.get(&format!("/assets/{}", id("assets", "code"))).await;
    assert_eq!(
        (&asset["price"], &asset["currency"], &asset["stage"], &asset["channel"], &asset["team_id"]),
        (&json!("12.50"), &json!("USD"), &json!("incomplete"), &Value::Null, &json!(id("teams", "seller")))
    );
    assert_eq!(asset["missing"][0], "lines_of_code");
    assert_eq!(asset["listing_ids"], json!([id("listings", "b")]));
    let files = operator.get(&format!("/assets/{}", id("assets", "a-files"))).await;
    assert_eq!(files["listing_ids"], json!([id("listings", "a"), id("listings", "b")]));
    assert_eq!(operator.call("GET", &format!("/assets/{UNKNOWN}"), &Value::Null).await.status, 404);
}
