//! Commands on the operator API: on a data directory, and on a server without its data directory.

use std::{
    collections::HashMap,
    path::Path,
    process::{Command, Output},
};

use serde_json::{Value, json};
use tempfile::TempDir;
use uuid::Uuid;

use super::{Server, followed_events::Follower, marketplace, run, stdout_of, temp_dir};

/// A command line on a market with two teams, two assets, and a taskset with a task.
pub(super) struct Desk {
    pub(super) directory: TempDir,
    /// The server with the market, and the key for it; `None` if commands open the data directory.
    pub(super) server: Option<(Server, String)>,
}

impl Desk {
    /// Creates a market in a new directory.
    pub(super) fn local() -> Desk {
        let directory = temp_dir();
        let team = |key: &str, name: &str, role: &str| json!({"key": key, "name": name, "roles": [role], "tier": 1, "nda_accepted_at": "-P79D", "created_at": "-P79D"});
        let asset = |key: &str, title: &str| json!({"key": key, "team": "acme", "sku": "raw_data", "title": title, "description": "Scans.", "domain_tags": ["legal"], "price_usd": 90, "created_at": "-P75D", "raw_data": {}});
        let task = json!({"key": "form", "name": "Form", "external_id": "F-1", "created_at": "-P40D", "versions": [{
            "created_at": "-P39D", "current_state": "live", "lifecycle_stage": "accepted",
            "builds": [{"status": "succeeded", "created_at": "-P38D"}],
        }]});
        let set = json!({
            "teams": [team("acme", "Acme Data", "vendor"), team("beta", "Beta Labs", "buyer")],
            "assets": [asset("letters", "Letters"), asset("scans", "Scans")],
            "tasksets": [{"key": "forms", "team": "acme", "name": "Court forms", "created_at": "-P50D", "tasks": [task]}],
        });
        std::fs::write(directory.path().join("set.json"), set.to_string()).unwrap();
        stdout_of(&run(&["seed", "set.json"], directory.path()));
        Desk { directory, server: None }
    }

    /// Creates a market in a new directory, and starts a server on it.
    pub(super) fn remote() -> Desk {
        let Desk { directory, .. } = Desk::local();
        let key = stdout_of(&run(&["operator", "key", "desk"], directory.path())).trim().to_owned();
        let mut server = marketplace(&["serve", "--listen", "127.0.0.1:0"], directory.path());
        server.env(PRIVATE_WEBHOOKS.0, PRIVATE_WEBHOOKS.1);
        Desk { directory, server: Some((Server::spawn(server), key)) }
    }

    /// Returns a command. For a server, it runs in a directory without a market.
    pub(super) fn command(&self, arguments: &[&str]) -> Command {
        let Some((server, key)) = &self.server else {
            let mut command = marketplace(arguments, self.directory.path());
            command.env(PRIVATE_WEBHOOKS.0, PRIVATE_WEBHOOKS.1);
            return command;
        };
        let url = format!("http://{}", server.1);
        let mut command = marketplace(arguments, Path::new("/"));
        command.args(["--url", &url]).env("MARKETPLACE_OPERATOR_KEY", key);
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// Runs a command that must succeed, and returns what it prints without the line break.
    pub(super) fn print(&self, arguments: &[&str]) -> String {
        stdout_of(&self.run(arguments)).trim_end().to_owned()
    }

    pub(super) fn print_json(&self, arguments: &[&str]) -> Value {
        let text = self.print(&[arguments, &["--json"]].concat());
        serde_json::from_str(&text).unwrap_or_else(|cause| panic!("{arguments:?}: {cause}: {text}"))
    }
}

/// The setting that lets webhooks have private addresses.
const PRIVATE_WEBHOOKS: (&str, &str) = ("MARKETPLACE_WEBHOOKS_ALLOW_PRIVATE_ADDRESSES", "true");

/// An archive without files.
pub(super) const EMPTY_ZIP: &[u8; 22] = b"PK\x05\x06\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";

/// The output of commands, in a form that does not depend on the market: IDs are numbered in the order in which they are
/// printed first, and times and secrets are replaced.
struct Transcript<'a> {
    desk: &'a Desk,
    ids: HashMap<Uuid, usize>,
    printed: Vec<String>,
}

