//! The command line as users see it: the real binary, its exit codes, and its messages.

use std::{
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Child, Command, Output, Stdio},
};

use serde_json::{Value, json};
use tempfile::TempDir;

fn marketplace(arguments: &[&str], folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_marketplace"));
    command.args(arguments).current_dir(folder).env_clear();
    command
}

fn run(arguments: &[&str], folder: &Path) -> Output {
    marketplace(arguments, folder).output().unwrap()
}

/// Runs a command and returns its exit code and its standard error.
fn failure(arguments: &[&str], folder: &Path) -> (i32, String) {
    let output = run(arguments, folder);
    (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
}

fn said(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// A server, and the address in the first line of its output.
struct Server(Child, String);

impl Server {
    fn start(arguments: &[&str], folder: &Path) -> Server {
        let arguments = [&["serve", "--listen", "127.0.0.1:0"], arguments].concat();
        let mut command = marketplace(&arguments, folder);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("listening on http://").expect("an address").to_owned();
        Server(child, address)
    }

    fn terminate(mut self) -> i32 {
        assert!(Command::new("kill").arg(self.0.id().to_string()).status().unwrap().success());
        self.0.wait().unwrap().code().unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

#[test]
fn every_command_has_help_with_an_example() {
    let folder = folder();
    let commands: [&[&str]; 16] = [
        &[],
        &["serve"],
        &["seed"],
        &["reindex"],
        &["verify"],
        &["openapi"],
        &["team", "create"],
        &["team", "list"],
        &["team", "show"],
        &["team", "accept-nda"],
        &["key", "create"],
        &["key", "list"],
        &["key", "revoke"],
        &["upload"],
        &["help", "serve"],
        &["help", "seed"],
    ];
    for command in commands {
        let arguments = [command, if command.first() == Some(&"help") { &[] } else { &["--help"] }].concat();
        let help = said(&run(&arguments, folder.path()));
        assert!(help.contains("Example"), "{arguments:?}: {help}");
        assert!(!help.contains('\u{1b}'), "colors are only for terminals: {arguments:?}");
    }
}

#[test]
fn wrong_usage_is_2_and_failure_is_1() {
    let folder = folder();
    let place = folder.path();
    std::fs::write(place.join("bad.toml"), "[server]\nlisten = 3\n").unwrap();
    std::fs::write(place.join("file"), "").unwrap();
    std::fs::write(place.join("set.json"), r#"{"teams": [{"key": "a"}]}"#).unwrap();
    for (arguments, code, expected) in [
        (&["sreve"][..], 2, "unrecognized subcommand"),
        (&["seed"], 2, "required"),
        (&["serve", "--listen", "nowhere"], 2, "invalid value"),
        (&["reindex", "--config", "bad.toml"], 2, "bad.toml:2: server.listen must be of type string"),
        (&["reindex", "--config", "none.toml"], 2, "cannot read settings file none.toml"),
        (&["reindex"], 1, "there is no market in data"),
        (&["verify", "--data", "elsewhere"], 1, "there is no market in elsewhere"),
        (&["serve", "--data", "file"], 1, "the directory file cannot be used"),
        (&["seed", "set.json"], 1, "set.json: teams \"a\": the record: missing field"),
        (&["seed", "none.json"], 1, "none.json: No such file"),
        (&["team", "create", " "], 1, "A team name must have 1 to 120 characters"),
    ] {
        let (actual, stderr) = failure(arguments, place);
        assert_eq!(actual, code, "{arguments:?}: {stderr}");
        assert!(stderr.contains(expected), "{arguments:?}: {stderr}");
        assert!(!stderr.contains('\u{1b}'), "colors are only for terminals: {stderr}");
    }
}

#[test]
fn a_market_is_kept_by_commands() {
    let folder = folder();
    let place = folder.path();
    let team = said(&run(&["team", "create", "Acme Data", "--role", "vendor", "--role", "buyer"], place));
    assert!(uuid::Uuid::try_parse(team.trim()).is_ok());
    assert_eq!(failure(&["team", "create", "Acme Data"], place).0, 1);
    said(&run(&["team", "accept-nda", "Acme Data"], place));
    assert!(said(&run(&["team", "list"], place)).contains("Acme Data"));
    let shown = said(&run(&["team", "show", team.trim()], place));
    assert!(shown.contains("vendor, buyer") && shown.contains("accepted"), "{shown}");
    let key = said(&run(&["key", "create", "Acme Data", "--name", "ci"], place));
    assert!(key.starts_with("mkt_") && key.trim().len() == 44, "{key}");
    let listed = said(&run(&["key", "list", "Acme Data"], place));
    assert!(listed.contains("ci") && !listed.contains(key.trim()));
    let id = listed.split_whitespace().next().unwrap();
    said(&run(&["key", "revoke", id], place));
    assert!(said(&run(&["key", "list", "Acme Data"], place)).contains("revoked"));
    assert!(said(&run(&["reindex"], place)).contains("indexed 0 listings"));
    assert!(said(&run(&["verify"], place)).contains("no problems found"));
}

#[test]
fn a_server_says_where_it_listens_and_stops_when_told() {
    let folder = folder();
    let server = Server::start(&["--demo"], folder.path());
    let (code, stderr) = failure(&["serve", "--listen", &server.1], folder.path());
    assert_eq!(code, 1);
    assert!(stderr.contains("is already in use") && stderr.trim().lines().count() == 1, "{stderr}");
    assert_eq!(server.terminate(), 0);
}

#[test]
fn a_folder_has_one_server() {
    let folder = folder();
    let server = Server::start(&["--demo", "--data", "market"], folder.path());
    let second = ["serve", "--listen", "127.0.0.1:0", "--data", "market"];
    let (code, stderr) = failure(&second, folder.path());
    assert_eq!(code, 1);
    assert!(stderr.contains("another `marketplace serve` is running on market"), "{stderr}");
    assert_eq!(server.terminate(), 0);
    // A demo market can be served again, but `--demo` does not work on a directory with another market.
    assert_eq!(Server::start(&["--demo", "--data", "market"], folder.path()).terminate(), 0);
    said(&run(&["team", "create", "Acme Data", "--data", "own"], folder.path()));
    let (code, stderr) =
        failure(&["serve", "--listen", "127.0.0.1:0", "--demo", "--data", "own"], folder.path());
    assert_eq!(code, 1);
    assert!(stderr.contains("already contains another market"), "{stderr}");
}

#[test]
fn an_upload_is_copied_and_its_address_printed() {
    let folder = folder();
    let at = folder.path();
    said(&run(&["team", "create", "Acme Data", "--role", "vendor", "--nda"], at));
    std::fs::write(at.join("scans.zip"), b"PK\x05\x06\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0").unwrap();
    std::fs::write(at.join("notes.txt"), b"Not a zip.").unwrap();
    let url = said(&run(&["upload", "scans.zip", "--team", "Acme Data"], at));
    let name = url.trim().strip_prefix("http://127.0.0.1:8080/v2/blobs/uploads/").unwrap().to_owned();
    let blob = at.join("data/blobs/uploads").join(&name);
    assert_eq!(std::fs::read(&blob).unwrap(), std::fs::read(at.join("scans.zip")).unwrap());
    said(&run(&["verify"], at));
    for (arguments, says) in [
        (["upload", "notes.txt", "--team", "Acme Data"], "is not a zip file"),
        (["upload", "none.zip", "--team", "Acme Data"], "cannot read none.zip"),
        (["upload", "scans.zip", "--team", "Nobody"], "Nobody"),
    ] {
        let (code, words) = failure(&arguments, at);
        assert!(code == 1 && words.contains(says), "{arguments:?}: {code} {words}");
    }
    assert_eq!(
        std::fs::read_dir(at.join("data/blobs/uploads")).unwrap().count(),
        1,
        "the failed uploads leave no files"
    );
    std::fs::write(&blob, b"PK\x05\x06").unwrap();
    let output = run(&["verify"], at);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stdout).contains("differs from the received file"), "{output:?}");
}

/// Runs `marketplace mcp` with these messages on standard input. Returns the messages that it prints, and
/// stderr.
fn speak(arguments: &[&str], key: Option<&str>, folder: &Path, said: &[Value]) -> (Vec<Value>, String) {
    let mut command = marketplace(&[&["mcp"], arguments].concat(), folder);
    if let Some(key) = key {
        command.env("MARKETPLACE_API_KEY", key);
    }
    let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut process = piped.spawn().unwrap();
    let mut input = process.stdin.take().unwrap();
    for message in said {
        writeln!(input, "{message}").unwrap();
    }
    drop(input);
    let output = process.wait_with_output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{stderr}");
    let lines = String::from_utf8(output.stdout).unwrap();
    (lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect(), stderr)
}

/// Returns the messages of an MCP session: the initialization, then these calls.
fn session(calls: &[(&str, Value)]) -> Vec<Value> {
    let hello = json!({
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"},
    });
    let mut said = vec![
        json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
    ];
    said.extend(calls.iter().enumerate().map(|(place, (method, params))| {
        json!({"jsonrpc": "2.0", "id": place + 1, "method": method, "params": params})
    }));
    said
}

#[test]
fn agents_are_served_over_stdio_with_and_without_a_server() {
    let folder = folder();
    let place = folder.path();
    let calls = [
        ("tools/list", json!({})),
        ("tools/call", json!({"name": "browse_listings", "arguments": {"limit": 2}})),
        ("tools/call", json!({"name": "get_current_team"})),
    ];
    let (alone, stderr) = speak(&["--demo"], Some("mkt_demo_buyer"), place, &session(&calls));
    assert_eq!((alone.len(), stderr.as_str()), (4, ""));
    let find = |messages: &[Value], id: usize| {
        messages.iter().find(|message| message["id"] == id).unwrap()["result"].clone()
    };
    assert_eq!(find(&alone, 1)["tools"].as_array().unwrap().len(), 16);
    assert_eq!(find(&alone, 3)["structuredContent"]["roles"], json!(["buyer"]));

    let market = place.join("market");
    let market = market.to_str().unwrap();
    let server = Server::start(&["--demo", "--data", market], place);
    let (beside, _) = speak(&["--demo", "--data", market], Some("mkt_demo_buyer"), place, &session(&calls));
    let ids = |messages: &[Value]| {
        let items = find(messages, 2)["structuredContent"]["items"].clone();
        items.as_array().unwrap().iter().map(|item| item["id"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(ids(&beside), ids(&alone));
    assert_eq!(server.terminate(), 0);
    let (after, _) = speak(&["--demo", "--data", market], Some("mkt_demo_buyer"), place, &session(&calls));
    assert_eq!(ids(&after), ids(&alone));
    // The demo keys only work on the demo market.
    let other = place.join("other");
    let other = other.to_str().unwrap();
    said(&run(&["team", "create", "Acme", "--role", "vendor", "--data", other], place));
    let (code, stderr) = failure(&["mcp", "--demo", "--data", other], place);
    assert_eq!(code, 1);
    assert!(stderr.contains("does not contain the demo market"), "{stderr}");
    // Fixture keys only work where the settings allow them.
    let (_, stderr) = speak(&["--data", market], Some("mkt_demo_buyer"), place, &session(&[]));
    assert!(stderr.contains("the key in MARKETPLACE_API_KEY is invalid"), "{stderr}");
}

#[test]
fn an_agent_without_a_key_is_told_which_variable_to_set() {
    let folder = folder();
    let calls = [("tools/list", json!({})), ("tools/call", json!({"name": "get_current_team"}))];
    let (messages, stderr) = speak(&["--demo"], None, folder.path(), &session(&calls));
    assert!(stderr.contains("MARKETPLACE_API_KEY is not set"), "{stderr}");
    assert!(messages.iter().any(|message| message["result"]["serverInfo"]["name"] == "marketplace"));
    let refused = messages.iter().filter(|message| message["error"]["message"] == "Unauthorized");
    assert_eq!(refused.count(), 2, "{messages:?}");
    let (code, stderr) = failure(&["mcp", "--data", "nowhere"], folder.path());
    assert_eq!(code, 1);
    assert!(stderr.contains("there is no market in nowhere"), "{stderr}");
}

#[test]
fn agents_alone_are_served_over_http() {
    let folder = folder();
    let mut command = marketplace(&["mcp", "--demo", "--http", "127.0.0.1:0"], folder.path());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let url = line.trim().strip_prefix("listening on ").expect("a URL").to_owned();
    let server = Server(child, url.clone());
    let client = reqwest::blocking::Client::builder().no_proxy().build().unwrap();
    let ask = |key: &str| {
        let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
        client.post(&url).bearer_auth(key).json(&list).send().unwrap()
    };
    let listed: Value = ask("mkt_demo_vendor").json().unwrap();
    assert_eq!(listed["result"]["tools"].as_array().unwrap().len(), 35);
    assert_eq!(ask("wrong").status(), 401);
    let elsewhere = url.replace("/v2/mcp/", "/v2/domains");
    assert_eq!(client.get(elsewhere).bearer_auth("mkt_demo_vendor").send().unwrap().status(), 404);
    assert_eq!(server.terminate(), 0);
}
