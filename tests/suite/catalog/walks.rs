//! Walks through the catalog while listings change: each page is in the order of the first one, so a listing
//! that is published throughout is on exactly one page.

use std::collections::BTreeSet;

use marketplace::{
    clock::fixture_record_id,
    domain::{listing_lifecycle::Operation, money::Cents},
    market::Writer,
    operations::cleanup,
    store::{self, listings::ListingFields},
};
use serde_json::{Value, json};

use super::small_market::{BROWSE, keys, published, small_market};
use crate::harness::{TestMarket, TestResponse, listing_lifecycle, listings::listing_fields, random::Random};

const KEYS: [&str; 8] = ["a", "b", "c", "d", "old", "older", "new", "twin"];

/// Changes a listing's certification, or its featured place and price.
fn change(market: &TestMarket, key: &str, random: &mut Random) {
    let id = fixture_record_id("listings", key);
    let (is_certification, is_certified) = (random.percent(50), random.percent(50));
    let place = random.percent(50).then(|| 1 + random.below(3) as u32);
    let price = random.percent(80).then(|| Cents(100 * random.below(5) as i64));
    let change = |writer: &mut Writer| {
        let row_id = store::listings::find(writer.rows, id)?.unwrap().row_id;
        if is_certification {
            let certified_at = is_certified.then_some(writer.now);
            return store::listings::set_certified_at(writer.rows, row_id, certified_at, writer.now);
        }
        let fields = ListingFields { description: "About it.".to_owned(), price, ..listing_fields(key) };
        store::listings::update(writer.rows, row_id, &fields, writer.now)?;
        // Each listing has places of its own.
        let featured = place.map(|place| 10 * row_id.0 as u32 + place);
        store::listings::set_featured(writer.rows, row_id, featured, writer.now)
    };
    market.write(change).unwrap();
}

/// Reads all pages, with changes before each one but the first, and returns the keys of the listings.
async fn walk(market: &TestMarket, query: &str, mut before_page: impl FnMut()) -> Vec<String> {
    let path = format!("{BROWSE}?limit=2&{query}");
    let mut page: Value = market.get("mkt_buyer", &path).await.ok();
    let mut found = keys(&page);
    while let Some(cursor) = page["next_cursor"].as_str().map(str::to_owned) {
        before_page();
        page = market.get("mkt_buyer", &format!("{path}&cursor={cursor}")).await.ok();
        found.extend(keys(&page));
    }
    found
}

/// Creates a market with the listings of [`KEYS`]. Three of them are featured.
fn market_of_keys() -> TestMarket {
    let listing = |(key, days): (&&str, u32)| {
        published(key, days, &json!({"price_usd": days, "featured": (days < 4).then_some(days)}))
    };
    let listings: Vec<Value> = KEYS.iter().zip(1..).map(listing).collect();
    small_market(&listings)
}

#[tokio::test]
async fn walk_keeps_the_order_of_its_first_page_while_listings_change() {
    let market = market_of_keys();
    let mut random = Random::new(11);
    let queries = ["", "query=about", "sort=price_low", "sort=price_high&query=about", "sort=recent"];
    for query in queries.into_iter().cycle().take(40) {
        let before = keys(&market.get("mkt_buyer", &format!("{BROWSE}?{query}")).await.ok());
        let changed_while_walking = || {
            for _ in 0..random.below(6) {
                let key = *random.pick(&KEYS);
                change(&market, key, &mut random);
            }
        };
        assert_eq!(walk(&market, query, changed_while_walking).await, before, "{query}");
    }
}

/// Applies an event to a listing, if its status allows it.
fn try_transition(market: &TestMarket, key: &str, operation: Operation) {
    let id = fixture_record_id("listings", key);
    let change = |writer: &mut Writer| listing_lifecycle::perform(writer, id, operation);
    let _ = market.write(change);
}

/// Sets the certification of a listing.
fn certify(market: &TestMarket, key: &str, is_certified: bool) {
    let id = fixture_record_id("listings", key);
    let certify = |writer: &mut Writer| {
        let row_id = store::listings::find(writer.rows, id)?.unwrap().row_id;
        let at = is_certified.then_some(writer.now);
        store::listings::set_certified_at(writer.rows, row_id, at, writer.now)
    };
    market.write(certify).unwrap();
}

async fn next_page(market: &TestMarket, query: &str, page: &Value) -> TestResponse {
    let cursor = page["next_cursor"].as_str().unwrap();
    market.get("mkt_buyer", &format!("{BROWSE}?limit=2&{query}&cursor={cursor}")).await
}

const HOUR_MICROS: i64 = 3_600_000_000;

