//! Offers: who can bid on what, how offers end, and what an accepted one buys.

use marketplace::{
    domain::{
        events::EventRowId,
        listing_lifecycle::Operation,
        listings::Actor,
        money::Cents,
        offers::MAX_AMOUNT,
        purchases::{PayWith, PurchaseKind, PurchaseStatus},
    },
    error::Result,
    operations::offers,
};
use serde_json::json;
use uuid::Uuid;

use super::{
    DAY, accept, active_bids, bid, buy, buyer, cancel, change_listing, code, complete, credits, decline,
    events_since, last_event, listing_id, notifications, own_offers, own_purchases, sales, sales_market,
    withdraw,
};
use crate::harness::TestMarket;

fn change(
    market: &TestMarket,
    team: &str,
    offer: Uuid,
    cents: Option<i64>,
    pay_with: Option<PayWith>,
) -> Result<()> {
    market.write(|writer| {
        let buyer = buyer(writer.rows, team);
        offers::change(writer, &buyer, Actor::Team, offer, cents.map(Cents), pay_with)
    })
}

#[tokio::test]
async fn offer_is_submitted_changed_and_withdrawn() {
    let (market, plain) = (sales_market(), listing_id("plain"));
    let offer = bid(&market, "buyer", plain, 4_000, PayWith::Credits).unwrap();
    assert_eq!(active_bids(&market, plain).await, 1);
    market.clock().advance(DAY);
    change(&market, "buyer", offer, Some(4_100), None).unwrap();
    let seen = &own_offers(&market, "buyer").await[0];
    assert_eq!((&seen["id"], &seen["status"]), (&json!(offer), &json!("submitted")));
    assert_eq!((&seen["amount"], &seen["decided_at"]), (&json!(41.0), &json!(null)));
    assert!(seen["updated_at"].as_str() > seen["created_at"].as_str());
    withdraw(&market, "buyer", offer).unwrap();
    let seen = &own_offers(&market, "buyer").await[0];
    assert_eq!((&seen["status"], &seen["decided_at"]), (&json!("withdrawn"), &seen["updated_at"]));
    assert_eq!(active_bids(&market, plain).await, 0);
    assert_eq!(notifications(&market, "seller").await.len(), 1, "only the bid itself");
    assert!(bid(&market, "buyer", plain, 10, PayWith::Invoice).is_ok(), "another offer after the first");
}

#[test]
fn offer_needs_a_published_listing_of_another_team_that_accepts_bids() {
    let market = sales_market();
    let bid = |team, listing| code(bid(&market, team, listing, 100, PayWith::Invoice));
    assert_eq!(bid("buyer", Uuid::nil()), "not_found");
    assert_eq!(bid("buyer", listing_id("files")), "conflict", "it accepts no bids");
    assert_eq!(bid("buyer", listing_id("plain")), "ok");
    assert_eq!(bid("buyer", listing_id("plain")), "conflict", "one submitted offer per listing");
    assert_eq!(bid("other", listing_id("plain")), "ok");
    buy(&market, "buyer", listing_id("shared"), PurchaseKind::Full, PayWith::Credits).unwrap();
    change_listing(&market, listing_id("shared"), Operation::Unpublish).unwrap();
    assert_eq!(bid("other", listing_id("shared")), "not_found", "the team may not see it");
    assert_eq!(bid("buyer", listing_id("shared")), "conflict", "the team may see it");
}

#[test]
fn team_cannot_bid_on_or_buy_its_own_listing() {
    let own = crate::catalog::small_market::published("a", 9, &json!({"team": "both", "accepts_bids": true}));
    let market = crate::catalog::small_market::small_market(&[own]);
    let listing = listing_id("a");
    assert_eq!(code(bid(&market, "both", listing, 100, PayWith::Invoice)), "conflict");
    assert_eq!(code(buy(&market, "both", listing, PurchaseKind::Full, PayWith::Invoice)), "conflict");
}

#[test]
fn amount_is_one_cent_to_the_maximum() {
    let (market, plain) = (sales_market(), listing_id("plain"));
    let bid = |cents| code(bid(&market, "buyer", plain, cents, PayWith::Invoice));
    assert_eq!(bid(0), "amount greater_than_equal");
    assert_eq!(bid(-5), "amount greater_than_equal");
    assert_eq!(bid(MAX_AMOUNT.0 + 1), "amount less_than_equal");
    assert_eq!(bid(i64::MAX), "amount less_than_equal");
    assert_eq!(bid(MAX_AMOUNT.0), "ok");
}

#[test]
fn offer_of_another_team_is_not_found() {
    let market = sales_market();
    let offer = bid(&market, "buyer", listing_id("plain"), 100, PayWith::Invoice).unwrap();
    assert_eq!(code(withdraw(&market, "other", offer)), "not_found");
    assert_eq!(code(change(&market, "other", offer, Some(5), None)), "not_found");
    assert_eq!(code(accept(&market, "both", offer)), "not_found");
    assert_eq!(code(decline(&market, "both", offer)), "not_found");
}

