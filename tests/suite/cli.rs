//! The command line as people meet it: the real binary, its exit codes, and what it says when something is wrong.

use std::{
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, Command, Output, Stdio},
};

use tempfile::TempDir;

fn marketplace(arguments: &[&str], folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_marketplace"));
    command.args(arguments).current_dir(folder).env_clear();
    command
}

fn run(arguments: &[&str], folder: &Path) -> Output {
    marketplace(arguments, folder).output().unwrap()
}

/// The exit code, and what was said on stderr.
fn failure(arguments: &[&str], folder: &Path) -> (i32, String) {
    let output = run(arguments, folder);
    (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
}

fn said(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// A server, and the address that its first line tells.
struct Server(Child, String);

impl Server {
    fn start(arguments: &[&str], folder: &Path) -> Server {
        let arguments = [&["serve", "--listen", "127.0.0.1:0"], arguments].concat();
        let mut command = marketplace(&arguments, folder);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("listening on http://").expect("the first line").to_owned();
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
        assert!(!help.contains('\u{1b}'), "colour is for terminals: {arguments:?}");
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
        (&["reindex", "--config", "bad.toml"], 2, "bad.toml:2: server.listen takes a value of type string"),
        (&["reindex", "--config", "none.toml"], 2, "cannot read the settings none.toml"),
        (&["reindex"], 1, "there is no market in data"),
        (&["verify", "--data", "elsewhere"], 1, "there is no market in elsewhere"),
        (&["serve", "--data", "file"], 1, "the folder file cannot be used"),
        (&["seed", "set.json"], 1, "set.json: teams \"a\": the record: missing field"),
        (&["seed", "none.json"], 1, "none.json: No such file"),
        (&["team", "create", " "], 1, "A team's name has 1 to 120 characters"),
    ] {
        let (actual, stderr) = failure(arguments, place);
        assert_eq!(actual, code, "{arguments:?}: {stderr}");
        assert!(stderr.contains(expected), "{arguments:?}: {stderr}");
        assert!(!stderr.contains('\u{1b}'), "colour is for terminals: {stderr}");
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
    assert!(said(&run(&["verify"], place)).contains("everything is in order"));
}

#[test]
fn a_server_says_where_it_listens_and_stops_when_told() {
    let folder = folder();
    let server = Server::start(&["--demo"], folder.path());
    let (code, stderr) = failure(&["serve", "--listen", &server.1], folder.path());
    assert_eq!(code, 1);
    assert!(stderr.contains("is in use") && stderr.trim().lines().count() == 1, "{stderr}");
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
    // What was seeded is served as it is, and a market of one's own is no place for the demo.
    assert_eq!(Server::start(&["--demo", "--data", "market"], folder.path()).terminate(), 0);
    said(&run(&["team", "create", "Acme Data", "--data", "own"], folder.path()));
    let (code, stderr) =
        failure(&["serve", "--listen", "127.0.0.1:0", "--demo", "--data", "own"], folder.path());
    assert_eq!(code, 1);
    assert!(stderr.contains("holds a market of its own"), "{stderr}");
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
        (["upload", "notes.txt", "--team", "Acme Data"], "is no zip"),
        (["upload", "none.zip", "--team", "Acme Data"], "cannot read none.zip"),
        (["upload", "scans.zip", "--team", "Nobody"], "Nobody"),
    ] {
        let (code, words) = failure(&arguments, at);
        assert!(code == 1 && words.contains(says), "{arguments:?}: {code} {words}");
    }
    assert_eq!(
        std::fs::read_dir(at.join("data/blobs/uploads")).unwrap().count(),
        1,
        "nothing else is left there"
    );
    std::fs::write(&blob, b"PK\x05\x06").unwrap();
    let output = run(&["verify"], at);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stdout).contains("is not as it came"), "{output:?}");
}
