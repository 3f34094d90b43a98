//! Which backups a new one replaces, and which directories and stores a restore writes to.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
};

use marketplace::{
    config::Settings,
    error::Result,
    market::{DATABASE_FILE, RESTORE_MARKER},
    operations::backups::Replace,
    search::Progress,
};
use serde_json::Value;

use crate::harness::{
    TestMarket,
    backups::{
        back_up, back_up_directory, copy_directory, create_team, restore, restore_to, restore_with, temp_dir,
    },
    s3::S3Server,
};

fn message(result: Result<impl Sized>) -> String {
    result.err().expect("an error").message()
}

fn replace_any(data: &Path, backup: &Path) -> Result<()> {
    back_up_directory(data, backup, Replace::AnyState, &()).map(|_| ())
}

/// The backup of an old copy of the data directory, for instance from a snapshot, would lose what came later.
#[test]
fn backup_of_an_earlier_state_replaces_nothing() {
    let (market, directory) = (TestMarket::empty(), temp_dir());
    let (backup, old) = (directory.path().join("backup"), directory.path().join("old"));
    create_team(market.market(), "first");
    copy_directory(market.market().data_dir(), &old);
    back_up(market.market(), &backup).unwrap();
    back_up_directory(&old, &backup, Replace::EarlierStates, &()).unwrap();
    create_team(market.market(), "second");
    back_up(market.market(), &backup).unwrap();
    let before = fs::read(backup.join("backup.json")).unwrap();
    let error = message(back_up_directory(&old, &backup, Replace::EarlierStates, &()));
    assert!(error.contains("a backup of a later state of this market"), "{error}");
    assert!(error.contains("choose another directory, or add --replace"), "{error}");
    assert_eq!(fs::read(backup.join("backup.json")).unwrap(), before);
    replace_any(&old, &backup).unwrap();
    back_up(market.market(), &backup).unwrap();
}

/// A restored market may have changes of its own, so neither its backups nor those of the original replace
/// the others.
#[test]
fn backup_of_a_restored_market_replaces_nothing_of_the_original() {
    let (market, directory) = (TestMarket::empty(), temp_dir());
    let (backup, clone) = (directory.path().join("backup"), directory.path().join("clone"));
    back_up(market.market(), &backup).unwrap();
    restore(&backup, &clone).unwrap();
    let error = message(back_up_directory(&clone, &backup, Replace::EarlierStates, &()));
    assert!(error.contains("a backup of another copy of this market"), "{error}");
    assert!(error.contains("choose another directory, or add --replace"), "{error}");
    back_up(market.market(), &backup).unwrap();
    // The operator says that the restored market has taken the place of the original.
    replace_any(&clone, &backup).unwrap();
    back_up_directory(&clone, &backup, Replace::EarlierStates, &()).unwrap();
    let error = message(back_up(market.market(), &backup));
    assert!(error.contains("a backup of another copy of this market"), "{error}");
    // Each restore is a copy of its own.
    let second = directory.path().join("second");
    restore(&backup, &second).unwrap();
    assert!(back_up_directory(&second, &backup, Replace::EarlierStates, &()).is_err());
}

#[test]
fn backup_of_another_market_is_never_replaced() {
    let (market, other, backup) = (TestMarket::empty(), TestMarket::empty(), temp_dir());
    back_up(market.market(), backup.path()).unwrap();
    // Test markets have the same secrets, so one is changed.
    let data = other.market().data_dir();
    let database = rusqlite::Connection::open(data.join(DATABASE_FILE)).unwrap();
    database.execute("UPDATE secrets SET value = zeroblob(32)", []).unwrap();
    let error = message(replace_any(data, backup.path()));
    assert!(error.contains("contains a backup of another market; choose another directory"), "{error}");
}

/// Backups that were made before manifests stated copies and counters are continued.
#[test]
fn manifest_without_a_state_is_replaced() {
    let (market, backup) = (TestMarket::empty(), temp_dir());
    back_up(market.market(), backup.path()).unwrap();
    let path = backup.path().join("backup.json");
    let mut manifest: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    for name in ["copy", "counters"] {
        assert!(manifest.as_object_mut().unwrap().remove(name).is_some());
    }
    fs::write(&path, manifest.to_string()).unwrap();
    back_up(market.market(), backup.path()).unwrap();
}

#[test]
fn interrupted_restore_is_named() {
    let (market, directory) = (TestMarket::empty(), temp_dir());
    let (backup, target) = (directory.path().join("backup"), directory.path().join("target"));
    back_up(market.market(), &backup).unwrap();
    fs::create_dir(&target).unwrap();
    fs::write(target.join(RESTORE_MARKER), "").unwrap();
    let error = message(restore(&backup, &target));
    assert!(error.contains("an earlier restore to") && error.contains("delete the directory"), "{error}");
}

/// Creates a file during a restore, as a command that began before it would.
struct CreatesMarket(PathBuf, AtomicBool);

impl Progress for CreatesMarket {
    fn advance(&self, _: u64, _: u64) {
        if !self.1.swap(true, Ordering::SeqCst) {
            fs::write(&self.0, "another market").unwrap();
        }
    }
}

#[test]
fn restore_replaces_no_market_that_is_created_meanwhile() {
    let (market, directory) = (TestMarket::empty(), temp_dir());
    let (backup, target) = (directory.path().join("backup"), directory.path().join("target"));
    back_up(market.market(), &backup).unwrap();
    let other = target.join(DATABASE_FILE);
    let meanwhile = CreatesMarket(other.clone(), AtomicBool::new(false));
    let error = message(restore_with(&backup, &target, &meanwhile));
    assert!(error.contains("another process has created a market in"), "{error}");
    assert_eq!(fs::read_to_string(other).unwrap(), "another market");
    assert!(!target.join(RESTORE_MARKER).exists());
}

/// A bucket may be shared with the market that was backed up: its uploads are never replaced, and those of a
/// failed restore are deleted.
#[test]
fn restore_to_a_bucket_keeps_what_is_there() {
    let (market, directory, store) = (TestMarket::demo(), temp_dir(), S3Server::start());
    let (backup, target) = (directory.path().join("backup"), directory.path().join("target"));
    back_up(market.market(), &backup).unwrap();
    let mut settings = Settings::default();
    store.configure(&mut settings);
    let restore = || restore_to(&backup, &target, &settings.blobs, &());
    let manifest: Value = serde_json::from_slice(&fs::read(backup.join("backup.json")).unwrap()).unwrap();
    let last = manifest["uploads"].as_array().unwrap().last().unwrap();
    let digest = last["sha256"].as_str().unwrap();
    let object = backup.join("objects").join(&digest[..2]).join(digest);
    let original = fs::read(&object).unwrap();
    fs::remove_file(&object).unwrap();
    message(restore());
    assert_eq!(store.object_names(), [""; 0], "a failed restore leaves nothing in the bucket");
    fs::write(&object, original).unwrap();
    let id = last["id"].as_str().unwrap().parse().unwrap();
    let blobs = marketplace::blobs::Blobs::open(directory.path(), &settings.blobs).unwrap();
    blobs.put_upload(id, &mut &b"another file"[..]).unwrap();
    let error = message(restore());
    assert!(error.contains(&format!("an upload {id} that differs")), "{error}");
    assert_eq!(blobs.hash_upload(id).unwrap().size_bytes, 12, "it was not replaced");
    assert_eq!(store.object_names().len(), 1);
    blobs.remove_upload(id).unwrap();
    restore().unwrap();
    fs::rename(&target, directory.path().join("first")).unwrap();
    restore().unwrap();
}
