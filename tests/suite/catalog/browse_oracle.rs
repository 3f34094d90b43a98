//! Compares browsing over HTTP with a simple oracle on generated markets: filters, facets, counts, sort
//! orders, pages.

use std::{cell::RefCell, collections::BTreeSet, fmt::Write as _};

use marketplace::{domain::listing_lifecycle::Operation, market::Requester};
use proptest::{
    prelude::*,
    test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner},
};
use serde_json::Value;

use super::{
    generated::{self, CAPABILITIES, DOMAINS, EXTENSIONS, FORMATS, KINDS, LANGUAGES, TAGS, WORDS},
    oracle::{self, ListingFacts, QueryParameters},
};
use crate::harness::{TestMarket, documents::vendor_document, elements, listing_lifecycle, random::Random};

/// Teams that browse: one that is vendor and buyer, and one that is only a buyer.
const VIEWERS: [&str; 2] = ["two", "shopper"];

/// A generated market, and what the oracle knows about its listings.
struct ComparedMarket {
    market: TestMarket,
    facts: Vec<ListingFacts>,
    /// Seconds since the market was seeded.
    now: i64,
}

impl ComparedMarket {
    fn new(seed: u64) -> ComparedMarket {
        let set = generated::generate_market(seed);
        let market = TestMarket::empty();
        market.seed_json(&set);
        ComparedMarket { market, facts: oracle::listing_facts(&set), now: 0 }
    }

