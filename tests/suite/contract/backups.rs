//! Backups of a market that is in use, and markets that are restored from them.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
};

use marketplace::{
    domain::uploads::KEEP_UNUSED_DAYS,
    error::Result,
    market::{DATABASE_FILE, Market},
    operations::{self, backups::Replace},
    store,
};

use super::cases::{Case, cases};
use crate::{
    harness::{
        self, TestMarket, TestResponse,
        archives::zip_of,
        backups::{
            back_up, back_up_directory, create_team, files, has_team, open_restored, restore, temp_dir,
        },
        listing_lifecycle,
        listings::listing_fields,
        records,
        s3::S3Server,
    },
    sales::DAY,
    vendor_api::seller_market::{empty_market_with, upload_zip},
};

/// Every documented GET operation returns the same bytes as in the market that was backed up.
#[tokio::test(flavor = "multi_thread")]
async fn restored_market_serves_the_same_answers() {
    let demo = harness::demo();
    let backup = temp_dir();
    let copied = back_up(demo.market(), backup.path()).unwrap();
    assert!(copied.uploads > 0 && copied.repositories > 0 && copied.problems.is_empty(), "{copied:?}");
    let restored = open_restored(backup.path());
    let mut count = 0;
    // Worlds end with the process, so a backup has none.
    let is_kept = |row: &&Case| !row.is_of_sandbox();
    for (key, path) in cases().filter(is_kept).flat_map(Case::ok_requests) {
        let (original, copy) = (demo.get(key, &path).await, restored.get(key, &path).await);
        assert_eq!(copy.status, original.status, "{path}");
        // Errors contain the ID of the request.
        if original.status != 200 {
            continue;
        }
        if path == "/operator/v1/market" {
            let facts = [&copy, &original].map(TestResponse::json).map(records::without_free_space);
            assert_eq!(facts[0], facts[1], "{path}");
        } else {
            let bodies = [copy, original].map(|response| String::from_utf8(response.bytes).unwrap());
            assert_eq!(bodies[0], bodies[1], "{path}");
        }
        count += 1;
    }
    assert!(count > 100, "{count} requests");
    let copies = |market: &TestMarket| {
        let blobs = market.market().data_dir().join("blobs");
        let stored = ["uploads", "repositories"].map(|name| files(&blobs.join(name)));
        let contents = stored
            .concat()
            .into_iter()
            .map(|path| (path.strip_prefix(&blobs).unwrap().to_owned(), fs::read(&path).unwrap()));
        contents.collect::<Vec<_>>()
    };
    assert!(copies(&restored) == copies(demo), "uploads and repository copies are the same");
}

/// Writes teams and listings until it is told to stop, and counts the acknowledged ones.
fn write_until(market: &Market, is_stopping: &AtomicBool, written: &AtomicU64) {
    let seller =
        market.read_blocking(|reader| operations::teams::resolve(reader.rows, "seller")).unwrap().row_id;
    for number in 0.. {
        let title = format!("Listing {number}");
        market
            .write_blocking(|writer| listing_lifecycle::create(writer, seller, &listing_fields(&title)))
            .unwrap();
        written.store(number + 1, Ordering::SeqCst);
        if is_stopping.load(Ordering::SeqCst) {
            return;
        }
    }
}

/// Returns the titles of all listings, oldest first.
fn titles(market: &Market) -> Vec<String> {
    let read = market.read_blocking(|reader| {
        let row_ids = store::verify::listing_row_ids(reader.rows)?;
        row_ids
            .into_iter()
            .map(|row_id| store::listings::find_by_row_id(reader.rows, row_id))
            .collect::<Result<Vec<_>>>()
    });
    read.unwrap().into_iter().map(|listing| listing.unwrap().title).collect()
}

/// Under a constant load of writes, each backup has everything that was acknowledged before it began, and
/// nothing of a later write without all earlier ones. Restored, each is consistent.
#[test]
fn backup_under_load_has_every_earlier_write() {
    let market = TestMarket::empty();
    create_team(market.market(), "seller");
    let (backup, is_stopping, written) = (temp_dir(), AtomicBool::new(false), AtomicU64::new(0));
    std::thread::scope(|scope| {
        scope.spawn(|| write_until(market.market(), &is_stopping, &written));
        for round in 1..=3 {
            while written.load(Ordering::SeqCst) < round * 10 {
                std::thread::yield_now();
            }
            let before = written.load(Ordering::SeqCst);
            back_up(market.market(), backup.path()).unwrap();
            let after = written.load(Ordering::SeqCst) + 1;
            let restored = open_restored(backup.path());
            let titles = titles(restored.market());
            let expected: Vec<String> = (0..titles.len()).map(|number| format!("Listing {number}")).collect();
            assert_eq!(titles, expected);
            assert!(
                (before..=after).contains(&(titles.len() as u64)),
                "{before}..={after}: {}",
                titles.len()
            );
        }
        is_stopping.store(true, Ordering::SeqCst);
    });
}