#[tokio::test]
async fn walk_shows_each_listing_that_is_published_throughout_once() {
    let market = market_of_keys();
    let mut random = Random::new(5);
    let (mut complete, mut expired) = (0, 0);
    let queries = ["", "query=about", "sort=price_low", "sort=price_high", "sort=recent"];
    for query in queries.into_iter().cycle().take(60) {
        let mut page = market.get("mkt_buyer", &format!("{BROWSE}?limit=2&{query}")).await.ok();
        let all = market.get("mkt_buyer", &format!("{BROWSE}?{query}")).await.ok();
        let mut throughout: BTreeSet<String> = keys(&all).into_iter().collect();
        let mut found = keys(&page);
        while page["next_cursor"].is_string() {
            for _ in 0..random.below(6) {
                let key = *random.pick(&KEYS);
                if random.percent(5) {
                    throughout.remove(key);
                    try_transition(&market, key, Operation::Unpublish);
                    if random.percent(80) {
                        try_transition(&market, key, Operation::Publish);
                    }
                } else {
                    change(&market, key, &mut random);
                }
            }
            if random.percent(20) {
                market.clock().advance(random.below(20) as i64 * HOUR_MICROS);
                cleanup::sweep(market.market()).unwrap();
            }
            let response = next_page(&market, query, &page).await;
            if response.status == 400 {
                assert_eq!(response.expect_error(400), "invalid_cursor");
                assert_ne!(query, "sort=recent", "the dates of publication do not change");
                expired += 1;
                break;
            }
            page = response.ok();
            found.extend(keys(&page));
            if page["next_cursor"].is_null() {
                complete += 1;
                for key in &throughout {
                    let count = found.iter().filter(|found| *found == key).count();
                    assert_eq!(count, 1, "{key} with {query}");
                }
            }
        }
        for key in KEYS {
            try_transition(&market, key, Operation::Publish);
        }
    }
    assert!(complete > 30 && expired > 2, "{complete} walks were complete, {expired} expired");
}

#[tokio::test]
async fn cursor_expires_when_changes_since_its_first_page_are_deleted() {
    let market = market_of_keys();
    let first_page =
        async |query: &str| market.get("mkt_buyer", &format!("{BROWSE}?limit=2&{query}")).await.ok();
    let before = first_page("").await;
    let recent = first_page("sort=recent").await;
    certify(&market, "old", true);
    let between = first_page("").await;
    market.clock().advance(23 * HOUR_MICROS);
    certify(&market, "twin", true);
    // Nothing is a day old.
    assert_eq!(cleanup::sweep(market.market()).unwrap().sort_changes, 0);
    next_page(&market, "", &before).await.ok();
    market.clock().advance(2 * HOUR_MICROS);
    assert_eq!(cleanup::sweep(market.market()).unwrap().sort_changes, 1);
    assert_eq!(next_page(&market, "", &before).await.expect_error(400), "invalid_cursor");
    // Nothing is missing that is later than the first page, or that does not affect the order.
    let second = next_page(&market, "", &between).await.ok();
    assert_eq!(keys(&second)[0], "c");
    next_page(&market, "sort=recent", &recent).await.ok();
    market.clock().advance(24 * HOUR_MICROS);
    assert_eq!(cleanup::sweep(market.market()).unwrap().sort_changes, 1);
    next_page(&market, "", &between).await.expect_error(400);
    next_page(&market, "sort=recent", &recent).await.ok();
    // A walk that begins now is not affected.
    let now = first_page("").await;
    next_page(&market, "", &now).await.ok();
}

#[tokio::test]
async fn sort_order_that_no_change_affects_reads_no_changes() {
    let market = market_of_keys();
    let mut statements = Vec::new();
    for query in ["sort=recent", ""] {
        let page = market.get("mkt_buyer", &format!("{BROWSE}?limit=2&{query}")).await.ok();
        certify(&market, "old", query.is_empty());
        // The first request after a write also looks up the key.
        next_page(&market, query, &page).await.ok();
        let before = market.market().statement_count();
        next_page(&market, query, &page).await.ok();
        statements.push(market.market().statement_count() - before);
    }
    assert!(statements[0] < statements[1], "{statements:?}");
}

#[test]
fn cleanup_is_repeated_without_requests() {
    let market = market_of_keys();
    market.write(|writer| cleanup::enqueue(writer)).unwrap();
    market.run_background();
    certify(&market, "old", true);
    for _ in 0..6 {
        market.clock().advance(6 * HOUR_MICROS);
        market.run_background();
    }
    assert_eq!(cleanup::sweep(market.market()).unwrap().sort_changes, 0);
    let change = market.read(|reader| store::index_queue::last_change(reader.rows)).unwrap();
    let as_of = |change| {
        let sort = store::sort_changes::ChangingSort::Recommended;
        market.read(|reader| store::sort_changes::find_as_of(reader.rows, sort, change, 9))
    };
    assert_eq!(as_of(change as u64 - 1).unwrap(), None, "the change was deleted");
    assert_eq!(as_of(change as u64).unwrap().unwrap().len(), 0);
}
