//! What operators see when they administer a market: messages, lists, completions, and manual pages.

use std::{os::unix::fs::PermissionsExt, process::Command, sync::Mutex};

use marketplace::{
    operations::{self, index_checks::IndexCheck},
    search::Progress,
};
use serde_json::{Value, json};

use super::{Server, marketplace, run, run_failing, stdout_of, temp_dir};
use crate::harness::{TestMarket, archives::zip_of, records::demo_records, uploads::import_zip};

#[test]
fn unknown_team_is_reported_with_the_most_similar_one() {
    let temp_dir = temp_dir();
    let directory = temp_dir.path();
    stdout_of(&run(&["team", "create", "Acme Data"], directory));
    stdout_of(&run(&["team", "create", "Zenith"], directory));
    for (name, expected) in [
        ("Acme Dat", "error: No team is called \"Acme Dat\". Did you mean \"Acme Data\"?\n"),
        ("acmedata", "error: No team is called \"acmedata\". Did you mean \"Acme Data\"?\n"),
        ("Quux", "error: No team is called \"Quux\".\n"),
    ] {
        assert_eq!(run_failing(&["key", "create", name], directory), (1, expected.to_owned()));
    }
}

#[test]
fn unknown_value_is_reported_with_the_most_similar_one() {
    let temp_dir = temp_dir();
    for (arguments, expected) in [
        (["events", "--type", "listing.publishd"], "'--type <TYPE>': did you mean \"listing.published\"?"),
        (["events", "--type", "x"], "'--type <TYPE>': must be one of listing.created, listing.updated, "),
        (["job", "list", "--state=Waiting"], "'--state <STATE>': did you mean \"waiting\"?"),
    ] {
        let (code, stderr) = run_failing(&arguments, temp_dir.path());
        assert!(code == 2 && stderr.contains(expected), "{arguments:?}: {stderr}");
    }
}

/// In the path of a request, some characters end a slug, and others lead to records of another kind.
#[test]
fn text_that_is_no_slug_names_no_label() {
    let temp_dir = temp_dir();
    let directory = temp_dir.path();
    stdout_of(&run(&["team", "create", "Acme Data"], directory));
    stdout_of(&run(&["domain", "create", "tides", "Tides"], directory));
    for slug in ["tides#x", "tides?x", "tides/../tides", "../teams", "a b", ""] {
        let (code, stderr) = run_failing(&["domain", "edit", slug, "--label", "Other"], directory);
        assert!(code == 2 && stderr.contains("is no ID or slug"), "{slug}: {code} {stderr}");
    }
    assert!(stdout_of(&run(&["domain", "show", "tides"], directory)).contains("Tides"));
}

#[test]
fn team_names_are_unique_regardless_of_case() {
    let temp_dir = temp_dir();
    let directory = temp_dir.path();
    let id = stdout_of(&run(&["team", "create", "Élan Data"], directory));
    for name in ["Élan Data", "élan data", "ÉLAN DATA"] {
        let (code, stderr) = run_failing(&["team", "create", name], directory);
        assert!(code == 1 && stderr.contains("There is already a team \"Élan Data\""), "{name}: {stderr}");
        assert!(stderr.contains(id.trim()), "{stderr}");
    }
    let shown = stdout_of(&run(&["team", "show", "élan DATA", "--json"], directory));
    assert_eq!(serde_json::from_str::<Value>(&shown).unwrap()["id"], id.trim());
    std::fs::write(
        directory.join("set.json"),
        r#"{"teams": [{"key": "a", "name": "ÉLAN data", "roles": ["buyer"], "tier": 1, "created_at": "-P9D"}]}"#,
    )
    .unwrap();
    let (code, stderr) = run_failing(&["seed", "set.json"], directory);
    assert!(code == 1 && stderr.contains("is the name of another team"), "{stderr}");
}

#[test]
fn end_of_what_is_announced_is_json_on_request() {
    let temp_dir = temp_dir();
    let directory = temp_dir.path();
    stdout_of(&run(&["team", "create", "Acme Data"], directory));
    let json = |arguments: &[&str]| {
        let printed = stdout_of(&run(&[arguments, &["--json"]].concat(), directory));
        serde_json::from_str::<Value>(&printed).unwrap()
    };
    assert_eq!(json(&["announcement", "set", "Tomorrow"])["text"], "Tomorrow");
    assert_eq!(json(&["announcement", "delete"])["text"], Value::Null);
    assert_eq!(json(&["maintenance", "start"])["enabled"], true);
    assert_eq!(json(&["maintenance", "end"])["enabled"], false);
    assert_eq!(stdout_of(&run(&["maintenance", "end"], directory)), "ended\n");
}

