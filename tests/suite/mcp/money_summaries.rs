//! Summaries of spending and earnings: they are the sums of purchases and of ledger entries over REST.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::{
    call,
    rest_records::{rest_list, rest_pages, texts},
};
use crate::{
    contract::cases::{BOTH, BUYER, LOCKED_VENDOR, VENDOR},
    harness::{TestMarket, demo},
};

const MICROS_PER_DAY: i64 = 86_400_000_000;

fn cents(value: &Value) -> i64 {
    let number = value.as_f64().or_else(|| value.as_str()?.parse().ok()).unwrap_or_else(|| panic!("{value}"));
    (number * 100.0).round() as i64
}

#[tokio::test]
async fn spending_is_the_sum_of_purchases() {
    for key in [BUYER, BOTH, "mkt_demo_buyer_two", "mkt_demo_both_two"] {
        let purchases = rest_list(key, "/v2/listings/browse/purchases", "purchases").await;
        let mut days = texts(&purchases, "/purchase/created_at");
        days.sort();
        let (since, until) = (&days[days.len() / 4][..10], &days[3 * days.len() / 4][..10]);
        for (arguments, since, until) in [
            (json!({}), "0000", "9999"),
            (json!({"since": since, "until": until}), since, until),
            (json!({"since": since}), since, "9999"),
        ] {
            let day = |one: &Value| one["purchase"]["created_at"].as_str().unwrap()[..10].to_owned();
            let matching: Vec<&Value> =
                purchases.iter().filter(|one| *since <= *day(one) && *day(one) <= *until).collect();
            let mut fields = arguments.clone();
            fields["fields"] = json!(["*"]);
            let spending = call(demo(), key, "get_spending", fields).await.ok();
            let sums = |records: &[&Value]| {
                let sum = |name: &str| records.iter().map(|one| cents(&one["purchase"][name])).sum::<i64>();
                (records.len() as u64, sum("price"), sum("buyer_fee"), sum("total"))
            };
            let read = |row: &Value| {
                (
                    row["purchases"].as_u64().unwrap(),
                    cents(&row["price"]),
                    cents(&row["fees"]),
                    cents(&row["total"]),
                )
            };
            assert_eq!(read(&spending["total"]), sums(&matching), "{key} {arguments}");
            for (list, name, name_of) in [
                ("by_month", "name", &(|one: &Value| day(one)[..7].to_owned()) as &dyn Fn(&Value) -> String),
                ("by_kind", "name", &|one| one["purchase"]["purchase_kind"].as_str().unwrap().to_owned()),
                ("by_listing", "listing_id", &|one| one["listing"]["id"].as_str().unwrap().to_owned()),
            ] {
                let mut groups: BTreeMap<String, Vec<&Value>> = BTreeMap::new();
                for one in &matching {
                    groups.entry(name_of(one)).or_default().push(one);
                }
                let rows = spending[list].as_array().unwrap();
                assert_eq!(rows.len(), groups.len(), "{key} {list}");
                if list == "by_listing" {
                    assert_eq!(spending["listings"], rows.len(), "{key} {arguments}");
                }
                for row in rows {
                    assert_eq!(
                        read(row),
                        sums(&groups[row[name].as_str().unwrap()]),
                        "{key} {arguments} {list}"
                    );
                }
                if list == "by_listing" {
                    let totals: Vec<i64> = rows.iter().map(|row| cents(&row["total"])).collect();
                    assert!(totals.is_sorted_by(|a, b| a >= b), "{totals:?}");
                } else {
                    assert!(
                        rows.is_sorted_by_key(|row| row["name"].as_str().unwrap().to_owned()),
                        "{rows:?}"
                    );
                }
            }
        }
    }
}

