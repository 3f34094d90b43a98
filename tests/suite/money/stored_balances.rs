//! The stored balances: `verify` recomputes them, and the database refuses what would falsify them.

use marketplace::{
    domain::{ledger::PaymentSource, money::Cents},
    operations::verify,
};
use rusqlite::Connection;

use super::{DAY, buy_credits, money_market, refund, sell, withdraw};
use crate::harness::TestMarket;

/// A market with every kind of stored balance.
fn market_with_money() -> (TestMarket, Connection) {
    let market = money_market();
    buy_credits(&market, "buyer", Cents(5_000)).unwrap();
    sell(&market, ("seller", "buyer"), Cents(1_000), PaymentSource::Invoice).unwrap();
    market.clock().advance(7 * DAY);
    withdraw(&market, "seller", Cents(100)).unwrap();
    sell(&market, ("seller", "buyer"), Cents(2_000), PaymentSource::Credits).unwrap();
    let refunded = sell(&market, ("seller", "buyer"), Cents(10), PaymentSource::Credits).unwrap();
    refund(&market, refunded).unwrap();
    let rows = Connection::open(market.market().data_dir().join("market.sqlite")).unwrap();
    (market, rows)
}

/// One row per falsification: the statement, its undoing, and what is reported.
#[test]
fn verification_recomputes_every_balance_and_every_hold() {
    let (market, rows) = market_with_money();
    for (falsify, undo, expected) in [
        (
            "UPDATE wallets SET credits_cents = credits_cents + 1 WHERE team = 3",
            "UPDATE wallets SET credits_cents = credits_cents - 1 WHERE team = 3",
            &["the stored balances of team"][..],
        ),
        (
            "UPDATE wallets SET earned_cents = earned_cents + 1 WHERE team = 1",
            "UPDATE wallets SET earned_cents = earned_cents - 1 WHERE team = 1",
            &["the stored balances of team"],
        ),
        (
            "UPDATE wallets SET pending_cents = pending_cents - 1, available_cents = available_cents + 1 WHERE team = 1",
            "UPDATE wallets SET pending_cents = pending_cents + 1, available_cents = available_cents - 1 WHERE team = 1",
            &["the stored balances of team"],
        ),
        (
            "UPDATE platform_balances SET cents = cents + 1 WHERE account = 'platform'",
            "UPDATE platform_balances SET cents = cents - 1 WHERE account = 'platform'",
            &["the stored balance of the account platform"],
        ),
        (
            "UPDATE earnings_holds SET remaining_cents = remaining_cents - 1",
            "UPDATE earnings_holds SET remaining_cents = remaining_cents + 1",
            &["the stored balances of team", "the hold of ledger entry", "the earnings of team"],
        ),
        (
            "UPDATE due_steps SET due_at = due_at + 1 WHERE kind = 'hold_ends'",
            "UPDATE due_steps SET due_at = due_at - 1 WHERE kind = 'hold_ends'",
            &["the hold of ledger entry"],
        ),
        (
            "UPDATE withdrawals SET cents = cents + 1",
            "UPDATE withdrawals SET cents = cents - 1",
            &["withdrawal "],
        ),
    ] {
        assert_eq!(rows.execute(falsify, []).unwrap(), 1, "{falsify}");
        let found = verify::find_inconsistencies(market.market()).unwrap();
        assert_eq!(found.len(), expected.len(), "{falsify}: {found:?}");
        for (problem, start) in found.iter().zip(expected) {
            assert!(problem.starts_with(start), "{falsify}: {problem}");
        }
        rows.execute(undo, []).unwrap();
    }
    assert_eq!(verify::find_inconsistencies(market.market()).unwrap(), [""; 0]);
}

#[test]
fn database_refuses_to_falsify_money() {
    let (_market, rows) = market_with_money();
    for (statement, expected) in [
        ("UPDATE ledger_entries SET description = ''", "append-only"),
        ("DELETE FROM ledger_entries", "append-only"),
        ("UPDATE ledger_postings SET cents = cents + 1", "append-only"),
        ("DELETE FROM ledger_postings", "append-only"),
        ("UPDATE wallets SET credits_cents = -1 WHERE team = 3", "credits cannot become negative"),
        (
            "UPDATE wallets SET available_cents = -1 WHERE team = 1",
            "available earnings cannot become negative",
        ),
        ("UPDATE wallets SET pending_cents = -1 WHERE team = 1", "pending earnings cannot become negative"),
        ("DELETE FROM wallets WHERE team = 2", "exists as long as its team"),
        // Balances are bounded, so that sums cannot overflow.
        ("UPDATE wallets SET credits_cents = 4000000000000000001 WHERE team = 3", "CHECK constraint failed"),
        ("UPDATE platform_balances SET cents = -4000000000000000001", "CHECK constraint failed"),
        ("UPDATE earnings_holds SET remaining_cents = 0", "CHECK constraint failed"),
    ] {
        let error = rows.execute(statement, []).expect_err(statement).to_string();
        assert!(error.contains(expected), "{statement}: {error}");
    }
}

/// Refunds had one entry, with one date, before each hold that they take from had one of its own.
#[test]
fn refunds_of_earlier_versions_count_with_the_dates_of_their_holds() {
    let market = money_market();
    let old = sell(&market, ("seller", "buyer"), Cents(1_000), PaymentSource::Invoice).unwrap();
    market.clock().advance(10 * DAY);
    sell(&market, ("seller", "buyer"), Cents(500), PaymentSource::Invoice).unwrap();
    // The refund takes 800 from available earnings, and 100 from the hold of the other sale.
    withdraw(&market, "seller", Cents(100)).unwrap();
    refund(&market, old).unwrap();
    let rows = Connection::open(market.market().data_dir().join("market.sqlite")).unwrap();
    rows.execute("DROP TRIGGER ledger_entries_stay", []).unwrap();
    let set_available_at = |time: &str| {
        let refund = "id IN (SELECT refund FROM earnings_hold_uses)";
        let sql = format!("UPDATE ledger_entries SET available_at = {time} WHERE {refund}");
        assert_eq!(rows.execute(&sql, []).unwrap(), 1);
        verify::find_inconsistencies(market.market()).unwrap()
    };
    assert_eq!(set_available_at("available_at"), [""; 0]);
    // As an earlier version recorded it: available at once, and taken from a hold.
    assert_eq!(set_available_at("created_at"), [""; 0]);
    // No version took from one hold with the date of another one.
    let found = set_available_at("created_at + 1");
    assert!(matches!(&found[..], [one] if one.starts_with("the earnings of team")), "{found:?}");
    set_available_at("(SELECT max(s.available_at) FROM ledger_entries s WHERE s.entry_type <> 'refund')");
    assert_eq!(verify::find_inconsistencies(market.market()).unwrap(), [""; 0]);
}