/// A bid that can never be accepted can only be withdrawn.
#[test]
fn bid_of_a_team_that_has_bought_the_listing_is_not_changed() {
    let market = sales_market();
    let plain = listing_id("plain");
    let offer = bid(&market, "buyer", plain, 100, PayWith::Invoice).unwrap();
    buy(&market, "buyer", plain, PurchaseKind::Sample, PayWith::Credits).unwrap();
    change(&market, "buyer", offer, Some(200), None).unwrap();
    let bought = buy(&market, "buyer", plain, PurchaseKind::Full, PayWith::Invoice).unwrap();
    let before = last_event(&market);
    assert_eq!(code(change(&market, "buyer", offer, Some(7_700), None)), "conflict");
    assert_eq!(last_event(&market), before);
    cancel(&market, bought.id).unwrap();
    change(&market, "buyer", offer, Some(300), None).unwrap();
    buy(&market, "buyer", plain, PurchaseKind::Full, PayWith::Credits).unwrap();
    assert_eq!(code(change(&market, "buyer", offer, None, Some(PayWith::Credits))), "conflict");
    withdraw(&market, "buyer", offer).unwrap();
}

#[test]
fn decision_is_final() {
    let market = sales_market();
    let offer = bid(&market, "buyer", listing_id("plain"), 100, PayWith::Invoice).unwrap();
    decline(&market, "seller", offer).unwrap();
    let before = last_event(&market);
    assert_eq!(code(accept(&market, "seller", offer)), "invalid_transition");
    assert_eq!(code(decline(&market, "seller", offer)), "invalid_transition");
    assert_eq!(code(withdraw(&market, "buyer", offer)), "invalid_transition");
    assert_eq!(code(change(&market, "buyer", offer, None, None)), "invalid_transition");
    assert_eq!(last_event(&market), before);
}

/// The expiry counts from the submission, and a change does not move it.
#[tokio::test]
async fn offer_expires_after_its_submission() {
    let (market, plain) = (sales_market(), listing_id("plain"));
    let offer = bid(&market, "buyer", plain, 100, PayWith::Invoice).unwrap();
    let due = market.clock().now().plus_days(30);
    market.clock().advance(29 * DAY);
    change(&market, "buyer", offer, Some(200), Some(PayWith::Credits)).unwrap();
    market.clock().advance(3 * DAY);
    market.market().run_due_steps().unwrap();
    let seen = &own_offers(&market, "buyer").await[0];
    assert_eq!((&seen["status"], &seen["decided_at"]), (&json!("expired"), &json!(due)));
    assert_eq!(notifications(&market, "buyer").await[0].0, "offer_expired");
    assert_eq!(active_bids(&market, plain).await, 0);
    let expired = events_since(&market, EventRowId(0));
    let views: Vec<_> =
        expired.iter().filter(|event| event.0 == "offer.expired").map(|event| &event.1).collect();
    assert_eq!(views, ["buyer", "seller"]);
    assert!(expired.iter().all(|event| event.0 != "offer.expired" || event.2["actor"] == "system"));
}

#[tokio::test]
async fn unpublishing_keeps_offers_and_archiving_declines_them() {
    let (market, plain) = (sales_market(), listing_id("plain"));
    let offer = bid(&market, "buyer", plain, 100, PayWith::Credits).unwrap();
    bid(&market, "other", plain, 200, PayWith::Invoice).unwrap();
    change_listing(&market, plain, Operation::Unpublish).unwrap();
    assert_eq!(own_offers(&market, "buyer").await[0]["status"], "submitted");
    assert_eq!(code(accept(&market, "seller", offer)), "conflict", "the buyer bid on what was published");
    let before = last_event(&market);
    change_listing(&market, plain, Operation::Archive).unwrap();
    for team in ["buyer", "other"] {
        assert_eq!(own_offers(&market, team).await[0]["status"], "declined");
        assert_eq!(notifications(&market, team).await[0].0, "offer_declined");
    }
    let declined: Vec<_> = events_since(&market, before)
        .into_iter()
        .filter(|event| event.0.contains("declined"))
        .map(|(kind, team, data)| (kind, team, data["count"].as_u64()))
        .collect();
    let event = |kind: &str, team: &str, count| (kind.to_owned(), team.to_owned(), count);
    assert_eq!(
        declined,
        [
            event("offer.declined", "buyer", None),
            event("offer.declined", "other", None),
            event("listing.offers_declined", "seller", Some(2)),
        ]
    );
}

#[tokio::test]
async fn accepted_offer_is_paid_with_credits_at_once() {
    let (market, plain) = (sales_market(), listing_id("plain"));
    let offer = bid(&market, "buyer", plain, 4_000, PayWith::Credits).unwrap();
    let purchase = accept(&market, "seller", offer).unwrap();
    assert_eq!(credits(&market, "buyer"), 100_000 - 4_200);
    let seen = &own_purchases(&market, "buyer").await[0]["purchase"];
    assert_eq!((&seen["id"], &seen["purchase_kind"]), (&json!(purchase), &json!("accepted_bid")));
    assert_eq!((&seen["price"], &seen["total"]), (&json!(40.0), &json!(42.0)));
    assert_eq!(sales(&market).await["total_earnings"], 36.0);
    assert_eq!(own_offers(&market, "buyer").await[0]["status"], "accepted");
    assert_eq!(notifications(&market, "buyer").await[0].0, "offer_accepted");
    assert_eq!(notifications(&market, "seller").await[0].0, "sale_completed");
}