#[tokio::test]
async fn earnings_are_the_sum_of_ledger_entries() {
    for key in [VENDOR, BOTH, "mkt_demo_vendor_two", "mkt_demo_both_two", LOCKED_VENDOR] {
        let entries = rest_pages(key, "/v2/wallet/earnings", "items").await;
        let sales = rest_list(key, "/v2/listings/sales", "sales").await;
        let wallet = demo().get(key, "/v2/wallet").await.ok();
        for (arguments, since, until) in [
            (json!({}), "0000", "9999"),
            (json!({"since": "2025-12-01", "until": "2026-01-31"}), "2025-12-01", "2026-01-31"),
        ] {
            let day = |one: &Value| one["created_at"].as_str().unwrap()[..10].to_owned();
            let matching: Vec<&Value> =
                entries.iter().filter(|one| *since <= *day(one) && *day(one) <= *until).collect();
            let mut all = arguments.clone();
            all["fields"] = json!(["*"]);
            let summary = call(demo(), key, "get_earnings_summary", all).await.ok();
            let sum = |entries: &[&Value], kinds: &[&str]| {
                let of_kind =
                    entries.iter().filter(|one| kinds.contains(&one["entry_type"].as_str().unwrap()));
                of_kind.map(|one| cents(&one["amount"])).sum::<i64>()
            };
            let sale = ["sale", "sample_sale", "accepted_bid_sale"];
            let sums = |entries: &[&Value]| {
                let [gross, fees, refunds] =
                    [&sale[..], &["platform_fee"], &["refund"]].map(|kinds| sum(entries, kinds));
                [
                    gross,
                    fees,
                    refunds,
                    gross + fees + refunds,
                    sum(entries, &["credit_conversion", "withdrawal"]),
                ]
            };
            let read =
                |row: &Value| ["gross", "fees", "refunds", "net", "used"].map(|name| cents(&row[name]));
            assert_eq!(read(&summary["total"]), sums(&matching), "{key} {arguments}");
            // No entry is outside of these sums.
            assert_eq!(
                read(&summary["total"])[3..].iter().sum::<i64>(),
                matching.iter().map(|one| cents(&one["amount"])).sum::<i64>()
            );
            let mut months: BTreeSet<String> = matching.iter().map(|one| day(one)[..7].to_owned()).collect();
            // A free sample is a sale without entries.
            let sold_on = sales.iter().map(|one| &one["paid_at"].as_str().unwrap()[..10]);
            months
                .extend(sold_on.filter(|day| since <= *day && *day <= until).map(|day| day[..7].to_owned()));
            let rows = summary["by_month"].as_array().unwrap();
            assert_eq!(texts(rows, "/name"), months.into_iter().collect::<Vec<_>>());
            for row in rows {
                let of_month: Vec<&Value> = matching
                    .iter()
                    .filter(|one| day(one)[..7] == *row["name"].as_str().unwrap())
                    .copied()
                    .collect();
                assert_eq!(read(row), sums(&of_month), "{key} {row}");
            }
            let sold = |name: &str, value: &Value| {
                let is_in = |one: &&Value| {
                    let day = &one["paid_at"].as_str().unwrap()[..10];
                    since <= day && day <= until && (name.is_empty() || one[name] == *value)
                };
                json!(sales.iter().filter(is_in).count())
            };
            assert_eq!(summary["total"]["sales"], sold("", &Value::Null), "{key} {arguments}");
            for (list, name) in [("by_kind", "purchase_kind"), ("by_listing", "listing_id")] {
                for row in summary[list].as_array().unwrap() {
                    let of = if list == "by_kind" { &row["name"] } else { &row["listing_id"] };
                    assert_eq!(row["sales"], sold(name, of), "{key} {arguments} {row}");
                }
            }
            for list in ["by_month", "by_kind"] {
                let rows = summary[list].as_array().unwrap();
                let net: i64 = rows.iter().map(|row| cents(&row["net"])).sum();
                assert_eq!(net, cents(&summary["total"]["net"]), "{key} {list}");
            }
            for row in summary["by_listing"].as_array().unwrap() {
                let of_listing = |one: &&Value| one["listing_id"] == row["listing_id"];
                let purchases: BTreeSet<&str> =
                    sales.iter().filter(of_listing).map(|one| one["id"].as_str().unwrap()).collect();
                let of_sales: Vec<&Value> = matching
                    .iter()
                    .filter(|one| one["purchase_id"].as_str().is_some_and(|id| purchases.contains(id)))
                    .copied()
                    .collect();
                if row["refunds"] == 0.0 {
                    assert_eq!(read(row), sums(&of_sales), "{key} {row}");
                }
            }
            for name in ["available", "pending"] {
                assert_eq!(cents(&summary[name]), cents(&wallet["earnings"][name]), "{key} {name}");
            }
        }
        assert_releases(demo(), key).await;
    }
}

