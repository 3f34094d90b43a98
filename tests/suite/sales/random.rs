//! Random offers, purchases, and refunds by several teams: nothing is sold exclusively twice, no credit is lost, and every
//! status is reached by a legal operation.

use std::collections::BTreeMap;

use marketplace::{
    domain::{
        listing_lifecycle::Operation,
        listings::CatalogStatus,
        offers::{OfferOperation, OfferStatus},
        purchases::{PayWith, PurchaseKind, PurchaseOperation, PurchaseStatus},
        row_ids::AssetRowId,
        state_machine::StateMachine,
    },
    error::Result,
    store::{self, offers::OfferRow, purchases::PurchaseRow},
    string_enum::StringEnum,
};
use serde_json::json;
use uuid::Uuid;

use super::{
    DAY, accept, asset_id, bid, buy, buy_assets, cancel, change_listing, code, codebase, complete, credits,
    decline, give_credits, listing_id, refund, withdraw,
};
use crate::{
    catalog::small_market::{listing, published, small_market_with},
    harness::{self, TestMarket, random::Random},
};

const BUYERS: [&str; 3] = ["buyer", "other", "both"];
const LISTINGS: [&str; 5] = ["l0", "l1", "l2", "l3", "l4"];
const CODEBASES: [&str; 4] = ["k0", "k1", "k2", "k3"];
const GIFT: i64 = 60_000;

/// Returns a market with listings that share codebases. Some are exclusive.
fn market() -> TestMarket {
    let approved = json!([{"event": "submitted", "at": "-P80D"}, {"event": "approved", "at": "-P79D"}]);
    let assets: Vec<_> = CODEBASES.iter().map(|key| codebase(key, &json!(20))).collect();
    let exclusive = |key: &str, assets: &[&str]| {
        listing(key, &json!({"assets": assets, "accepts_bids": true, "history": approved}))
    };
    let offered = |key: &str, assets: &[&str]| {
        published(key, 9, &json!({"assets": assets, "accepts_bids": true, "sample_price_usd": 1}))
    };
    let market = small_market_with(
        &[
            exclusive("l0", &["k0", "k1"]),
            exclusive("l1", &["k1", "k2"]),
            offered("l2", &["k0", "k3"]),
            offered("l3", &["k2"]),
            offered("l4", &["k3"]),
        ],
        &json!({"assets": assets}),
    );
    for key in ["l0", "l1"] {
        make_exclusive(&market, key).unwrap();
        change_listing(&market, listing_id(key), Operation::Publish).unwrap();
    }
    for team in BUYERS {
        give_credits(&market, team, GIFT);
    }
    market
}

fn make_exclusive(market: &TestMarket, key: &str) -> Result<()> {
    let title = format!("Listing {key}");
    market.write(|writer| {
        let fields = store::listings::ListingFields {
            description: "About it.".to_owned(),
            price: Some(marketplace::domain::money::Cents(5_000)),
            is_exclusive: true,
            ..harness::listings::listing_fields(&title)
        };
        harness::listing_lifecycle::update(writer, listing_id(key), &fields).map(|_| ())
    })
}

/// What was made so far.
#[derive(Default)]
struct Made {
    offers: BTreeMap<Uuid, OfferStatus>,
    purchases: BTreeMap<Uuid, PurchaseStatus>,
    errors: BTreeMap<String, u64>,
}

fn act(market: &TestMarket, random: &mut Random, made: &mut Made) -> String {
    let (team, key) = (*random.pick(&BUYERS), *random.pick(&LISTINGS));
    let listing = listing_id(key);
    let pay_with = *random.pick(PayWith::ALL);
    let offer =
        (!made.offers.is_empty()).then(|| *random.pick(&made.offers.keys().copied().collect::<Vec<_>>()));
    let purchase = (!made.purchases.is_empty())
        .then(|| *random.pick(&made.purchases.keys().copied().collect::<Vec<_>>()));
    match (random.below(16), offer, purchase) {
        (0..=2, ..) => {
            let offer = bid(market, team, listing, 1_000 + random.below(5_000) as i64, pay_with);
            made.offers.extend(offer.as_ref().ok().map(|id| (*id, OfferStatus::Submitted)));
            code(offer)
        }
        (3..=5, ..) => {
            let kind = *random.pick(&[PurchaseKind::Full, PurchaseKind::Full, PurchaseKind::Sample]);
            let bought = buy(market, team, listing, kind, pay_with);
            made.purchases.extend(bought.as_ref().ok().map(|row| (row.id, PurchaseStatus::Pending)));
            code(bought)
        }
        (6, ..) => {
            let key: &&str = random.pick(&CODEBASES);
            let ids = [asset_id(key)];
            let bought = buy_assets(market, team, listing, PurchaseKind::Full, Some(&ids), pay_with);
            made.purchases.extend(bought.as_ref().ok().map(|row| (row.id, PurchaseStatus::Pending)));
            code(bought)
        }
        (7, Some(offer), _) => code(withdraw(market, team, offer)),
        (8, Some(offer), _) => code(decline(market, "seller", offer)),
        (9 | 10, Some(offer), _) => {
            let accepted = accept(market, "seller", offer);
            made.purchases.extend(accepted.as_ref().ok().map(|id| (*id, PurchaseStatus::Pending)));
            code(accepted)
        }
        (11, _, Some(purchase)) => code(complete(market, purchase)),
        (12, _, Some(purchase)) => code(cancel(market, purchase)),
        (13, _, Some(purchase)) => code(refund(market, purchase)),
        (14, ..) => {
            market.clock().advance(random.below(8) as i64 * DAY);
            market.market().run_due_steps().unwrap();
            "time".to_owned()
        }
        _ => offer_again(market, random, listing),
    }
}

