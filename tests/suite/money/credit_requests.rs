//! Requests for credits: only completed ones move money.

use marketplace::{
    domain::{
        credit_purchases::{CreditPurchaseStatus, MAX_PENDING, MAX_REQUESTED_AMOUNT},
        listings::Actor,
        money::Cents,
    },
    error::Result,
    operations::{credit_purchases, team_closures},
    store::credit_purchases::CreditPurchase,
};
use uuid::Uuid;

use super::{PLATFORM, balances, code, events_since, last_event, money_market, team_of};
use crate::harness::TestMarket;

fn request(market: &TestMarket, team: &str, cents: i64) -> Result<CreditPurchase> {
    market.write(|writer| {
        let member = PLATFORM.member(team_of(writer.rows, team))?;
        credit_purchases::request(writer, &member, Actor::Team, Cents(cents))
    })
}

fn complete(market: &TestMarket, id: Uuid) -> Result<CreditPurchase> {
    market.write(|writer| credit_purchases::complete(writer, PLATFORM, Actor::Platform, id))
}

fn reject(market: &TestMarket, id: Uuid) -> Result<CreditPurchase> {
    market.write(|writer| credit_purchases::reject(writer, PLATFORM, Actor::Platform, id))
}

fn cancel(market: &TestMarket, team: &str, id: Uuid) -> Result<CreditPurchase> {
    market.write(|writer| {
        let member = PLATFORM.member(team_of(writer.rows, team))?;
        credit_purchases::cancel(writer, &member, Actor::Team, id)
    })
}

fn types_since(market: &TestMarket, since: marketplace::domain::events::EventRowId) -> Vec<String> {
    events_since(market, since).into_iter().map(|event| event.0).collect()
}

#[test]
fn a_request_adds_credits_only_when_it_is_completed() {
    let market = money_market();
    let since = last_event(&market);
    let paid = request(&market, "buyer", 500).unwrap();
    let rejected = request(&market, "buyer", 700).unwrap();
    let canceled = request(&market, "buyer", 900).unwrap();
    assert_eq!((paid.status, paid.decided_at), (CreditPurchaseStatus::Pending, None));
    assert_eq!(balances(&market, "buyer").credits, Cents(0));
    assert_eq!(code(cancel(&market, "seller", canceled.id)), "not_found");
    assert_eq!(complete(&market, paid.id).unwrap().status, CreditPurchaseStatus::Completed);
    assert_eq!(reject(&market, rejected.id).unwrap().status, CreditPurchaseStatus::Rejected);
    assert_eq!(cancel(&market, "buyer", canceled.id).unwrap().status, CreditPurchaseStatus::Cancelled);
    assert_eq!(balances(&market, "buyer").credits, Cents(500));
    for id in [paid.id, rejected.id, canceled.id] {
        assert_eq!(code(complete(&market, id)), "invalid_transition");
        assert_eq!(code(reject(&market, id)), "invalid_transition");
        assert_eq!(code(cancel(&market, "buyer", id)), "invalid_transition");
    }
    assert_eq!(balances(&market, "buyer").credits, Cents(500));
    assert_eq!(
        types_since(&market, since),
        [
            "credit_purchase.requested",
            "credit_purchase.requested",
            "credit_purchase.requested",
            "wallet.credited",
            "credit_purchase.rejected",
            "credit_purchase.cancelled",
        ]
    );
}

#[test]
fn requests_are_limited_in_amount_and_number() {
    let market = money_market();
    assert!(request(&market, "buyer", 0).is_err());
    assert!(request(&market, "buyer", MAX_REQUESTED_AMOUNT.0 + 1).is_err());
    for _ in 0..MAX_PENDING {
        request(&market, "buyer", MAX_REQUESTED_AMOUNT.0).unwrap();
    }
    assert_eq!(code(request(&market, "buyer", 1)), "quota_exceeded");
    request(&market, "seller", 1).unwrap();
}

#[test]
fn closing_a_team_cancels_its_requests() {
    let market = money_market();
    let pending = request(&market, "buyer", 500).unwrap();
    let since = last_event(&market);
    market
        .write(|writer| {
            let team = team_of(writer.rows, "buyer").id.to_string();
            team_closures::close(writer, PLATFORM, Actor::Platform, &team)
        })
        .unwrap();
    assert!(types_since(&market, since).contains(&"credit_purchase.cancelled".to_owned()));
    assert_eq!(code(complete(&market, pending.id)), "invalid_transition");
}
