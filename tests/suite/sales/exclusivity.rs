//! Exclusive listings: allowed assets, effects of a sale, and effects of a refund.

use marketplace::{
    domain::{
        assets::{Channel, Exclusivity, Kind},
        changes::Change,
        codebase_fields::CodebaseChange,
        inventory::AssetChange,
        listing_lifecycle::Operation,
        listings::{Actor, CatalogStatus, Event, ReviewStatus},
        problems::Problems,
        purchases::{PayWith, PurchaseKind, PurchaseStatus},
    },
    error::Result,
    operations::{asset_changes, linked_data, listing_assets, listing_lifecycle},
    store::{self, assets::NewData, listings::ListingFields},
};
use serde_json::json;
use uuid::Uuid;

use super::{
    accept, asset_id, bid, buy, buy_assets, change_listing, code, codebase, complete, credits, events_since,
    last_event, listing_id, notifications, own_offers, refund, sales_market, vendor,
};
use crate::{
    catalog::small_market,
    harness::{TestMarket, archives::zip_of},
    vendor_api::seller_market::upload_zip,
};

/// Sets whether a listing is exclusive, and leaves everything else as the fixtures have it.
fn set_exclusive(market: &TestMarket, key: &str, is_exclusive: bool) -> Result<()> {
    let title = format!("Listing {key}");
    market.write(|writer| {
        let fields = ListingFields {
            description: "About it.".to_owned(),
            price: Some(marketplace::domain::money::Cents(5_000)),
            is_exclusive,
            ..crate::harness::listings::listing_fields(&title)
        };
        crate::harness::listing_lifecycle::update(writer, listing_id(key), &fields).map(|_| ())
    })
}

/// Returns the sales market with three more listings of the seller: `solo` is exclusive and published, with two
/// codebases of its own; `twin` carries one of them and is published; `waiting` carries one and is in review.
fn exclusive_market() -> TestMarket {
    let approved = json!([{"event": "submitted", "at": "-P80D"}, {"event": "approved", "at": "-P79D"}]);
    let market = sales_market();
    let solo = small_market::listing(
        "solo",
        &json!({"assets": ["s1", "s2"], "accepts_bids": true, "history": approved}),
    );
    let twin = small_market::published(
        "twin",
        9,
        &json!({"assets": ["s1"], "accepts_bids": true, "sample_price_usd": 3}),
    );
    let waiting = small_market::listing(
        "waiting",
        &json!({"assets": ["s2"], "history": [{"event": "submitted", "at": "-P80D"}]}),
    );
    market.seed_json(&json!({
        "assets": [codebase("s1", &json!(20)), codebase("s2", &json!(20))],
        "listings": [solo, twin, waiting],
    }));
    set_exclusive(&market, "solo", true).unwrap();
    change_listing(&market, listing_id("solo"), Operation::Publish).unwrap();
    market
}

fn status(market: &TestMarket, key: &str) -> (CatalogStatus, ReviewStatus) {
    let found = market.read(|reader| store::listings::find(reader.rows, listing_id(key)));
    let status = found.unwrap().unwrap().status;
    (status.catalog, status.review)
}

async fn exclusivity(market: &TestMarket, key: &str) -> String {
    let row = market.get("mkt_seller", &format!("/v2/codebases/{}", asset_id(key))).await.ok();
    let inventory = market.get("mkt_seller", "/v2/codebases?filter=exclusivity:is:unavailable").await.ok();
    let is_listed = inventory["items"].as_array().unwrap().iter().any(|item| item["id"] == row["id"]);
    let value = row["exclusivity"].as_str().unwrap().to_owned();
    assert_eq!(is_listed, value == "unavailable", "the inventory follows");
    value
}

