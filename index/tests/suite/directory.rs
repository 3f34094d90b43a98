//! The index directory: opening, sharing between handles, damage, and other schema versions.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use marketplace_index::{Error, Index, OLDEST_SCHEMA_VERSION, SCHEMA_VERSION, Search};

use crate::market::{TestIndex, active_listing, listing_with_title, search_all};

/// Returns the files in the directory with this extension.
pub fn files(dir: &Path, extension: &str) -> Vec<PathBuf> {
    let files = fs::read_dir(dir).unwrap().map(|file| file.unwrap().path());
    files.filter(|path| path.extension().is_some_and(|other| other == extension)).collect()
}

fn market_with_listings() -> TestIndex {
    let mut market = TestIndex::new();
    market.commit(
        &[listing_with_title(1, "robot"), listing_with_title(2, "arm"), listing_with_title(3, "kitchen")],
        &[],
    );
    market.commit(&[listing_with_title(2, "gripper")], &[3]);
    market.finish();
    market
}

#[test]
fn new_index_is_empty_and_needs_an_empty_directory() {
    let market = TestIndex::new();
    let snapshot = market.index.snapshot();
    assert_eq!((snapshot.change(), market.index.committed_change().unwrap()), (0, 0));
    let results = market.search(&search_all());
    assert!(results.listings.is_empty() && results.next.is_none());
    assert!(results.totals.unwrap().facets.iter().all(|(_, counts)| counts.is_empty()));
    assert!(matches!(Index::create(market.directory.path()), Err(Error::NotEmpty)));
    assert_eq!(Index::open(market.directory.path()).unwrap().snapshot().change(), 0);
}

#[test]
fn index_opens_at_its_last_commit() {
    let mut market = market_with_listings();
    let before = market.index.snapshot();
    market.writer().put(&listing_with_title(9, "never committed")).unwrap();
    let opened = Index::open(market.directory.path()).unwrap();
    let snapshot = opened.snapshot();
    assert_eq!((snapshot.change(), opened.committed_change().unwrap()), (2, 2));
    assert_eq!(snapshot.fingerprints(), before.fingerprints());
    assert_eq!(snapshot.search(&search_all()).unwrap(), before.search(&search_all()).unwrap());
    assert_ne!(snapshot.generation(), before.generation());
}

#[test]
fn second_handle_follows_the_first() {
    let mut market = market_with_listings();
    let other = Index::open(market.directory.path()).unwrap();
    assert!(!other.reload().unwrap());
    market.commit(&[listing_with_title(4, "arm")], &[1]);
    assert_eq!((other.snapshot().change(), other.committed_change().unwrap()), (2, 3));
    let old = other.snapshot();
    assert!(other.reload().unwrap());
    assert!(!other.reload().unwrap());
    assert_eq!(other.snapshot().change(), 3);
    assert_eq!(other.snapshot().fingerprints(), market.index.snapshot().fingerprints());
    // The old snapshot returns the same results, even after its files are deleted.
    for listing in 10..40 {
        market.commit(&[active_listing(listing)], &[]);
    }
    market.finish();
    assert_eq!(old.search(&search_all()).unwrap().listings, [2, 1]);
    assert!(other.reload().unwrap());
    assert_eq!(other.snapshot().count(marketplace_index::Scope::Market), 32);
    assert!(other.snapshot().segments() <= 8, "{} segments", other.snapshot().segments());
}

#[test]
fn second_writer_is_rejected() {
    let mut market = market_with_listings();
    let other = Index::open(market.directory.path()).unwrap();
    market.writer();
    assert!(matches!(market.index.writer(15_000_000, 1), Err(Error::Busy)));
    assert!(matches!(other.writer(15_000_000, 1), Err(Error::Busy)));
    market.finish();
    assert!(other.writer(0, 0).is_ok());
}

