//! `marketplace verify`: what it prints, and how it exits.

use std::{fs, path::Path};

use serde_json::Value;

use super::{Server, marketplace, run, stdout_of, temp_dir};
use crate::harness::waiting::wait_until;

/// Runs `verify` on a market with problems. Returns its output and its standard error.
fn verify_damaged(arguments: &[&str], directory: &Path) -> (String, String) {
    let output = run(&[&["verify", "--data", "market"], arguments].concat(), directory);
    assert_eq!(output.status.code(), Some(1));
    (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn verify_names_the_damage_and_its_repair() {
    let temp_dir = temp_dir();
    let directory = temp_dir.path();
    stdout_of(&run(
        &["team", "create", "Acme Data", "--role", "vendor", "--nda", "--data", "market"],
        directory,
    ));
    fs::write(directory.join("scans.zip"), b"PK\x05\x06\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0").unwrap();
    let upload = ["upload", "scans.zip", "--team", "Acme Data", "--data", "market"];
    let url = stdout_of(&run(&upload, directory));
    let name = url.trim().rsplit('/').next().unwrap();
    for arguments in [&["verify", "--data", "market"][..], &["verify", "--data", "market", "--deep"]] {
        assert_eq!(stdout_of(&run(arguments, directory)), "no problems found\n");
    }
    let json: Value =
        serde_json::from_str(&stdout_of(&run(&["verify", "--data", "market", "--json"], directory))).unwrap();
    assert_eq!(json, serde_json::json!({"problems": []}));

    fs::remove_file(directory.join("market/blobs/uploads").join(name)).unwrap();
    let (text, stderr) = verify_damaged(&[], directory);
    let id = name.strip_suffix(".zip").unwrap();
    let expected = format!(
        "files: the upload {id} (\"scans.zip\" of the team \"Acme Data\", 22 bytes) is missing: there is no file \
         market/blobs/uploads/{name}\n"
    );
    assert!(
        text.starts_with(&expected) && text.contains("to repair files: copy the file from a backup"),
        "{text}"
    );
    assert!(!text.contains("reindex") && stderr == "error: 1 problem found\n", "{text}{stderr}");

    fs::remove_dir_all(directory.join("market/index")).unwrap();
    let (text, _) = verify_damaged(&["--json"], directory);
    let json: Value = serde_json::from_str(&text).unwrap();
    let problems = json["problems"].as_array().unwrap();
    let parts: Vec<&str> = problems.iter().map(|problem| problem["part"].as_str().unwrap()).collect();
    assert_eq!(parts, ["index", "files"]);
    assert!(problems[0]["repair"].as_str().unwrap().contains("`marketplace reindex`"), "{text}");
    assert!(problems[0]["message"].as_str().unwrap().contains("no search index"), "{text}");
    assert!(!directory.join("market/index").exists(), "verify does not rebuild it");

    // A database that is damaged is a problem, too, and no failure of the command.
    let database = directory.join("market/market.sqlite");
    let rows = rusqlite::Connection::open(&database).unwrap();
    let sql = "SELECT rootpage FROM sqlite_schema WHERE name = 'languages'";
    let page: usize = rows.query_row(sql, [], |row| row.get(0)).unwrap();
    let page_size: usize = rows.query_row("PRAGMA page_size", [], |row| row.get(0)).unwrap();
    drop(rows);
    let mut bytes = fs::read(&database).unwrap();
    bytes[(page - 1) * page_size..page * page_size].fill(0x55);
    fs::write(&database, bytes).unwrap();
    let (text, _) = verify_damaged(&[], directory);
    assert!(text.contains("database: ") && text.contains("to repair database: restore a backup"), "{text}");
    let mut closed = marketplace(&["verify", "--data", "market", "--json"], directory);
    assert_eq!(closed.stdout(std::process::Stdio::null()).status().unwrap().code(), Some(1));
}

/// Damage that keeps the database from being opened is found, and a server says what to do.
#[test]
fn database_that_cannot_be_opened_is_a_problem() {
    let temp_dir = temp_dir();
    let directory = temp_dir.path();
    stdout_of(&run(&["team", "create", "Acme Data", "--role", "vendor", "--data", "market"], directory));
    let database = directory.join("market/market.sqlite");
    let intact = fs::read(&database).unwrap();
    for damage in [0..100, 100..4_000] {
        let mut bytes = intact.clone();
        bytes[damage].fill(0x55);
        fs::write(&database, bytes).unwrap();
        let (text, stderr) = verify_damaged(&["--json"], directory);
        let json: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(json["problems"][0]["part"], "database", "{text}");
        assert!(stderr.ends_with("error: 1 problem found\n"), "{stderr}");
        let refused = run(&["serve", "--data", "market", "--listen", "127.0.0.1:0"], directory);
        assert_eq!(refused.status.code(), Some(1));
        let stderr = String::from_utf8(refused.stderr).unwrap();
        assert!(
            stderr.contains("restore a backup to an empty directory with `marketplace restore`"),
            "{stderr}"
        );
    }
}

/// Buyers get the stored JSON of listings, so a changed byte of it is found.
#[test]
fn changed_json_of_a_listing_is_found_and_repaired() {
    let temp_dir = temp_dir();
    let directory = temp_dir.path();
    stdout_of(&run(&["seed", "--generate", "2", "--data", "market"], directory));
    let rows = rusqlite::Connection::open(directory.join("market/market.sqlite")).unwrap();
    let sql =
        "UPDATE listing_renderings SET item = CAST(replace(CAST(item AS TEXT), 'title', 'tidle') AS BLOB)
         WHERE listing = (SELECT min(listing) FROM listing_renderings)";
    assert_eq!(rows.execute(sql, []).unwrap(), 1);
    drop(rows);
    let (text, stderr) = verify_damaged(&[], directory);
    assert!(
        text.contains("index: the stored JSON of listing ") && stderr == "error: 1 problem found\n",
        "{text}"
    );
    stdout_of(&run(&["reindex", "--data", "market"], directory));
    assert_eq!(stdout_of(&run(&["verify", "--data", "market"], directory)), "no problems found\n");
}

/// A value that cannot be read is a problem, and no failure of the command.
#[test]
fn text_that_is_not_utf_8_is_a_problem() {
    let temp_dir = temp_dir();
    let directory = temp_dir.path();
    stdout_of(&run(&["seed", "--generate", "1", "--data", "market"], directory));
    let rows = rusqlite::Connection::open(directory.join("market/market.sqlite")).unwrap();
    assert_eq!(rows.execute("UPDATE listings SET description = CAST(x'6180' AS TEXT)", []).unwrap(), 1);
    drop(rows);
    let (text, _) = verify_damaged(&[], directory);
    assert!(text.contains("database: records cannot be read: "), "{text}");
}

/// Overwrites the first half of each file of the search index with one of these extensions.
fn overwrite_index(market: &Path, extensions: &[&str]) {
    let name = fs::read_to_string(market.join("index/CURRENT")).unwrap();
    for entry in fs::read_dir(market.join("index").join(name.trim())).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extensions.iter().any(|other| extension == *other)) {
            let mut bytes = fs::read(&path).unwrap();
            let half = bytes.len() / 2;
            bytes[..half].fill(0xff);
            fs::write(&path, bytes).unwrap();
        }
    }
}

