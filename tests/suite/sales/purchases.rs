//! Purchases: what can be bought, how it is paid, and what it covers.

use marketplace::{
    domain::{
        listing_lifecycle::Operation,
        listings::Actor,
        purchases::{MAX_SELECTED_ASSETS, PayWith, PurchaseKind, PurchaseStatus},
    },
    error::Error,
    operations::{access::Platform, offer_changes, purchase_changes},
    store,
};
use serde_json::json;
use uuid::Uuid;

use super::{
    DAY, asset_id, buy, buy_assets, cancel, change_listing, code, complete, credits, listing_id,
    notifications, own_purchases, sales, sales_market, team_of,
};

#[tokio::test]
async fn purchase_with_credits_is_completed_at_once() {
    let market = sales_market();
    let bought = buy(&market, "buyer", listing_id("plain"), PurchaseKind::Full, PayWith::Credits).unwrap();
    assert_eq!(bought.status, PurchaseStatus::Completed);
    assert_eq!(credits(&market, "buyer"), 100_000 - 5_250);
    let seen = &own_purchases(&market, "buyer").await[0]["purchase"];
    assert_eq!((&seen["status"], &seen["total"]), (&json!("completed"), &json!(52.5)));
    assert_eq!(seen["asset_scope"], json!({"mode": "all", "asset_ids": []}));
    assert_eq!(seen["agreement_signed_at"], json!(market.clock().now()));
    assert!(seen["agreement_document_id"].is_string());
    let sold = sales(&market).await;
    assert_eq!((&sold["total_earnings"], &sold["sales"][0]["id"]), (&json!(45.0), &json!(bought.id)));
    let wallet = market.get("mkt_seller", "/v2/wallet").await.ok();
    assert_eq!(
        (&wallet["earnings"]["pending"], &wallet["earnings"]["available"]),
        (&json!("45.00"), &json!("0.00"))
    );
    let sent = &notifications(&market, "seller").await[0];
    assert_eq!(sent.0, "sale_completed");
    assert!(!sent.1.contains("Buyer"), "{}", sent.1);
}

#[test]
fn credits_must_suffice() {
    let (market, plain) = (sales_market(), listing_id("plain"));
    super::give_credits(&market, "buyer", 5_249 - 100_000);
    assert_eq!(
        code(buy(&market, "buyer", plain, PurchaseKind::Full, PayWith::Credits)),
        "insufficient_credits"
    );
    assert_eq!(credits(&market, "buyer"), 5_249);
    super::give_credits(&market, "buyer", 1);
    assert_eq!(code(buy(&market, "buyer", plain, PurchaseKind::Full, PayWith::Credits)), "ok");
    assert_eq!(credits(&market, "buyer"), 0);
}

#[tokio::test]
async fn purchase_by_invoice_is_pending_until_the_platform_completes_it() {
    let (market, plain) = (sales_market(), listing_id("plain"));
    let bought = buy(&market, "buyer", plain, PurchaseKind::Full, PayWith::Invoice).unwrap();
    assert_eq!(bought.status, PurchaseStatus::Pending);
    assert!(own_purchases(&market, "buyer").await.is_empty());
    assert_eq!(sales(&market).await["sales"], json!([]));
    market.clock().advance(DAY);
    complete(&market, bought.id).unwrap();
    let seen = &own_purchases(&market, "buyer").await[0]["purchase"];
    assert_eq!(seen["agreement_signed_at"], json!(market.clock().now()));
    assert_eq!(credits(&market, "buyer"), 100_000, "the money comes from outside");
    assert_eq!(sales(&market).await["total_earnings"], 45.0);
    assert_eq!(code(complete(&market, bought.id)), "invalid_transition");
    assert_eq!(code(cancel(&market, bought.id)), "invalid_transition");
    market.clock().advance(20 * DAY);
    market.market().run_due_steps().unwrap();
    assert_eq!(own_purchases(&market, "buyer").await.len(), 1, "it no longer expires");
}

#[tokio::test]
async fn unpaid_purchase_is_canceled_in_time() {
    let (market, plain) = (sales_market(), listing_id("plain"));
    let bought = buy(&market, "buyer", plain, PurchaseKind::Full, PayWith::Invoice).unwrap();
    market.clock().advance(14 * DAY - 1);
    market.market().run_due_steps().unwrap();
    assert_eq!(code(buy(&market, "buyer", plain, PurchaseKind::Full, PayWith::Invoice)), "conflict");
    market.clock().advance(1);
    assert_eq!(code(buy(&market, "buyer", plain, PurchaseKind::Full, PayWith::Invoice)), "ok");
    assert_eq!(code(complete(&market, bought.id)), "invalid_transition");
}