#[tokio::test]
async fn exclusive_sale_ends_everything_with_its_codebases() {
    let market = exclusive_market();
    let (solo, twin) = (listing_id("solo"), listing_id("twin"));
    bid(&market, "other", solo, 100, PayWith::Credits).unwrap();
    bid(&market, "both", twin, 100, PayWith::Credits).unwrap();
    let pending = buy(&market, "other", twin, PurchaseKind::Full, PayWith::Invoice).unwrap();
    let sample = buy(&market, "both", twin, PurchaseKind::Sample, PayWith::Credits).unwrap();
    let before = last_event(&market);
    let bought = buy(&market, "buyer", solo, PurchaseKind::Full, PayWith::Credits).unwrap();
    assert_eq!(bought.status, PurchaseStatus::Completed);
    for key in ["solo", "twin"] {
        assert_eq!(status(&market, key), (CatalogStatus::Archived, ReviewStatus::Approved), "{key}");
    }
    assert_eq!(status(&market, "waiting"), (CatalogStatus::Archived, ReviewStatus::Draft));
    assert_eq!(status(&market, "plain").0, CatalogStatus::Published, "it carries other codebases");
    for key in ["s1", "s2"] {
        assert_eq!(exclusivity(&market, key).await, "unavailable");
    }
    for team in ["other", "both"] {
        assert_eq!(own_offers(&market, team).await[0]["status"], "declined");
        assert_eq!(notifications(&market, team).await[0].0, "offer_declined");
    }
    assert_eq!(code(complete(&market, pending.id)), "invalid_transition", "it was canceled");
    assert_eq!(sample.status, PurchaseStatus::Completed);
    let history =
        market.get("mkt_seller", &format!("/v2/listings/{}/history", listing_id("waiting"))).await.ok();
    let events = history["events"].as_array().unwrap();
    let newest: Vec<_> =
        events.iter().take(2).map(|event| (event["event_type"].clone(), event["actor"].clone())).collect();
    assert_eq!(newest, [(json!("archived"), json!("system")), (json!("withdrawn"), json!("system"))]);
    let events = events_since(&market, before);
    let changed = events.iter().find(|event| event.0 == "asset.exclusivity_changed").unwrap();
    assert_eq!((&changed.1[..], &changed.2["count"]), ("seller", &json!(2)));
    let cancelled: Vec<_> = events.iter().filter(|event| event.0 == "purchase.cancelled").collect();
    assert_eq!(cancelled.len(), 1);
    assert_eq!((&cancelled[0].1[..], &cancelled[0].2["actor"]), ("other", &json!("system")));
}

#[tokio::test]
async fn what_was_sold_exclusively_cannot_be_offered_again() {
    let market = exclusive_market();
    let offer = bid(&market, "buyer", listing_id("solo"), 4_000, PayWith::Invoice).unwrap();
    let purchase = accept(&market, "seller", offer).unwrap();
    assert_eq!(status(&market, "solo").0, CatalogStatus::Published, "it is not paid yet");
    complete(&market, purchase).unwrap();
    for key in ["solo", "twin", "waiting"] {
        assert_eq!(code(change_listing(&market, listing_id(key), Operation::Restore)), "no_longer_available");
    }
    assert_eq!(code(change_exclusivity(&market, "s1", Exclusivity::Available)), "exclusivity field_locked");
    assert_eq!(code(change_exclusivity(&market, "s1", Exclusivity::Unavailable)), "ok");
    let again = offer_again(&market, "s1");
    assert_eq!(code(change_listing(&market, again, Operation::Submit)), "no_longer_available");
}

/// Creates a draft with a codebase.
fn offer_again(market: &TestMarket, asset: &str) -> Uuid {
    let created = market.write(|writer| {
        let seller = super::team_of(writer.rows, "seller").row_id;
        let fields = crate::harness::listings::listing_fields("Again");
        let id = crate::harness::listing_lifecycle::create(writer, seller, &fields)?;
        let listing = store::listings::find(writer.rows, id)?.unwrap().row_id;
        let asset = store::assets::find_row_id_and_team(writer.rows, asset_id(asset))?.unwrap().0;
        store::listings::attach_asset(writer.rows, listing, asset)?;
        Ok(id)
    });
    created.unwrap()
}

fn change_exclusivity(market: &TestMarket, key: &str, to: Exclusivity) -> Result<()> {
    let codebase = CodebaseChange { exclusivity: Change::Set(to), ..CodebaseChange::default() };
    let change = AssetChange { codebase, ..AssetChange::default() };
    market.write(|writer| {
        let seller = vendor(writer.rows, "seller");
        let subject = (asset_id(key), Kind::Codebase);
        let context = writer.check_context();
        let changed = asset_changes::check_update(&context, &seller, subject, change, Problems::default())?;
        asset_changes::update(writer, changed).map(|_| ())
    })
}

