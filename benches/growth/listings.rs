//! Listings of the generator, with their assets, histories, and bids.

use std::collections::BTreeMap;

use marketplace::{
    domain::browse::SortOrder,
    fixtures,
    market::{Reader, Writer},
    operations::{
        self,
        access::{CatalogViewer, Platform},
        aggregates::{self, Request},
        browse::{CursorForm, PageRequest},
        operator_search,
        teams::TeamInput,
    },
};
use poem::Endpoint;
use serde_json::Value;

use super::{
    Bench,
    table::{Table, cpu_seconds},
};

/// Number of listings whose titles state which words are the most common.
const SAMPLED: usize = 96;

pub fn measure(bench: &Bench<impl Endpoint<Output = poem::Response>>, sizes: &[usize]) -> Table {
    let mut table = Table::new("listings", sizes);
    let key = create_reader(bench);
    let mut existing = 0;
    for size in sizes {
        let (start, bytes) = (cpu_seconds(), bench.stored_bytes());
        let added = (size - existing) as f64;
        fixtures::generate(&bench.market, added as u64, &()).expect("generate listings");
        table.add("added with its assets, indexed", "µs", (cpu_seconds() - start) * 1e6 / added);
        let bytes = bench.stored_bytes().saturating_sub(bytes);
        table.add("stored with its assets", "bytes", bytes as f64 / added);
        let start = cpu_seconds();
        bench.market.reindex(&()).expect("build the index");
        let micros = (cpu_seconds() - start) * 1e6;
        table.add("building the index, for each", "µs", micros / *size as f64);
        existing = *size;
        measure_requests(bench, &key, &mut table);
    }
    table
}

/// Measures only requests, in a market that exists.
pub fn measure_existing(bench: &Bench<impl Endpoint<Output = poem::Response>>) -> Table {
    let size = bench.market.snapshot().count(marketplace_index::Scope::Market) as usize;
    let mut table = Table::new("listings", &[size]);
    let key = create_reader(bench);
    measure_requests(bench, &key, &mut table);
    table
}

fn create_reader(bench: &Bench<impl Endpoint<Output = poem::Response>>) -> String {
    let team =
        TeamInput { name: "Reader", is_vendor: false, is_buyer: true, tier: 1, has_accepted_nda: true };
    // It exists already if the market was measured before.
    let _ = bench.market.write_blocking(|writer| operations::teams::create(writer, &team));
    let create_key = |writer: &mut Writer| operations::keys::create(writer, "Reader", "bench", None);
    bench.market.write_blocking(create_key).expect("create an API key").1
}

fn measure_requests(bench: &Bench<impl Endpoint<Output = poem::Response>>, key: &str, table: &mut Table) {
    let browse = |query: &str| format!("/v2/listings/browse?limit=24&{query}");
    let page: Value = serde_json::from_str(&bench.get(&browse("sort=recent"), key)).expect("a page is JSON");
    let id = page["items"][0]["id"].as_str().expect("a listing has an ID").to_owned();
    let words = common_words(bench, key);
    let [first, second, third, ..] = &words[..] else { panic!("titles have words") };
    let prefix: String = first.chars().take(2).collect();
    let letter: String = first.chars().take(1).collect();
    for (name, path) in [
        ("first page", browse("")),
        ("one of them", format!("/v2/listings/browse/{id}")),
        ("the most common word", browse(&format!("query={first}%20"))),
        ("the two most common words", browse(&format!("query={first}%20{second}%20"))),
        ("a phrase of these words", browse(&format!("query=%22{first}%20{second}%22"))),
        ("a phrase of three common words", browse(&format!("query=%22{first}%20{second}%20{third}%22"))),
        ("ten common words", browse(&format!("query={}%20", words.join("%20")))),
        ("words that start with a letter", browse(&format!("query={letter}"))),
        ("words that start with two letters", browse(&format!("query={prefix}"))),
        ("a misspelled word", browse(&format!("query={first}qx%20"))),
        ("price, code, and sort by price", browse("min_price=100&min_loc=1000&sort=price_low")),
        (
            "all kinds of filters",
            browse("min_price=100&min_loc=1&min_tasks=1&sample_available=true&languages=python"),
        ),
    ] {
        table.add_request(name, || drop(bench.get(&path, key)));
    }
    measure_aggregates(bench, table);
    let search = |text: &str| {
        let query = operator_search::Query::parse(text).expect("the text can be searched");
        let find = |reader: &Reader| operator_search::find(reader, Platform::of_process(), &query, 5);
        bench.market.read_blocking(find).expect("search");
    };
    table.add_request("operators' search of a word", || search(first));
    table.add_request("operators' search of nothing that exists", || search("xyzzyq plughq"));
}

/// Measures sums over the whole catalog, which only agents request.
fn measure_aggregates(bench: &Bench<impl Endpoint<Output = poem::Response>>, table: &mut Table) {
    let team = bench
        .market
        .read_blocking(|reader| operations::teams::resolve(reader.rows, "Reader"))
        .expect("the team exists");
    let member = Platform::of_process().member(team).expect("the team may read");
    let viewer = CatalogViewer::new(member, &bench.market).expect("the team may browse");
    for (name, group_by, measure) in [
        ("number by month", &["month"][..], None),
        ("number by vendor", &["vendor"], None),
        ("median price by language", &["language"], Some("price")),
        ("median price by kind of asset and tag", &["asset_type", "tag"], Some("price")),
    ] {
        let request = Request {
            group_by: group_by.iter().map(|name| (*name).to_owned()).collect(),
            measure: measure.map(str::to_owned),
        };
        let page = PageRequest {
            text: String::new(),
            filters: marketplace_index::Filters::default(),
            owned: false,
            sort: SortOrder::Recent,
            limit: 1,
            cursor: None,
            cursor_form: CursorForm::Short,
            skip: 0,
        };
        table.add_request(name, || {
            // It fails if it would need too much memory.
            let read =
                |reader: &Reader| Ok(aggregates::of_catalog(reader, &viewer, page.clone(), &request).is_ok());
            bench.market.read_blocking(read).expect("read");
        });
    }
}

/// Returns the ten words that most titles have.
fn common_words(bench: &Bench<impl Endpoint<Output = poem::Response>>, key: &str) -> Vec<String> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let path = format!("/v2/listings/browse?limit={SAMPLED}&sort=recent");
    let page: Value = serde_json::from_str(&bench.get(&path, key)).expect("a page is JSON");
    for listing in page["items"].as_array().expect("a page has items") {
        let title = listing["title"].as_str().unwrap_or_default().to_lowercase();
        let mut words: Vec<&str> = title.split(|c: char| !c.is_ascii_alphabetic()).collect();
        words.sort_unstable();
        words.dedup();
        for word in words.into_iter().filter(|word| word.len() > 1) {
            *counts.entry(word.to_owned()).or_default() += 1;
        }
    }
    let mut words: Vec<(usize, String)> = counts.into_iter().map(|(word, count)| (count, word)).collect();
    words.sort_unstable_by(|left, right| right.cmp(left));
    words.into_iter().map(|(_, word)| word).take(10).collect()
}
