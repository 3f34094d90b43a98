//! Minimal markets: two vendors (one of them is also a buyer), two buyers, and the listings of one test.

use serde_json::{Map, Value, json};

use crate::harness::TestMarket;

/// Path of the catalog.
pub const BROWSE: &str = "/v2/listings/browse";

/// Returns a draft with the fields in `change`. By default it belongs to `seller`, costs $50 and has one raw
/// data asset.
pub fn listing(key: &str, change: &Value) -> Value {
    let mut record = json!({
        "key": key, "team": "seller", "title": format!("Listing {key}"), "description": "About it.", "price_usd": 50,
        "created_at": "-P90D",
    });
    for (name, value) in change.as_object().unwrap() {
        record[name] = value.clone();
    }
    if record["assets"].is_null() {
        record["assets"] = json!([format!("{key}-files")]);
    }
    record
}

/// Returns the same listing, published `days` days ago.
pub fn published(key: &str, days: u32, change: &Value) -> Value {
    let mut record = listing(key, change);
    let mut history = vec![
        json!({"event": "submitted", "at": "-P80D"}),
        json!({"event": "approved", "at": "-P79D"}),
        json!({"event": "published", "at": format!("-P{days}D")}),
    ];
    history.extend(record["history"].as_array().cloned().unwrap_or_default());
    record["history"] = json!(history);
    record
}

/// Returns the record of a key with which a team signs in: `mkt_TEAM_console`.
pub fn console_key(team: &str) -> Value {
    json!({"key": format!("{team}-console"), "team": team, "name": "People", "scope": "all",
        "secret": format!("mkt_{team}_console"), "created_at": "-P99D"})
}

/// Creates a market with these listings.
pub fn small_market(listings: &[Value]) -> TestMarket {
    small_market_with(listings, &json!({}))
}

/// Creates a market with these listings and further records.
pub fn small_market_with(listings: &[Value], records: &Value) -> TestMarket {
    // With one or two listings, the seller would be locked out of the catalog, which only tests of that rule
    // want.
    let market = TestMarket::with_settings(|settings| settings.browse_gate.required_published = 0);
    seed_market(&market, listings, records);
    market
}

/// Writes the teams, these listings and further records into a market.
pub fn seed_market(market: &TestMarket, listings: &[Value], further_records: &Value) {
    let mut set = Map::new();
    let team = |key: &str, name: &str, roles: Value, tier: u8| json!({"key": key, "name": name, "roles": roles, "tier": tier, "nda_accepted_at": "-P99D", "created_at": "-P99D"});
    set.insert(
        "teams".to_owned(),
        json!([
            team("seller", "Seller house", json!(["vendor"]), 1),
            team("both", "Both house", json!(["vendor", "buyer"]), 2),
            team("buyer", "Buyer house", json!(["buyer"]), 1),
            team("other", "Other buyer", json!(["buyer"]), 1),
        ]),
    );
    let keys = ["seller", "both", "buyer", "other"].map(|team| {
        json!({"key": team, "team": team, "name": "tests", "secret": format!("mkt_{team}"), "created_at": "-P99D"})
    });
    set.insert("keys".to_owned(), json!(keys));
    set.insert("listings".to_owned(), json!(listings));
    let files = listings.iter().filter(|listing| {
        listing["assets"] == json!([format!("{}-files", listing["key"].as_str().unwrap())])
    });
    let files = files.map(|listing| {
        json!({"key": listing["assets"][0], "team": listing["team"], "sku": "raw_data", "title": "Files",
            "created_at": "-P95D", "raw_data": {}})
    });
    set.insert("assets".to_owned(), files.collect());
    for (collection, records) in further_records.as_object().unwrap() {
        let all = set.entry(collection.clone()).or_insert_with(|| json!([]));
        all.as_array_mut().unwrap().extend(records.as_array().unwrap().iter().cloned());
    }
    market.seed_json(&Value::Object(set));
}

/// Returns the keys of the listings on a page, in order. A listing whose key is not known here appears with
/// its ID.
pub fn keys(page: &Value) -> Vec<String> {
    let items = page["items"].as_array().unwrap().iter();
    items.map(key_of).collect()
}

fn key_of(item: &Value) -> String {
    const KEYS: [&str; 14] =
        ["a", "b", "c", "d", "draft", "old", "older", "new", "twin", "dear", "cheap", "many", "gone", "kept"];
    let found = KEYS
        .iter()
        .find(|key| item["id"] == marketplace::clock::fixture_record_id("listings", key).to_string());
    found.map_or_else(|| item["id"].as_str().unwrap().to_owned(), |key| (*key).to_owned())
}

/// Returns the keys of the listings that a query matches.
pub async fn matching_keys(market: &TestMarket, query: &str) -> Vec<String> {
    keys(&market.get("mkt_buyer", &format!("{BROWSE}?{query}")).await.ok())
}