#[tokio::test]
async fn refund_makes_codebases_available_again() {
    let market = exclusive_market();
    let solo = listing_id("solo");
    let bought = buy(&market, "buyer", solo, PurchaseKind::Full, PayWith::Credits).unwrap();
    refund(&market, bought.id).unwrap();
    for key in ["s1", "s2"] {
        assert_eq!(exclusivity(&market, key).await, "available");
    }
    for key in ["solo", "twin", "waiting"] {
        assert_eq!(status(&market, key).0, CatalogStatus::Archived, "nothing is published again");
        change_listing(&market, listing_id(key), Operation::Restore).unwrap();
    }
    change_listing(&market, solo, Operation::Publish).unwrap();
    let again = buy(&market, "other", solo, PurchaseKind::Full, PayWith::Credits).unwrap();
    assert_eq!(again.status, PurchaseStatus::Completed);
    assert_eq!(credits(&market, "buyer"), 100_000);
}

/// Exclusive is possible only while nothing was sold, and only for available codebases.
#[test]
fn exclusive_listing_has_only_available_codebases() {
    let market = exclusive_market();
    let retry = |key: &str| {
        let _ = change_listing(&market, listing_id(key), Operation::Unpublish);
        code(set_exclusive(&market, key, true))
    };
    assert_eq!(retry("files"), "conflict", "raw data");
    assert_eq!(retry("shared"), "ok");
    set_exclusive(&market, "shared", false).unwrap();
    change_exclusivity(&market, "c1", Exclusivity::Unavailable).unwrap();
    assert_eq!(retry("shared"), "conflict", "not available");
    change_exclusivity(&market, "c1", Exclusivity::Available).unwrap();
    buy(&market, "buyer", listing_id("plain"), PurchaseKind::Sample, PayWith::Credits).unwrap();
    assert_eq!(retry("shared"), "ok", "samples never count");
    set_exclusive(&market, "shared", false).unwrap();
    let bought = buy(&market, "buyer", listing_id("plain"), PurchaseKind::Full, PayWith::Invoice).unwrap();
    assert_eq!(retry("shared"), "ok", "it is not paid");
    complete(&market, bought.id).unwrap();
    assert_eq!(code(change_listing(&market, listing_id("shared"), Operation::Publish)), "conflict");
    set_exclusive(&market, "shared", false).unwrap();
    assert_eq!(code(change_listing(&market, listing_id("shared"), Operation::Publish)), "ok");
}

#[test]
fn only_available_codebases_are_attached_to_an_exclusive_listing() {
    let market = exclusive_market();
    change_listing(&market, listing_id("solo"), Operation::Unpublish).unwrap();
    let linked = json!({"channel": "github", "repo_full_name": "acme/x", "archive_status": "completed",
        "analysis_status": "completed", "attached_at": "-P5D"});
    let mut gone = codebase("gone", &json!(5));
    gone["codebase"]["exclusivity"] = json!("unavailable");
    gone["codebase"]["data"] = linked.clone();
    let mut fine = codebase("fine", &json!(5));
    fine["codebase"]["data"] = linked;
    market.seed_json(&json!({"assets": [gone, fine]}));
    let attach = |key: &str| {
        market.write(|writer| {
            let seller = vendor(writer.rows, "seller");
            let context = writer.check_context();
            let listing = listing_assets::check_attachment(
                &context,
                &seller,
                listing_id("solo"),
                &[],
                Problems::default(),
            )?;
            let ids = [asset_id(key)];
            listing_assets::attach(writer, &seller, Actor::Team, &listing, &ids, Vec::new())
        })
    };
    assert_eq!(code(attach("gone")), "conflict");
    assert_eq!(attach("fine").unwrap().attached, 1);
}

/// Other fields of an exclusive listing can change although one of its codebases was sold elsewhere since. It cannot be
/// sold, nor become exclusive again.
#[test]
fn exclusive_listing_with_a_codebase_that_was_sold_elsewhere_can_change() {
    let market = exclusive_market();
    buy(&market, "buyer", listing_id("twin"), PurchaseKind::Full, PayWith::Credits).unwrap();
    assert_eq!(code(set_exclusive(&market, "solo", true)), "ok", "`exclusive` is as it was");
    assert_eq!(
        code(buy(&market, "other", listing_id("solo"), PurchaseKind::Full, PayWith::Credits)),
        "no_longer_available"
    );
    set_exclusive(&market, "solo", false).unwrap();
    assert_eq!(code(set_exclusive(&market, "solo", true)), "conflict");
}

