//! Where demo markets are, and what the environment may contain.

use std::{
    io::{BufRead, BufReader},
    path::Path,
    process::Stdio,
};

use marketplace::{clock::Clock, domain::time::Timestamp, fixtures::demo_image::DEMO_TIME};
use serde_json::{Value, json};

use super::{Server, marketplace, run, stdout_of, temp_dir};
use crate::harness::panics::ProcessLog;

#[test]
fn foreign_variables_stop_no_command() {
    let temp_dir = temp_dir();
    let mut command = marketplace(&["team", "create", "Acme Data"], temp_dir.path());
    command.env("MARKETPLACE_SERVICE_HOST", "10.0.0.1").env("MARKETPLACE_PORT", "tcp://10.0.0.1:80");
    command.env("MARKETPLACE_LOGS_FORMAT", "json");
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(
        String::from_utf8(output.stderr).unwrap(),
        "warning: MARKETPLACE_LOGS_FORMAT is not a setting, so it is ignored; did you mean MARKETPLACE_LOG_FORMAT?\n"
    );
}

/// The beginning of the last line that a demo server prints when it starts.
const LAST_LINE: &str = "MCP server: ";

/// Starts a demo server without `--data`, and returns it with the directory that it prints instead of its
/// address.
fn start_demo(variables: &[(&str, &Path)], directory: &Path) -> Server {
    let mut command = marketplace(&["serve", "--demo", "--listen", "127.0.0.1:0"], directory);
    command.envs(variables.iter().copied());
    let log = ProcessLog::new();
    let child = command.stdout(Stdio::piped()).stderr(log.stdio()).spawn().unwrap();
    let mut server = Server(child, String::new(), log);
    let lines = BufReader::new(server.0.stdout.take().unwrap()).lines().map(Result::unwrap);
    let mut lines = lines.take_while(|line| !line.starts_with(LAST_LINE));
    let printed = lines.find_map(|line| Some(line.trim().strip_prefix("--data ")?.to_owned()));
    server.1 = printed.expect("the server prints its directory");
    server
}

#[test]
fn demo_prints_its_directory_and_the_next_one_deletes_it_after_a_kill() {
    let temp_dir = temp_dir();
    let directory = temp_dir.path();
    let temporary = directory.join("tmp");
    std::fs::create_dir(&temporary).unwrap();
    let variables = [("TMPDIR", temporary.as_path())];
    let server = start_demo(&variables, directory);
    let data = server.1.clone();
    assert!(data.starts_with(temporary.to_str().unwrap()), "{data}");
    assert!(stdout_of(&run(&["team", "list", "--data", &data], directory)).lines().count() > 3);
    // A dropped server is killed.
    drop(server);
    assert!(Path::new(&data).exists());
    let next = start_demo(&variables, directory);
    assert!(!Path::new(&data).exists() && Path::new(&next.1).exists());
}

#[test]
fn demo_uses_the_data_directory_of_the_environment() {
    let temp_dir = temp_dir();
    let directory = temp_dir.path();
    let own = directory.join("own");
    let server = start_demo(&[("MARKETPLACE_DATA_FOLDER", &own)], directory);
    assert_eq!(Path::new(&server.1), own);
    assert!(own.join("market.sqlite").is_file());
}

/// Creates a team in a directory with a command, and returns the time at which it was created.
fn create_team(name: &str, data: &str, directory: &Path) -> Timestamp {
    let id = stdout_of(&run(&["team", "create", name, "--data", data], directory));
    let shown = stdout_of(&run(&["team", "show", id.trim(), "--json", "--data", data], directory));
    let team: Value = serde_json::from_str(&shown).unwrap();
    Timestamp::parse(team["created_at"].as_str().unwrap()).unwrap()
}

/// Whether a time is in the first hour of a new demo market.
fn is_early(at: Timestamp) -> bool {
    (DEMO_TIME..DEMO_TIME.plus_micros(3_600_000_000)).contains(&at)
}

#[test]
fn clock_of_the_demo_goes_on_for_every_process_and_in_a_restored_backup() {
    let temp_dir = temp_dir();
    let directory = temp_dir.path();
    let start = || Server::start(&["--demo", "--data", "market"], directory);
    let server = start();
    let first = create_team("During the first start", "market", directory);
    assert_eq!(server.terminate(), 0);
    let second = create_team("Between the starts", "market", directory);
    let server = start();
    let client = marketplace::http_client::blocking().unwrap().build().unwrap();
    let codebase = client.post(format!("http://{}/v2/codebases", server.1)).bearer_auth("mkt_demo_vendor");
    let codebase =
        codebase.json(&json!({"title": "Tide tables", "exclusivity": "available"})).send().unwrap();
    let codebase: Value = codebase.json().unwrap();
    let third = Timestamp::parse(codebase["created_at"].as_str().unwrap()).unwrap();
    assert_eq!(server.terminate(), 0);
    stdout_of(&run(&["backup", "backup", "--data", "market"], directory));
    stdout_of(&run(&["restore", "backup", "--data", "restored"], directory));
    let fourth = create_team("After the restore", "restored", directory);
    let times = [first, second, third, fourth];
    assert!(times.is_sorted() && times.into_iter().all(is_early), "{times:?}");
    assert!(stdout_of(&run(&["verify", "--data", "market"], directory)).contains("no problems found"));
}

/// Earlier versions created demo markets with the time of the system. They keep it.
#[test]
fn demo_of_an_earlier_version_has_the_time_of_the_system() {
    let temp_dir = temp_dir();
    let directory = temp_dir.path();
    let arguments = ["--demo", "--data", "market"];
    assert_eq!(Server::start(&arguments, directory).terminate(), 0);
    let database = rusqlite::Connection::open(directory.join("market/market.sqlite")).unwrap();
    assert_eq!(database.execute("DELETE FROM clock_offset", []).unwrap(), 1);
    drop(database);
    assert_eq!(Server::start(&arguments, directory).terminate(), 0);
    let before = Clock::System.now();
    let created = create_team("Acme Data", "market", directory);
    // Times have milliseconds.
    assert!((before.plus_micros(-1_000)..=Clock::System.now()).contains(&created), "{created}");
}
