//! A market with an operator, a vendor, and buyers, for operations on sales and money.

use marketplace::{clock::fixture_record_id, domain::events::EventRowId, store, string_enum::StringEnum};
use serde_json::{Value, json};
use uuid::Uuid;

pub use crate::sales::{DAY, asset_id, listing_id};
use crate::{
    catalog::small_market::{listing, published, small_market_with},
    harness::{TestMarket, TestResponse},
    sales::{codebase, give_credits},
};

/// Key of the operator.
pub const OPERATOR: &str = "mkt_operator";

/// Returns the ID of a seeded team.
pub fn team_id(key: &str) -> Uuid {
    fixture_record_id("teams", key)
}

/// Returns a market in which the seller offers `plain` (two codebases for $50, the sample for $2, bids), `only`
/// (a codebase for $80, exclusively, bids), and `files` (raw data for $50, no bids), and has a draft `hidden`. All
/// teams have credits of $1,000.
pub fn sales_market() -> TestMarket {
    let listings = [
        published("plain", 30, &json!({"assets": ["c1", "c2"], "sample_price_usd": 2, "accepts_bids": true})),
        published(
            "only",
            30,
            &json!({"assets": ["c3"], "price_usd": 80, "accepts_bids": true, "exclusive": true}),
        ),
        published("files", 30, &json!({})),
        listing("hidden", &json!({})),
    ];
    let assets = [("c1", json!(20)), ("c2", Value::Null), ("c3", json!(45))];
    let market = small_market_with(
        &listings,
        &json!({
            "assets": assets.map(|(key, price)| codebase(key, &price)),
            "operator_keys": [{
                "key": "operator", "name": "tests", "secret": OPERATOR, "created_at": "-P99D",
            }],
        }),
    );
    for team in ["seller", "both", "buyer", "other"] {
        give_credits(&market, team, 100_000);
    }
    market
}

/// Sends a POST request of the operator.
pub async fn post(market: &TestMarket, path: &str, body: &Value) -> TestResponse {
    market.call(OPERATOR, "POST", &format!("/operator/v1/{path}"), body).await
}

/// Sends a PATCH request of the operator.
pub async fn patch(market: &TestMarket, path: &str, body: &Value) -> TestResponse {
    market.call(OPERATOR, "PATCH", &format!("/operator/v1/{path}"), body).await
}

/// Returns what the operator gets.
pub async fn get(market: &TestMarket, path: &str) -> Value {
    market.call(OPERATOR, "GET", &format!("/operator/v1/{path}"), &Value::Null).await.ok()
}

/// Returns a field of all items of a list.
pub async fn listed(market: &TestMarket, path: &str, field: &str) -> Vec<Value> {
    let page = get(market, path).await;
    let items = page["items"].as_array().unwrap();
    assert_eq!(page["total"], items.len());
    items.iter().map(|item| item[field].clone()).collect()
}

/// Returns the body of a purchase.
pub fn purchase(team: &str, listing: &str, pay_with: &str) -> Value {
    json!({
        "team_id": team_id(team), "listing_id": listing_id(listing), "kind": "full", "pay_with": pay_with,
    })
}

/// Returns the body of an offer.
pub fn offer(team: &str, listing: &str, amount: &str, pay_with: &str) -> Value {
    json!({
        "team_id": team_id(team), "listing_id": listing_id(listing), "amount": amount, "pay_with": pay_with,
    })
}

/// Returns the credits of a team.
pub async fn credits(market: &TestMarket, team: &str) -> Value {
    get(market, &format!("wallets/{}", team_id(team))).await["credits"].clone()
}

/// Returns the row ID of the newest event.
pub fn last_event(market: &TestMarket) -> EventRowId {
    events(market, EventRowId(0)).last().map_or(EventRowId(0), |event| event.row_id)
}

/// Returns the types of the events since one, in their order.
pub fn event_types(market: &TestMarket, after: EventRowId) -> Vec<&'static str> {
    events(market, after).into_iter().map(|event| event.event_type.as_str()).collect()
}

fn events(market: &TestMarket, after: EventRowId) -> Vec<store::events::Event> {
    market.read(|reader| store::events::list_after(reader.rows, after, 100_000)).unwrap()
}

/// Returns the operations in the audit that changed a record, newest first, each with the team acted for.
pub async fn audited(market: &TestMarket, id: &Value) -> Vec<(String, Value)> {
    let page = get(market, &format!("audit?subject_id={}", id.as_str().unwrap())).await;
    let entries = page["items"].as_array().unwrap().iter();
    entries.map(|entry| (entry["operation"].as_str().unwrap().to_owned(), entry["team_id"].clone())).collect()
}

/// Asserts that a transition is refused because of the status, and says which operations are allowed.
pub fn assert_invalid_transition(response: &TestResponse, from: &str, allowed: &[&str]) {
    assert_eq!(response.expect_error(409), "invalid_transition");
    assert_eq!(response.json()["error"]["details"], json!({"from": from, "allowed": allowed}));
}