/// Any number of teams buy a listing, each of them once per kind while the earlier purchase stands.
#[test]
fn listing_is_bought_once_per_team_and_kind() {
    let (market, plain) = (sales_market(), listing_id("plain"));
    for team in ["buyer", "other", "both"] {
        for kind in [PurchaseKind::Full, PurchaseKind::Sample] {
            assert_eq!(code(buy(&market, team, plain, kind, PayWith::Credits)), "ok");
            assert_eq!(code(buy(&market, team, plain, kind, PayWith::Credits)), "conflict");
        }
    }
}

#[test]
fn listing_must_be_published() {
    let market = sales_market();
    let buy = |team, key| code(buy(&market, team, listing_id(key), PurchaseKind::Full, PayWith::Credits));
    assert_eq!(buy("buyer", "nowhere"), "not_found");
    assert_eq!(buy("buyer", "plain"), "ok");
    change_listing(&market, listing_id("plain"), Operation::Unpublish).unwrap();
    assert_eq!(buy("other", "plain"), "not_found");
    assert_eq!(buy("buyer", "plain"), "conflict");
}

#[tokio::test]
async fn free_sample_is_completed_without_postings() {
    let free = crate::catalog::small_market::published("a", 9, &json!({"sample_price_usd": 0}));
    let market = crate::catalog::small_market::small_market(&[free]);
    for (team, pay_with) in [("buyer", PayWith::Credits), ("other", PayWith::Invoice)] {
        let bought = buy(&market, team, listing_id("a"), PurchaseKind::Sample, pay_with).unwrap();
        assert_eq!(bought.status, PurchaseStatus::Completed);
        let seen = &own_purchases(&market, team).await[0]["purchase"];
        assert_eq!((&seen["total"], &seen["asset_scope"]["mode"]), (&json!(0.0), &json!("sample")));
    }
    let entries = market.read(|reader| {
        marketplace::operations::ledger::list_newest(reader, Platform::of_process(), None, 10)
    });
    assert_eq!(entries.unwrap().len(), 0);
    assert_eq!(sales(&market).await["sales"].as_array().unwrap().len(), 2);
}

#[test]
fn listing_without_a_sample_or_without_a_price_cannot_be_bought_so() {
    let approved = json!([{"event": "submitted", "at": "-P8D"}, {"event": "approved", "at": "-P7D"}]);
    let bids_only = crate::catalog::small_market::listing("a", &json!({"history": approved}));
    let market = crate::catalog::small_market::small_market(&[bids_only]);
    let changed = market.write(|writer| {
        let fields = store::listings::ListingFields {
            description: "About it.".to_owned(),
            price: None,
            ..crate::harness::listings::listing_fields("Listing a")
        };
        crate::harness::listing_lifecycle::update(writer, listing_id("a"), &fields)
    });
    changed.unwrap();
    change_listing(&market, listing_id("a"), Operation::Publish).unwrap();
    for (kind, word) in [(PurchaseKind::Sample, "sample"), (PurchaseKind::Full, "price")] {
        match buy(&market, "buyer", listing_id("a"), kind, PayWith::Credits) {
            Err(Error::Conflict(message)) => assert!(message.contains(word), "{message}"),
            other => panic!("{other:?}"),
        }
    }
    let by_bid = buy(&market, "buyer", listing_id("a"), PurchaseKind::AcceptedBid, PayWith::Credits);
    assert_eq!(code(by_bid), "kind value_error");
}

#[tokio::test]
async fn selection_costs_the_asking_prices_and_at_most_the_listing() {
    let (market, plain) = (sales_market(), listing_id("plain"));
    let select = |team, keys: &[&str]| {
        let ids: Vec<Uuid> = keys.iter().map(|key| asset_id(key)).collect();
        buy_assets(&market, team, plain, PurchaseKind::Full, Some(&ids), PayWith::Credits)
    };
    let bought = select("buyer", &["c2", "c1"]).unwrap();
    assert_eq!(bought.charges.price.0, 3_250);
    let seen = &own_purchases(&market, "buyer").await[0]["purchase"];
    assert_eq!(
        seen["asset_scope"],
        json!({"mode": "selection", "asset_ids": [asset_id("c2"), asset_id("c1")]})
    );
    assert_eq!(select("other", &["c1", "c2", "c4"]).unwrap().charges.price.0, 5_000);
    assert_eq!(code(buy(&market, "buyer", plain, PurchaseKind::Full, PayWith::Credits)), "conflict");
}

