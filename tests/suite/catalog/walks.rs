//! Walks through the catalog while listings change: each page is in the order of the first one, so a listing that
//! is published throughout is on exactly one page.

use marketplace::{
    clock::fixture_record_id,
    domain::money::Cents,
    store::{self, listings::ListingFields},
};
use serde_json::{Value, json};

use super::small_market::{BROWSE, keys, published, small_market};
use crate::harness::{TestMarket, random::Random};

const KEYS: [&str; 8] = ["a", "b", "c", "d", "old", "older", "new", "twin"];

/// Changes a listing's certification, or its featured place and price.
fn change(market: &TestMarket, key: &str, random: &mut Random) {
    let id = fixture_record_id("listings", key);
    let (is_certification, is_certified) = (random.percent(50), random.percent(50));
    let featured = random.percent(50).then(|| 1 + random.below(3) as u32);
    let price = random.percent(80).then(|| Cents(100 * random.below(5) as i64));
    let change = |writer: &mut marketplace::market::Writer| {
        let row_id = store::listings::find(writer.rows, id)?.unwrap().row_id;
        if is_certification {
            let certified_at = is_certified.then_some(writer.now);
            return store::listings::set_certified_at(writer.rows, row_id, certified_at);
        }
        let fields = ListingFields {
            title: key,
            description: "About it.",
            domain_tags: &[],
            tag_slugs: &[],
            price,
            sample_price: None,
            accepts_bids: true,
            terms: "",
            delivery: None,
            available_from: None,
        };
        store::listings::update(writer.rows, row_id, &fields, writer.now)?;
        store::listings::set_featured(writer.rows, row_id, featured)
    };
    market.market().write_blocking(change).unwrap();
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

#[tokio::test]
async fn walk_keeps_the_order_of_its_first_page_while_listings_change() {
    let listings: Vec<Value> = KEYS
        .iter()
        .zip(1..)
        .map(|(key, days)| {
            published(key, days, &json!({"price_usd": days, "featured": (days < 4).then_some(days)}))
        })
        .collect();
    let market = small_market(&listings);
    let mut random = Random(11);
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
