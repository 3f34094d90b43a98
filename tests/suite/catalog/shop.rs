//! Smallest markets: two sellers, a buyer, and the listings of one test.

use serde_json::{Map, Value, json};

use crate::harness::TestMarket;

/// The catalog's path.
pub const BROWSE: &str = "/v2/listings/browse";

/// A draft. Unless told otherwise it is the seller's, costs 50 dollars and holds one archive.
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

/// The same, published so many days ago.
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

/// A market of these listings.
pub fn shop(listings: &[Value]) -> TestMarket {
    shop_with(listings, &json!({}))
}

/// The same with further records.
pub fn shop_with(listings: &[Value], more: &Value) -> TestMarket {
    // The seller is in front of the gate with one or two listings, which only its own tests want.
    let market = TestMarket::with_settings(|settings| settings.browse_gate.required_published = 0);
    fill(&market, listings, more);
    market
}

/// Puts the teams, these listings and further records into a market.
pub fn fill(market: &TestMarket, listings: &[Value], more: &Value) {
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
    for (collection, records) in more.as_object().unwrap() {
        let all = set.entry(collection.clone()).or_insert_with(|| json!([]));
        all.as_array_mut().unwrap().extend(records.as_array().unwrap().iter().cloned());
    }
    market.seed_json(&Value::Object(set));
}

/// The keys of a page's listings, in order: ids lead back to them.
pub fn keys(page: &Value) -> Vec<String> {
    let items = page["items"].as_array().unwrap().iter();
    items.map(key_of).collect()
}

fn key_of(item: &Value) -> String {
    const KEYS: [&str; 14] =
        ["a", "b", "c", "d", "draft", "old", "older", "new", "twin", "dear", "cheap", "many", "gone", "kept"];
    let found =
        KEYS.iter().find(|key| item["id"] == marketplace::clock::record_id("listings", key).to_string());
    found.map_or_else(|| item["id"].as_str().unwrap().to_owned(), |key| (*key).to_owned())
}

/// The listings that a query finds.
pub async fn ids(market: &TestMarket, query: &str) -> Vec<String> {
    keys(&market.get("mkt_buyer", &format!("{BROWSE}?{query}")).await.ok())
}
