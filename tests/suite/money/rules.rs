//! The rules of credits, earnings, and withdrawals.

use marketplace::{
    domain::{
        ledger::{EntryType, PaymentSource},
        money::{Cents, MAX_AMOUNT},
        withdrawals::WithdrawalStatus,
    },
    store::wallet::Balances,
};
use serde_json::json;
use uuid::Uuid;

use super::{
    DAY, adjust, balances, buy_credits, code, convert, earnings_by_entries, events_since, last_event, mark,
    money_market, refund, sell, withdraw,
};
use crate::harness::NOW;

fn earnings(earned: i64, pending: i64, available: i64) -> Balances {
    Balances {
        credits: Cents(0),
        earned: Cents(earned),
        pending: Cents(pending),
        available: Cents(available),
    }
}

#[test]
fn amounts_and_descriptions_have_limits() {
    let market = money_market();
    let (long, longest) = ("x".repeat(2_001), "x".repeat(2_000));
    for (cents, expected) in [
        (0, "amount greater_than_equal"),
        (-1, "amount greater_than_equal"),
        (MAX_AMOUNT.0 + 1, "amount less_than_equal"),
        (i64::MAX, "amount less_than_equal"),
        (i64::MIN, "amount greater_than_equal"),
        (1, "ok"),
        (MAX_AMOUNT.0, "ok"),
    ] {
        assert_eq!(code(buy_credits(&market, "buyer", Cents(cents))), expected, "{cents}");
        let needed = if expected == "ok" { "insufficient_earnings" } else { expected };
        assert_eq!(code(convert(&market, "seller", Cents(cents))), needed, "{cents}");
        assert_eq!(code(withdraw(&market, "seller", Cents(cents))), needed, "{cents}");
    }
    for (cents, description, expected) in [
        (0, "Gift", "amount value_error"),
        (i64::MIN + 1, "Gift", "amount value_error"),
        (MAX_AMOUNT.0 + 1, "Gift", "amount value_error"),
        (1, "", "description string_too_short"),
        (1, " \n", "description string_too_short"),
        (0, long.as_str(), "amount value_error, description string_too_long"),
        (1, longest.as_str(), "ok"),
        (1, "Gift", "ok"),
        (-3, "Booked twice", "insufficient_credits"),
        (-2, "Booked twice", "ok"),
        (-1, "Booked twice", "insufficient_credits"),
    ] {
        assert_eq!(code(adjust(&market, "other", Cents(cents), description)), expected, "{cents}");
    }
    assert_eq!(balances(&market, "other"), Balances::default());
    assert_eq!(
        code(sell(&market, ("seller", "other"), Cents(100), PaymentSource::Credits)),
        "insufficient_credits"
    );
}

#[test]
fn hold_ends_by_its_step_alone_and_once() {
    let market = money_market();
    sell(&market, ("seller", "buyer"), Cents(1_000), PaymentSource::Invoice).unwrap();
    let pending = earnings(900, 900, 0);
    assert_eq!(balances(&market, "seller"), pending);
    let since = last_event(&market);
    // 60 days of downtime. The time alone changes nothing that is read.
    market.clock().advance(60 * DAY);
    assert_eq!(balances(&market, "seller"), pending);
    assert_eq!(code(withdraw(&market, "seller", Cents(900))), "ok", "the write carries out the step first");
    let events = events_since(&market, since);
    let types: Vec<(&str, &str)> = events.iter().map(|(kind, at, _)| (kind.as_str(), at.as_str())).collect();
    let week_later = "2026-03-08T09:00:00.000Z";
    assert!(NOW.starts_with("2026-03-01T09:00:00"));
    assert_eq!(
        types,
        [("earnings.available", week_later), ("withdrawal.requested", "2026-04-30T09:00:00.000Z")]
    );
    assert_eq!(
        (&events[0].2["amount"], &events[0].2["balances"]["available"]),
        (&json!("9.00"), &json!("9.00"))
    );
    // A clock that jumps back repeats nothing.
    let after = balances(&market, "seller");
    assert_eq!(after, earnings(900, 0, 0));
    market.clock().advance(-60 * DAY);
    for _ in 0..3 {
        market.market().run_due_steps().unwrap();
        buy_credits(&market, "other", Cents(1)).unwrap();
        assert_eq!(balances(&market, "seller"), after);
        market.clock().advance(30 * DAY);
    }
    let again = events_since(&market, since);
    assert_eq!(again.iter().filter(|event| event.0 == "earnings.available").count(), 1);
}