#[test]
fn backup_over_an_earlier_one_writes_what_has_changed() {
    let market = TestMarket::demo();
    let backup = temp_dir();
    let first = back_up(market.market(), backup.path()).unwrap();
    assert!(first.new_bytes > 0 && first.new_bytes <= first.total_bytes, "{first:?}");
    let objects = || files(&backup.path().join("objects"));
    let before = objects();
    let second = back_up(market.market(), backup.path()).unwrap();
    assert_eq!((second.total_bytes, second.new_bytes, objects()), (first.total_bytes, 0, before.clone()));
    create_team(market.market(), "another");
    let third = back_up(market.market(), backup.path()).unwrap();
    assert!(third.new_bytes > 0 && third.new_bytes < third.total_bytes, "{third:?}");
    assert!(objects().len() <= before.len() + 1, "the objects that it replaced are deleted");
    let restored = open_restored(backup.path());
    assert!(has_team(restored.market(), "another"));
    // A restored market can continue the series of backups, and its repository copies are not read again.
    let data = restored.market().data_dir();
    let fourth = back_up_directory(data, backup.path(), Replace::AnyState, &()).unwrap();
    assert!(fourth.new_bytes < fourth.total_bytes, "{fourth:?}");
}

#[test]
fn failed_backup_leaves_the_earlier_one_complete() {
    let market = TestMarket::empty();
    create_team(market.market(), "first");
    let backup = temp_dir();
    back_up(market.market(), backup.path()).unwrap();
    create_team(market.market(), "second");
    // Nothing can be written to the file for new objects.
    fs::create_dir(backup.path().join("incoming")).unwrap();
    let error = back_up(market.market(), backup.path()).unwrap_err().message();
    assert!(error.contains("cannot write") && error.contains("incoming"), "{error}");
    let restored_teams = || {
        let restored = open_restored(backup.path());
        ["first", "second"].map(|name| has_team(restored.market(), name))
    };
    assert_eq!(restored_teams(), [true, false]);
    fs::remove_dir(backup.path().join("incoming")).unwrap();
    back_up(market.market(), backup.path()).unwrap();
    assert_eq!(restored_teams(), [true, true]);
}

#[test]
fn backup_replaces_nothing_but_a_backup_of_the_same_market() {
    let (market, directory) = (TestMarket::empty(), temp_dir());
    let path = directory.path().join("backup");
    fs::create_dir(&path).unwrap();
    fs::write(path.join("notes.txt"), "Not a backup.").unwrap();
    let error = back_up(market.market(), &path).unwrap_err().message();
    assert!(error.contains("is not empty and contains no backup"), "{error}");
    assert_eq!(files(&path).len(), 1, "nothing was written");
    fs::remove_file(path.join("notes.txt")).unwrap();
    back_up(market.market(), &path).unwrap();
    // Test markets have the same secrets, so one is changed.
    let other = TestMarket::empty();
    let database = rusqlite::Connection::open(other.market().data_dir().join(DATABASE_FILE)).unwrap();
    database.execute("UPDATE secrets SET value = zeroblob(32)", []).unwrap();
    let error = back_up(other.market(), &path).unwrap_err().message();
    assert!(error.contains("contains a backup of another market"), "{error}");
    let lock = fs::File::open(path.join("backup.lock")).unwrap();
    lock.lock().unwrap();
    let error = back_up(market.market(), &path).unwrap_err().message();
    assert!(error.contains("another `marketplace backup` is writing"), "{error}");
}

#[test]
fn restore_refuses_a_directory_that_is_in_use_or_not_empty() {
    let (market, directory) = (TestMarket::empty(), temp_dir());
    let backup = directory.path().join("backup");
    back_up(market.market(), &backup).unwrap();
    let served = market.market().data_dir();
    let error = restore(&backup, served).unwrap_err().message();
    assert!(error.contains("is in use by another process"), "{error}");
    let filled = directory.path().join("filled");
    fs::create_dir(&filled).unwrap();
    fs::write(filled.join("notes.txt"), "Mine.").unwrap();
    let error = restore(&backup, &filled).unwrap_err().message();
    assert!(error.contains("is not empty"), "{error}");
    assert_eq!(files(&filled).len(), 1, "nothing was written");
    let error = restore(&filled, &directory.path().join("new")).unwrap_err().message();
    assert!(error.contains("contains no complete backup"), "{error}");
    assert!(!directory.path().join("new").exists());
}

