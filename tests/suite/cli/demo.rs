//! Where demo markets are, and what the environment may contain.

use std::{
    io::{BufRead, BufReader},
    path::Path,
    process::Stdio,
};

use marketplace::{clock::Clock, domain::time::Timestamp, fixtures::demo_image::DEMO_TIME};
use serde_json::{Value, json};

use super::{Server, marketplace, run, run_failing, stdout_of, temp_dir};
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
fn empty_variable_names_no_directory_for_temporary_files() {
    let temp_dir = temp_dir();
    let server = start_demo(&[("TMPDIR", Path::new(""))], temp_dir.path());
    assert!(server.1.starts_with("/tmp/"), "{}", server.1);
    assert_eq!(server.terminate(), 0);
    assert_eq!(std::fs::read_dir(temp_dir.path()).unwrap().count(), 0);
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

/// Everybody knows the keys of the demo, so others can reach it only if that is allowed.
#[test]
fn public_demo_must_be_allowed() {
    let temp_dir = temp_dir();
    let directory = temp_dir.path();
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:0"] {
        let (code, stderr) = run_failing(&["serve", "--demo", "--listen", address], directory);
        assert_eq!(code, 2, "{stderr}");
        for part in [address, "--allow-public-demo", "server.allow_public_demo", "127.0.0.1"] {
            assert!(stderr.contains(part), "{stderr}");
        }
    }
    let (code, _) = run_failing(&["serve", "--allow-public-demo"], directory);
    assert_eq!(code, 2, "without --demo, the flag has no meaning");
    assert!(!directory.join("data").exists());
    std::fs::write(directory.join("public.toml"), "[server]\nallow_public_demo = true\n").unwrap();
    let public = ["serve", "--demo", "--listen", "0.0.0.0:0"];
    let by_flag = marketplace(&[&public[..], &["--allow-public-demo"]].concat(), directory);
    let by_file = marketplace(&[&public[..], &["--config", "public.toml"]].concat(), directory);
    let mut by_variable = marketplace(&public, directory);
    by_variable.env("MARKETPLACE_SERVER_ALLOW_PUBLIC_DEMO", "true");
    for mut command in [by_flag, by_file, by_variable] {
        command.env("MARKETPLACE_SERVER_PUBLIC_URL", "http://demo.example:8080");
        let lines = first_lines(command);
        assert!(lines[0].starts_with("listening on http://127.0.0.1:"), "{lines:?}");
        let others =
            "Others reach this market at http://demo.example:8080, and can do anything with these keys.";
        assert!(lines.iter().any(|line| line == others), "{lines:?}");
    }
    let local = first_lines(marketplace(&["serve", "--demo", "--listen", "127.0.0.1:0"], directory));
    assert!(!local.iter().any(|line| line.starts_with("Others")), "{local:?}");
}

/// Returns what a demo server prints when it starts. It is killed then.
fn first_lines(mut command: std::process::Command) -> Vec<String> {
    let log = ProcessLog::new();
    let child = command.stdout(Stdio::piped()).stderr(log.stdio()).spawn().unwrap();
    let mut server = Server(child, String::new(), log);
    let lines = BufReader::new(server.0.stdout.take().unwrap()).lines().map(Result::unwrap);
    lines.take_while(|line| !line.starts_with(LAST_LINE)).collect()
}

/// A settings file in the working directory belongs to another market and is ignored. A named one and variables apply.
#[test]
fn demo_ignores_a_settings_file_that_it_only_finds() {
    let temp_dir = temp_dir();
    let directory = temp_dir.path();
    let file = "[server]\npublic_url = \"http://market.example\"\n";
    std::fs::write(directory.join("marketplace.toml"), file).unwrap();
    let demo = ["serve", "--demo", "--listen", "127.0.0.1:0"];
    let found = marketplace(&demo, directory);
    let named = marketplace(&[&demo[..], &["--config", "marketplace.toml"]].concat(), directory);
    let mut with_variable = marketplace(&demo, directory);
    with_variable.env("MARKETPLACE_SERVER_PUBLIC_URL", "http://variable.example");
    for (command, expected) in [
        (found, "http://127.0.0.1:"),
        (named, "http://market.example/"),
        (with_variable, "http://variable.example/"),
    ] {
        let lines = first_lines(command);
        let tries: Vec<&String> = lines.iter().filter(|line| line.contains("/v2/listings/browse")).collect();
        assert!(!tries.is_empty() && tries.iter().all(|line| line.contains(expected)), "{lines:?}");
    }
    // An unreadable file is treated as a missing one.
    std::fs::write(directory.join("marketplace.toml"), "[server\n").unwrap();
    assert!(!first_lines(marketplace(&demo, directory)).is_empty());
    assert_eq!(run_failing(&["team", "list"], directory).0, 2, "other commands use it");
    let check = marketplace(&["mcp", "--demo", "--check"], directory)
        .env("MARKETPLACE_API_KEY", "mkt_demo_buyer")
        .output();
    assert!(check.unwrap().status.success());
}

/// The log of a server says what it serves, and how it ended.
#[test]
fn log_has_the_start_the_signal_and_the_end() {
    let temp_dir = temp_dir();
    let directory = temp_dir.path();
    std::fs::write(directory.join("own.toml"), "[server]\ntrusted_hosts = [\"shop\"]\n").unwrap();
    for (signal, name) in [("TERM", "SIGTERM"), ("INT", "SIGINT")] {
        let arguments =
            ["serve", "--demo", "--listen", "127.0.0.1:0", "--data", "market", "--config", "own.toml"];
        let mut server = Server::spawn(marketplace(&arguments, directory));
        let address = server.1.clone();
        server.signal(signal);
        assert_eq!(server.0.wait().unwrap().code(), Some(0));
        let log = server.2.read();
        let only_line = |message: &str| {
            let lines: Vec<&str> = log.lines().filter(|line| line.contains(message)).collect();
            assert_eq!(lines.len(), 1, "{message}: {log}");
            format!("{} ", lines[0])
        };
        let start = only_line("the server starts");
        let path = |name: &str| directory.join(name).display().to_string();
        for field in [
            format!("version={}", env!("CARGO_PKG_VERSION")),
            format!("settings_file={}", path("own.toml")),
            format!("data_directory={}", path("market")),
            format!("listen={address}"),
            format!("url=http://{address}"),
            "demo=true".to_owned(),
        ] {
            assert!(start.contains(&format!(" {field} ")), "{field}: {start}");
        }
        assert!(start.contains("shop"), "{start}");
        assert!(only_line("the process stops").contains(&format!(" signal={name} ")));
        only_line("the server has stopped");
    }
}