impl Transcript<'_> {
    fn normalize_word(&mut self, word: &str) -> String {
        if let Some((address, name)) = word.strip_suffix(".zip").and_then(|word| word.rsplit_once('/'))
            && address.starts_with("http://127.0.0.1")
        {
            return format!("UPLOADS/{}", self.normalize_word(name));
        }
        if let Ok(id) = Uuid::try_parse(word) {
            let next = self.ids.len();
            return format!("#{}", self.ids.entry(id).or_insert(next));
        }
        let is_time = word.len() >= 20 && word.as_bytes()[10] == b'T' && word.ends_with('Z');
        match word.split('_').next() {
            Some(kind @ ("mkt" | "whsec" | "evt")) if word.contains('_') => kind.to_uppercase(),
            _ if is_time => "TIME".to_owned(),
            _ => word.to_owned(),
        }
    }

    fn add(&mut self, arguments: &[&str], text: &str) {
        let is_in_word = |character: char| character.is_ascii_alphanumeric() || "_-:.+/=".contains(character);
        let mut normalized =
            format!("$ {}: ", arguments.iter().take(2).copied().collect::<Vec<_>>().join(" "));
        // The directory of the story differs.
        let directory = self.desk.directory.path().display().to_string();
        let text = text.replace(&directory, "DIR");
        normalized = normalized.replace(&directory, "DIR");
        for part in text.split_inclusive(|character| !is_in_word(character)) {
            let word = part.trim_end_matches(|character| !is_in_word(character) || ".:".contains(character));
            normalized.push_str(&self.normalize_word(word));
            normalized.push_str(&part[word.len()..]);
        }
        self.printed.push(normalized);
    }

    /// Runs a command with `--json`, and returns what it prints.
    fn json(&mut self, arguments: &[&str]) -> Value {
        let json = self.desk.print_json(arguments);
        self.add(arguments, &format!("{json:#}"));
        json
    }

    /// Runs a command with `--json` that prints a record, and returns its ID.
    fn id(&mut self, arguments: &[&str]) -> String {
        self.json(arguments)["id"].as_str().unwrap().to_owned()
    }

    /// Runs a command that prints a table or a text.
    fn text(&mut self, arguments: &[&str]) -> String {
        let text = self.desk.print(arguments);
        assert!(
            serde_json::from_str::<Value>(&text).is_err() || !text.contains('{'),
            "{arguments:?}: {text}"
        );
        self.add(arguments, &text);
        text
    }

    /// Runs a command that must fail, and returns its message.
    fn failure(&mut self, arguments: &[&str]) -> String {
        let output = self.desk.run(arguments);
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(1) && output.stdout.is_empty(), "{arguments:?}: {stderr}");
        self.add(arguments, &stderr);
        stderr
    }
}

/// Runs the story of a market, and returns what the commands printed.
fn run_story(desk: &Desk) -> Vec<String> {
    let mut to = Transcript { desk, ids: HashMap::new(), printed: Vec::new() };
    administer(&mut to);
    sell(&mut to);
    ask_for_data(&mut to);
    arrange(&mut to);
    upload(&mut to);
    send_events(&mut to);
    to.printed
}