/// Restoring a damaged backup fails, names the file, and leaves nothing behind.
#[test]
fn damaged_backup_is_not_restored() {
    let (market, directory) = (TestMarket::demo(), temp_dir());
    let (backup, target) = (directory.path().join("backup"), directory.path().join("restored"));
    back_up(market.market(), &backup).unwrap();
    let objects = files(&backup.join("objects"));
    for path in objects.iter().step_by(1 + objects.len() / 12) {
        let original = fs::read(path).unwrap();
        let mut damaged = original.clone();
        match damaged.last_mut() {
            Some(byte) => *byte ^= 1,
            None => damaged.push(0),
        }
        for contents in [Some(damaged), None] {
            match &contents {
                Some(contents) => fs::write(path, contents).unwrap(),
                None => fs::remove_file(path).unwrap(),
            }
            let error = restore(&backup, &target).unwrap_err().message();
            assert!(error.contains(&path.display().to_string()), "{error}");
            assert!(!target.exists(), "an incomplete market is not left behind");
        }
        fs::write(path, original).unwrap();
    }
    restore(&backup, &target).unwrap();
    fs::write(backup.join("backup.json"), "{").unwrap();
    let error = restore(&backup, &directory.path().join("other")).unwrap_err().message();
    assert!(error.contains("backup.json is damaged"), "{error}");
}

/// A damaged upload is reported, and everything else is backed up.
#[test]
fn damaged_upload_is_reported_and_left_out() {
    let (market, backup) = (TestMarket::demo(), temp_dir());
    let uploads = files(&market.market().data_dir().join("blobs/uploads"));
    // If another upload had the same bytes, the backup would have them from there.
    let contents: Vec<_> = uploads.iter().map(|path| fs::read(path).unwrap()).collect();
    let is_unique = |bytes: &Vec<u8>| contents.iter().filter(|other| *other == bytes).count() == 1;
    let index = contents.iter().position(is_unique).unwrap();
    let (damaged, original) = (&uploads[index], &contents[index]);
    fs::write(damaged, b"PK\x05\x06").unwrap();
    let copied = back_up(market.market(), backup.path()).unwrap();
    assert_eq!(copied.uploads, uploads.len() as u64 - 1);
    let name = damaged.file_stem().unwrap().to_string_lossy();
    let [problem] = copied.problems.as_slice() else { panic!("{:?}", copied.problems) };
    assert!(problem.contains(&*name) && problem.contains("differs from the received file"), "{problem}");
    fs::write(damaged, original).unwrap();
    assert!(back_up(market.market(), backup.path()).unwrap().problems.is_empty());
}

#[test]
fn market_is_not_opened_before_its_restore_is_complete() {
    let (market, directory) = (TestMarket::empty(), temp_dir());
    let backup = directory.path().join("backup");
    back_up(market.market(), &backup).unwrap();
    let target = directory.path().join("restored");
    restore(&backup, &target).unwrap();
    // As if the restore had been killed.
    fs::write(target.join(marketplace::market::RESTORE_MARKER), "").unwrap();
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_marketplace"))
        .args(["team", "list", "--data"])
        .arg(&target)
        .env_clear()
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && stderr.contains("a backup is being restored to"), "{stderr}");
}

#[test]
fn files_of_backups_and_restored_markets_are_private() {
    let (market, directory) = (TestMarket::demo(), temp_dir());
    let (backup, target) = (directory.path().join("backup"), directory.path().join("restored"));
    back_up(market.market(), &backup).unwrap();
    restore(&backup, &target).unwrap();
    let mut pending = vec![backup, target];
    while let Some(path) = pending.pop() {
        let mode = fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, if path.is_dir() { 0o700 } else { 0o600 }, "{}", path.display());
        if path.is_dir() {
            pending.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        }
    }
}

/// A copy that is deleted while a backup is being made would be missing in it.
#[test]
fn repository_copies_are_kept_while_a_backup_runs() {
    let market = TestMarket::empty();
    let blobs = market.market().blobs();
    let from = blobs.staging_dir().unwrap().keep();
    let (asset, at) = (uuid::Uuid::from_u128(1), marketplace::domain::time::Timestamp(1));
    blobs.store_repository(&from, asset, at).unwrap();
    let hold = blobs.hold_files().unwrap();
    let swept = operations::cleanup::sweep(market.market()).unwrap();
    assert!(swept.is_backup_running && swept.repositories == 0, "{swept:?}");
    drop(hold);
    let swept = operations::cleanup::sweep(market.market()).unwrap();
    assert!(!swept.is_backup_running && swept.repositories == 1, "{swept:?}");
}

/// A backup copies the uploads that the database had when it began.
#[test]
fn unused_uploads_are_kept_while_a_backup_runs() {
    let s3 = S3Server::start();
    for is_in_s3 in [false, true] {
        let market = empty_market_with(|settings| {
            if is_in_s3 {
                s3.configure(settings);
            }
        });
        upload_zip(&market, "Seller house", &zip_of(&[("README.md", "Scans.")]));
        let uploads = market.read(|reader| store::uploads::list(reader.rows)).unwrap();
        market.clock().advance(KEEP_UNUSED_DAYS * DAY);
        let sweep = || {
            let deleted = operations::cleanup::sweep(market.market()).unwrap().uploads;
            (deleted, market.market().blobs().has_upload(uploads[0].id).unwrap())
        };
        let hold = market.market().blobs().hold_files().unwrap();
        assert_eq!(sweep(), (0, true));
        drop(hold);
        assert_eq!(sweep(), (1, false));
    }
}
