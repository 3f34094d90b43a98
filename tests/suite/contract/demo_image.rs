//! The image of the demo market, which is made from its fixture set.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use marketplace::{
    clock::{Clock, Entropy, NAMESPACE},
    config::{Settings, SettingsSources},
    fixtures::{
        self,
        demo_image::{self, DEMO_TIME},
    },
    market::{DATABASE_FILE, Market, OpenMode, OpenOptions},
    store::Durability,
};
use poem::http::Method;
use rusqlite::{Connection, types::Value};
use tempfile::TempDir;
use uuid::Uuid;

use super::cases::cases;
use crate::harness::{TestMarket, TestResponse, backups, generated, market_options, records, s3::S3Server};

/// Number of requests of each operation.
const REQUESTS: usize = 4;

/// Opens the market in a directory, as of the time of the image.
fn open(directory: &Path, change: impl FnOnce(&mut Settings)) -> Market {
    let mut sources = SettingsSources::new();
    sources.apply_demo().unwrap();
    let mut settings = sources.resolve().unwrap();
    change(&mut settings);
    Market::open(OpenOptions {
        clock: Arc::new(Clock::stopped(DEMO_TIME)),
        entropy: Entropy::seeded(1),
        mode: OpenMode::Command,
        ..market_options(directory, settings)
    })
    .unwrap()
}

/// Makes the demo market whose directory is packed. Two calls make the same files.
fn make() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    let market = open(directory.path(), |_| {});
    fixtures::seed_taxonomy(&market).unwrap();
    fixtures::seed(&market, &fixtures::demo_set().unwrap()).unwrap();
    drop(market);
    let database = Connection::open(directory.path().join(DATABASE_FILE)).unwrap();
    // Each market has its own secrets.
    database.execute_batch("DELETE FROM secrets; PRAGMA wal_checkpoint(TRUNCATE); VACUUM;").unwrap();
    database.close().unwrap();
    name_index(&directory.path().join("index"));
    directory
}

/// Gives fixed names to the index and its segments, which have random ones.
fn name_index(directory: &Path) {
    let fixed = |name: &str| Uuid::new_v5(&NAMESPACE, format!("demo-image/{name}").as_bytes());
    let current = fs::read_to_string(directory.join("CURRENT")).unwrap();
    let name = fixed("index").simple().to_string();
    let index = directory.join(&name);
    fs::rename(directory.join(current.trim()), &index).unwrap();
    fs::write(directory.join("CURRENT"), name).unwrap();
    let paths = || fs::read_dir(&index).unwrap().map(|entry| entry.unwrap().path());
    let mut segments: Vec<Uuid> =
        paths().filter_map(|path| Uuid::try_parse(path.file_stem()?.to_str()?).ok()).collect();
    segments.sort_unstable();
    segments.dedup();
    assert_eq!(segments.len(), 1, "the segments would need an order");
    let names = [(segments[0], fixed("segment"))];
    for path in paths().collect::<Vec<_>>() {
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.extension().is_some_and(|extension| extension == "json") {
            let text = fs::read_to_string(&path).unwrap();
            let text = names.iter().fold(text, |text, (from, to)| {
                text.replace(&from.to_string(), &to.to_string())
                    .replace(&from.simple().to_string(), &to.simple().to_string())
            });
            fs::write(&path, text).unwrap();
        }
        for (from, to) in &names {
            let renamed = name.replace(&from.simple().to_string(), &to.simple().to_string());
            if renamed != name {
                fs::rename(&path, index.join(renamed)).unwrap();
            }
        }
    }
}

/// Returns the files in a directory by their paths, except for locks.
fn files(directory: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut paths = backups::files(directory);
    paths.retain(|path| path.extension().is_none_or(|extension| extension != "lock"));
    let name = |path: &Path| path.strip_prefix(directory).unwrap().to_owned();
    paths.into_iter().map(|path| (name(&path), fs::read(&path).unwrap())).collect()
}

