//! Writes that touch a listing: how many commits they make, that each is visible when it returns, and what a
//! failure of the machine leaves of the index, for whose files no write waits.

use std::{
    fs,
    path::{Path, PathBuf},
};

use marketplace::{
    clock::fixture_record_id,
    config::Settings,
    market::{DATABASE_FILE, Market},
    operations,
};
use marketplace_index::{Filters, Scope, Search, Sort, Start, UNSYNCED_FILE};
use uuid::Uuid;

use super::kill::{open_with, prepare};
use crate::harness::{listing_lifecycle, listings::listing_fields};

fn open(directory: &Path) -> Market {
    open_with(directory, Settings::default())
}

fn change_title(market: &Market, id: Uuid, title: &str) {
    market.write_blocking(|writer| listing_lifecycle::update(writer, id, &listing_fields(title))).unwrap();
}

/// Returns the number of listings of any stage that a search of their team's listings finds.
fn count_found(market: &Market, text: &str) -> usize {
    let team = market.read_blocking(|reader| operations::teams::resolve(reader.rows, "seller")).unwrap();
    let search = Search {
        scope: Scope::Team(team.row_id.0 as u64),
        text: text.to_owned(),
        filters: Filters::default(),
        sort: Sort::Recent,
        start: Start::First,
        ordered_as: std::collections::BTreeMap::new(),
        limit: 100,
        viewer: None,
        totals: false,
    };
    market.snapshot().search(&search).unwrap().listings.len()
}

fn assert_consistent(market: &Market, case: &str) {
    let inconsistencies = operations::verify::find_inconsistencies(market).unwrap();
    assert!(inconsistencies.is_empty(), "{case}: {inconsistencies:?}");
}

#[test]
fn write_of_a_listing_makes_at_most_two_commits() {
    let directory = tempfile::tempdir().unwrap();
    prepare(directory.path());
    let market = open(directory.path());
    let id = fixture_record_id("listings", "l1");
    for round in 0..20 {
        let (commits, title) = (market.commit_count(), format!("robotics{round}"));
        change_title(&market, id, &title);
        assert!(
            (1..=2).contains(&(market.commit_count() - commits)),
            "one of the database, one of the index"
        );
        assert_eq!(count_found(&market, &title), 1);
    }
    assert!(market.snapshot().segments() <= 12);
    assert_consistent(&market, "after the writes");
}

#[test]
fn concurrent_writes_share_commits_and_see_themselves() {
    const WRITERS: usize = 8;
    const ROUNDS: usize = 15;
    let directory = tempfile::tempdir().unwrap();
    prepare(directory.path());
    let market = open(directory.path());
    let commits = market.commit_count();
    std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            let market = &market;
            scope.spawn(move || {
                // Two writers share a listing, so a change may be superseded before the index has it.
                let id = fixture_record_id("listings", &format!("l{}", writer / 2));
                for round in 0..ROUNDS {
                    let before = market.latest_change().unwrap();
                    change_title(market, id, &format!("writer{writer} round{round}"));
                    assert!(market.snapshot().change() > before);
                }
            });
        }
    });
    let commits = market.commit_count() - commits;
    assert!(commits <= (2 * WRITERS * ROUNDS) as u64, "{commits} commits");
    assert_eq!(count_found(&market, &format!("round{}", ROUNDS - 1)), WRITERS / 2);
    assert_consistent(&market, "after the writes");
}

/// Returns the directory of the index that is in use.
fn current_index(directory: &Path) -> PathBuf {
    let index = directory.join("index");
    let name = fs::read_to_string(index.join("CURRENT")).unwrap();
    index.join(name)
}

/// Returns the files of the newest segment, and the newest list of deleted documents.
fn newest_files(index: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(index).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.file_stem().is_some_and(|stem| stem.len() >= 32));
    files.sort_by_key(|path| fs::metadata(path).unwrap().modified().unwrap());
    files.split_off(files.len().saturating_sub(4))
}

/// Effects of an unclean shutdown on the files of an index.
type Loss = fn(&Path);

#[test]
fn index_left_by_an_unclean_boot_is_verified_or_rebuilt() {
    let directory = tempfile::tempdir().unwrap();
    prepare(directory.path());
    let losses: [(&str, bool, Loss); 5] = [
        ("nothing lost", false, |_| {}),
        ("truncated", true, |index| {
            for file in newest_files(index) {
                fs::write(file, "").unwrap();
            }
        }),
        ("zeroed", true, |index| {
            for file in newest_files(index) {
                let length = fs::metadata(&file).unwrap().len() as usize;
                fs::write(file, vec![0; length]).unwrap();
            }
        }),
        ("files missing", true, |index| {
            for file in newest_files(index) {
                fs::remove_file(file).unwrap();
            }
        }),
        ("list of segments empty", true, |index| fs::write(index.join("meta.json"), "").unwrap()),
    ];
    for (number, (case, is_lost, lose)) in losses.into_iter().enumerate() {
        let market = open(directory.path());
        let (ids, title) =
            (["l1", "l2"].map(|key| fixture_record_id("listings", key)), format!("case{number}"));
        for id in ids {
            change_title(&market, id, &title);
        }
        drop(market);
        let index = current_index(directory.path());
        lose(&index);
        fs::write(index.join(UNSYNCED_FILE), "another boot").unwrap();
        let market = open(directory.path());
        assert_eq!(current_index(directory.path()) != index, is_lost, "{case}");
        assert_eq!(count_found(&market, &title), 2, "{case}");
        assert_consistent(&market, case);
    }
}

#[test]
fn index_of_a_killed_server_is_used_as_it_is() {
    let directory = tempfile::tempdir().unwrap();
    prepare(directory.path());
    let market = open(directory.path());
    change_title(&market, fixture_record_id("listings", "l1"), "before the kill");
    let index = current_index(directory.path());
    assert!(index.join(UNSYNCED_FILE).exists(), "no write waits for the files of the index");
    // No file is waited for when a server ends, either, so the index is as unsynchronized as after a kill.
    drop(market);
    let market = open(directory.path());
    assert_eq!(current_index(directory.path()), index);
    assert_eq!(count_found(&market, "before the kill"), 1);
}

#[test]
fn index_with_changes_that_the_database_lost_is_rebuilt() {
    let directory = tempfile::tempdir().unwrap();
    prepare(directory.path());
    let database = directory.path().join(DATABASE_FILE);
    let before = fs::read(&database).unwrap();
    let market = open(directory.path());
    change_title(&market, fixture_record_id("listings", "l1"), "lost change");
    drop(market);
    fs::write(&database, before).unwrap();
    for extension in ["sqlite-wal", "sqlite-shm"] {
        let _ = fs::remove_file(database.with_extension(extension));
    }
    let market = open(directory.path());
    assert_eq!(count_found(&market, "lost"), 0);
    // This change has the number of the lost one.
    change_title(&market, fixture_record_id("listings", "l2"), "another change");
    assert_eq!((count_found(&market, "lost"), count_found(&market, "another")), (0, 1));
    assert_consistent(&market, "after the loss");
}