/// All problems of a selection are reported at once.
#[test]
fn selection_is_of_distinct_assets_of_the_listing_with_asking_prices() {
    let (market, shared) = (sales_market(), listing_id("shared"));
    let select = |listing, kind, ids: &[Uuid]| {
        code(buy_assets(&market, "buyer", listing, kind, Some(ids), PayWith::Credits))
    };
    let full = PurchaseKind::Full;
    let [c1, c2, c3] = ["c1", "c2", "c3"].map(asset_id);
    assert_eq!(
        select(listing_id("plain"), full, &[c3, c1, c1, Uuid::nil()]),
        "asset_ids.0 value_error, asset_ids.2 duplicate, asset_ids.3 unknown_reference"
    );
    assert_eq!(select(shared, full, &[c2]), "asset_ids.0 unknown_reference");
    assert_eq!(select(shared, full, &[]), "asset_ids too_short");
    let many: Vec<Uuid> = (0..=MAX_SELECTED_ASSETS as u128).map(Uuid::from_u128).collect();
    assert_eq!(select(shared, full, &many), "asset_ids too_long");
    assert_eq!(select(listing_id("plain"), PurchaseKind::Sample, &[c1]), "asset_ids value_error");
    assert_eq!(credits(&market, "buyer"), 100_000);
}

/// Changes of the listing and of the settings do not change a purchase that exists.
#[tokio::test]
async fn purchase_keeps_its_price_and_its_assets() {
    let (market, shared) = (sales_market(), listing_id("shared"));
    let bought = buy(&market, "buyer", shared, PurchaseKind::Full, PayWith::Invoice).unwrap();
    change_listing(&market, shared, Operation::Unpublish).unwrap();
    let changed = market.write(|writer| {
        let seller = super::vendor(writer.rows, "seller");
        let fields = store::listings::ListingFields {
            price: Some(marketplace::domain::money::Cents(9_900)),
            ..crate::harness::listings::listing_fields("Other")
        };
        let actor = marketplace::domain::listings::Actor::Team;
        marketplace::operations::listing_lifecycle::update(writer, &seller, actor, shared, &fields)?;
        marketplace::operations::listing_assets::detach(writer, &seller, actor, shared, asset_id("c1"))
    });
    changed.unwrap();
    complete(&market, bought.id).unwrap();
    let seen = &own_purchases(&market, "buyer").await[0]["purchase"];
    assert_eq!((&seen["price"], &seen["buyer_fee"]), (&json!(30.0), &json!(1.5)));
    let assets = market.read(|reader| {
        let c1 = store::assets::find_row_id_and_team(reader.rows, asset_id("c1"))?.unwrap().0;
        Ok((store::purchases::list_assets(reader.rows, bought.row_id)?, vec![c1]))
    });
    let (covered, expected) = assets.unwrap();
    assert_eq!(covered, expected);
}

#[test]
fn buyer_needs_the_role_and_the_nda() {
    let market = sales_market();
    let access = |key: &str, change: fn(&mut marketplace::domain::teams::Team)| {
        market
            .read(|reader| {
                let mut team = team_of(reader.rows, key);
                change(&mut team);
                Platform::of_process().buyer(team)
            })
            .map(|_| ())
    };
    assert_eq!(code(access("seller", |_| {})), "marketplace_role_required");
    assert_eq!(code(access("buyer", |team| team.nda_accepted_at = None)), "nda_required");
    assert_eq!(code(access("both", |_| {})), "ok");
}

/// What ends when a team is closed: its offers, and the pending purchases that it made or that are of its
/// listings.
#[tokio::test]
async fn offers_and_pending_purchases_of_a_team_end_together() {
    let (market, plain, shared) = (sales_market(), listing_id("plain"), listing_id("shared"));
    let end = |team: &str| {
        let ended = market.write(|writer| {
            let team = team_of(writer.rows, team).row_id;
            Ok((
                offer_changes::withdraw_all(writer, team, Actor::System)?,
                purchase_changes::cancel_all(writer, team, Actor::System)?,
            ))
        });
        ended.unwrap()
    };
    super::bid(&market, "buyer", plain, 5, PayWith::Invoice).unwrap();
    super::bid(&market, "other", plain, 5, PayWith::Invoice).unwrap();
    buy(&market, "buyer", plain, PurchaseKind::Full, PayWith::Invoice).unwrap();
    buy(&market, "buyer", shared, PurchaseKind::Full, PayWith::Credits).unwrap();
    let pending = buy(&market, "other", plain, PurchaseKind::Full, PayWith::Invoice).unwrap();
    assert_eq!(end("buyer"), (1, 1));
    assert_eq!(own_purchases(&market, "buyer").await.len(), 1, "completed purchases stay");
    assert_eq!(super::own_offers(&market, "other").await[0]["status"], "submitted");
    assert_eq!(end("seller"), (0, 1));
    assert_eq!(code(complete(&market, pending.id)), "invalid_transition");
}
