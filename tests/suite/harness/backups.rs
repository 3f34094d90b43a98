//! Backups of test markets, and markets restored from them.

use std::{
    fs,
    path::{Path, PathBuf},
};

use marketplace::{
    clock::{Clock, Entropy},
    config::{BlobSettings, Settings},
    domain::time::Timestamp,
    error::Result,
    market::Market,
    operations::{
        self,
        backups::{self, BackupOptions, BackupSource, Copied, Place, Replace, RestoreOptions},
        teams::TeamInput,
    },
    search::Progress,
};
use tempfile::TempDir;

use super::TestMarket;

/// Backs up a market, as the command does next to a server.
pub fn back_up(market: &Market, destination: &Path) -> Result<Copied> {
    back_up_with(market, destination, &())
}

/// Like [`back_up`], and reports the progress.
pub fn back_up_with(market: &Market, destination: &Path, progress: &dyn Progress) -> Result<Copied> {
    back_up_directory(market.data_dir(), destination, Replace::EarlierStates, progress)
}

/// Backs up the market in a data directory.
pub fn back_up_directory(
    directory: &Path,
    destination: &Path,
    replace: Replace,
    progress: &dyn Progress,
) -> Result<Copied> {
    let source = BackupSource::open(directory, &Settings::default().blobs, Clock::System.now()).unwrap();
    backups::create(&source, &place(destination), BackupOptions { replace, keep: None }, progress)
}

/// Restores a backup to a data directory, without opening it.
pub fn restore(source: &Path, directory: &Path) -> Result<Copied> {
    restore_with(source, directory, &())
}

/// Like [`restore`], and reports the progress.
pub fn restore_with(source: &Path, directory: &Path, progress: &dyn Progress) -> Result<Copied> {
    restore_to(source, directory, &Settings::default().blobs, progress)
}

/// Restores a backup with these settings of the store of uploads.
pub fn restore_to(
    source: &Path,
    directory: &Path,
    blobs: &BlobSettings,
    progress: &dyn Progress,
) -> Result<Copied> {
    let to = RestoreOptions { directory, blobs, now: Clock::System.now(), entropy: &Entropy::System };
    backups::restore(&place(source), None, to, progress)
}

/// Backs up a market as of a time, and keeps dated backups by a rule.
pub fn back_up_dated(market: &Market, place: &Place, at: Timestamp, keep: &str) -> Result<Copied> {
    let source = BackupSource::open(market.data_dir(), &Settings::default().blobs, at).unwrap();
    let keep = keep.parse().unwrap();
    let options = BackupOptions { replace: Replace::EarlierStates, keep: Some(&keep) };
    backups::create(&source, place, options, &())
}

/// Restores the backup of a time, and opens the market. Dropping it verifies it.
pub fn open_restored_at(place: &Place, at: Timestamp) -> Result<TestMarket> {
    let directory = tempfile::tempdir().unwrap();
    let blobs = &Settings::default().blobs;
    let to = RestoreOptions {
        directory: directory.path(),
        blobs,
        now: Clock::System.now(),
        entropy: &Entropy::System,
    };
    backups::restore(place, Some(at), to, &())?;
    Ok(TestMarket::open_in(directory))
}

/// Returns a directory as a place of backups.
pub fn place(directory: &Path) -> Place {
    Place::Directory(directory.to_owned())
}

/// Restores a backup and opens the market. Dropping it verifies it.
pub fn open_restored(source: &Path) -> TestMarket {
    let directory = tempfile::tempdir().unwrap();
    restore(source, directory.path()).unwrap();
    TestMarket::open_in(directory)
}

/// Creates a temporary directory.
pub fn temp_dir() -> TempDir {
    tempfile::tempdir().unwrap()
}

/// Returns every file below a directory.
pub fn files(directory: &Path) -> Vec<PathBuf> {
    let (mut found, mut pending) = (Vec::new(), vec![directory.to_owned()]);
    while let Some(path) = pending.pop() {
        if path.is_dir() {
            pending.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Copies a directory with the files below it.
pub fn copy_directory(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let copy = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy_directory(&path, &copy);
        } else if path.is_file() {
            fs::copy(&path, &copy).unwrap();
        }
    }
}

/// Creates a team with both roles.
pub fn create_team(market: &Market, name: &str) {
    let team = TeamInput { name, is_vendor: true, is_buyer: true, tier: 1, has_accepted_nda: true };
    market.write_blocking(|writer| operations::teams::create(writer, &team)).unwrap();
}

/// Whether there is a team with this name.
pub fn has_team(market: &Market, name: &str) -> bool {
    market.read_blocking(|reader| operations::teams::resolve(reader.rows, name)).is_ok()
}
