//! Exported worlds that were changed by hand: each is either a world that answers, or refused with the place of the change.

use std::{collections::BTreeMap, fs::File, io::Read, io::Write, sync::Arc};

use marketplace::{
    error::Error,
    worlds::{World, WorldError},
};
use serde_json::{Map, Value, json};

use super::Sandbox;
use crate::{
    contract::cases::{Case, CaseRequest, cases},
    harness::{archives, environment, random::Random},
};

/// The files of an archive by name.
type Files = BTreeMap<String, Vec<u8>>;

/// Name of the world that imports.
const WORLD: &str = "copy";

/// One of this number of requests is sent to a world that was imported.
const SHARE_OF_REQUESTS: usize = 12;

/// A table, the column and its change (or none if all rows are removed), and whether it is still a world.
type ChangedTable = (&'static str, Option<(&'static str, Change)>, bool);

/// A change of an archive.
struct Mutation {
    description: String,
    file: String,
    /// `None` if the file is removed.
    content: Option<Vec<u8>>,
}

/// What becomes of a value.
#[derive(Clone, Debug)]
enum Change {
    Missing,
    Value(Value),
}

fn changes(old: &Value) -> Vec<Change> {
    let values = match old {
        Value::Number(_) => vec![json!(i64::MAX), json!(i64::MIN), json!(-1), json!(0), json!(1_i64 << 40)],
        Value::String(text) if text.starts_with(['[', '{']) => {
            ["", "[]", "{}", "[1]", "{\"a\":1}", "null"].map(Value::from).to_vec()
        }
        _ => ["", "odd", "\u{202e}\u{1}", "00"].map(Value::from).to_vec(),
    };
    values.into_iter().map(Change::Value).chain([Change::Missing]).collect()
}

