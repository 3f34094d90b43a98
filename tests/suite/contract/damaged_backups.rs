//! Backups that were damaged, interrupted, or changed by somebody else: nothing is trusted without its
//! digest, and nothing outside of the backup is changed.

use std::{
    collections::BTreeSet,
    fs,
    os::unix::fs::symlink,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
};

use marketplace::{error::Result, search::Progress};
use serde_json::{Value, json};

use crate::harness::{
    TestMarket,
    backups::{
        back_up, back_up_with, create_team, files, has_team, open_restored, restore, restore_with, temp_dir,
    },
};

/// Changes the last byte of a file, without changing its length.
fn damage(path: &Path) {
    let mut contents = fs::read(path).unwrap();
    *contents.last_mut().unwrap() ^= 1;
    fs::write(path, contents).unwrap();
}

/// Changes the manifest of a backup.
fn change_manifest(backup: &Path, change: impl FnOnce(&mut Value)) {
    let path = backup.join("backup.json");
    let mut manifest: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    change(&mut manifest);
    fs::write(&path, manifest.to_string()).unwrap();
}

fn message(result: Result<impl Sized>) -> String {
    result.err().expect("an error").message()
}

/// An object of an earlier backup is used again only if its contents have its digest.
#[test]
fn damaged_objects_of_an_earlier_backup_are_written_again() {
    let (market, backup) = (TestMarket::demo(), temp_dir());
    back_up(market.market(), backup.path()).unwrap();
    let objects = files(&backup.path().join("objects"));
    let changed: Vec<&PathBuf> = objects.iter().filter(|path| path.metadata().unwrap().len() > 0).collect();
    for path in &changed {
        damage(path);
    }
    let again = back_up(market.market(), backup.path()).unwrap();
    assert_eq!((again.repaired, again.problems.len()), (changed.len() as u64, 0));
    drop(open_restored(backup.path()));
    assert_eq!(back_up(market.market(), backup.path()).unwrap().repaired, 0);
}

/// Objects and the manifest are files: a link, a pipe, or a device is not followed.
#[test]
fn objects_that_are_no_regular_files_are_replaced_and_not_restored() {
    let (market, directory) = (TestMarket::empty(), temp_dir());
    let (backup, outside) = (directory.path().join("backup"), directory.path().join("outside"));
    back_up(market.market(), &backup).unwrap();
    let object = &files(&backup.join("objects"))[0];
    fs::rename(object, &outside).unwrap();
    symlink(&outside, object).unwrap();
    let error = message(restore(&backup, &directory.path().join("restored")));
    assert!(error.contains("it is not a regular file"), "{error}");
    back_up(market.market(), &backup).unwrap();
    assert!(fs::symlink_metadata(object).unwrap().is_file());
    restore(&backup, &directory.path().join("restored")).unwrap();
    fs::rename(backup.join("backup.json"), &outside).unwrap();
    symlink(&outside, backup.join("backup.json")).unwrap();
    let error = message(restore(&backup, &directory.path().join("other")));
    assert!(error.contains("it is not a regular file"), "{error}");
}

/// A backup writes through no link, and deletes nothing but objects that it no longer needs.
#[test]
fn backup_changes_nothing_outside_of_its_directory() {
    let (market, directory) = (TestMarket::empty(), temp_dir());
    let (backup, outside) = (directory.path().join("backup"), directory.path().join("outside"));
    fs::create_dir(&outside).unwrap();
    let own: Vec<PathBuf> = ["a", "b", "c", &"0".repeat(64)].iter().map(|name| outside.join(name)).collect();
    for path in &own {
        fs::write(path, "Mine.").unwrap();
    }
    back_up(market.market(), &backup).unwrap();
    fs::remove_file(backup.join("backup.lock")).unwrap();
    for (target, name) in own.iter().zip(["backup.lock", "incoming", "backup.json.new"]) {
        symlink(target, backup.join(name)).unwrap();
    }
    symlink(&outside, backup.join("objects/zz")).unwrap();
    fs::write(backup.join("objects/notes.txt"), "Mine.").unwrap();
    create_team(market.market(), "another");
    let error = message(back_up(market.market(), &backup));
    assert!(error.contains("backup.lock") && error.contains("it is not a regular file"), "{error}");
    fs::remove_file(backup.join("backup.lock")).unwrap();
    back_up(market.market(), &backup).unwrap();
    assert!(own.iter().all(|path| fs::read_to_string(path).unwrap() == "Mine."));
    assert!(backup.join("objects/notes.txt").exists(), "only objects are deleted");
    restore(&backup, &directory.path().join("restored")).unwrap();
}