fn administer(to: &mut Transcript) {
    assert_eq!(to.id(&["team", "show", "ACME data"]), to.id(&["team", "edit", "Acme Data", "--tier", "2"]));
    to.text(&["team", "create", "Gamma", "--role", "vendor"]);
    to.json(&["team", "accept-nda", "Gamma"]);
    assert!(to.failure(&["team", "show", "Gama"]).contains("Did you mean \"Gamma\"?"));
    to.text(&["team", "list"]);
    to.text(&["key", "create", "Acme Data", "--name", "ci"]);
    to.json(&["key", "expire", "ci", "2999-01-01T00:00:00Z"]);
    // The successor has the same name, but only one of both is active.
    let successor = to.json(&["key", "rotate", "ci"])["key"]["id"].clone();
    assert!(to.text(&["key", "revoke", "ci"]).contains(successor.as_str().unwrap()));
    assert!(to.failure(&["key", "expire", "ci", "never"]).contains("Several keys are named \"ci\""));
    to.text(&["key", "list", "Acme Data"]);
    // The token is a secret without a prefix.
    to.desk.print_json(&["grant", "create", "Acme Data", "--title", "Ledgers"]);
    to.text(&["grant", "revoke", "Ledgers"]);
    assert!(to.failure(&["grant", "revoke", "Ledgers"]).contains("No grant is called \"Ledgers\"."));
    to.json(&["grant", "list", "Acme Data"]);
    to.text(&["operator", "key", "create", "reader", "--read-only"]);
    to.text(&["operator", "key", "expire", "reader", "2999-01-01T00:00:00Z"]);
    to.json(&["operator", "key", "revoke", "reader"]);
}

fn sell(to: &mut Transcript) {
    let columns = to.text(&["asset", "list", "--team", "Acme Data"]);
    assert!(columns.starts_with("ID ") && columns.contains("Acme Data  Letters"), "{columns}");
    to.json(&["asset", "show", "letters"]);
    let create = ["listing", "create", "Acme Data", "--title", "Old letters", "--asset", "Letters"];
    let conditions =
        ["--price", "100", "--sample-price", "0", "--sample-asset", "Letters", "--description", "All."];
    let listing = to.id(&[&create[..], &conditions].concat());
    to.json(&["listing", "attach", "Old letters", "Scans"]);
    to.text(&["listing", "detach", "Old letters", "Scans"]);
    let edited =
        to.json(&["listing", "edit", "Old letters", "--terms", "One firm.", "--accepts-bids", "true"]);
    assert_eq!((&edited["id"], &edited["accepts_bids"]), (&json!(listing), &json!(true)));
    for (verb, stage) in [("submit", "review"), ("withdraw", "draft"), ("submit", "review")] {
        assert_eq!(to.text(&["listing", verb, "Old letters"]), stage);
    }
    assert_eq!(to.text(&["listing", "request-changes", "Old letters", "--note", "More."]), "draft");
    for verb in ["submit", "approve", "publish", "certify", "feature", "unfeature", "revoke"] {
        to.json(&["listing", verb, "Old letters"]);
    }
    assert!(to.failure(&["listing", "approve", "Old letters"]).contains("not allowed in stage `active`"));
    to.text(&["listing", "show", "Old letters"]);
    to.text(&["listing", "history", &listing]);
    to.json(&["listing", "list", "--team", "Acme Data", "--stage", "active"]);

    assert_eq!(to.text(&["credits", "buy", "Beta Labs", "500"]), "500.00");
    to.json(&["credits", "adjust", "Beta Labs", "-50", "--reason", "Booked twice"]);
    let offer = to.id(&["offer", "create", "Beta Labs", "Old letters", "80"]);
    to.text(&["offer", "edit", &offer, "--amount", "85"]);
    assert!(to.text(&["offer", "list", "--listing", "Old letters"]).contains("Beta Labs"));
    let accepted = to.json(&["offer", "accept", &offer]);
    assert!(to.failure(&["offer", "decline", &offer]).contains("allows no transition"));
    let purchase = accepted["purchase_id"].as_str().unwrap();
    assert!(to.text(&["purchase", "show", purchase]).contains("Acme Data"));
    to.text(&["purchase", "refund", purchase]);
    let create = ["purchase", "create", "Beta Labs", "Old letters", "--pay-with", "invoice"];
    for verb in ["complete", "cancel"] {
        let purchase = to.id(&create);
        to.json(&["purchase", verb, &purchase]);
        if verb == "complete" {
            to.text(&["purchase", "refund", &purchase]);
        }
    }
    to.text(&["purchase", "list", "--vendor", "Acme Data", "--buyer", "Beta Labs"]);
    to.text(&["credits", "show", "Beta Labs"]);
    to.json(&["credits", "show"]);
    to.text(&["ledger", "Beta Labs", "--limit", "3"]);
    to.json(&["ledger"]);
    for verb in ["unpublish", "archive", "restore"] {
        to.text(&["listing", verb, "Old letters"]);
    }
}