#[test]
fn hold_that_ends_in_the_past_of_a_jumping_clock_waits_for_its_time() {
    let market = money_market();
    market.clock().advance(30 * DAY);
    sell(&market, ("seller", "buyer"), Cents(1_000), PaymentSource::Invoice).unwrap();
    market.clock().advance(-30 * DAY);
    market.market().run_due_steps().unwrap();
    assert_eq!(balances(&market, "seller"), earnings(900, 900, 0));
    market.clock().advance(37 * DAY - 1);
    market.market().run_due_steps().unwrap();
    assert_eq!(balances(&market, "seller"), earnings(900, 900, 0));
    market.clock().advance(1);
    market.market().run_due_steps().unwrap();
    assert_eq!(balances(&market, "seller"), earnings(900, 0, 900));
}

#[test]
fn refund_takes_its_own_hold_or_else_available_earnings() {
    let market = money_market();
    let sell = |cents| sell(&market, ("seller", "buyer"), Cents(cents), PaymentSource::Invoice).unwrap();
    let (old, other) = (sell(1_000), sell(2_000));
    market.clock().advance(8 * DAY);
    market.market().run_due_steps().unwrap();
    assert_eq!(balances(&market, "seller"), earnings(2_700, 0, 2_700));
    let new = sell(500);
    assert_eq!(balances(&market, "seller"), earnings(3_150, 450, 2_700));
    // The hold of the sale has ended, so its share comes from what is available.
    refund(&market, old).unwrap();
    assert_eq!(balances(&market, "seller"), earnings(2_250, 450, 1_800));
    let last = sell(100);
    refund(&market, new).unwrap();
    assert_eq!(balances(&market, "seller"), earnings(1_890, 90, 1_800));
    withdraw(&market, "seller", Cents(1_800)).unwrap();
    assert_eq!(code(refund(&market, other)), "insufficient_earnings");
    assert_eq!(balances(&market, "seller"), earnings(1_890, 90, 0));
    refund(&market, last).unwrap();
    assert_eq!(balances(&market, "seller"), earnings(1_800, 0, 0));
    // No step is left that could make refunded earnings available.
    market.clock().advance(30 * DAY);
    market.market().run_due_steps().unwrap();
    assert_eq!(balances(&market, "seller"), earnings(1_800, 0, 0));
}

/// One row per amount that is withdrawn before the refund of an older sale of 900: what is on hold and available then,
/// and the amounts of the refund by day of release.
#[test]
fn refund_of_an_older_sale_takes_available_earnings_and_then_the_last_holds() {
    for (withdrawn, expected, taken) in [
        (0, earnings(1_440, 540, 900), vec![(10, 900)]),
        (900, earnings(1_440, 540, 0), vec![(10, 900)]),
        (1_000, earnings(1_440, 440, 0), vec![(10, 800), (17, 100)]),
        (1_400, earnings(1_440, 40, 0), vec![(10, 400), (16, 50), (17, 450)]),
    ] {
        let market = money_market();
        let sell = |cents| sell(&market, ("seller", "buyer"), Cents(cents), PaymentSource::Invoice).unwrap();
        let start = market.clock().now();
        let old = sell(1_000);
        sell(1_000);
        market.clock().advance(9 * DAY);
        sell(100);
        market.clock().advance(DAY);
        sell(500);
        if withdrawn > 0 {
            withdraw(&market, "seller", Cents(withdrawn)).unwrap();
        }
        refund(&market, old).unwrap();
        assert_eq!(balances(&market, "seller"), expected, "{withdrawn}");
        assert_eq!(earnings_by_entries(&market, "seller"), (expected.pending, expected.available));
        let entries = market.read(|reader| {
            let team = super::team_of(reader.rows, "seller").row_id;
            marketplace::store::earnings::list_page(reader.rows, team, 100, 0)
        });
        let mut parts: Vec<(i64, i64)> = entries
            .unwrap()
            .iter()
            .filter(|entry| entry.entry_type == EntryType::Refund)
            .map(|entry| ((entry.available_at.0 - start.0) / DAY, -entry.amount.0))
            .collect();
        parts.sort_unstable();
        assert_eq!(parts, taken, "{withdrawn}");
        let found = marketplace::operations::verify::find_inconsistencies(market.market()).unwrap();
        assert_eq!(found, [""; 0]);
        market.clock().advance(30 * DAY);
        market.market().run_due_steps().unwrap();
        let left = Cents(expected.pending.0 + expected.available.0);
        assert_eq!(earnings_by_entries(&market, "seller"), (Cents(0), left));
        assert_eq!(balances(&market, "seller").available, left);
    }
}