#[test]
fn empty_commit_stores_its_change_number() {
    let mut market = market_with_listings();
    market.commit(&[], &[]);
    assert_eq!((market.index.snapshot().change(), market.index.committed_change().unwrap()), (3, 3));
    market.commit(&[active_listing(8), listing_with_title(8, "second")], &[1, 77]);
    assert_eq!(market.find("second"), [8]);
    assert_eq!(market.search(&search_all()).listings, [8, 2]);
}

#[test]
fn missing_index_and_schema_mismatch_have_their_own_errors() {
    let directory = tempfile::tempdir().unwrap();
    assert!(matches!(Index::open(directory.path()), Err(Error::Missing)));
    assert!(matches!(Index::open(&directory.path().join("absent")), Err(Error::Missing)));
    let market = market_with_listings();
    let version = market.directory.path().join("schema-version");
    let open = || Index::open(market.directory.path());
    for other in [OLDEST_SCHEMA_VERSION - 1, SCHEMA_VERSION + 1] {
        fs::write(&version, other.to_string()).unwrap();
        let Err(Error::SchemaMismatch { found, expected: SCHEMA_VERSION }) = open() else {
            panic!("expected Error::SchemaMismatch")
        };
        assert_eq!(found, other);
    }
    for text in ["", "one", "-1"] {
        fs::write(&version, text).unwrap();
        assert!(matches!(open(), Err(Error::Corrupt(_))), "{text:?}");
    }
    fs::remove_file(&version).unwrap();
    assert!(matches!(open(), Err(Error::Corrupt(_))));
}

#[test]
fn index_with_older_schema_is_searched_and_changed_by_its_own_rules() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("older");
    let create = |version| Index::create_with_version(&path, version);
    drop(create(OLDEST_SCHEMA_VERSION).unwrap());
    let index = Index::open(&path).unwrap();
    assert!(index.is_outdated());
    let mut writer = index.writer(15_000_000, 1).unwrap();
    writer.put(&listing_with_title(1, "机器人数据 C++")).unwrap();
    writer.commit(1).unwrap();
    let find = |text: &str| {
        let search = Search { text: text.into(), ..search_all() };
        index.snapshot().search(&search).unwrap().listings
    };
    assert_eq!([find("机器人数据 C++"), find("机器 c"), find("机器人数据 c#")], [vec![1], vec![], vec![1]]);
    assert!(!market_with_listings().index.is_outdated());
    assert!(matches!(create(SCHEMA_VERSION), Err(Error::NotEmpty)));
}

#[test]
fn index_with_a_schema_that_was_never_released_is_served_until_it_is_replaced() {
    let directory = tempfile::tempdir().unwrap();
    for version in OLDEST_SCHEMA_VERSION + 1..SCHEMA_VERSION {
        let index = Index::create_with_version(&directory.path().join(version.to_string()), version).unwrap();
        assert!(index.is_outdated(), "{version}");
        let mut writer = index.writer(15_000_000, 1).unwrap();
        writer.put(&listing_with_title(1, "机器人 AI#1")).unwrap();
        writer.commit(1).unwrap();
        for text in ["机器", "ai 1"] {
            let search = Search { text: text.into(), ..search_all() };
            assert_eq!(index.snapshot().search(&search).unwrap().listings, [1], "{version} {text}");
        }
    }
}

#[test]
fn index_with_schema_4_keeps_its_accents() {
    let directory = tempfile::tempdir().unwrap();
    for (version, found) in [(4, &[][..]), (SCHEMA_VERSION, &[1])] {
        let index = Index::create_with_version(&directory.path().join(version.to_string()), version).unwrap();
        let mut writer = index.writer(15_000_000, 1).unwrap();
        writer.put(&listing_with_title(1, "Ёлки café")).unwrap();
        writer.commit(1).unwrap();
        for (text, found) in [("ёлки CAFE", &[1][..]), ("елки", found)] {
            let search = Search { text: text.into(), ..search_all() };
            assert_eq!(index.snapshot().search(&search).unwrap().listings, found, "{version} {text}");
        }
    }
}

