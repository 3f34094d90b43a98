//! The events of sales, which reveal nothing about buyers to a vendor.

use marketplace::domain::record_filters::RecordFilter;
use marketplace::{
    domain::{
        events::EventRowId,
        listing_lifecycle::Operation,
        purchases::{PayWith, PurchaseKind},
    },
    store,
};
use serde_json::{Value, json};

use super::{
    DAY, accept, bid, buy, cancel, change_listing, complete, decline, events_since, give_credits, last_event,
    listing_id, refund, sales_market, team_of, withdraw,
};
use crate::harness::TestMarket;

/// Lets teams do everything that they can do with offers and purchases.
fn trade(market: &TestMarket) {
    let (plain, shared) = (listing_id("plain"), listing_id("shared"));
    let offers: Vec<_> = ["buyer", "other", "both"]
        .into_iter()
        .map(|team| bid(market, team, plain, 4_000, PayWith::Credits).unwrap())
        .collect();
    withdraw(market, "buyer", offers[0]).unwrap();
    decline(market, "seller", offers[1]).unwrap();
    accept(market, "seller", offers[2]).unwrap();
    let bought = buy(market, "buyer", plain, PurchaseKind::Full, PayWith::Credits).unwrap();
    refund(market, bought.id).unwrap();
    buy(market, "other", plain, PurchaseKind::Sample, PayWith::Credits).unwrap();
    let pending = buy(market, "buyer", plain, PurchaseKind::Full, PayWith::Invoice).unwrap();
    complete(market, pending.id).unwrap();
    let pending = buy(market, "other", plain, PurchaseKind::Full, PayWith::Invoice).unwrap();
    cancel(market, pending.id).unwrap();
    bid(market, "other", plain, 10, PayWith::Invoice).unwrap();
    market.clock().advance(31 * DAY);
    market.market().run_due_steps().unwrap();
    bid(market, "other", shared, 10, PayWith::Invoice).unwrap();
    change_listing(market, shared, Operation::Archive).unwrap();
}

/// Returns what identifies a buyer: its ID, its name, its key, and its row ID as JSON would name it.
fn identifying_texts(market: &TestMarket, key: &str) -> Vec<String> {
    let team = market.read(|reader| Ok(team_of(reader.rows, key))).unwrap();
    vec![team.id.to_string(), team.id.simple().to_string(), team.name, format!("mkt_{key}")]
}

#[tokio::test]
async fn vendor_never_learns_who_bids_or_buys() {
    let market = sales_market();
    trade(&market);
    let mut seen: Vec<String> = events_since(&market, EventRowId(0))
        .into_iter()
        .filter(|(_, team, _)| team == "seller")
        .map(|(kind, _, data)| format!("{kind} {data}"))
        .collect();
    assert!(seen.iter().any(|event| event.starts_with("purchase.refunded")));
    assert!(seen.iter().all(|event| !event.contains("pay_with") && !event.contains("buyer")), "{seen:?}");
    for path in [
        "/v2/vendor/notifications".to_owned(),
        "/v2/listings/sales".to_owned(),
        "/v2/wallet".to_owned(),
        "/v2/wallet/earnings".to_owned(),
        format!("/v2/listings/{}", listing_id("plain")),
        format!("/v2/listings/{}/history", listing_id("plain")),
    ] {
        seen.push(market.get("mkt_seller", &path).await.ok().to_string());
    }
    for key in ["buyer", "other", "both"] {
        for text in identifying_texts(&market, key) {
            for response in &seen {
                assert!(!response.contains(&text), "{text} in {response}");
            }
        }
    }
}

/// Each affected team has a view of each change: the buyer of everything, the vendor of what it has to know.
#[test]
fn events_of_a_sale_are_views_of_its_teams() {
    let market = sales_market();
    let before = last_event(&market);
    let offer = bid(&market, "buyer", listing_id("plain"), 4_000, PayWith::Credits).unwrap();
    let purchase = accept(&market, "seller", offer).unwrap();
    refund(&market, purchase).unwrap();
    let events = events_since(&market, before);
    let summary: Vec<(&str, &str)> =
        events.iter().map(|(kind, team, _)| (kind.as_str(), team.as_str())).collect();
    assert_eq!(
        summary,
        [
            ("offer.submitted", "buyer"),
            ("offer.submitted", "seller"),
            ("offer.accepted", "buyer"),
            ("offer.accepted", "seller"),
            ("purchase.created", "buyer"),
            ("purchase.completed", "buyer"),
            ("purchase.completed", "seller"),
            ("purchase.refunded", "buyer"),
            ("purchase.refunded", "seller"),
        ]
    );
    let data = |index: usize, field: &str| -> Value { events[index].2[field].clone() };
    assert_eq!((data(0, "amount"), data(0, "pay_with")), (json!("40.00"), json!("credits")));
    assert_eq!((data(1, "amount"), data(1, "pay_with")), (json!("40.00"), json!(null)));
    assert_eq!(data(5, "payment"), json!({"price": "40.00", "buyer_fee": "2.00", "pay_with": "credits"}));
    assert_eq!((data(6, "proceeds"), data(6, "payment")), (json!("36.00"), json!(null)));
    assert_eq!((data(7, "status"), data(8, "actor")), (json!("refunded"), json!("platform")));
}

/// A purchase that fails at its last step leaves nothing: no row, no event, no notification, no step.
#[test]
fn refused_purchase_writes_nothing() {
    let market = sales_market();
    give_credits(&market, "buyer", -99_999);
    let digest = |market: &TestMarket| {
        market.read(|reader| {
            let notifications =
                store::notifications::list_newest(reader.rows, team_of(reader.rows, "seller").row_id, 100)?
                    .len();
            let offers = store::offers::list(
                reader.rows,
                team_of(reader.rows, "buyer").row_id,
                &RecordFilter::default(),
            )?
            .len();
            let next = store::due_steps::next_due_at(reader.rows)?;
            Ok((notifications, offers, next, store::index_queue::last_change(reader.rows)?))
        })
    };
    let (before, last) = (digest(&market).unwrap(), last_event(&market));
    let refused = buy(&market, "buyer", listing_id("plain"), PurchaseKind::Full, PayWith::Credits);
    assert!(refused.is_err());
    assert_eq!(digest(&market).unwrap(), before);
    assert_eq!(last_event(&market), last);
    let bought = buy(&market, "buyer", listing_id("plain"), PurchaseKind::Full, PayWith::Invoice);
    assert!(bought.is_ok(), "the refused purchase does not stand");
}
