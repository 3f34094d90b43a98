//! The index directory: opening, sharing between handles, damage, and other schema versions.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use marketplace_index::{Error, Index, SCHEMA_VERSION};

use crate::market::{Market, everything, plain, titled};

/// Returns the files in the directory with this extension.
fn files(dir: &Path, extension: &str) -> Vec<PathBuf> {
    let files = fs::read_dir(dir).unwrap().map(|file| file.unwrap().path());
    files.filter(|path| path.extension().is_some_and(|other| other == extension)).collect()
}

fn filled() -> Market {
    let mut market = Market::new();
    market.commit(&[titled(1, "robot"), titled(2, "arm"), titled(3, "kitchen")], &[]);
    market.commit(&[titled(2, "gripper")], &[3]);
    market.finish();
    market
}

#[test]
fn a_new_index_is_empty_and_takes_an_empty_folder_only() {
    let market = Market::new();
    let snapshot = market.index.snapshot();
    assert_eq!((snapshot.change(), market.index.committed_change().unwrap()), (0, 0));
    let answer = market.search(&everything());
    assert!(answer.listings.is_empty() && answer.next.is_none());
    assert!(answer.totals.unwrap().facets.iter().all(|(_, counts)| counts.is_empty()));
    assert!(matches!(Index::create(market.folder.path()), Err(Error::NotEmpty)));
    assert_eq!(Index::open(market.folder.path()).unwrap().snapshot().change(), 0);
}

#[test]
fn an_index_opens_at_its_last_commit() {
    let mut market = filled();
    let before = market.index.snapshot();
    market.writer().put(&titled(9, "never committed")).unwrap();
    let opened = Index::open(market.folder.path()).unwrap();
    let snapshot = opened.snapshot();
    assert_eq!((snapshot.change(), opened.committed_change().unwrap()), (2, 2));
    assert_eq!(snapshot.fingerprints(), before.fingerprints());
    assert_eq!(snapshot.search(&everything()).unwrap(), before.search(&everything()).unwrap());
    assert_ne!(snapshot.generation(), before.generation());
}

#[test]
fn a_second_handle_follows_the_first() {
    let mut market = filled();
    let other = Index::open(market.folder.path()).unwrap();
    assert!(!other.reload().unwrap());
    market.commit(&[titled(4, "arm")], &[1]);
    assert_eq!((other.snapshot().change(), other.committed_change().unwrap()), (2, 3));
    let old = other.snapshot();
    assert!(other.reload().unwrap());
    assert!(!other.reload().unwrap());
    assert_eq!(other.snapshot().change(), 3);
    assert_eq!(other.snapshot().fingerprints(), market.index.snapshot().fingerprints());
    // The old snapshot returns the same results, even after its files are deleted.
    for listing in 10..40 {
        market.commit(&[plain(listing)], &[]);
    }
    market.finish();
    assert_eq!(old.search(&everything()).unwrap().listings, [2, 1]);
    assert!(other.reload().unwrap());
    assert_eq!(other.snapshot().counts(marketplace_index::Scope::Market), 32);
    assert!(other.snapshot().segments() <= 8, "{} segments", other.snapshot().segments());
}

#[test]
fn there_is_one_writer() {
    let mut market = filled();
    let other = Index::open(market.folder.path()).unwrap();
    market.writer();
    assert!(matches!(market.index.writer(15_000_000, 1), Err(Error::Busy)));
    assert!(matches!(other.writer(15_000_000, 1), Err(Error::Busy)));
    market.finish();
    assert!(other.writer(0, 0).is_ok());
}

#[test]
fn a_commit_carries_its_change_number_even_when_nothing_changed() {
    let mut market = filled();
    market.commit(&[], &[]);
    assert_eq!((market.index.snapshot().change(), market.index.committed_change().unwrap()), (3, 3));
    market.commit(&[plain(8), titled(8, "second")], &[1, 77]);
    assert_eq!(market.find("second"), [8]);
    assert_eq!(market.search(&everything()).listings, [8, 2]);
}