fn rows(files: &Files, file: &str) -> Vec<Map<String, Value>> {
    let text = std::str::from_utf8(&files[file]).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn file_of(rows: &[Map<String, Value>]) -> Option<Vec<u8>> {
    let lines = rows.iter().map(|row| format!("{}\n", json!(row)));
    (!rows.is_empty()).then(|| lines.collect::<String>().into_bytes())
}

/// Changes a column of the row in the middle of a table.
fn of_column(files: &Files, file: &str, column: &str, change: &Change) -> Mutation {
    let mut rows = rows(files, file);
    let with_column: Vec<usize> = (0..rows.len()).filter(|index| rows[*index].contains_key(column)).collect();
    let index = with_column[with_column.len() / 2];
    match change {
        Change::Missing => drop(rows[index].remove(column)),
        Change::Value(value) => drop(rows[index].insert(column.to_owned(), value.clone())),
    }
    let description = format!("{file}, row {}, {column}: {change:?}", index + 1);
    Mutation { description, file: file.to_owned(), content: file_of(&rows) }
}

/// Removes rows of a table, or repeats the last one.
fn of_rows(files: &Files, file: &str, kind: usize) -> Mutation {
    let mut rows = rows(files, file);
    match kind {
        0 => rows.clear(),
        1 => drop(rows.pop()),
        2 => drop(rows.remove(0)),
        _ => rows.extend(rows.last().cloned()),
    }
    let description = format!("{file}, {}", ["no rows", "not the last", "not the first", "one twice"][kind]);
    Mutation { description, file: file.to_owned(), content: file_of(&rows) }
}

/// Returns every change of every table.
fn all(files: &Files) -> Vec<Mutation> {
    let tables: Vec<&String> = files.keys().filter(|file| file.starts_with("tables/")).collect();
    let mut all = Vec::new();
    for file in tables {
        all.extend((0..4).map(|kind| of_rows(files, file, kind)));
        let mut columns: BTreeMap<String, Value> = BTreeMap::new();
        for row in rows(files, file) {
            columns.extend(row);
        }
        for (column, old) in columns {
            all.extend(changes(&old).iter().map(|change| of_column(files, file, &column, change)));
        }
    }
    all
}

/// Imports a changed archive. Returns the place of what is wrong with it, or none if it was imported.
fn import(sandbox: &Sandbox, world: &World, files: &Files, mutation: &Mutation) -> Option<Vec<String>> {
    let changed = files.iter().filter(|(name, _)| **name != mutation.file);
    let mut changed: Vec<(&str, &[u8])> =
        changed.map(|(name, bytes)| (name.as_str(), bytes.as_slice())).collect();
    changed.extend(mutation.content.as_deref().map(|content| (mutation.file.as_str(), content)));
    let mut file = sandbox.worlds().temporary_file().unwrap();
    file.write_all(&archives::zip_of(&changed)).unwrap();
    match sandbox.worlds().import(world, file.path()) {
        Ok(()) => None,
        Err(WorldError::Refused(Error::Invalid(problems))) => {
            let loc: Value = serde_json::to_value(&problems[0].loc).unwrap();
            let segment =
                |segment: &Value| segment.as_str().map_or_else(|| segment.to_string(), str::to_owned);
            Some(loc.as_array().unwrap().iter().skip(1).map(segment).collect())
        }
        Err(error) => panic!("{}: {error:?}", mutation.description),
    }
}

fn exported(sandbox: &Sandbox) -> Files {
    let origin = sandbox.create("origin", "demo");
    let file = sandbox.worlds().temporary_file().unwrap();
    sandbox.worlds().export(&origin, file.reopen().unwrap()).unwrap();
    let mut bytes = Vec::new();
    File::open(file.path()).unwrap().read_to_end(&mut bytes).unwrap();
    archives::unzip(&bytes)
}

/// Sends requests to the world. None may fail because of the server.
async fn check_answers(sandbox: &Sandbox, requests: &[&CaseRequest], description: &str) {
    for (key, path) in requests {
        let response = sandbox.root.get(key, &format!("/w/{WORLD}{path}")).await;
        assert!(response.status < 500, "{description}: {} to {key} {path}", response.status);
    }
}

/// Returns GET requests of every operation of a world's APIs as every team.
fn requests() -> Vec<CaseRequest> {
    let is_sent = |row: &&Case| !row.is_of_sandbox();
    let gets = cases().filter(is_sent).filter(|row| row.documented().method == "GET");
    gets.flat_map(Case::ok_requests).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn changed_export_is_a_world_that_answers_or_is_refused_by_table_and_row() {
    let sandbox = Sandbox::new(3);
    let files = exported(&sandbox);
    let world: Arc<World> = sandbox.create(WORLD, "empty");
    let requests = requests();
    let numbers = |value: i64| Change::Value(json!(value));
    let text = |value: &str| Change::Value(json!(value));
    let table: [ChangedTable; 21] = [
        ("trimmed_events", None, false),
        ("pruned_sort_changes", None, false),
        ("sort_key_version", None, false),
        ("platform_balances", None, false),
        ("team_usage", None, false),
        ("trimmed_events", Some(("through", numbers(i64::MAX))), false),
        ("sort_key_version", Some(("version", numbers(i64::MIN))), false),
        ("pruned_sort_changes", Some(("through", numbers(-1))), false),
        ("offers", Some(("amount_cents", numbers(i64::MAX))), false),
        ("ledger_postings", Some(("cents", numbers(i64::MIN))), false),
        ("purchases", Some(("price_cents", numbers(i64::MAX))), false),
        ("wallets", Some(("credits_cents", numbers(i64::MIN))), false),
        ("inventory_counts", Some(("kind", text("odd"))), false),
        ("assets", Some(("history_start", text("odd"))), false),
        ("webhook_attempts", Some(("response", text(""))), true),
        ("webhook_deliveries", Some(("status", text(""))), false),
        ("events", Some(("occurred_at", numbers(i64::MAX))), false),
        ("due_steps", Some(("kind", text("odd"))), false),
        ("listings", Some(("domain_tags", text("{}"))), false),
        ("task_traces", Some(("qa", text("[1]"))), false),
        ("teams", Some(("avatar_url", text("odd"))), true),
    ];
    for (table, change, is_world) in table {
        let file = format!("tables/{table}.jsonl");
        let mutation = match &change {
            Some((column, change)) => of_column(&files, &file, column, change),
            None => of_rows(&files, &file, 0),
        };
        let found = import(&sandbox, &world, &files, &mutation);
        let is_expected = match (&found, &change) {
            (None, _) => is_world,
            (Some(place), None) => !is_world && *place == [file],
            (Some(place), Some((column, _))) => {
                let [of_file, row, of_column] = place.as_slice() else { panic!("{place:?}") };
                !is_world && *of_file == file && row.parse::<usize>().is_ok() && of_column == column
            }
        };
        assert!(is_expected, "{}: {found:?}", mutation.description);
        if is_world {
            check_answers(&sandbox, &requests.iter().step_by(7).collect::<Vec<_>>(), &mutation.description)
                .await;
        }
    }
}

/// Like the changes of the table, but of any value. Most are refused.
#[tokio::test(flavor = "multi_thread")]
async fn no_change_of_an_export_makes_a_server_fail() {
    let sandbox = Sandbox::new(3);
    let files = exported(&sandbox);
    let world: Arc<World> = sandbox.create(WORLD, "empty");
    let requests = requests();
    let mut all = all(&files);
    let (count, mut random) = (environment::rounds(12, 100_000), Random::new(11));
    let mut accepted = 0;
    for _ in 0..count.min(all.len() as u64) {
        let mutation = all.swap_remove(random.below(all.len() as u64) as usize);
        match import(&sandbox, &world, &files, &mutation) {
            Some(place) => assert!(!place.is_empty(), "{}", mutation.description),
            None => {
                let part: Vec<_> =
                    requests.iter().skip(accepted % SHARE_OF_REQUESTS).step_by(SHARE_OF_REQUESTS).collect();
                check_answers(&sandbox, &part, &mutation.description).await;
                accepted += 1;
            }
        }
    }
    assert!(accepted > 0);
}