/// Returns the schema of a database, and the rows of each table.
fn rows(directory: &Path) -> (Vec<String>, BTreeMap<String, Vec<Vec<Value>>>) {
    let database = Connection::open(directory.join(DATABASE_FILE)).unwrap();
    let texts = |sql: &str| -> Vec<String> {
        let mut statement = database.prepare(sql).unwrap();
        statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    };
    let tables = texts("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name");
    let rows_of = |table: &String| {
        let mut statement = database.prepare(&format!("SELECT * FROM \"{table}\"")).unwrap();
        let columns = statement.column_count();
        let rows = statement.query_map([], |row| (0..columns).map(|column| row.get(column)).collect());
        rows.unwrap().map(Result::unwrap).collect()
    };
    let rows = tables.iter().map(|table| (table.clone(), rows_of(table))).collect();
    (texts("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name"), rows)
}

fn unpack() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    demo_image::unpack(directory.path(), None, Durability::None).unwrap();
    directory
}

/// Everything that tests depend on: status, entity tag, and body.
fn parts(response: &TestResponse) -> (u16, &str, String) {
    (response.status, response.header("etag"), String::from_utf8_lossy(&response.bytes).into_owned())
}

/// Returns what differs between the data directories of two markets; `None` if they are equal for every reader.
fn difference(expected: &Path, actual: &Path) -> Option<String> {
    // Databases with the same rows are equal for every reader.
    let [(schema, tables), (actual_schema, actual_tables)] = [expected, actual].map(rows);
    if schema != actual_schema {
        return Some("the schema of the database".to_owned());
    }
    if let Some((table, _)) = tables.iter().find(|(table, rows)| actual_tables.get(*table) != Some(rows)) {
        return Some(format!("the rows of {table}"));
    }
    let [expected, actual] = [expected, actual].map(|directory| {
        let mut files = files(directory);
        files.remove(Path::new(DATABASE_FILE));
        files
    });
    let mut paths = expected.keys().chain(actual.keys());
    let found = paths.find(|path| expected.get(*path) != actual.get(*path));
    found.map(|path| path.display().to_string())
}

#[tokio::test]
async fn image_equals_a_new_demo_market() {
    let (fresh, unpacked) = (make(), unpack());
    if let Some(difference) = difference(fresh.path(), unpacked.path()) {
        assert!(generated::is_update(), "{difference} of the image differs. Run `.ci/update`.");
        let image = demo_image::pack(fresh.path()).unwrap();
        return generated::assert_current("fixtures/demo-image.zst", image);
    }
    let [expected, actual] = [fresh, unpacked].map(TestMarket::open_in);
    let mut count = 0;
    for case in cases().filter(|case| case.documented().method == "GET") {
        let requests = case.ok_requests();
        let step = requests.len().div_ceil(REQUESTS).max(1);
        for (key, path) in requests.iter().step_by(step) {
            let (expected, actual) = (expected.get(key, path).await, actual.get(key, path).await);
            if path == "/operator/v1/market" {
                let facts = [&actual, &expected].map(|response| records::without_free_space(response.json()));
                assert_eq!(facts[0], facts[1], "{path}");
            } else {
                assert_eq!(parts(&actual), parts(&expected), "{path}");
            }
            count += 1;
        }
    }
    let anonymous = actual.send(Method::GET, "/v2/wallet", &[]).await;
    assert_eq!(anonymous.status, 401);
    assert!(count > 200, "{count} requests");
}

/// Files of an interrupted call are replaced.
#[test]
fn interrupted_unpacking_is_repeated() {
    let directory = unpack();
    let database = directory.path().join(DATABASE_FILE);
    let expected = files(directory.path());
    fs::rename(&database, directory.path().join("demo-in-progress.sqlite")).unwrap();
    fs::write(directory.path().join("index/CURRENT"), "incomplete").unwrap();
    demo_image::unpack(directory.path(), None, Durability::None).unwrap();
    assert!(files(directory.path()) == expected);
}

#[test]
fn uploads_are_copied_to_the_store_of_the_settings() {
    let (store, directory) = (S3Server::start(), unpack());
    let market = open(directory.path(), |settings| store.configure(settings));
    for _ in 0..2 {
        demo_image::copy_uploads(&market).unwrap();
    }
    let local = fs::read_dir(directory.path().join("blobs/uploads")).unwrap();
    let mut expected: Vec<String> =
        local.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    let mut stored = store.object_names();
    expected.sort_unstable();
    stored.sort_unstable();
    assert!(stored.len() == 4 && stored == expected, "{stored:?}");
}