/// A selection of an exclusive listing is refused, and another sale of one of its codebases forbids to sell it.
#[test]
fn exclusive_listing_is_sold_as_a_whole_and_once() {
    let market = exclusive_market();
    let (solo, twin) = (listing_id("solo"), listing_id("twin"));
    let ids = [asset_id("s1")];
    let selection = buy_assets(&market, "buyer", solo, PurchaseKind::Full, Some(&ids), PayWith::Credits);
    assert_eq!(code(selection), "conflict");
    let (first, second) = (
        buy(&market, "buyer", solo, PurchaseKind::Full, PayWith::Invoice).unwrap(),
        buy(&market, "other", solo, PurchaseKind::Full, PayWith::Invoice).unwrap(),
    );
    let offer = bid(&market, "both", solo, 100, PayWith::Credits).unwrap();
    let sold = buy(&market, "both", twin, PurchaseKind::Full, PayWith::Credits).unwrap();
    assert_eq!(code(complete(&market, first.id)), "no_longer_available");
    assert_eq!(code(accept(&market, "seller", offer)), "no_longer_available");
    refund(&market, sold.id).unwrap();
    complete(&market, second.id).unwrap();
    assert_eq!(code(complete(&market, first.id)), "invalid_transition", "it was canceled");
    assert_eq!(code(buy(&market, "both", twin, PurchaseKind::Full, PayWith::Credits)), "not_found");
}

/// A purchase by invoice keeps what it covers, even if the listing lost the asset meanwhile.
#[test]
fn exclusive_sale_cancels_purchases_of_its_codebases_wherever_they_were_made() {
    let market = exclusive_market();
    let twin = listing_id("twin");
    let pending = buy(&market, "other", twin, PurchaseKind::Full, PayWith::Invoice).unwrap();
    change_listing(&market, twin, Operation::Unpublish).unwrap();
    let detached = market.write(|writer| {
        let seller = vendor(writer.rows, "seller");
        listing_assets::detach(writer, &seller, Actor::Team, twin, asset_id("s1"))
    });
    detached.unwrap();
    buy(&market, "buyer", listing_id("solo"), PurchaseKind::Full, PayWith::Credits).unwrap();
    assert_eq!(code(complete(&market, pending.id)), "invalid_transition");
    assert_ne!(status(&market, "twin").0, CatalogStatus::Archived, "it no longer carries the codebase");
}

/// No response of the API says whether a listing is exclusive.
#[tokio::test]
async fn api_does_not_show_exclusive() {
    let market = exclusive_market();
    let solo = listing_id("solo");
    for (key, path) in [
        ("mkt_buyer", "/v2/listings/browse".to_owned()),
        ("mkt_buyer", format!("/v2/listings/browse/{solo}")),
        ("mkt_seller", format!("/v2/listings/{solo}")),
        ("mkt_seller", "/v2/listings".to_owned()),
    ] {
        let text = market.get(key, &path).await.ok().to_string();
        assert!(!text.contains("\"exclusive\"") && !text.contains("is_exclusive"), "{path}");
    }
}

/// The history of an archived listing says that the system did it.
#[test]
fn sold_listing_is_archived_by_the_system() {
    let market = exclusive_market();
    buy(&market, "buyer", listing_id("solo"), PurchaseKind::Full, PayWith::Credits).unwrap();
    let newest = market.read(|reader| {
        let listing = store::listings::find(reader.rows, listing_id("solo"))?.unwrap();
        Ok(store::listing_history::list(reader.rows, listing.row_id)?[0])
    });
    let newest = newest.unwrap();
    assert_eq!((newest.event, newest.actor), (Event::Archived, Actor::System));
    let restored = market.write(|writer| {
        let seller = vendor(writer.rows, "seller");
        listing_lifecycle::restore(writer, &seller, Actor::Team, listing_id("solo"))
    });
    assert_eq!(code(restored), "no_longer_available");
}