    async fn page(&self, viewer: &str, query: &[(&'static str, String)]) -> Value {
        self.market.get(&format!("mkt_test_{viewer}"), &browse_path(query)).await.ok()
    }

    /// Unpublishes a published listing, or publishes an unpublished one.
    async fn toggle_published(&mut self, index: usize) {
        self.now += 1;
        self.market.clock().advance(1_000_000);
        let listing = &mut self.facts[index];
        let (id, operation) =
            (listing.id, if listing.published.is_some() { Operation::Unpublish } else { Operation::Publish });
        listing.published = if listing.published.is_some() { None } else { Some(self.now) };
        let moved = self
            .market
            .market()
            .write(Requester::process(), move |writer| listing_lifecycle::perform(writer, id, operation));
        moved.await.unwrap();
    }
}

fn browse_path(query: &[(&'static str, String)]) -> String {
    let mut path = "/v2/listings/browse".to_owned();
    for (index, (name, value)) in query.iter().enumerate() {
        let value: String = form_urlencoded::byte_serialize(value.as_bytes()).collect();
        write!(path, "{}{name}={value}", if index == 0 { '?' } else { '&' }).unwrap();
    }
    path
}

/// Returns the values to test of each filter.
fn filter_values() -> Vec<(&'static str, String)> {
    let mut all = Vec::new();
    let mut add = |name: &'static str, values: &[&str]| {
        all.extend(values.iter().map(|value| (name, (*value).to_owned())));
    };
    for (name, known) in [
        ("tags", &DOMAINS[..]),
        ("tag_slugs", &TAGS),
        ("asset_types", &KINDS),
        ("languages", &LANGUAGES),
        ("file_extensions", &EXTENSIONS),
        ("robotics_formats", &FORMATS),
        ("capabilities", &CAPABILITIES),
    ] {
        add(name, known);
        add(name, &["no-such-value", "", "Finance"]);
    }
    for name in ["owned", "verified_only", "has_active_bids", "rare_languages_only"] {
        add(name, &["true", "true", "false"]);
    }
    add("sample_available", &["true", "false"]);
    add("min_vendor_tier", &["1", "2", "3"]);
    add("vendor_tiers", &["1", "2", "3", "0", "-1", "7"]);
    for name in ["min_price", "max_price", "min_price_per_task", "max_price_per_task"] {
        add(name, &["0", "3", "6", "12.00", "12.001", "60", "1e9"]);
    }
    for name in ["min_sample_price", "max_sample_price"] {
        add(name, &["0", "2.5", "5", "5.01"]);
    }
    for name in ["min_tasks", "max_tasks", "min_zip_files", "max_zip_files"] {
        add(name, &["0", "1", "3", "6"]);
    }
    for name in ["min_loc", "max_loc"] {
        add(name, &["0", "1", "2000", "5000", "9223372036854775807"]);
    }
    for name in ["min_zip_size_gb", "max_zip_size_gb"] {
        add(name, &["0", "0.1", "0.3", "0.7", "1.1", "2"]);
    }
    for name in [
        "min_codebases",
        "max_codebases",
        "min_tasksets",
        "max_tasksets",
        "min_environments",
        "max_environments",
        "min_robotics_datasets",
        "max_robotics_datasets",
        "min_raw_data",
        "max_raw_data",
    ] {
        add(name, &["0", "1", "2"]);
    }
    all
}

/// Returns the search texts to test.
fn search_texts() -> Vec<String> {
    let mut texts: Vec<String> = WORDS.iter().map(|word| (*word).to_owned()).collect();
    for (first, second) in [("zorb", "vimp"), ("kuxo", "zorb"), ("hajt", "hajt"), ("wyxe", "qolm")] {
        texts.push(format!("{first} {second}"));
        texts.push(format!("\"{first} {second}\""));
        texts.push(format!("{first} {}", &second[..3]));
    }
    texts.extend(["zor", "Listing", "   ", "xxxx"].map(str::to_owned));
    texts.iter().map(|text| text.replace("Listing", "listing")).collect()
}

fn query_strategy() -> impl Strategy<Value = QueryParameters> {
    let text = prop_oneof![2 => Just(None), 1 => prop::sample::select(search_texts()).prop_map(Some)];
    let sorts = ["", "recommended", "recent", "price_low", "price_high"];
    let filters = prop::collection::vec(prop::sample::select(filter_values()), 0..4);
    (text, prop::sample::select(sorts.to_vec()), filters).prop_map(|(text, sort, filters)| {
        let mut query = QueryParameters::new();
        query.extend(text.map(|text| ("query", text)));
        if !sort.is_empty() {
            query.push(("sort", sort.to_owned()));
        }
        for (name, value) in filters {
            // Only list parameters may be repeated.
            let is_list = name.ends_with('s')
                && !name.starts_with("min_")
                && !name.starts_with("max_")
                && name != "has_active_bids";
            if is_list || query.iter().all(|(earlier, _)| *earlier != name) {
                query.push((name, value));
            }
        }
        query
    })
}

/// Checks that all pages of a query, with random page sizes, match the oracle.
async fn compare_with_oracle(
    pair: &ComparedMarket,
    viewer: &str,
    query: &QueryParameters,
    sizes: &mut Random,
) -> Result<(), TestCaseError> {
    let expected = oracle::matching_listings(&pair.facts, viewer, query);
    let ids: Vec<String> = expected.iter().map(|listing| listing.id.to_string()).collect();
    let mut found = Vec::new();
    let mut cursor: Option<String> = None;
    loop {
        let limit = 1 + sizes.below(30) as usize;
        let mut page_query = query.clone();
        page_query.push(("limit", limit.to_string()));
        page_query.extend(cursor.clone().map(|cursor| ("cursor", cursor)));
        let page = pair.page(viewer, &page_query).await;
        prop_assert_eq!(&page["limit"], limit);
        prop_assert_eq!(&page["locked"], false);
        if cursor.is_none() {
            let owned = expected.iter().filter(|listing| listing.team == viewer).count();
            prop_assert_eq!(&page["counts"]["all"], ids.len());
            prop_assert_eq!(&page["counts"]["owned"], owned);
            prop_assert_eq!(&page["facets"], &oracle::facets(&pair.facts, viewer, query));
        } else {
            prop_assert!(page["counts"].is_null() && page["facets"].is_null());
        }
        let items = page["items"].as_array().unwrap();
        prop_assert!(items.len() <= limit);
        found.extend(items.iter().map(|item| item["id"].as_str().unwrap().to_owned()));
        prop_assert!(found.len() <= ids.len(), "more listings than expected: {found:?}, expected {ids:?}");
        cursor = page["next_cursor"].as_str().map(str::to_owned);
        if cursor.is_none() {
            break;
        }
        prop_assert_eq!(items.len(), limit, "only the last page may be shorter than the limit");
    }
    prop_assert_eq!(found, ids);
    Ok(())
}

fn runner(cases: u32) -> TestRunner {
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha))
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

#[test]
fn each_single_filter_matches_the_oracle() {
    let document = vendor_document().operation("browse_listings").unwrap();
    let documented: BTreeSet<&str> = document.query.iter().map(String::as_str).collect();
    let mut tried: BTreeSet<&str> = filter_values().into_iter().map(|(name, _)| name).collect();
    tried.extend(["query", "sort", "limit", "cursor"]);
    assert_eq!(tried, documented);
    let (runtime, pair, mut sizes) = (runtime(), ComparedMarket::new(1), Random::new(1));
    let texts = search_texts().into_iter().map(|text| ("query", text));
    let all = oracle::matching_listings(&pair.facts, VIEWERS[0], &QueryParameters::new()).len();
    let divides = |parameter: &(&'static str, String)| {
        let found = oracle::matching_listings(&pair.facts, VIEWERS[0], &vec![parameter.clone()]).len();
        found > 0 && found < all
    };
    // If a filter matched all listings or none for every value, the market could not show whether it works.
    let dividing: BTreeSet<&str> =
        filter_values().into_iter().chain(texts.clone()).filter(divides).map(|(name, _)| name).collect();
    tried.retain(|name| !["sort", "limit", "cursor"].contains(name));
    assert_eq!(dividing, tried);
    for (index, parameter) in filter_values().into_iter().chain(texts).enumerate() {
        let viewer = VIEWERS[index % VIEWERS.len()];
        let query = vec![parameter];
        runtime
            .block_on(compare_with_oracle(&pair, viewer, &query, &mut sizes))
            .unwrap_or_else(|error| panic!("{query:?}: {error}"));
    }
}

#[test]
fn random_queries_match_the_oracle() {
    let runtime = runtime();
    let pairs = [ComparedMarket::new(2), ComparedMarket::new(3), ComparedMarket::new(4)];
    let sizes = RefCell::new(Random::new(2));
    let strategy = prop::collection::vec(query_strategy(), 6);
    let outcome = runner(48).run(&strategy, |queries| {
        for (index, query) in queries.iter().enumerate() {
            let (pair, viewer) = (&pairs[index % pairs.len()], VIEWERS[index / pairs.len()]);
            runtime.block_on(compare_with_oracle(pair, viewer, query, &mut sizes.borrow_mut())).map_err(
                |error| TestCaseError::fail(format!("market {}, {viewer}, {query:?}: {error}", index % 3)),
            )?;
        }
        Ok(())
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn paging_returns_each_unchanged_listing_exactly_once_despite_changes() {
    let runtime = runtime();
    let pair = RefCell::new(ComparedMarket::new(5));
    let choices = RefCell::new(Random::new(5));
    let outcome = runner(24).run(&query_strategy(), |query| {
        let (mut pair, mut random) = (pair.borrow_mut(), choices.borrow_mut());
        runtime
            .block_on(page_through_changes(&mut pair, &query, &mut random))
            .map_err(|error| TestCaseError::fail(format!("{query:?}: {error}")))?;
        // Listings that changed in the meantime are in the right place.
        runtime.block_on(compare_with_oracle(&pair, "shopper", &query, &mut random))
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
}

/// Reads all pages of a query, publishing and unpublishing listings between requests.
async fn page_through_changes(
    pair: &mut ComparedMarket,
    query: &QueryParameters,
    random: &mut Random,
) -> Result<(), TestCaseError> {
    let initial_matches = oracle::matching_listings(&pair.facts, "shopper", query);
    let mut steady: BTreeSet<String> = initial_matches.iter().map(|listing| listing.id.to_string()).collect();
    let mut seen: Vec<String> = Vec::new();
    let mut cursor: Option<String> = None;
    for step in 0.. {
        prop_assert!(step < 500, "the list of pages does not end");
        let mut page_query = query.clone();
        page_query.push(("limit", (1 + random.below(4)).to_string()));
        page_query.extend(cursor.take().map(|cursor| ("cursor", cursor)));
        let page = pair.page("shopper", &page_query).await;
        seen.extend(elements(&page["items"]).map(|item| item["id"].as_str().unwrap().to_owned()));
        cursor = page["next_cursor"].as_str().map(str::to_owned);
        if cursor.is_none() {
            break;
        }
        for _ in 0..random.below(3) {
            let index = random.below(pair.facts.len() as u64) as usize;
            if pair.facts[index].may_publish {
                steady.remove(&pair.facts[index].id.to_string());
                pair.toggle_published(index).await;
            }
        }
    }
    for id in steady {
        prop_assert_eq!(seen.iter().filter(|found| **found == id).count(), 1, "{} in {:?}", id, seen);
    }
    Ok(())
}