#[test]
fn refund_of_a_purchase_with_credits_returns_the_credits() {
    let market = money_market();
    buy_credits(&market, "buyer", Cents(5_000)).unwrap();
    let purchase = sell(&market, ("seller", "buyer"), Cents(1_000), PaymentSource::Credits).unwrap();
    assert_eq!(balances(&market, "buyer").credits, Cents(3_950));
    refund(&market, purchase).unwrap();
    assert_eq!(balances(&market, "buyer").credits, Cents(5_000));
    assert_eq!(balances(&market, "seller"), Balances::default());
}

#[test]
fn withdrawal_is_requested_and_then_paid_or_failed() {
    let market = money_market();
    sell(&market, ("seller", "buyer"), Cents(1_000), PaymentSource::Invoice).unwrap();
    market.clock().advance(7 * DAY);
    assert_eq!(code(withdraw(&market, "seller", Cents(901))), "insufficient_earnings");
    let since = last_event(&market);
    let first = withdraw(&market, "seller", Cents(400)).unwrap();
    assert_eq!((first.status, first.decided_at), (WithdrawalStatus::Requested, None));
    assert_eq!(balances(&market, "seller"), earnings(900, 0, 500));
    let second = withdraw(&market, "seller", Cents(500)).unwrap();
    let failed = mark(&market, second.id, false).unwrap();
    assert_eq!(failed.status, WithdrawalStatus::Failed);
    assert_eq!(balances(&market, "seller"), earnings(900, 0, 500));
    let paid = mark(&market, first.id, true).unwrap();
    assert_eq!((paid.status, paid.decided_at), (WithdrawalStatus::Paid, failed.decided_at));
    for (id, is_paid, expected) in [
        (first.id, true, "invalid_transition"),
        (first.id, false, "invalid_transition"),
        (second.id, true, "invalid_transition"),
        (second.id, false, "invalid_transition"),
        (Uuid::nil(), true, "not_found"),
    ] {
        assert_eq!(code(mark(&market, id, is_paid)), expected);
    }
    assert_eq!(balances(&market, "seller"), earnings(900, 0, 500));
    let converted = convert(&market, "seller", Cents(500)).unwrap();
    assert_eq!(converted, Balances { credits: Cents(500), ..earnings(900, 0, 0) });
    adjust(&market, "seller", Cents(-100), "Booked twice").unwrap();
    buy_credits(&market, "seller", Cents(7)).unwrap();
    let events = events_since(&market, since);
    let types: Vec<&str> = events.iter().map(|event| event.0.as_str()).collect();
    assert_eq!(
        types,
        [
            "withdrawal.requested",
            "withdrawal.requested",
            "withdrawal.failed",
            "withdrawal.paid",
            "wallet.converted",
            "wallet.debited",
            "wallet.credited"
        ]
    );
    let last = &events.last().unwrap().2;
    assert_eq!((&last["amount"], &last["balances"]["credits"]), (&json!("0.07"), &json!("4.07")));
    assert!(last["credit_purchase_id"].is_string());
}

#[test]
fn refund_takes_the_hold_of_its_own_sale_first() {
    let market = money_market();
    let sell = |cents| sell(&market, ("seller", "buyer"), Cents(cents), PaymentSource::Invoice).unwrap();
    sell(1_000);
    market.clock().advance(3 * DAY);
    refund(&market, sell(500)).unwrap();
    assert_eq!(balances(&market, "seller"), earnings(900, 900, 0));
    market.clock().advance(4 * DAY);
    market.market().run_due_steps().unwrap();
    assert_eq!(balances(&market, "seller"), earnings(900, 0, 900));
}