/// Asserts that the releases are those of the entries on hold.
async fn assert_releases(market: &TestMarket, key: &str) {
    let now = call(market, key, "get_current_team", json!({})).await.ok()["now"].as_str().unwrap().to_owned();
    let summary = call(market, key, "get_earnings_summary", json!({"fields": ["*"]})).await.ok();
    let entries = market.get(key, "/v2/wallet/earnings?limit=200").await.ok();
    let mut holds: BTreeMap<&str, i64> = BTreeMap::new();
    for entry in entries["items"].as_array().unwrap() {
        if let Some(at) = entry["available_at"].as_str().filter(|at| **at > *now) {
            *holds.entry(at).or_default() += cents(&entry["amount"]);
        }
    }
    holds.retain(|_, amount| *amount != 0);
    let releases = summary["releases"].as_array().unwrap();
    let found: Vec<(&str, i64)> =
        releases.iter().map(|release| (release["at"].as_str().unwrap(), cents(&release["amount"]))).collect();
    assert_eq!(found, holds.into_iter().take(12).collect::<Vec<_>>(), "{key} at {now}");
    assert_eq!(summary["next_release"], releases.first().cloned().unwrap_or_default(), "{key} at {now}");
    let sum: i64 = found.iter().map(|(_, amount)| amount).sum();
    assert_eq!(sum, cents(&summary["pending"]), "{key} at {now}");
}

#[tokio::test]
async fn next_release_is_after_now() {
    let market = TestMarket::demo();
    let first = call(&market, VENDOR, "get_earnings_summary", json!({})).await.ok();
    assert!(first["next_release"]["at"].is_string(), "{first}");
    for _ in 0..5 {
        assert_releases(&market, VENDOR).await;
        market.clock().advance(MICROS_PER_DAY);
        // Holds that have ended are no release to come, also before they are released.
        let now = call(&market, VENDOR, "get_current_team", json!({})).await.ok()["now"].clone();
        let summary = call(&market, VENDOR, "get_earnings_summary", json!({})).await.ok();
        assert!(
            summary["next_release"]["at"].as_str().is_none_or(|at| at > now.as_str().unwrap()),
            "{summary}"
        );
        market.market().run_due_steps().unwrap();
    }
    let last = call(&market, VENDOR, "get_earnings_summary", json!({})).await.ok();
    assert!(last["next_release"].is_null() && last["pending"] == 0.0, "{last}");
}

#[tokio::test]
async fn default_summary_says_how_many_listings_it_leaves_out() {
    for (key, tool) in [(BUYER, "get_spending"), (BOTH, "get_earnings_summary")] {
        let whole = call(demo(), key, tool, json!({"fields": ["by_listing.listing_id"]})).await.ok();
        let all = whole["by_listing"].as_array().unwrap();
        assert!(all.len() > 5, "{tool}: {whole}");
        let brief = call(demo(), key, tool, json!({})).await.ok();
        assert_eq!(brief["by_listing"].as_array().unwrap().len(), 5);
        assert_eq!(brief["listings"], all.len());
        let cut = brief["cut"].as_str().unwrap();
        assert!(cut.contains(&format!("`by_listing` shows 5 of {}", all.len())), "{cut}");
        let path = cut.split("[\"").nth(1).unwrap().split("\"]").next().unwrap();
        let rest = call(demo(), key, tool, json!({"fields": [path]})).await.ok();
        assert_eq!(rest["by_listing"].as_array().unwrap().len(), all.len() - 5);
    }
}