fn ask_for_data(to: &mut Transcript) {
    let create = ["opportunity", "create", "Beta Labs", "--title"];
    to.text(&[&create[..], &["Wanted", "--accepts", "raw_data"]].concat());
    to.json(&["opportunity", "edit", "Wanted", "--description", "Letters."]);
    to.json(&["opportunity", "exclude", "Wanted", "Gamma"]);
    assert_eq!(to.text(&["opportunity", "publish", "wanted"]), "published");
    assert!(to.failure(&["opportunity", "edit", "Wanted", "--title", "Other"]).contains("not allowed"));
    to.text(&["opportunity", "list", "--team", "Beta Labs"]);
    to.json(&["opportunity", "close", "Wanted"]);
    let project = to.id(&[&create[..], &["Project", "--project"]].concat());
    assert!(to.failure(&["opportunity", "show", "Project"]).contains("No opportunity is called \"Project\""));
    to.text(&["opportunity", "publish", "Project", "--project"]);
    let bid = to.id(&["bid", "create", "Acme Data", "Project", "--tasks", "5", "--days", "9"]);
    assert!(to.text(&["bid", "list", "--opportunity", &project]).contains("Acme Data"));
    for (verb, more) in [("accept", &[][..]), ("deliver", &["court forms"]), ("complete", &[])] {
        to.text(&[&["bid", verb, &bid], more].concat());
    }
    to.json(&["bid", "show", &bid]);
    to.text(&["taskset", "create", "Acme Data", "Empty"]);
    to.text(&["taskset", "list", "--team", "Acme Data"]);
    to.json(&["taskset", "show", "Empty"]);
    to.json(&["taskset", "imports", "Empty"]);
}

