//! Where demo markets are, and what the environment may contain.

use std::{
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, Stdio},
};

use super::{marketplace, run, stdout_of, temp_dir};

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

/// Starts a demo server without `--data`, and returns the directory that it prints.
fn start_demo(variables: &[(&str, &Path)], directory: &Path) -> (Child, String) {
    let mut command = marketplace(&["serve", "--demo", "--listen", "127.0.0.1:0"], directory);
    command.envs(variables.iter().copied());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let printed = lines.find_map(|line| Some(line.unwrap().trim().strip_prefix("--data ")?.to_owned()));
    (child, printed.expect("the server prints its directory"))
}

#[test]
fn demo_prints_its_directory_and_the_next_one_deletes_it_after_a_kill() {
    let temp_dir = temp_dir();
    let directory = temp_dir.path();
    let temporary = directory.join("tmp");
    std::fs::create_dir(&temporary).unwrap();
    let variables = [("TMPDIR", temporary.as_path())];
    let (mut server, data) = start_demo(&variables, directory);
    assert!(data.starts_with(temporary.to_str().unwrap()), "{data}");
    assert!(stdout_of(&run(&["team", "list", "--data", &data], directory)).lines().count() > 3);
    server.kill().unwrap();
    server.wait().unwrap();
    assert!(Path::new(&data).exists());
    let (mut server, next) = start_demo(&variables, directory);
    assert!(!Path::new(&data).exists() && Path::new(&next).exists());
    server.kill().unwrap();
    server.wait().unwrap();
}

#[test]
fn demo_uses_the_data_directory_of_the_environment() {
    let temp_dir = temp_dir();
    let directory = temp_dir.path();
    let own = directory.join("own");
    let (mut server, data) = start_demo(&[("MARKETPLACE_DATA_FOLDER", &own)], directory);
    assert_eq!(Path::new(&data), own);
    assert!(own.join("market.sqlite").is_file());
    server.kill().unwrap();
    server.wait().unwrap();
}
