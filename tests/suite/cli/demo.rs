//! Where demo markets are, and what the environment may contain.

use std::{
    io::{BufRead, BufReader},
    path::Path,
    process::Stdio,
};

use super::{Server, marketplace, run, stdout_of, temp_dir};

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
    let child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut server = Server(child, String::new());
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