/// Whether the bidder chose an invoice, or lacks the credits, the vendor sees the same.
#[tokio::test]
async fn vendor_cannot_tell_why_a_purchase_waits() {
    let seen_by_vendor = |pay_with, cents| {
        let market = sales_market();
        let before = last_event(&market);
        let offer = bid(&market, "buyer", listing_id("plain"), cents, pay_with).unwrap();
        accept(&market, "seller", offer).unwrap();
        let events = events_since(&market, before);
        let events: Vec<_> = events.into_iter().filter(|event| event.1 == "seller").collect();
        assert_eq!(events.len(), 2);
        (market, format!("{events:?}"))
    };
    let (invoiced, events_of_invoiced) = seen_by_vendor(PayWith::Invoice, 99_000);
    let (poor, events_of_poor) = seen_by_vendor(PayWith::Credits, 99_000);
    assert_eq!(events_of_invoiced, events_of_poor);
    assert_eq!(credits(&poor, "buyer"), 100_000, "the fee was not covered");
    for market in [&invoiced, &poor] {
        assert_eq!(sales(market).await["sales"], json!([]));
        assert!(own_purchases(market, "buyer").await.is_empty());
    }
    assert_eq!(notifications(&invoiced, "seller").await, notifications(&poor, "seller").await);
}

/// A purchase at the price and one by an accepted bid count as one kind.
#[test]
fn acceptance_is_refused_while_the_bidder_has_a_purchase() {
    let (market, plain) = (sales_market(), listing_id("plain"));
    let offer = bid(&market, "buyer", plain, 100, PayWith::Invoice).unwrap();
    buy(&market, "buyer", plain, PurchaseKind::Sample, PayWith::Credits).unwrap();
    let pending = buy(&market, "buyer", plain, PurchaseKind::Full, PayWith::Invoice).unwrap();
    assert_eq!(code(accept(&market, "seller", offer)), "conflict");
    cancel(&market, pending.id).unwrap();
    let accepted = accept(&market, "seller", offer).unwrap();
    assert_eq!(code(buy(&market, "buyer", plain, PurchaseKind::Full, PayWith::Credits)), "conflict");
    complete(&market, accepted).unwrap();
    assert_eq!(code(buy(&market, "buyer", plain, PurchaseKind::Full, PayWith::Credits)), "conflict");
}

#[tokio::test]
async fn canceled_purchase_leaves_its_offer_accepted() {
    let (market, plain) = (sales_market(), listing_id("plain"));
    let offer = bid(&market, "buyer", plain, 100, PayWith::Invoice).unwrap();
    let purchase = accept(&market, "seller", offer).unwrap();
    market.clock().advance(14 * DAY);
    market.market().run_due_steps().unwrap();
    assert_eq!(own_offers(&market, "buyer").await[0]["status"], "accepted");
    assert_eq!(code(complete(&market, purchase)), "invalid_transition", "it was canceled");
    let bought = buy(&market, "buyer", plain, PurchaseKind::Full, PayWith::Credits).unwrap();
    assert_eq!(bought.status, PurchaseStatus::Completed);
}

/// A due step stands if the request before which it was carried out fails, and the catalog shows it.
#[tokio::test]
async fn catalog_shows_an_expiry_before_a_request_that_fails() {
    let (market, plain) = (sales_market(), listing_id("plain"));
    bid(&market, "buyer", plain, 4_000, PayWith::Invoice).unwrap();
    assert_eq!(active_bids(&market, plain).await, 1);
    market.clock().advance(30 * DAY);
    let refused = market.write(|_| Err::<(), _>(marketplace::error::Error::not_found("listing")));
    assert!(refused.is_err());
    assert_eq!(active_bids(&market, plain).await, 0);
}

/// The vendor must not learn from a refused acceptance that the bidder bought the listing.
#[test]
fn buyer_of_a_listing_cannot_bid_on_it() {
    let (market, plain) = (sales_market(), listing_id("plain"));
    buy(&market, "buyer", plain, PurchaseKind::Full, PayWith::Invoice).unwrap();
    assert_eq!(code(bid(&market, "buyer", plain, 4_000, PayWith::Invoice)), "conflict");
}

/// The platform can end what a former buyer has begun, but cannot begin anything for it.
#[test]
fn former_buyer_begins_no_offer_and_no_purchase() {
    let (market, plain) = (sales_market(), listing_id("plain"));
    let refused = market.write(|writer| {
        let platform = marketplace::operations::access::Platform::of_process();
        let former = platform.former_buyer(super::team_of(writer.rows, "seller"))?;
        let input = offers::OfferInput { listing: plain, amount: Cents(100), pay_with: PayWith::Invoice };
        offers::submit(writer, &former, Actor::Team, &input)
    });
    assert_eq!(code(refused), "marketplace_role_required");
}
