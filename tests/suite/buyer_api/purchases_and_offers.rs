//! A buyer's own purchases and offers in the demo market.

use serde_json::{Value, json};

use crate::{
    contract::cases::is_listing_visible,
    harness::{
        demo,
        records::{self, demo_records},
    },
};

const BUYERS: [&str; 4] = ["mkt_demo_buyer", "mkt_demo_both", "mkt_demo_buyer_two", "mkt_demo_buyer_three"];

/// Returns the records of a buyer in a collection, with their IDs.
fn records_of_buyer<'r>(collection: &'r str, team: &'r str) -> impl Iterator<Item = (String, &'r Value)> {
    let own = demo_records().collection(collection).iter().filter(move |record| record["buyer"] == team);
    own.map(move |record| (records::id(collection, record).to_string(), record))
}

async fn get_json(secret: &str, path: &str) -> Value {
    demo().call(secret, "GET", &format!("/v2/{path}"), &Value::Null).await.ok()
}

/// Checks that a purchase or offer shows its listing as browse does, and that the listing's details can be
/// read exactly if `listing_detail_available` is true.
async fn check_listing(secret: &str, entry: &Value, listing_key: &str) {
    let listing = demo_records().find("listings", listing_key);
    let id = records::id("listings", listing).to_string();
    assert_eq!(entry["listing"]["id"], id);
    let is_visible = is_listing_visible(demo_records().team_of(secret), listing);
    assert_eq!(entry["listing_detail_available"], is_visible, "{listing_key}");
    let detail = demo().get(secret, &format!("/v2/listings/browse/{id}")).await;
    assert_eq!(detail.status == 200, is_visible, "{listing_key}");
    if is_visible {
        assert_eq!(detail.json()["title"], entry["listing"]["title"]);
    }
}

#[tokio::test]
async fn purchases_are_own_completed_purchases() {
    let mut kinds = std::collections::BTreeSet::new();
    for secret in BUYERS {
        let team = demo_records().team_of(secret);
        let purchases = get_json(secret, "listings/browse/purchases").await["purchases"].clone();
        let purchases = purchases.as_array().unwrap();
        let expected: Vec<_> = records_of_buyer("purchases", team)
            .filter(|(_, record)| record["status"] == "completed")
            .collect();
        assert_eq!(purchases.len(), expected.len(), "{team}");
        let dates: Vec<&str> =
            purchases.iter().map(|entry| entry["purchase"]["created_at"].as_str().unwrap()).collect();
        assert!(dates.is_sorted_by(|a, b| a >= b), "purchases must be newest first");
        for entry in purchases {
            let purchase = &entry["purchase"];
            let (_, record) =
                expected.iter().find(|(id, _)| purchase["id"] == *id).expect("a purchase of the team");
            assert_eq!(
                (&purchase["status"], &purchase["purchase_kind"]),
                (&json!("completed"), &record["kind"])
            );
            assert_eq!(purchase["listing_id"], entry["listing"]["id"]);
            let cents = |field: &str| (purchase[field].as_f64().unwrap() * 100.0).round() as i64;
            assert_eq!(cents("total"), cents("price") + cents("buyer_fee"));
            // The buyer fee is 5%, rounded to a cent.
            assert!((cents("price") * 5 - cents("buyer_fee") * 100).abs() <= 50, "{purchase}");
            assert!(
                ["all", "sample", "selection"].contains(&purchase["asset_scope"]["mode"].as_str().unwrap())
            );
            kinds.insert(purchase["purchase_kind"].to_string());
            check_listing(secret, entry, record["listing"].as_str().unwrap()).await;
        }
    }
    assert_eq!(kinds.len(), 3, "purchases of all three kinds must be checked");
}

#[tokio::test]
async fn offers_are_own_offers_on_all_listings() {
    let mut statuses = std::collections::BTreeSet::new();
    for secret in BUYERS {
        let team = demo_records().team_of(secret);
        let offers = get_json(secret, "listings/browse/offers").await["offers"].clone();
        let offers = offers.as_array().unwrap();
        let expected: Vec<_> = records_of_buyer("offers", team).collect();
        assert_eq!(offers.len(), expected.len(), "{team}");
        for entry in offers {
            let offer = &entry["offer"];
            let (_, record) =
                expected.iter().find(|(id, _)| offer["id"] == *id).expect("an offer of the team");
            assert_eq!(offer["status"], record["status"]);
            assert_eq!(offer["decided_at"].is_null(), offer["status"] == "submitted");
            statuses.insert(offer["status"].to_string());
            check_listing(secret, entry, record["listing"].as_str().unwrap()).await;
        }
    }
    assert!(statuses.len() >= 4, "{statuses:?}");
}