/// The taxonomy, and what the platform looks after.
fn arrange(to: &mut Transcript) {
    to.text(&["domain", "create", "tides", "Tide records"]);
    assert_eq!(to.json(&["domain", "edit", "tides", "--label", "Tides"])["label"], "Tides");
    to.text(&["domain", "show", "tides"]);
    assert_eq!(to.text(&["domain", "list", "--limit", "2"]).lines().count(), 3);
    to.json(&["content-tag", "create", "ebb", "Ebb"]);
    to.text(&["content-tag", "edit", "ebb", "--label", "Ebb and flow"]);
    assert_eq!(to.json(&["content-tag", "list", "--limit", "1"])[0]["label"], "Ebb and flow");
    let words = ["--description", "Has a value for each hour.", "--category", "Resolution"];
    to.text(&[&["inventory-tag", "create", "hourly", "Hourly"], &words[..]].concat());
    to.json(&["inventory-tag", "edit", "hourly", "--category", "Time"]);
    assert!(to.text(&["inventory-tag", "list", "--category", "Time"]).contains("hourly"));
    to.text(&["asset-type", "list"]);
    assert_eq!(to.json(&["asset-type", "disable", "raw_data"])["enabled"], false);
    to.text(&["asset-type", "enable", "raw_data"]);
    assert!(to.failure(&["asset-type", "retire", "raw_data"]).contains("not allowed"));
    to.text(&[
        "asset-type",
        "deprecate",
        "raw_data",
        "--retires",
        "2999-01-01T00:00:00Z",
        "--message",
        "Later.",
    ]);

    assert!(to.failure(&["withdrawal", "create", "Acme Data", "100000"]).contains("earnings"));
    to.text(&["withdrawal", "list", "--status", "paid"]);
    assert_eq!(to.json(&["credits", "purchases", "--team", "Beta Labs"])[0]["amount"], "500.00");
    let adjusted = to.json(&["credits", "adjustments", "--limit", "1"])[0]["id"].clone();
    assert!(to.text(&["credits", "adjustments", adjusted.as_str().unwrap()]).contains("Booked twice"));
    to.text(&["credits", "conversions"]);
    let entry = to.json(&["ledger", "--type", "adjustment", "--limit", "1"])[0]["id"].clone();
    assert!(to.text(&["ledger", "--entry", entry.as_str().unwrap()]).contains("Booked twice"));

    let task = to.json(&["task", "list", "Court forms"])[0]["id"].as_str().unwrap().to_owned();
    to.text(&["task", "show", &task]);
    let version = to.json(&["task", "versions", &task, "--limit", "1"])[0]["id"].as_str().unwrap().to_owned();
    to.text(&["task", "version", &version]);
    let build = to.id(&["task", "create-build", &version, "queued"]);
    assert_eq!(to.json(&["task", "edit-build", &build, "failed"])["status"], "failed");
    to.text(&["task", "builds", &version]);
    to.text(&["task", "build", &build]);
    let new = to.id(&["task", "create", "Court forms", "Letter", "--external-id", "L-1", "--tag", "short"]);
    to.text(&["task", "create-version", &new, "--state", "draft", "--brief", "{\"prompt\": \"Write.\"}"]);
    to.text(&["task", "delete", &new]);
    assert_eq!(to.text(&["task", "list", "Court forms", "--deleted", "true"]).lines().count(), 2);

    let found = to.json(&["notification", "list", "--team", "Acme Data", "--unread", "true", "--limit", "1"]);
    let found = found[0]["id"].as_str().unwrap();
    to.text(&["notification", "show", found]);
    assert_eq!(to.text(&["notification", "read", found]), "read");
    let key = to.json(&["key", "list", "Acme Data", "--limit", "1"])[0]["id"].as_str().unwrap().to_owned();
    to.text(&["key", "show", &key]);
    to.text(&["operator", "key", "show", "reader"]);
    to.text(&["quality-run", "list", "--asset", "Letters"]);
    assert!(to.failure(&["quality-run", "create", "--asset", "Letters"]).contains("data"));
    to.text(&["estimation", "list", "--team", "Acme Data"]);
    to.text(&["job", "list", "--state", "failed"]);
    assert!(to.failure(&["job", "retry", "999999"]).contains("No job was found."));
    let setting = to.json(&["settings", "quotas.upload_gb"]);
    assert_eq!(setting[0]["value"], setting[0]["default"]);
    assert!(to.desk.print(&["settings", "--changed"]).contains("webhooks.allow_private_addresses"));
    assert_eq!(to.text(&["settings", "--limit", "3"]).lines().count(), 4);
    assert!(to.failure(&["settings", "quota."]).contains("no setting begins with \"quota.\""));
    assert!(to.desk.print(&["status"]).contains("closed teams:        0"), "{}", to.desk.print(&["status"]));
    let audit = to.desk.print(&["audit", "--operation", "update_domain", "--limit", "1"]);
    assert!(audit.lines().nth(1).unwrap().contains("tides"), "{audit}");
    // Names are compared with those of the documents and of the entries.
    for (operation, expected) in [
        ("update_domian", "is called \"update_domian\". Did you mean \"update_domain\"?"),
        ("zzz", "is called \"zzz\".\n"),
        ("close_team", ""),
    ] {
        let output = to.desk.run(&["audit", "--operation", operation]);
        let note = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success() && note.contains(expected), "{operation}: {note}");
        assert_eq!(note.contains("no operation"), !expected.is_empty(), "{operation}: {note}");
    }
}

