//! Settled sales and earnings.

use serde_json::{Value, json};

use crate::{
    contract::cases::VENDOR,
    harness::{
        TestMarket, demo,
        records::{self, demo_records, key},
    },
};

const VENDORS: [&str; 3] = [VENDOR, "mkt_demo_both", "mkt_demo_vendor_two"];

/// "Settled sales only, buyer never identified": the completed purchases of the team's listings, each with
/// the price minus the platform fee of 10%.
#[tokio::test]
async fn sales_are_completed_purchases_of_own_listings() {
    let mut seen = 0;
    for secret in VENDORS {
        let team = demo_records().team_of(secret);
        let response = demo().call(secret, "GET", "/v2/listings/sales", &Value::Null).await.ok();
        let sales = response["sales"].as_array().unwrap();
        let expected: Vec<&Value> = demo_records()
            .collection("purchases")
            .iter()
            .filter(|purchase| {
                let listing = demo_records().find("listings", purchase["listing"].as_str().unwrap());
                listing["team"] == team && purchase["status"] == "completed"
            })
            .collect();
        assert_eq!(sales.len(), expected.len(), "{team}");
        for purchase in &expected {
            let id = records::id("purchases", purchase).to_string();
            let sale = sales
                .iter()
                .find(|sale| sale["id"] == id)
                .unwrap_or_else(|| panic!("{} is missing", key(purchase)));
            assert_eq!(sale["purchase_kind"], purchase["kind"]);
            let fields: Vec<&String> = sale.as_object().unwrap().keys().collect();
            assert_eq!(fields.len(), 7, "{fields:?}");
        }
        let dates: Vec<&str> = sales.iter().map(|sale| sale["paid_at"].as_str().unwrap()).collect();
        assert!(dates.is_sorted_by(|a, b| a >= b), "sales must be newest first");
        let cents = |value: &Value| (value.as_f64().unwrap() * 100.0).round() as i64;
        assert_eq!(
            cents(&response["total_earnings"]),
            sales.iter().map(|sale| cents(&sale["amount"])).sum::<i64>()
        );
        seen += sales.len();
    }
    assert!(seen > 3);
}

fn cents(text: &Value) -> i64 {
    text.as_str().unwrap().replace('.', "").parse().unwrap()
}

/// The entries add up to the totals of the wallet, and pending earnings become available at the end of their holds.
#[tokio::test]
async fn earnings_sum_to_the_wallet_totals() {
    let market = TestMarket::demo();
    for days in [0, 3, 30] {
        market.clock().advance(days * 86_400_000_000);
        market.market().run_due_steps().unwrap();
        let now = market.clock().now().to_string();
        for secret in VENDORS {
            let wallet = market.call(secret, "GET", "/v2/wallet", &Value::Null).await.ok();
            let page = market.call(secret, "GET", "/v2/wallet/earnings?limit=200", &Value::Null).await.ok();
            let items = page["items"].as_array().unwrap();
            assert_eq!(page["total"], items.len());
            let sum = |is_match: &dyn Fn(&Value) -> bool| -> i64 {
                items.iter().filter(|item| is_match(item)).map(|item| cents(&item["amount"])).sum()
            };
            let is_pending = |item: &Value| item["available_at"].as_str().unwrap() > now.as_str();
            let is_use = |item: &Value| {
                ["credit_conversion", "withdrawal"].contains(&item["entry_type"].as_str().unwrap())
            };
            assert_eq!(cents(&wallet["earnings"]["pending"]), sum(&is_pending), "{secret}");
            assert_eq!(cents(&wallet["earnings"]["available"]), sum(&|item| !is_pending(item)), "{secret}");
            assert_eq!(cents(&wallet["earnings"]["total"]), sum(&|item| !is_use(item)), "{secret}");
            let first =
                market.call(secret, "GET", "/v2/wallet/earnings?limit=1&offset=1", &Value::Null).await.ok();
            assert_eq!(first["items"], json!(items.iter().skip(1).take(1).collect::<Vec<_>>()));
        }
    }
}