#[test]
fn server_replaces_a_damaged_index_and_logs_it() {
    let temp_dir = temp_dir();
    let arguments = ["--demo", "--data", "market"];
    assert_eq!(Server::start(&arguments, temp_dir.path()).terminate(), 0);
    overwrite_index(&temp_dir.path().join("market"), &["idx", "pos"]);
    let (text, _) = verify_damaged(&[], temp_dir.path());
    assert!(
        text.contains(".idx has a wrong checksum") && text.contains("run `marketplace reindex`"),
        "{text}"
    );
    let mut server = Server::start(&arguments, temp_dir.path());
    let client = marketplace::http_client::blocking().unwrap().build().unwrap();
    let url = format!("http://{}/v2/listings/browse?query=cobol", server.1);
    wait_until("the index", || {
        let response = client.get(&url).bearer_auth("mkt_demo_buyer").send().unwrap();
        if response.status() == 503 {
            assert_eq!(response.headers()["retry-after"], "5");
            return false;
        }
        assert_eq!(response.status(), 200);
        true
    });
    for line in ["the search index is damaged", "the search index was rebuilt"] {
        server.2.wait_for(line);
    }
    // The server may commit meanwhile.
    let verified = run(&["verify", "--data", "market"], temp_dir.path());
    assert_eq!(stdout_of(&verified), "no problems found\n");
    assert_eq!(server.terminate(), 0);
}
