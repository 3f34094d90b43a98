//! Refunds: when they are possible, and what they undo.

use marketplace::domain::purchases::{PayWith, PurchaseKind, PurchaseStatus};
use serde_json::json;

use super::{
    DAY, bid, buy, code, complete, credits, give_credits, listing_id, notifications, own_purchases, refund,
    sales, sales_market,
};
use crate::{
    catalog::small_market::{published, seed_market},
    harness::TestMarket,
};

#[tokio::test]
async fn refund_undoes_a_purchase() {
    let (market, plain) = (sales_market(), listing_id("plain"));
    let bought = buy(&market, "buyer", plain, PurchaseKind::Full, PayWith::Credits).unwrap();
    assert_eq!(refund(&market, bought.id).unwrap().status, PurchaseStatus::Refunded);
    assert_eq!(credits(&market, "buyer"), 100_000);
    assert!(own_purchases(&market, "buyer").await.is_empty());
    assert_eq!(sales(&market).await["sales"], json!([]));
    let wallet = market.get("mkt_seller", "/v2/wallet").await.ok();
    assert_eq!(wallet["earnings"]["total"], "0.00");
    assert_eq!(code(refund(&market, bought.id)), "invalid_transition");
    let again = buy(&market, "buyer", plain, PurchaseKind::Full, PayWith::Credits).unwrap();
    assert_eq!(again.status, PurchaseStatus::Completed, "the earlier purchase no longer stands");
}

#[test]
fn refund_window_counts_from_the_completion() {
    let (market, plain) = (sales_market(), listing_id("plain"));
    let bought = buy(&market, "buyer", plain, PurchaseKind::Full, PayWith::Invoice).unwrap();
    let other = buy(&market, "other", plain, PurchaseKind::Full, PayWith::Credits).unwrap();
    assert_eq!(code(refund(&market, bought.id)), "invalid_transition", "it is not paid");
    market.clock().advance(10 * DAY);
    complete(&market, bought.id).unwrap();
    market.clock().advance(20 * DAY + 1);
    assert_eq!(code(refund(&market, other.id)), "refund_window_closed");
    market.clock().advance(10 * DAY - 1);
    assert_eq!(code(refund(&market, bought.id)), "ok");
}

#[tokio::test]
async fn periods_of_one_day_are_one_day_in_messages() {
    let market = TestMarket::with_settings(|settings| {
        settings.browse_gate.required_published = 0;
        (settings.offers.expire_days, settings.purchases.refund_days) = (1, 1);
    });
    seed_market(&market, &[published("plain", 30, &json!({"accepts_bids": true}))], &json!({}));
    give_credits(&market, "buyer", 100_000);
    bid(&market, "other", listing_id("plain"), 4_000, PayWith::Invoice).unwrap();
    let (_, message) = notifications(&market, "seller").await.swap_remove(0);
    assert!(message.ends_with("It expires in 1 day."), "{message}");
    let bought = buy(&market, "buyer", listing_id("plain"), PurchaseKind::Full, PayWith::Credits).unwrap();
    market.clock().advance(DAY + 1);
    let message = refund(&market, bought.id).unwrap_err().message();
    assert!(message.starts_with("A purchase can be refunded for 1 day after"), "{message}");
}

#[test]
fn refund_needs_the_earnings_of_the_vendor() {
    let (market, plain) = (sales_market(), listing_id("plain"));
    let bought = buy(&market, "buyer", plain, PurchaseKind::Full, PayWith::Credits).unwrap();
    market.clock().advance(8 * DAY);
    market.market().run_due_steps().unwrap();
    let used = market.write(|writer| {
        let seller = super::team_of(writer.rows, "seller").row_id;
        let conversion = marketplace::domain::ledger::Transfer::conversion(
            seller,
            marketplace::domain::money::Cents(4_000),
        );
        marketplace::operations::ledger::post_transfer(writer, &conversion, "Converted")
    });
    used.unwrap();
    assert_eq!(code(refund(&market, bought.id)), "insufficient_earnings");
    buy(&market, "other", plain, PurchaseKind::Full, PayWith::Credits).unwrap();
    assert_eq!(code(refund(&market, bought.id)), "ok", "another sale covers it");
    assert_eq!(credits(&market, "buyer"), 100_000);
}