#[test]
fn what_is_missing_or_of_another_version_has_its_own_error() {
    let folder = tempfile::tempdir().unwrap();
    assert!(matches!(Index::open(folder.path()), Err(Error::Missing)));
    assert!(matches!(Index::open(&folder.path().join("absent")), Err(Error::Missing)));
    let market = filled();
    let version = market.folder.path().join("schema-version");
    let open = || Index::open(market.folder.path());
    fs::write(&version, "999").unwrap();
    let Err(Error::OtherSchema { found: 999, wanted: SCHEMA_VERSION }) = open() else {
        panic!("expected Error::OtherSchema")
    };
    for text in ["", "one", "-1"] {
        fs::write(&version, text).unwrap();
        assert!(matches!(open(), Err(Error::Corrupt(_))), "{text:?}");
    }
    fs::remove_file(&version).unwrap();
    assert!(matches!(open(), Err(Error::Corrupt(_))));
}

#[test]
fn damaged_columns_are_noticed() {
    let market = filled();
    let file = files(market.folder.path(), "columns").remove(0);
    let sound = fs::read(&file).unwrap();
    let open = || Index::open(market.folder.path());
    let step = (sound.len() / 200).max(1);
    for place in (0..sound.len()).step_by(step) {
        let mut damaged = sound.clone();
        damaged[place] ^= 0x10;
        fs::write(&file, &damaged).unwrap();
        assert!(open().is_err(), "byte {place}");
        fs::write(&file, &sound[..place]).unwrap();
        assert!(open().is_err(), "truncated at {place}");
    }
    fs::write(&file, &sound).unwrap();
    assert_eq!(open().unwrap().snapshot().change(), 2);
    fs::remove_file(&file).unwrap();
    assert!(matches!(open(), Err(Error::Corrupt(_))));
}

#[test]
fn missing_files_and_broken_commits_are_noticed() {
    for extension in ["idx", "term", "pos", "json"] {
        let market = filled();
        for file in files(market.folder.path(), extension) {
            if extension == "json" {
                fs::write(&file, "{\"segments\": [").unwrap();
            } else {
                fs::remove_file(&file).unwrap();
            }
        }
        let opened = Index::open(market.folder.path());
        assert!(matches!(opened, Err(Error::Corrupt(_) | Error::Missing)), "{extension}: {:?}", opened.err());
    }
}

#[test]
fn leftovers_of_a_killed_writer_do_not_matter() {
    let mut market = filled();
    let copy = tempfile::tempdir().unwrap();
    // Flushed but not committed, as after a kill.
    for listing in 10..2_000 {
        market.writer().put(&titled(listing, "robot arm in a kitchen")).unwrap();
    }
    for file in fs::read_dir(market.folder.path()).unwrap() {
        let path = file.unwrap().path();
        fs::copy(&path, copy.path().join(path.file_name().unwrap())).unwrap();
    }
    fs::write(copy.path().join("0123456789abcdef0123456789abcdef.columns"), "half a fi").unwrap();
    let opened = Index::open(copy.path()).unwrap();
    assert_eq!(opened.snapshot().change(), 2);
    let mut writer = opened.writer(15_000_000, 1).unwrap();
    writer.put(&titled(5, "robot")).unwrap();
    writer.commit(3).unwrap();
    assert_eq!(opened.snapshot().search(&everything()).unwrap().listings, [5, 2, 1]);
}

#[test]
fn an_index_that_is_opened_again_and_again_holds_each_listing_once() {
    let mut market = Market::new();
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
            let docs: Vec<_> = (0..=below(3)).map(|_| titled(1 + below(12), &words)).collect();
            market.commit(&docs, &[]);
            digests.extend(docs.iter().map(|doc| (doc.listing, doc.digest())));
        }
        let snapshot = market.index.snapshot();
        assert_eq!(snapshot.fingerprints(), digests, "opened {opening} times");
        assert_eq!(market.find("robot").len(), digests.len(), "opened {opening} times");
    }
}

#[test]
fn a_commit_that_was_cut_short_can_be_made_again() {
    let mut market = Market::of_titles(&["robot", "arm", "gripper"]);
    market.reopen();
    let commit = market.folder.path().join("meta.json");
    let before = fs::read(&commit).unwrap();
    market.commit(&[titled(1, "kitchen")], &[]);
    // The files of the commit exist, but the one that lists them is the old one, as after a kill just before
    // the commit.
    fs::write(&commit, before).unwrap();
    market.reopen();
    assert_eq!(market.find("robot"), [1]);
    market.commit(&[titled(1, "kitchen")], &[]);
    assert_eq!((market.find("robot"), market.find("kitchen")), (vec![], vec![1]));
}