#[test]
fn roles_are_removed_only_on_request() {
    let temp_dir = temp_dir();
    let directory = temp_dir.path();
    stdout_of(&run(&["team", "create", "Acme Data", "--role", "vendor"], directory));
    for options in [&[][..], &["--no-roles", "--role", "buyer"]] {
        let (code, stderr) = run_failing(&[&["team", "edit", "Acme Data"], options].concat(), directory);
        assert_eq!(code, 2, "{stderr}");
    }
    let edit = |options: &[&str]| {
        let edited =
            stdout_of(&run(&[&["team", "edit", "Acme Data", "--json"], options].concat(), directory));
        serde_json::from_str::<Value>(&edited).unwrap()
    };
    assert_eq!(edit(&["--role", "buyer"])["roles"], json!(["buyer"]));
    assert_eq!(edit(&["--no-roles"])["roles"], json!([]));
    let edited = edit(&["--tier", "3", "--payout", "IBAN DE00"]);
    assert_eq!((&edited["tier"], &edited["payout_setup"]), (&json!(3), &json!("IBAN DE00")));
    let edited = edit(&["--payout", "", "--name", "Acme"]);
    assert_eq!((&edited["name"], &edited["payout_setup"]), (&json!("Acme"), &Value::Null));
}

#[test]
fn existing_names_that_differ_only_in_case_stay() {
    let temp_dir = temp_dir();
    let directory = temp_dir.path();
    let ids = ["Acme Data", "Beta"].map(|name| stdout_of(&run(&["team", "create", name], directory)));
    let rows = rusqlite::Connection::open(directory.join("data/market.sqlite")).unwrap();
    rows.execute("UPDATE teams SET name = 'ACME data', name_key = 'acme data' WHERE name = 'Beta'", [])
        .unwrap();
    drop(rows);
    for (name, id) in ["Acme Data", "ACME data"].iter().zip(&ids) {
        let shown = stdout_of(&run(&["team", "show", name, "--json"], directory));
        let team: Value = serde_json::from_str(&shown).unwrap();
        assert_eq!((&team["name"], &team["id"]), (&Value::from(*name), &Value::from(id.trim())));
    }
    let (code, stderr) = run_failing(&["team", "show", "acme DATA"], directory);
    assert!(code == 1 && ids.iter().all(|id| stderr.contains(id.trim())), "{stderr}");
    assert!(stdout_of(&run(&["verify"], directory)).contains("no problems found"));
}

#[test]
fn key_that_has_expired_is_not_created() {
    let temp_dir = temp_dir();
    let directory = temp_dir.path();
    stdout_of(&run(&["team", "create", "Acme Data"], directory));
    let create = |at: &str| run(&["key", "create", "Acme Data", "--expires", at], directory);
    let output = create("2020-01-01T00:00:00Z");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr.contains("would have expired at 2020-01-01T00:00:00.000Z"), "{stderr}");
    stdout_of(&create("9999-01-01T00:00:00Z"));
    let keys = stdout_of(&run(&["key", "list", "Acme Data", "--json"], directory));
    assert_eq!(serde_json::from_str::<Value>(&keys).unwrap().as_array().unwrap().len(), 1);
}

#[test]
fn port_alone_and_localhost_are_addresses_to_listen_on() {
    let temp_dir = temp_dir();
    for listen in ["0", "localhost:0"] {
        let server = Server::spawn(marketplace(&["serve", "--demo", "--listen", listen], temp_dir.path()));
        assert!(server.1.starts_with("127.0.0.1:"), "{}", server.1);
    }
}

#[test]
fn directory_that_cannot_be_written_to_is_named() {
    let temp_dir = temp_dir();
    // Even root cannot create files there.
    let arguments = ["team", "create", "Acme Data", "--data", "/sys/kernel/marketplace-test"];
    let (code, stderr) = run_failing(&arguments, temp_dir.path());
    assert_eq!(code, 1);
    let is_named = stderr.contains("the directory /sys/kernel/marketplace-test ");
    assert!(is_named && stderr.contains("; make it writable, or choose another one"), "{stderr}");
}