/// Fails at one of the steps, as if the process had been killed there.
struct Kill {
    at: u64,
    steps: AtomicU64,
}

impl Progress for Kill {
    fn advance(&self, _: u64, _: u64) {
        if self.steps.fetch_add(1, Ordering::SeqCst) == self.at {
            resume_unwind(Box::new("killed"));
        }
    }
}

/// However far a backup came before it was killed, the earlier one can be restored, and the next one succeeds
/// and leaves nothing of it behind.
#[test]
fn backup_is_complete_or_absent_after_a_kill_at_any_step() {
    let (market, backup) = (TestMarket::demo(), temp_dir());
    create_team(market.market(), "first");
    back_up(market.market(), backup.path()).unwrap();
    create_team(market.market(), "second");
    let mut killed = 0;
    for at in (0..).step_by(7) {
        let kill = Kill { at, steps: AtomicU64::new(0) };
        let run = catch_unwind(AssertUnwindSafe(|| back_up_with(market.market(), backup.path(), &kill)));
        if run.is_ok() {
            break;
        }
        killed += 1;
        // What a kill between two steps leaves in addition.
        for name in ["incoming", "backup.json.new"] {
            fs::write(backup.path().join(name), "{").unwrap();
        }
    }
    assert!(killed > 1, "{killed}");
    let restored = open_restored(backup.path());
    assert!(has_team(restored.market(), "second"));
    let manifest: Value =
        serde_json::from_slice(&fs::read(backup.path().join("backup.json")).unwrap()).unwrap();
    let objects = serde_json::to_string(&manifest).unwrap();
    let names: BTreeSet<String> = files(backup.path())
        .iter()
        .map(|path| path.file_name().unwrap().to_string_lossy().into_owned())
        .filter(|name| name.len() != 64 || !objects.contains(name))
        .collect();
    assert_eq!(names, ["backup.json", "backup.lock"].map(str::to_owned).into());
}

#[test]
fn killed_backup_leaves_the_earlier_one_as_it_was() {
    let (market, backup) = (TestMarket::empty(), temp_dir());
    create_team(market.market(), "first");
    back_up(market.market(), backup.path()).unwrap();
    create_team(market.market(), "second");
    let kill = Kill { at: 0, steps: AtomicU64::new(0) };
    catch_unwind(AssertUnwindSafe(|| back_up_with(market.market(), backup.path(), &kill))).unwrap_err();
    let restored = open_restored(backup.path());
    assert_eq!(["first", "second"].map(|name| has_team(restored.market(), name)), [true, false]);
}

/// Runs something during a backup or a restore.
struct During<F>(F);

impl<F: Fn() + Sync> Progress for During<F> {
    fn advance(&self, _: u64, _: u64) {
        self.0();
    }
}

/// A restore never sees the directory of a backup between two backups.
#[test]
fn backup_and_restore_exclude_each_other() {
    let (market, directory) = (TestMarket::empty(), temp_dir());
    let backup = directory.path().join("backup");
    back_up(market.market(), &backup).unwrap();
    let count = AtomicU64::new(0);
    let during_restore = During(|| {
        let error = message(back_up(market.market(), &backup));
        assert!(error.contains("a `marketplace restore` is reading"), "{error}");
        // Several restores may run.
        let target = directory.path().join(format!("at once {}", count.fetch_add(1, Ordering::SeqCst)));
        restore(&backup, &target).unwrap();
    });
    restore_with(&backup, &directory.path().join("restored"), &during_restore).unwrap();
    let during_backup = During(|| {
        let error = message(restore(&backup, &directory.path().join("never")));
        assert!(error.contains("a `marketplace backup` is writing to"), "{error}");
        count.fetch_add(1, Ordering::SeqCst);
    });
    back_up_with(market.market(), &backup, &during_backup).unwrap();
    assert!(count.load(Ordering::SeqCst) >= 2);
    assert!(!directory.path().join("never").exists());
}

/// The space is compared before anything is written.
#[test]
fn restore_that_does_not_fit_on_the_disk_is_refused() {
    let (market, directory) = (TestMarket::demo(), temp_dir());
    let (backup, target) = (directory.path().join("backup"), directory.path().join("restored"));
    back_up(market.market(), &backup).unwrap();
    for size in [1_u64 << 60, u64::MAX] {
        change_manifest(&backup, |manifest| {
            for upload in manifest["uploads"].as_array_mut().unwrap() {
                upload["size_bytes"] = json!(size);
            }
        });
        let error = message(restore(&backup, &target));
        assert!(error.contains(" MB free") && error.contains("free space"), "{error}");
        assert!(!target.exists());
    }
}