/// Links data to a codebase of the seller: this repository, or else a zip that is always the same.
fn link(market: &TestMarket, key: &str, repository: Option<&str>) {
    let url = upload_zip(market, "Seller house", &zip_of(&[("a.rs", "fn a() {}")]));
    let linked = market.write(|writer| {
        let seller = super::team_of(writer.rows, "seller").row_id;
        let (asset, _) = store::assets::find_row_id_and_team(writer.rows, asset_id(key))?.unwrap();
        let (upload, _) = store::uploads::find_by_url(writer.rows, seller, &url)?.unwrap();
        let data = match repository {
            Some(_) => {
                NewData { repo_full_name: repository, ..NewData::pending(Channel::Github, writer.now) }
            }
            None => NewData { upload: Some(upload), ..NewData::pending(Channel::Zip, writer.now) },
        };
        store::assets::attach_data(writer.rows, asset, &data)?;
        store::inventory::upsert_row(writer.rows, asset)
    });
    linked.unwrap();
}

/// Returns the exclusive market with one more listing, `copy`. Its codebase has the same data as `s1`: a repository, or a zip.
fn market_with_copy(is_repository: bool) -> TestMarket {
    let market = exclusive_market();
    market.seed_json(&json!({
        "assets": [codebase("again", &json!(20))],
        "listings": [small_market::published("copy", 9, &json!({"assets": ["again"]}))],
    }));
    link(&market, "s1", is_repository.then_some("acme/ledger"));
    link(&market, "again", is_repository.then_some("Acme/Ledger"));
    market
}

/// A codebase that is created again from data that was sold exclusively is the same codebase.
#[test]
fn data_that_was_sold_exclusively_is_not_sold_again() {
    for is_repository in [true, false] {
        let (market, copy) = (market_with_copy(is_repository), listing_id("copy"));
        let pending = buy(&market, "other", copy, PurchaseKind::Full, PayWith::Invoice).unwrap();
        let solo = buy(&market, "buyer", listing_id("solo"), PurchaseKind::Full, PayWith::Credits).unwrap();
        // The delivered data is known even after the data is gone.
        let detached = market.write(|writer| {
            let seller = vendor(writer.rows, "seller");
            linked_data::detach(writer, &seller, asset_id("s1"), Kind::Codebase)
        });
        detached.unwrap();
        let again = buy(&market, "both", copy, PurchaseKind::Full, PayWith::Credits);
        assert!(again.is_err(), "it is archived");
        assert_eq!(code(complete(&market, pending.id)), "invalid_transition", "it is canceled");
        assert_eq!(code(change_listing(&market, copy, Operation::Restore)), "no_longer_available");
        refund(&market, solo.id).unwrap();
        change_listing(&market, copy, Operation::Restore).unwrap();
        change_listing(&market, copy, Operation::Publish).unwrap();
    }
}

/// Data that was sold as another codebase is not sold exclusively.
#[test]
fn data_that_was_sold_before_is_not_sold_exclusively() {
    for is_repository in [true, false] {
        let (market, solo) = (market_with_copy(is_repository), listing_id("solo"));
        buy(&market, "other", listing_id("copy"), PurchaseKind::Full, PayWith::Credits).unwrap();
        let exclusively = buy(&market, "buyer", solo, PurchaseKind::Full, PayWith::Credits);
        assert_eq!(code(exclusively), "no_longer_available");
        change_listing(&market, solo, Operation::Unpublish).unwrap();
        assert_eq!(code(change_listing(&market, solo, Operation::Publish)), "conflict");
    }
}

/// A bid that could not be accepted is not taken, and an open one is not changed.
#[test]
fn listing_whose_assets_were_sold_otherwise_takes_no_bids() {
    let market = exclusive_market();
    let (solo, twin) = (listing_id("solo"), listing_id("twin"));
    let open = bid(&market, "other", solo, 4_000, PayWith::Credits).unwrap();
    let sold = buy(&market, "both", twin, PurchaseKind::Full, PayWith::Credits).unwrap();
    assert_eq!(code(bid(&market, "buyer", solo, 4_000, PayWith::Credits)), "no_longer_available");
    let change = |cents| {
        market.write(|writer| {
            let buyer = super::buyer(writer.rows, "other");
            let amount = Some(marketplace::domain::money::Cents(cents));
            marketplace::operations::offers::change(writer, &buyer, Actor::Team, open, amount, None)
        })
    };
    assert_eq!(code(change(5_000)), "no_longer_available");
    assert_eq!(code(accept(&market, "seller", open)), "no_longer_available");
    refund(&market, sold.id).unwrap();
    change(5_000).unwrap();
    bid(&market, "buyer", solo, 4_000, PayWith::Credits).unwrap();
    accept(&market, "seller", open).unwrap();
}
