//! The command line as users see it: the real binary, its exit codes, and its messages.

mod administration;
mod backups;
mod check;
mod commands;
mod demo;
mod examples;
mod faults;
mod followed_events;
mod health;
mod mcp;
mod money;
mod monitoring;
mod operator;
mod owners;
mod regular_files;
mod replicas;
mod scan;
mod seeding;
mod service;
mod settings;
mod standard_input;
mod texts;
mod tls;
mod uploads;
mod verify;
mod verify_bundle;

use std::{
    fs::Permissions,
    io::{BufRead, BufReader},
    os::unix::fs::{MetadataExt, PermissionsExt},
    path::Path,
    process::{Child, Command, Output, Stdio},
};

use serde_json::Value;
use tempfile::TempDir;

use crate::harness::panics::{self, ProcessLog};

fn marketplace(arguments: &[&str], directory: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_marketplace"));
    command.args(arguments).current_dir(directory).env_clear();
    command
}

fn run(arguments: &[&str], directory: &Path) -> Output {
    let output = marketplace(arguments, directory).output().unwrap();
    panics::assert_none_in(&String::from_utf8_lossy(&output.stderr));
    output
}

/// Runs a command and returns its exit code and its standard error.
fn run_failing(arguments: &[&str], directory: &Path) -> (i32, String) {
    let output = run(arguments, directory);
    (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
}

/// Makes a command run as on a system that trusts no certificates.
fn without_certificates(mut command: Command) -> Command {
    command.env("SSL_CERT_FILE", "/nowhere").env("SSL_CERT_DIR", "/nowhere");
    command
}

/// Copies the program in another process. A child of another test could inherit a file that this process writes, and a program
/// cannot be executed while a process has it open for writing.
fn copy_program(to: &Path) {
    assert!(Command::new("cp").arg(env!("CARGO_BIN_EXE_marketplace")).arg(to).status().unwrap().success());
}

fn stdout_of(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// A server, the address in the first line of its output, and its log.
struct Server(Child, String, ProcessLog);

impl Server {
    fn start(arguments: &[&str], directory: &Path) -> Server {
        let arguments = [&["serve", "--listen", "127.0.0.1:0"], arguments].concat();
        Server::spawn(marketplace(&arguments, directory))
    }

    fn spawn(command: Command) -> Server {
        let log = ProcessLog::new();
        Server::spawn_with_log(command, log.stdio(), log)
    }

    /// Like [`Server::spawn`], with a log that is written elsewhere.
    fn spawn_with_log(mut command: Command, stderr: Stdio, log: ProcessLog) -> Server {
        let mut child = command.stdout(Stdio::piped()).stderr(stderr).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().split_once("://").expect("an address").1.to_owned();
        Server(child, address, log)
    }

    fn signal(&self, name: &str) {
        let kill = Command::new("kill").args(["-s", name, &self.0.id().to_string()]).status();
        assert!(kill.unwrap().success());
    }

    fn terminate(mut self) -> i32 {
        self.signal("TERM");
        self.0.wait().unwrap().code().unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
        self.2.assert_no_panic();
    }
}

/// A user without permissions of its own.
const NOBODY: u32 = 65534;

/// Whether the tests may run programs as other users.
fn is_root() -> bool {
    std::fs::metadata("/proc/self").unwrap().uid() == 0
}

fn temp_dir() -> TempDir {
    tempfile::tempdir().unwrap()
}

#[test]
fn usage_errors_exit_with_2_and_failures_with_1() {
    let temp_dir = temp_dir();
    let directory = temp_dir.path();
    std::fs::write(directory.join("bad.toml"), "[server]\nlisten = 3\n").unwrap();
    std::fs::write(directory.join("file"), "").unwrap();
    std::fs::write(directory.join("set.json"), r#"{"teams": [{"key": "a"}]}"#).unwrap();
    for (arguments, code, expected) in [
        (&["sreve"][..], 2, "unrecognized subcommand"),
        (&["seed"], 2, "required"),
        (&["purchase", "show", "billing"], 2, "'billing' for '<ID>': must be an ID, such as 6f1f2f9e-"),
        (
            &["ledger", "--purchase", "billing"],
            2,
            "'--purchase <PURCHASE>': must be an ID, such as 6f1f2f9e-",
        ),
        (&["serve", "--listen", "nowhere"], 2, "invalid value"),
        (&["reindex", "--config", "bad.toml"], 2, "bad.toml:2: server.listen must be of type string"),
        (&["reindex", "--config", "none.toml"], 2, "cannot read settings file none.toml"),
        (&["reindex"], 1, "there is no market in data"),
        (&["verify", "--data", "elsewhere"], 1, "there is no market in elsewhere"),
        (&["serve", "--data", "file"], 1, "the directory file cannot be used"),
        (&["seed", "set.json"], 1, "set.json: teams \"a\": the record: missing field"),
        (&["seed", "none.json"], 1, "none.json: No such file"),
        (
            &["team", "create", " "],
            1,
            "`name` must be one line without control characters that begins and ends with a visible",
        ),
    ] {
        let (actual, stderr) = run_failing(arguments, directory);
        assert_eq!(actual, code, "{arguments:?}: {stderr}");
        assert!(stderr.contains(expected), "{arguments:?}: {stderr}");
        assert!(!stderr.contains('\u{1b}'), "colors are only for terminals: {stderr}");
    }
}

#[test]
fn errors_about_teams_name_commands() {
    let temp_dir = temp_dir();
    let directory = temp_dir.path();
    let id = stdout_of(&run(&["team", "create", "Acme", "--role", "vendor"], directory));
    let id = id.trim();
    let (code, stderr) = run_failing(&["credits", "buy", "Acme", "1"], directory);
    assert!(
        code == 1 && stderr.contains(&format!("`marketplace team accept-nda {id}`.")),
        "{code}: {stderr}"
    );
    stdout_of(&run(&["team", "accept-nda", "Acme"], directory));
    let (code, stderr) = run_failing(&["opportunity", "create", "Acme", "--title", "Errands"], directory);
    assert!(
        code == 1 && stderr.contains(&format!("`marketplace team edit {id}` and its option `--role`.")),
        "{code}: {stderr}"
    );
}

#[test]
fn output_that_cannot_be_written_is_a_failure() {
    let temp_dir = temp_dir();
    stdout_of(&run(&["team", "create", "Acme", "--role", "vendor"], temp_dir.path()));
    for arguments in
        [&["key", "create", "Acme"][..], &["--help"], &["help"], &["serve", "-h"], &["--version"]]
    {
        let mut command = marketplace(arguments, temp_dir.path());
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let output = command.stdout(full).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(1), "{arguments:?}: {stderr}");
        assert!(stderr.contains("cannot write the output"), "{arguments:?}: {stderr}");
        // Whoever closes a pipe does not want the rest.
        let (reader, closed) = std::io::pipe().unwrap();
        drop(reader);
        let output = marketplace(arguments, temp_dir.path()).stdout(closed).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && !stderr.contains("cannot write"), "{arguments:?}: {stderr}");
    }
}

#[test]
fn commands_administer_a_market() {
    let temp_dir = temp_dir();
    let directory = temp_dir.path();
    let team =
        stdout_of(&run(&["team", "create", "Acme Data", "--role", "vendor", "--role", "buyer"], directory));
    assert!(uuid::Uuid::try_parse(team.trim()).is_ok());
    assert_eq!(run_failing(&["team", "create", "Acme Data"], directory).0, 1);
    stdout_of(&run(&["team", "accept-nda", "Acme Data"], directory));
    assert!(stdout_of(&run(&["team", "list"], directory)).contains("Acme Data"));
    let output = stdout_of(&run(&["team", "show", team.trim()], directory));
    assert!(output.contains("vendor, buyer") && output.contains("accepted"), "{output}");
    let key = stdout_of(&run(&["key", "create", "Acme Data", "--name", "ci"], directory));
    assert!(key.starts_with("mkt_") && key.trim().len() == 44, "{key}");
    let listed = || stdout_of(&run(&["key", "list", "Acme Data", "--json"], directory));
    assert!(listed().contains("ci") && !listed().contains(key.trim()));
    let keys = || serde_json::from_str::<Value>(&listed()).unwrap();
    stdout_of(&run(&["key", "revoke", keys()[0]["id"].as_str().unwrap()], directory));
    assert!(keys()[0]["revoked_at"].is_string());
    assert!(stdout_of(&run(&["reindex"], directory)).contains("indexed 0 listings"));
    assert!(stdout_of(&run(&["verify"], directory)).contains("no problems found"));
}

#[test]
fn errors_are_written_for_the_operator() {
    let temp_dir = temp_dir();
    let directory = temp_dir.path();
    stdout_of(&run(&["team", "create", "Acme Data"], directory));
    let unknown_id = "6f1f2f9e-0c5b-4a55-8f43-6f2d1f0e9a11";
    for (arguments, expected) in [
        (&["team", "show", "Nobody"][..], "No team is called \"Nobody\"."),
        (&["key", "list", "Nobody"], "No team is called \"Nobody\"."),
        (&["key", "revoke", unknown_id], "No key was found."),
        (&["listing", "check", unknown_id], "No listing has this ID."),
        (&["grant", "revoke", unknown_id], "No upload grant was found."),
        (&["team", "create", "Acme Data"], "Acme Data"),
    ] {
        let (code, stderr) = run_failing(arguments, directory);
        assert_eq!(code, 1, "{arguments:?}: {stderr}");
        assert!(stderr.starts_with("error: ") && stderr.contains(expected), "{arguments:?}: {stderr}");
        for phrase in ["your team", "_found)", "(conflict)", "(internal_error)"] {
            assert!(!stderr.contains(phrase), "{arguments:?}: {stderr}");
        }
    }
}

#[test]
fn server_prints_its_address_and_exits_cleanly_on_sigterm() {
    let temp_dir = temp_dir();
    let server = Server::start(&["--demo"], temp_dir.path());
    let (code, stderr) = run_failing(&["serve", "--listen", &server.1], temp_dir.path());
    assert_eq!(code, 1);
    assert!(stderr.contains("is already in use") && stderr.trim().lines().count() == 1, "{stderr}");
    // The end of a session of a terminal does not end a server.
    server.signal("HUP");
    assert_eq!(server.terminate(), 0);
}

#[test]
fn failure_of_a_server_is_a_line_of_its_log() {
    let temp_dir = temp_dir();
    let server = Server::start(&["--demo"], temp_dir.path());
    let mut second = marketplace(&["serve", "--listen", &server.1], temp_dir.path());
    // Whatever the filter.
    let output = second.env("MARKETPLACE_LOG_FORMAT", "json").env("MARKETPLACE_LOG_FILTER", "off").output();
    let output = output.unwrap();
    let line: Value = serde_json::from_slice(&output.stderr).unwrap();
    assert_eq!((output.status.code(), &line["level"]), (Some(1), &Value::from("ERROR")));
    assert!(line["fields"]["error"].as_str().unwrap().contains("is already in use"), "{line}");
}

#[test]
fn second_server_on_a_data_directory_fails() {
    let temp_dir = temp_dir();
    let server = Server::start(&["--demo", "--data", "market"], temp_dir.path());
    let second = ["serve", "--listen", "127.0.0.1:0", "--data", "market"];
    let (code, stderr) = run_failing(&second, temp_dir.path());
    assert_eq!(code, 1);
    assert!(stderr.contains("another `marketplace serve` is running on market"), "{stderr}");
    assert_eq!(server.terminate(), 0);
    // A demo market can be served again, but `--demo` does not work on a directory with another market.
    assert_eq!(Server::start(&["--demo", "--data", "market"], temp_dir.path()).terminate(), 0);
    stdout_of(&run(&["team", "create", "Acme Data", "--data", "own"], temp_dir.path()));
    let (code, stderr) =
        run_failing(&["serve", "--listen", "127.0.0.1:0", "--demo", "--data", "own"], temp_dir.path());
    assert_eq!(code, 1);
    assert!(stderr.contains("already contains another market"), "{stderr}");
}

/// What is in a data directory becomes private, so no market begins beside the directories of other programs.
#[test]
fn directory_of_something_else_is_left_alone() {
    let temp_dir = temp_dir();
    let directory = temp_dir.path();
    let paths = ["other", "other/bin", "other/bin/run"].map(|path| directory.join(path));
    std::fs::create_dir_all(&paths[1]).unwrap();
    std::fs::write(&paths[2], "").unwrap();
    for path in &paths {
        std::fs::set_permissions(path, Permissions::from_mode(0o755)).unwrap();
    }
    for arguments in [
        &["team", "create", "Acme Data", "--data", "other"][..],
        &["serve", "--listen", "127.0.0.1:0", "--data", "other"],
        &["serve", "--demo", "--listen", "127.0.0.1:0", "--data", "other"],
    ] {
        let (code, stderr) = run_failing(arguments, directory);
        assert!(code == 1 && stderr.contains("other has directories of something else"), "{stderr}");
    }
    for path in &paths {
        assert_eq!(std::fs::metadata(path).unwrap().mode() & 0o777, 0o755, "{}", path.display());
    }
    assert_eq!(std::fs::read_dir(&paths[0]).unwrap().count(), 1, "nothing is created");
    // The settings may be there, and the snapshots of a volume.
    std::fs::create_dir_all(directory.join("own/.snapshot")).unwrap();
    std::fs::write(directory.join("own/my.toml"), "").unwrap();
    stdout_of(&run(&["team", "create", "Acme Data", "--data", "own"], directory));
}

#[test]
fn upload_stores_the_file_and_prints_its_url() {
    let temp_dir = temp_dir();
    let directory = temp_dir.path();
    stdout_of(&run(&["team", "create", "Acme Data", "--role", "vendor", "--nda"], directory));
    std::fs::write(directory.join("scans.zip"), b"PK\x05\x06\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0").unwrap();
    std::fs::write(directory.join("notes.txt"), b"Not a zip.").unwrap();
    let url = stdout_of(&run(&["upload", "scans.zip", "--team", "Acme Data"], directory));
    let name = url.trim().strip_prefix("http://127.0.0.1:8080/v2/blobs/uploads/").unwrap().to_owned();
    let blob = directory.join("data/blobs/uploads").join(&name);
    assert_eq!(std::fs::read(&blob).unwrap(), std::fs::read(directory.join("scans.zip")).unwrap());
    stdout_of(&run(&["verify"], directory));
    for (arguments, expected) in [
        (["upload", "notes.txt", "--team", "Acme Data"], "is not a zip file"),
        (["upload", "none.zip", "--team", "Acme Data"], "cannot read none.zip"),
        (["upload", "scans.zip", "--team", "Nobody"], "error: No team is called \"Nobody\".\n"),
    ] {
        let (code, stderr) = run_failing(&arguments, directory);
        assert!(code == 1 && stderr.contains(expected), "{arguments:?}: {code} {stderr}");
    }
    assert_eq!(
        std::fs::read_dir(directory.join("data/blobs/uploads")).unwrap().count(),
        1,
        "the failed uploads leave no files"
    );
    // The URL is that of the server that runs on the data directory, wherever it listens.
    let server = Server::start(&[], directory);
    let url = stdout_of(&run(&["upload", "scans.zip", "--team", "Acme Data"], directory));
    assert!(url.starts_with(&format!("http://{}/v2/blobs/uploads/", server.1)), "{url}");
    assert_eq!(server.terminate(), 0);
    let url = stdout_of(&run(&["upload", "scans.zip", "--team", "Acme Data"], directory));
    assert!(url.starts_with("http://127.0.0.1:8080/"), "no server runs: {url}");
    std::fs::write(&blob, b"PK\x05\x06").unwrap();
    let output = run(&["verify"], directory);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stdout).contains("differs from the received file"), "{output:?}");
}
