//! Refunds: when they are possible, and what they undo.

use marketplace::domain::purchases::{PayWith, PurchaseKind, PurchaseStatus};
use serde_json::json;

use super::{DAY, buy, code, complete, credits, listing_id, own_purchases, refund, sales, sales_market};

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

#[test]
fn refund_needs_the_earnings_of_the_vendor() {
    let (market, plain) = (sales_market(), listing_id("plain"));
    let bought = buy(&market, "buyer", plain, PurchaseKind::Full, PayWith::Credits).unwrap();
    market.clock().advance(8 * DAY);
    market.market().run_due_steps().unwrap();
    let used = super::write(&market, |writer| {
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