#[test]
fn every_list_is_a_table_or_json() {
    let temp_dir = temp_dir();
    let directory = temp_dir.path();
    stdout_of(&run(&["team", "create", "Acme Data", "--role", "vendor", "--nda"], directory));
    stdout_of(&run(&["key", "create", "Acme Data", "--name", "ci"], directory));
    stdout_of(&run(&["grant", "create", "Acme Data", "--title", "Billing core"], directory));
    for (command, heading, name) in [
        (&["team", "list"][..], "ID ", "Acme Data"),
        (&["key", "list", "Acme Data"], "ID ", "ci"),
        (&["grant", "list", "Acme Data"], "ID ", "Billing core"),
    ] {
        let table = stdout_of(&run(command, directory));
        let lines: Vec<&str> = table.lines().collect();
        assert!(lines.len() == 2 && lines[0].starts_with(heading), "{table}");
        let column = lines[0].find(if command[0] == "grant" { "TITLE" } else { "NAME" }).unwrap();
        assert!(lines[1][column..].starts_with(name), "{table}");
        let json = stdout_of(&run(&[command, &["--json"]].concat(), directory));
        let records: Value = serde_json::from_str(&json).unwrap();
        assert_eq!(records.as_array().unwrap().len(), 1);
        let field = if command[0] == "grant" { "title" } else { "name" };
        assert_eq!(records[0][field], name, "{json}");
    }
}

#[test]
fn completions_and_manual_pages_name_every_command() {
    let temp_dir = temp_dir();
    let directory = temp_dir.path();
    for shell in ["bash", "zsh", "fish"] {
        let script = stdout_of(&run(&["completions", shell], directory));
        assert!(script.contains("accept-nda") && script.contains("reindex"), "{shell}");
        for option in ["config", "data", "version"] {
            assert!(script.contains(option), "{shell}: {option}");
        }
        for hidden in ["read-untrusted", "run-litestream"] {
            assert!(!script.contains(hidden), "{shell}: {hidden}");
        }
    }
    stdout_of(&run(&["man", "."], directory));
    for page in ["marketplace.1", "marketplace-backup.1", "marketplace-key-create.1"] {
        assert!(std::fs::read_to_string(directory.join(page)).unwrap().contains(".TH"), "{page}");
    }
    stdout_of(&run(&["man", "share/man/man1"], directory));
    assert!(directory.join("share/man/man1/marketplace.1").is_file(), "the directory is created");
    // Also those of root are for all users.
    let mut shell = Command::new("sh");
    shell.args(["-c", "umask 022 && exec \"$PROGRAM\" man pages"]).current_dir(directory).env_clear();
    stdout_of(&shell.env("PROGRAM", env!("CARGO_BIN_EXE_marketplace")).output().unwrap());
    let mode = |path: &str| std::fs::metadata(directory.join(path)).unwrap().permissions().mode() & 0o777;
    assert_eq!(["pages", "pages/marketplace.1"].map(mode), [0o755, 0o644]);
    let (code, stderr) = run_failing(&["man", "marketplace.1/pages"], directory);
    assert!(code == 1 && stderr.contains("cannot write manual pages to marketplace.1/pages"), "{stderr}");
}

/// What was reported: how much is done, of how much.
#[derive(Default)]
struct Reported(Mutex<Vec<(u64, u64)>>);

impl Progress for Reported {
    fn advance(&self, done: u64, total: u64) {
        self.0.lock().unwrap().push((done, total));
    }
}

impl Reported {
    /// Asserts that the progress went from less than `total` to `total` in several steps.
    fn assert_complete(self, total: u64) {
        let steps = self.0.into_inner().unwrap();
        assert!(steps.len() > 1 && steps[0].0 < total, "{steps:?}");
        assert!(steps.is_sorted() && steps.iter().all(|step| step.1 == total), "{steps:?}");
        assert_eq!(steps.last(), Some(&(total, total)));
    }
}

#[test]
fn verifying_reports_its_progress() {
    let market = TestMarket::demo();
    let text = "one line of many\n".repeat(1 << 16);
    let team = demo_records().find("teams", demo_records().team_of("mkt_demo_vendor"));
    let zip = zip_of(&[("a.txt", &text), ("b.txt", &text)]);
    import_zip(market.market(), team["name"].as_str().unwrap(), &zip);
    let rows = rusqlite::Connection::open(market.market().data_dir().join("market.sqlite")).unwrap();
    let get = |sql: &str| rows.query_row(sql, [], |row| row.get::<_, u64>(0)).unwrap();
    let (listings, rebuilt, bytes) = (Reported::default(), Reported::default(), Reported::default());
    let index = IndexCheck { is_deep: true, listings: &listings, rebuilt: &rebuilt };
    assert!(operations::verify::check(market.market(), index, &bytes).unwrap().is_empty());
    rebuilt.assert_complete(get("SELECT count(*) FROM listings"));
    listings.assert_complete(get("SELECT count(*) FROM listings"));
    bytes.assert_complete(get("SELECT sum(size_bytes) FROM uploads"));
}
