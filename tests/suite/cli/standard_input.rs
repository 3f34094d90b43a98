//! A server that ends with the program that started it.

use std::{
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Child, ChildStdin, Command, Stdio},
};

use super::{marketplace, temp_dir};

/// Starts a demo server that stops when its input closes, and returns it with its address and its input.
fn start(directory: &Path) -> (Child, String, ChildStdin) {
    let arguments = ["serve", "--demo", "--listen", "127.0.0.1:0", "--until-stdin-closes"];
    let mut command = marketplace(&arguments, directory);
    command.env("TMPDIR", directory).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let url = line.trim().strip_prefix("listening on ").expect("a URL").to_owned();
    let input = child.stdin.take().unwrap();
    (child, url, input)
}

#[test]
fn server_stops_cleanly_when_its_input_closes() {
    let temp_dir = temp_dir();
    let (mut child, url, mut input) = start(temp_dir.path());
    assert!(temp_dir.path().read_dir().unwrap().count() > 0, "the demo market is in the directory");
    // Input that does not end stops nothing.
    input.write_all(b"\nquit\n").unwrap();
    let client = marketplace::http_client::blocking().unwrap().build().unwrap();
    assert!(client.get(&url).send().unwrap().status().is_success());
    drop(input);
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(temp_dir.path().read_dir().unwrap().count(), 0, "it deleted its files");
}

#[test]
fn server_with_an_open_input_stops_at_a_signal() {
    let temp_dir = temp_dir();
    let (mut child, _, input) = start(temp_dir.path());
    assert!(Command::new("kill").arg(child.id().to_string()).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(0));
    drop(input);
}

/// The other end of the input is closed by the system when the program that has it is killed.
#[test]
fn server_ends_with_a_program_that_is_killed() {
    let temp_dir = temp_dir();
    let mut program = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let arguments = ["serve", "--demo", "--listen", "127.0.0.1:0", "--until-stdin-closes"];
    let mut command = marketplace(&arguments, temp_dir.path());
    command.stdin(program.stdout.take().unwrap()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.env("TMPDIR", temp_dir.path()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert!(line.starts_with("listening on "), "{line}");
    program.kill().unwrap();
    program.wait().unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
}
