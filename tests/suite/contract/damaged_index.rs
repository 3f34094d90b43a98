//! A damaged search index: `verify` finds the damage and changes nothing, and a server replaces the index by itself.

use std::{
    collections::BTreeMap,
    fs::{self, OpenOptions},
    io::{Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

use marketplace::{
    clock::fixture_record_id,
    market::{Market, OpenMode, OpenOptions as MarketOptions},
    operations::{
        index_checks::IndexCheck,
        verify::{self, Inconsistency, Part},
    },
};
use serde_json::{Value, json};

use crate::harness::{
    TestMarket, market_options, records::demo_records, templates, usual_settings, waiting::poll_for,
};

/// Searches that read all kinds of files: without text, with words, phrases, beginnings of words, and misspelled words, with
/// filters, and in several orders.
const SEARCHES: [&str; 8] = [
    "sort=recent",
    "query=cobol",
    "query=%22annotated%20data%22",
    "query=robo",
    "query=kitchn",
    "query=data&languages=java",
    "query=code&sort=price_low",
    "verified_only=true&sort=price_high",
];

/// Returns the files in the directory of the current index with one of these extensions; all files of segments for none.
fn files(index: &Path, extensions: &[&str]) -> Vec<PathBuf> {
    let current = fs::read_to_string(index.join("CURRENT")).unwrap();
    let mut found: Vec<PathBuf> = fs::read_dir(index.join(current.trim()))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            let extension = path.extension().map_or("", |extension| extension.to_str().unwrap());
            extensions.contains(&extension)
                || extensions.is_empty() && path.file_stem().is_some_and(|stem| stem.len() == 32)
        })
        .collect();
    found.sort();
    assert!(!found.is_empty(), "no files with {extensions:?}");
    found
}

/// Overwrites bytes of files in place, so that it is seen where the file is mapped into memory, too.
fn overwrite(files: &[PathBuf], from: impl Fn(u64) -> u64, count: impl Fn(u64) -> u64) {
    for path in files {
        let mut file = OpenOptions::new().write(true).open(path).unwrap();
        let length = file.metadata().unwrap().len();
        let start = from(length);
        file.seek(SeekFrom::Start(start)).unwrap();
        file.write_all(&vec![0xff; count(length).min(length - start) as usize]).unwrap();
    }
}

fn overwrite_half(index: &Path, extensions: &[&str]) {
    overwrite(&files(index, extensions), |_| 0, |length| length / 2);
}

fn overwrite_16_bytes(index: &Path, extensions: &[&str]) {
    overwrite(&files(index, extensions), |length| length / 3, |_| 16);
}

/// What damages an index in this directory.
type Damage = fn(&Path);

/// Kinds of damage to the directory of the index.
const DAMAGES: [(&str, Damage); 14] = [
    ("half of the postings and positions", |index| overwrite_half(index, &["idx", "pos"])),
    ("16 bytes of the terms", |index| overwrite_16_bytes(index, &["term"])),
    ("16 bytes of the postings", |index| overwrite_16_bytes(index, &["idx"])),
    ("16 bytes of the positions", |index| overwrite_16_bytes(index, &["pos"])),
    ("half of the terms", |index| overwrite_half(index, &["term"])),
    ("half of the columns", |index| overwrite_half(index, &["columns"])),
    ("files that searches do not read", |index| overwrite_half(index, &["store", "fast", "fieldnorm"])),
    ("truncated files", |index| {
        for path in files(index, &["idx", "pos", "term"]) {
            let file = OpenOptions::new().write(true).open(path).unwrap();
            file.set_len(file.metadata().unwrap().len() / 2).unwrap();
        }
    }),
    ("a missing file", |index| fs::remove_file(&files(index, &["pos"])[0]).unwrap()),
    ("a commit that is cut off", |index| {
        let commit = &files(index, &["json"])[0];
        fs::write(commit, "{\"segments\": [").unwrap();
    }),
    ("another schema version", |index| {
        let current = fs::read_to_string(index.join("CURRENT")).unwrap();
        fs::write(index.join(current.trim()).join("schema-version"), "x").unwrap();
    }),
    ("no name of the index", |index| fs::write(index.join("CURRENT"), "?").unwrap()),
    ("no files", |index| {
        for path in files(index, &[]) {
            fs::remove_file(path).unwrap();
        }
    }),
    ("no directory", |index| fs::remove_dir_all(index).unwrap()),
];

fn open(directory: &Path, mode: OpenMode) -> Market {
    Market::open(MarketOptions { mode, ..market_options(directory, usual_settings()) }).unwrap()
}

/// What `verify` finds in an intact market.
const NOTHING: [Inconsistency; 0] = [];

fn verify(directory: &Path, is_deep: bool) -> Vec<Inconsistency> {
    let index = IndexCheck { is_deep, listings: &(), rebuilt: &() };
    verify::check(&open(directory, OpenMode::Inspect), index, &()).unwrap()
}

/// Returns the contents of all files, without those of locks.
fn contents(directory: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.insert(path.clone(), Vec::new());
            found.extend(contents(&path));
        } else if path.extension().is_none_or(|extension| extension != "lock") {
            found.insert(path.clone(), fs::read(&path).unwrap());
        }
    }
    found
}