/// Archives, restores, or publishes a listing, whatever its state allows.
fn offer_again(market: &TestMarket, random: &mut Random, listing: Uuid) -> String {
    let status = market.read(|reader| store::listings::find(reader.rows, listing));
    let operation = match status.unwrap().unwrap().status.catalog {
        CatalogStatus::Archived => Operation::Restore,
        CatalogStatus::Unpublished => Operation::Publish,
        CatalogStatus::Published => *random.pick(&[Operation::Unpublish, Operation::Archive]),
    };
    code(change_listing(market, listing, operation))
}

/// Checks everything that must hold after each step.
fn check(market: &TestMarket, made: &mut Made) {
    let read = |market: &TestMarket| {
        market.read(|reader| {
            let offers: Vec<OfferRow> = made
                .offers
                .keys()
                .map(|id| Ok(store::offers::find(reader.rows, *id)?.unwrap()))
                .collect::<Result<_>>()?;
            let purchases: Vec<(PurchaseRow, Vec<AssetRowId>)> = made
                .purchases
                .keys()
                .map(|id| {
                    let row = store::purchases::find(reader.rows, *id)?.unwrap();
                    let assets = store::purchases::list_assets(reader.rows, row.row_id)?;
                    Ok((row, assets))
                })
                .collect::<Result<_>>()?;
            Ok((offers, purchases))
        })
    };
    let (offers, purchases) = read(market).unwrap();
    for offer in &offers {
        let before = made.offers.insert(offer.id, offer.status).unwrap();
        let is_legal =
            OfferOperation::ALL.iter().any(|operation| before.after(*operation) == Some(offer.status));
        assert!(before == offer.status || is_legal, "{before:?} -> {:?}", offer.status);
    }
    for (purchase, _) in &purchases {
        let before = made.purchases.insert(purchase.id, purchase.status).unwrap();
        let is_legal =
            PurchaseOperation::ALL.iter().any(|operation| before.after(*operation) == Some(purchase.status));
        assert!(before == purchase.status || is_legal, "{before:?} -> {:?}", purchase.status);
    }
    check_sales(&purchases);
    for team in BUYERS {
        let row_id = market.read(|reader| Ok(super::team_of(reader.rows, team).row_id)).unwrap();
        let spent: i64 = purchases
            .iter()
            .filter(|(purchase, _)| {
                purchase.buyer == row_id
                    && purchase.status == PurchaseStatus::Completed
                    && purchase.pay_with == PayWith::Credits
            })
            .map(|(purchase, _)| purchase.charges.total().0)
            .sum();
        assert_eq!(credits(market, team), GIFT - spent, "{team}");
    }
}

/// While an asset is sold exclusively, it is not sold to another team. No team has two purchases of a kind that are in
/// effect.
fn check_sales(purchases: &[(PurchaseRow, Vec<AssetRowId>)]) {
    let mut sales: BTreeMap<AssetRowId, Vec<bool>> = BTreeMap::new();
    let mut standing: BTreeMap<(i64, i64, bool), u64> = BTreeMap::new();
    for (purchase, assets) in purchases {
        if purchase.status == PurchaseStatus::Completed && purchase.kind.is_of_data() {
            for asset in assets {
                sales.entry(*asset).or_default().push(purchase.is_exclusive);
            }
        }
        if purchase.status.is_in_effect() {
            let key = (purchase.buyer.0, purchase.listing.0, purchase.kind.is_of_data());
            *standing.entry(key).or_default() += 1;
        }
    }
    for (asset, sold) in sales {
        assert!(sold.len() == 1 || sold.iter().all(|is_exclusive| !is_exclusive), "{asset:?}: {sold:?}");
    }
    assert!(standing.values().all(|count| *count == 1), "{standing:?}");
}

#[test]
fn random_sales_keep_the_rules() {
    let mut seen: BTreeMap<String, u64> = BTreeMap::new();
    let mut exclusive_sales = 0;
    for seed in 1..=4 {
        let (market, mut random, mut made) = (market(), Random::new(seed), Made::default());
        for _ in 0..150 {
            let result = act(&market, &mut random, &mut made);
            *made.errors.entry(result).or_default() += 1;
            check(&market, &mut made);
        }
        let count = market.read(|reader| {
            let rows = made.purchases.keys().map(|id| Ok(store::purchases::find(reader.rows, *id)?.unwrap()));
            let rows: Vec<PurchaseRow> = rows.collect::<Result<_>>()?;
            Ok(rows.iter().filter(|row| row.is_exclusive && row.paid_at.is_some()).count())
        });
        exclusive_sales += count.unwrap();
        made.errors.into_iter().for_each(|(code, count)| *seen.entry(code).or_default() += count);
    }
    assert!(seen["ok"] > 100 && exclusive_sales >= 2, "{exclusive_sales} {seen:?}");
    for code in ["conflict", "invalid_transition", "not_found", "no_longer_available"] {
        assert!(seen.contains_key(code), "no {code}: {seen:?}");
    }
}
