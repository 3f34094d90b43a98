//! What a purchase costs: SQL statements and transactions.

use marketplace::domain::purchases::{PayWith, PurchaseKind};

use super::{accept, bid, buy, listing_id, sales_market};
use crate::harness::TestMarket;

/// Returns the number of statements that each of the teams needs at least.
fn minimum(market: &TestMarket, mut work: impl FnMut(&str)) -> u64 {
    let counts = ["buyer", "other", "both"].map(|team| {
        let before = market.market().statement_count();
        work(team);
        market.market().statement_count() - before
    });
    counts.into_iter().min().unwrap()
}

/// Background work can only add statements, so the minimum is the right number.
#[test]
fn purchase_takes_few_statements() {
    let market = sales_market();
    let (plain, shared) = (listing_id("plain"), listing_id("shared"));
    let purchase = minimum(&market, |team| {
        buy(&market, team, plain, PurchaseKind::Full, PayWith::Credits).unwrap();
    });
    let invoice = minimum(&market, |team| {
        buy(&market, team, shared, PurchaseKind::Full, PayWith::Invoice).unwrap();
    });
    let sample = minimum(&market, |team| {
        buy(&market, team, plain, PurchaseKind::Sample, PayWith::Credits).unwrap();
    });
    // Three of them fix the bundle, and enqueue its preparation; two make the agreement, or keep what it will say.
    assert!(purchase <= 34, "{purchase}");
    assert!(invoice <= 13, "{invoice}");
    assert!(sample <= 34, "{sample}");
}

#[test]
fn offer_takes_few_statements() {
    let market = sales_market();
    let plain = listing_id("plain");
    let mut offers = Vec::new();
    let submission = minimum(&market, |team| {
        offers.push(bid(&market, team, plain, 4_000, PayWith::Credits).unwrap());
    });
    let acceptance = minimum(&market, |_| {
        accept(&market, "seller", offers.pop().unwrap()).unwrap();
    });
    assert!(submission <= 20, "{submission}");
    assert!(acceptance <= 49, "{acceptance}");
}