#[test]
fn damaged_columns_are_detected() {
    let market = market_with_listings();
    let file = files(market.directory.path(), "columns").remove(0);
    let intact = fs::read(&file).unwrap();
    let open = || Index::open(market.directory.path());
    let step = (intact.len() / 200).max(1);
    for index in (0..intact.len()).step_by(step) {
        let mut damaged = intact.clone();
        damaged[index] ^= 0x10;
        fs::write(&file, &damaged).unwrap();
        assert!(open().is_err(), "byte {index}");
        fs::write(&file, &intact[..index]).unwrap();
        assert!(open().is_err(), "truncated at {index}");
    }
    fs::write(&file, &intact).unwrap();
    assert_eq!(open().unwrap().snapshot().change(), 2);
    fs::remove_file(&file).unwrap();
    assert!(matches!(open(), Err(Error::Corrupt(_))));
}

#[test]
fn missing_files_and_broken_commits_are_detected() {
    for extension in ["idx", "term", "pos", "json"] {
        let market = market_with_listings();
        for file in files(market.directory.path(), extension) {
            if extension == "json" {
                fs::write(&file, "{\"segments\": [").unwrap();
            } else {
                fs::remove_file(&file).unwrap();
            }
        }
        let opened = Index::open(market.directory.path());
        assert!(matches!(opened, Err(Error::Corrupt(_) | Error::Missing)), "{extension}: {:?}", opened.err());
    }
}

#[test]
fn leftovers_of_a_killed_writer_are_ignored() {
    let mut market = market_with_listings();
    let copy = tempfile::tempdir().unwrap();
    // Flushed but not committed, as after a kill.
    for listing in 10..2_000 {
        market.writer().put(&listing_with_title(listing, "robot arm in a kitchen")).unwrap();
    }
    for file in fs::read_dir(market.directory.path()).unwrap() {
        let path = file.unwrap().path();
        fs::copy(&path, copy.path().join(path.file_name().unwrap())).unwrap();
    }
    fs::write(copy.path().join("0123456789abcdef0123456789abcdef.columns"), "half a fi").unwrap();
    let opened = Index::open(copy.path()).unwrap();
    assert_eq!(opened.snapshot().change(), 2);
    let mut writer = opened.writer(15_000_000, 1).unwrap();
    writer.put(&listing_with_title(5, "robot")).unwrap();
    writer.commit(3).unwrap();
    assert_eq!(opened.snapshot().search(&search_all()).unwrap().listings, [5, 2, 1]);
}

#[test]
fn repeatedly_reopened_index_has_each_listing_once() {
    let mut market = TestIndex::new();
    let mut digests = BTreeMap::new();
    let mut random = 7_u64;
    let mut below = |bound: u64| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) % bound
    };
    for opening in 0..40 {
        market.reopen();
        for commit in 0..=below(4) {
            let words = format!("robot {opening} {commit}");
            let docs: Vec<_> = (0..=below(3)).map(|_| listing_with_title(1 + below(12), &words)).collect();
            market.commit(&docs, &[]);
            digests.extend(docs.iter().map(|doc| (doc.listing, doc.digest())));
        }
        let snapshot = market.index.snapshot();
        assert_eq!(snapshot.fingerprints(), digests, "opened {opening} times");
        assert_eq!(market.find("robot").len(), digests.len(), "opened {opening} times");
    }
}

#[test]
fn interrupted_commit_can_be_repeated() {
    let mut market = TestIndex::with_titles(&["robot", "arm", "gripper"]);
    market.reopen();
    let commit = market.directory.path().join("meta.json");
    let before = fs::read(&commit).unwrap();
    market.commit(&[listing_with_title(1, "kitchen")], &[]);
    // The files of the commit exist, but the one that lists them is the old one, as after a kill just before
    // the commit.
    fs::write(&commit, before).unwrap();
    market.reopen();
    assert_eq!(market.find("robot"), [1]);
    market.commit(&[listing_with_title(1, "kitchen")], &[]);
    assert_eq!((market.find("robot"), market.find("kitchen")), (vec![], vec![1]));
}
