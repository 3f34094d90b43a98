//! Markets that tests begin with. Copying the files of one takes a fraction of the time of creating it.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::OnceLock,
};

use marketplace::{
    fixtures::{self, demo_image},
    market::DATABASE_FILE,
    store::Durability,
};
use rusqlite::Connection;
use tempfile::TempDir;

use super::{market_options, usual_settings};

/// The files of a market that has only the taxonomy, by their paths. It has no secrets, so each copy gets its own.
type Files = Vec<(PathBuf, Vec<u8>)>;

/// Returns a directory with a market that has only the taxonomy.
pub fn empty() -> TempDir {
    static FILES: OnceLock<Files> = OnceLock::new();
    let directory = tempfile::tempdir().unwrap();
    for (path, bytes) in FILES.get_or_init(make_empty) {
        let path = directory.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    directory
}

/// Returns a directory with the demo market: its image, which a test compares with a market that is created from the fixture set.
pub fn demo() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    demo_image::unpack(directory.path(), None, Durability::None).unwrap();
    directory
}

fn make_empty() -> Files {
    let directory = tempfile::tempdir().unwrap();
    let market = marketplace::market::Market::open(market_options(directory.path(), usual_settings())).unwrap();
    fixtures::seed_taxonomy(&market).unwrap();
    drop(market);
    let database = Connection::open(directory.path().join(DATABASE_FILE)).unwrap();
    database.execute_batch("DELETE FROM secrets; PRAGMA wal_checkpoint(TRUNCATE); VACUUM;").unwrap();
    database.close().unwrap();
    let mut files = Files::new();
    add_files(directory.path(), Path::new(""), &mut files);
    files
}

fn add_files(root: &Path, directory: &Path, files: &mut Files) {
    for entry in fs::read_dir(root.join(directory)).unwrap() {
        let entry = entry.unwrap();
        let path = directory.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            add_files(root, &path, files);
        } else if path.extension().is_none_or(|extension| extension != "lock") {
            let bytes = fs::read(root.join(&path)).unwrap();
            files.push((path, bytes));
        }
    }
}
