//! Databases of earlier versions: each release leaves a small one in `fixtures/databases`, which this version opens.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use marketplace::{
    market::{self, DATABASE_FILE, Market},
    store::{
        self,
        upgrades::{self, Plan},
    },
};
use rusqlite::Connection;
use tempfile::TempDir;

use crate::harness::{TestMarket, backups::create_team, generated};

/// Directory of the databases.
const FIXTURES: &str = "fixtures/databases";

/// The database of the time before versions were recorded. A migration of it cannot be undone.
const OLDEST: &str = "before-0.2.0.sqlite.zst";

/// Maximum size of a database in bytes, compressed.
const MAX_BYTES: u64 = 200_000;

/// Number of listings in each database.
const LISTINGS: usize = 30;

fn path_of(fixture: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(FIXTURES).join(fixture)
}

/// Returns a data directory with a database.
fn data_directory(fixture: &str) -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    let packed = fs::File::open(path_of(fixture)).unwrap();
    let mut database = fs::File::create(directory.path().join(DATABASE_FILE)).unwrap();
    zstd::stream::copy_decode(packed, &mut database).unwrap();
    directory
}

fn plan_of(directory: &Path) -> Plan {
    upgrades::plan(&directory.join(DATABASE_FILE)).unwrap().unwrap()
}

fn schema(market: &Market) -> String {
    market.read_blocking(|reader| store::migrations::schema(reader.rows)).unwrap()
}

/// Writes the database of this version, if there is none with its schema.
#[test]
fn this_version_leaves_a_database() {
    let fixture = concat!(env!("CARGO_PKG_VERSION"), ".sqlite.zst");
    if path_of(fixture).exists() && plan_of(data_directory(fixture).path()).pending.is_empty() {
        return;
    }
    assert!(generated::is_update(), "{FIXTURES}/{fixture} is out of date. Run `.ci/update`.");
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    let made = Command::new(env!("CARGO_BIN_EXE_marketplace"))
        .args(["seed", "--generate", &LISTINGS.to_string(), "--data"])
        .arg(&data)
        .current_dir(directory.path())
        .env_clear()
        .output()
        .unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let packed = zstd::encode_all(&fs::read(data.join(DATABASE_FILE)).unwrap()[..], 19).unwrap();
    generated::assert_current(&format!("{FIXTURES}/{fixture}"), packed);
}

#[test]
fn databases_of_earlier_versions_are_upgraded() {
    let fresh = schema(TestMarket::empty().market());
    let mut names: Vec<String> = fs::read_dir(path_of(""))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert!(names.iter().any(|name| name == OLDEST), "{names:?}");
    for name in names {
        assert!(fs::metadata(path_of(&name)).unwrap().len() <= MAX_BYTES, "{name}");
        // Dropping it verifies it.
        let market = TestMarket::open_in(data_directory(&name));
        let listings = market.read(|reader| store::verify::listing_row_ids(reader.rows)).unwrap();
        assert_eq!(listings.len(), LISTINGS, "{name}");
        assert_eq!(schema(market.market()), fresh, "{name}");
        create_team(market.market(), "Team of the new version");
        assert!(plan_of(market.market().data_dir()).pending.is_empty());
    }
}

/// A server of an earlier version may still run.
#[test]
fn commands_do_not_migrate_a_database_that_is_served() {
    let directory = data_directory(OLDEST);
    let _server = market::ServeLock::acquire(directory.path()).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_marketplace"))
        .args(["upgrade", "--data", "."])
        .current_dir(directory.path())
        .env_clear()
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && error.contains("another `marketplace serve` is running"), "{error}");
    assert!(
        !plan_of(directory.path()).pending.is_empty()
            && !market::copy_before_upgrade(directory.path()).exists()
    );
}

/// The database is copied before a migration that cannot be undone. The copy is the way back.
#[test]
fn copy_of_the_database_is_the_way_back() {
    let directory = data_directory(OLDEST);
    let plan = plan_of(directory.path());
    assert!(!plan.is_reversible() && plan.pending.iter().any(|found| found.name == "0058_operator_start"));
    let copy = market::copy_before_upgrade(directory.path());
    let original = fs::read(directory.path().join(DATABASE_FILE)).unwrap();
    let data = directory.path().to_owned();
    let market = TestMarket::open_in(directory);
    create_team(market.market(), "Team of the new version");
    assert!(fs::read(&copy).unwrap() == original, "the copy is that of before the upgrade");
    // As an operator does, while no server runs.
    let kept = tempfile::tempdir().unwrap();
    fs::copy(&copy, kept.path().join(DATABASE_FILE)).unwrap();
    assert_eq!(plan_of(kept.path()), plan, "the earlier version can use it");
    let versions = Connection::open(data.join(DATABASE_FILE)).unwrap();
    let recorded: Vec<String> = versions
        .prepare("SELECT version FROM program_versions ORDER BY migration")
        .unwrap()
        .query_map([], |row| row.get(0))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    assert_eq!(recorded, ["0.1.0", env!("CARGO_PKG_VERSION")]);
    drop(versions);
    drop(market);
    TestMarket::open_in(kept);
}