/// Uploads a zip.
fn upload(to: &mut Transcript) {
    let zip = to.desk.directory.path().join("empty.zip");
    std::fs::write(&zip, EMPTY_ZIP).unwrap();
    let zip = zip.to_str().unwrap();
    let url = to.desk.print(&["upload", zip, "--team", "Acme Data"]);
    assert!(url.starts_with("http://127.0.0.1:") && url.contains("/v2/blobs/uploads/"), "{url}");
    let uploaded = to.json(&["upload", zip, "--team", "acme data"]);
    assert_eq!((&uploaded["size_bytes"], &uploaded["file_name"]), (&json!(22), &json!("empty.zip")));
    assert_eq!(to.text(&["upload", "list", "--team", "Acme Data"]).lines().count(), 1);
    assert!(to.failure(&["upload", zip, "--team", "Acme"]).contains("Did you mean \"Acme Data\"?"));
    assert!(to.failure(&["upload", "/dev/null", "--team", "Acme Data"]).contains("and not a regular file"));
    let absent = "00000000-0000-0000-0000-000000000000";
    for verb in ["show", "cancel"] {
        assert!(to.failure(&["upload", verb, absent]).contains("No upload in progress was found."));
    }
}

fn send_events(to: &mut Transcript) {
    // The URL of the webhook must not be taken for that of the server. Nothing is sent to it, since no such event occurs.
    let hook = "http://127.0.0.1:9/hook";
    to.text(&["webhook", "create", hook, "--team", "Acme Data", "--type", "estimation.completed"]);
    to.text(&["webhook", "list", "--team", "Acme Data"]);
    to.json(&["webhook", "edit", hook, "--endpoint", "http://127.0.0.1:9/new"]);
    assert!(to.failure(&["webhook", "show", hook]).contains("Did you mean \"http://127.0.0.1:9/new\"?"));
    let hook = "http://127.0.0.1:9/new";
    to.text(&["webhook", "show", hook]);
    for verb in ["disable", "enable", "rotate", "deliveries", "delete"] {
        to.json(&["webhook", verb, hook]);
    }
    let types = ["--type", "team.created", "--type", "listing.published", "--type", "offer.accepted"];
    to.text(&[&["events", "--limit", "9"], &types[..]].concat());
    to.json(&[&["events", "--team", "Acme Data"], &types[..]].concat());
}

#[test]
fn commands_do_the_same_on_a_data_directory_and_on_a_server() {
    let (local, remote) = std::thread::scope(|scope| {
        let local = scope.spawn(|| run_story(&Desk::local()));
        let remote = run_story(&Desk::remote());
        (local.join().unwrap(), remote)
    });
    assert_eq!(local.len(), remote.len());
    let different: Vec<_> = local.iter().zip(&remote).filter(|(local, remote)| local != remote).collect();
    assert!(different.is_empty(), "{different:#?}");
}

#[test]
fn traces_are_imported_through_a_server() {
    let desk = Desk::remote();
    let trace = |id: u128, task: &str| {
        json!({
            "trace_id": Uuid::from_u128(id), "external_id": task, "version": 1, "build_version": 1, "reward": 1,
            "graded_at": "2026-02-01T00:00:00Z",
        })
    };
    let lines = [trace(1, "F-1"), trace(2, "F-1"), trace(3, "F-2")].map(|line| format!("{line}\n")).concat();
    let file = desk.directory.path().join("traces.jsonl");
    std::fs::write(&file, lines).unwrap();
    let file = file.to_str().unwrap();
    let started = desk.print_json(&["taskset", "import", "court forms", file]);
    let mut follower = Follower::start(&desk, &["--json", "--type", "traces.imported"]);
    follower.next_event();
    let imports = desk.print_json(&["taskset", "imports", "Court forms"]);
    let counts = ["status", "inserted", "existing", "rejected"].map(|field| &imports[0][field]);
    assert_eq!(counts, [&json!("completed"), &json!(2), &json!(0), &json!(1)]);
    assert_eq!(imports[0]["id"], started["id"]);
    for (arguments, expected) in [
        (["taskset", "import", "Court forms", "none.jsonl"], "cannot read none.jsonl"),
        (["taskset", "import", "Court", file], "Did you mean \"Court forms\"?"),
    ] {
        let output = desk.run(&arguments);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(1) && stderr.contains(expected), "{arguments:?}: {stderr}");
    }
}