#[test]
fn verify_finds_every_damage_and_changes_nothing() {
    let intact = templates::demo().copy();
    let before = contents(intact.path());
    assert_eq!(verify(intact.path(), false), NOTHING);
    assert_eq!(verify(intact.path(), true), NOTHING, "an index that is built anew is equal");
    assert!(contents(intact.path()) == before, "verify changed a market without problems");
    for (description, damage) in DAMAGES {
        let directory = templates::demo().copy();
        damage(&directory.path().join("index"));
        let before = contents(directory.path());
        let found = verify(directory.path(), false);
        assert!(!found.is_empty(), "{description}");
        for Inconsistency { part, message } in &found {
            assert_eq!(*part, Part::Index, "{description}: {message}");
            assert!(part.repair().contains("marketplace reindex"));
        }
        assert!(contents(directory.path()) == before, "{description}: verify changed the market");
        open(directory.path(), OpenMode::Command).reindex(&()).unwrap();
        assert_eq!(verify(directory.path(), true), NOTHING, "{description}: reindex repairs it");
    }
}

/// Changes that a killed process had not committed to the index are not damage: the next process applies them.
#[test]
fn verify_accepts_an_index_that_lacks_the_last_changes() {
    let directory = templates::demo().copy();
    let index = contents(&directory.path().join("index"));
    let market = open(directory.path(), OpenMode::Serve);
    market
        .write_blocking(|writer| {
            let listing = marketplace::store::verify::listing_row_ids(writer.rows)?[0];
            marketplace::store::index_queue::enqueue(writer.rows, listing)
        })
        .unwrap();
    drop(market);
    fs::remove_dir_all(directory.path().join("index")).unwrap();
    fs::create_dir(directory.path().join("index")).unwrap();
    for (path, bytes) in &index {
        let is_directory = bytes.is_empty() && path.extension().is_none() && !path.ends_with("CURRENT");
        if is_directory { fs::create_dir_all(path).unwrap() } else { fs::write(path, bytes).unwrap() }
    }
    assert_eq!(verify(directory.path(), true), NOTHING);
    let market = open(directory.path(), OpenMode::Command);
    market.update_index(market.latest_change().unwrap(), &()).unwrap();
    drop(market);
    assert_eq!(verify(directory.path(), true), NOTHING);
}

fn browse_path(search: &str) -> String {
    format!("/v2/listings/browse?{search}&limit=50")
}

/// Sends a search until it is answered with 200. Until then, each answer has to be 503. Returns the answer, and whether
/// it was the first one.
async fn search(market: &TestMarket, path: &str, description: &str) -> (Value, bool) {
    let mut is_first = true;
    poll_for(&format!("the index, {description}"), async || {
        let response = market.get("mkt_demo_buyer", path).await;
        if response.status == 200 {
            return Some((response.json(), is_first));
        }
        is_first = false;
        assert_eq!(response.expect_error(503), "at_capacity", "{description}: {path}");
        assert!(response.header("retry-after").parse::<u64>().unwrap() > 0, "{description}: {path}");
        None
    })
    .await
}

/// Returns the IDs of the listings of a page, in their order.
fn ids(page: &Value) -> Vec<&str> {
    let items = page["items"].as_array().unwrap_or_else(|| panic!("no page: {page}"));
    items.iter().map(|item| item["id"].as_str().unwrap()).collect()
}

async fn results_of_intact_index() -> Vec<Value> {
    let mut results = Vec::new();
    for query in SEARCHES {
        results.push(crate::harness::demo().get("mkt_demo_buyer", &browse_path(query)).await.ok());
    }
    results
}

#[tokio::test]
async fn server_on_a_damaged_index_answers_503_until_it_has_rebuilt_it() {
    let expected = results_of_intact_index().await;
    for (description, damage) in DAMAGES {
        let directory = templates::demo().copy();
        let index = directory.path().join("index");
        damage(&index);
        let market = TestMarket::open_in(directory);
        let mut was_unavailable = false;
        for query in SEARCHES {
            was_unavailable |= !search(&market, &browse_path(query), description).await.1;
        }
        // A search that reads wrong bytes does not always fail.
        if verify::find_inconsistencies(market.market()).unwrap().is_empty() {
            for (query, expected) in SEARCHES.iter().zip(&expected) {
                let (found, _) = search(&market, &browse_path(query), description).await;
                assert_eq!(ids(&found), ids(expected), "{description}: {query}");
            }
        } else {
            assert!(!was_unavailable, "{description}");
            market.market().reindex(&()).unwrap();
        }
        if description == DAMAGES[0].0 {
            assert!(was_unavailable, "the searches find no damage");
        }
    }
}

/// Nothing that needs no search fails with the index, and no write is lost.
#[tokio::test]
async fn writes_succeed_while_the_index_is_damaged() {
    for (description, damage) in DAMAGES.into_iter().filter(|(name, _)| !name.contains("truncated")) {
        let market = TestMarket::demo();
        damage(&market.market().data_dir().join("index"));
        let team = fixture_record_id("teams", demo_records().team_of("mkt_demo_vendor"));
        // More than one, since an update may need none of the damaged parts, or only with the commit.
        for number in 0..3 {
            let body = json!({"team_id": team, "title": format!("Zirbelnuss {number}")});
            let created = market.call("mkt_demo_operator", "POST", "/operator/v1/listings", &body).await;
            assert_eq!(created.status, 201, "{description}");
            let _ = market.market().commit_index();
        }
        let (wallet, path) =
            (market.get("mkt_demo_buyer", "/v2/wallet").await, "/v2/listings?query=zirbelnuss");
        wallet.ok();
        let found = poll_for(&format!("the index, {description}"), async || {
            let response = market.get("mkt_demo_vendor", path).await;
            if response.status == 200 {
                return Some(response.json());
            }
            assert_eq!(response.expect_error(503), "at_capacity", "{description}");
            None
        })
        .await;
        assert_eq!(ids(&found).len(), 3, "{description}");
        if !verify::find_inconsistencies(market.market()).unwrap().is_empty() {
            market.market().reindex(&()).unwrap();
        }
    }
}