#[test]
fn traces_are_imported_on_a_data_directory() {
    let desk = Desk::local();
    let file = desk.directory.path().join("traces.jsonl");
    std::fs::write(&file, "not a trace\n".repeat(1000)).unwrap();
    let id = desk.print(&["taskset", "import", "Court forms", "traces.jsonl"]);
    let table = desk.print(&["taskset", "imports", "Court forms"]);
    assert!(table.lines().nth(1).unwrap().starts_with(&id), "{table}");
}

#[test]
fn problems_with_the_server_say_what_to_do() {
    let desk = Desk::remote();
    let (server, key) = desk.server.as_ref().unwrap();
    let url = &format!("http://{}", server.1);
    let team_key = desk.print(&["key", "create", "Acme Data"]);
    let read_key = desk.print(&["operator", "key", "create", "reader", "--read-only"]);
    let elsewhere = temp_dir();
    let run = |url: &str, key: &str, arguments: &[&str]| {
        let mut command = marketplace(arguments, elsewhere.path());
        command.args(["--url", url]).env("MARKETPLACE_OPERATOR_KEY", key);
        let output = command.output().unwrap();
        (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    let list = &["team", "list"][..];
    for (url, key, arguments, code, expected) in [
        (url.as_str(), "", list, 2, "MARKETPLACE_OPERATOR_KEY must contain an operator key"),
        (url, "mkt_op_a\nmkt_op_b", list, 2, "does not contain one key"),
        (url, "mkt_op_wrong", list, 1, "The API key is invalid."),
        (url, &team_key, list, 1, "Use an operator key."),
        (url, &read_key, &["team", "create", "New"], 1, "Use one whose scope is `all`."),
        (url, key, &["team", "list", "--data", "data"], 2, "--url and --data exclude each other"),
        ("127.0.0.1:8080", key, list, 2, "begin with http:// or https://"),
        (&format!("{url}?a=b"), key, list, 2, "must not have a query"),
        (&format!("{url}/market"), key, list, 1, "responded with status 404"),
        (&url.replace("http", "https"), key, list, 1, "cannot connect to https://127.0.0.1:"),
        ("http://name.invalid", key, list, 1, "the operator key is sent to name.invalid unencrypted"),
    ] {
        let (actual, stderr) = run(url, key, arguments);
        assert!(actual == code && stderr.contains(expected), "{url} {arguments:?}: {actual} {stderr}");
        assert!(!stderr.contains("mkt_op"), "no message contains the key: {stderr}");
    }
    // Surrounding characters of a key or a URL from a file or the documentation are ignored.
    for (url, key) in [(format!("{url}/"), format!(" {key}\n")), (format!("{url}/operator/v1"), key.clone())]
    {
        assert_eq!(run(&url, &key, &["team", "show", "Acme Data"]), (0, String::new()), "{url}");
    }
}

#[test]
fn named_data_directory_takes_precedence_over_the_variable() {
    let desk = Desk::local();
    let data = desk.directory.path().join("data");
    let mut command = marketplace(&["team", "list", "--data", data.to_str().unwrap()], Path::new("/"));
    command.env("MARKETPLACE_OPERATOR_URL", "http://name.invalid");
    assert!(stdout_of(&command.output().unwrap()).contains("Acme Data"));
    let mut command = marketplace(&["team", "list"], desk.directory.path());
    command.env("MARKETPLACE_OPERATOR_URL", "http://127.0.0.1:1").env("MARKETPLACE_OPERATOR_KEY", "mkt_op_a");
    let output = command.output().unwrap();
    assert!(String::from_utf8_lossy(&output.stderr).contains("cannot connect to http://127.0.0.1:1"));
}
