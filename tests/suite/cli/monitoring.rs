//! The separate address for monitoring, which also responds while the server stops.

use std::{
    io::{Read, Write},
    net::TcpStream,
};

use super::{Server, marketplace, run, run_failing, stdout_of, temp_dir};
use crate::harness::waiting::wait_for;

/// Requests a path without a key. Returns the response with its head.
fn get(address: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n").unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    response
}

/// Repeats a request until the response contains a text. Returns the response.
pub(super) fn get_until(address: &str, path: &str, expected: &str) -> String {
    wait_for(&format!("{expected} at {path}"), || {
        Some(get(address, path)).filter(|response| response.contains(expected))
    })
}

fn start(temp_dir: &std::path::Path) -> (Server, String) {
    start_with(&[], temp_dir)
}

fn start_with(arguments: &[&str], temp_dir: &std::path::Path) -> (Server, String) {
    let arguments = [&["serve", "--demo", "--listen", "127.0.0.1:0"], arguments].concat();
    let mut command = marketplace(&arguments, temp_dir);
    command.env("MARKETPLACE_METRICS_LISTEN", "127.0.0.1:0");
    let mut server = Server::spawn(command);
    let address = address_of(&mut server);
    (server, address)
}

/// Returns the address for monitoring of a server.
pub(super) fn address_of(server: &mut Server) -> String {
    server.2.wait_for(" metrics_listen=");
    let log = server.2.read();
    let rest = log.split(" metrics_listen=").nth(1).unwrap_or_else(|| panic!("{log}"));
    rest.split_whitespace().next().unwrap().to_owned()
}

#[test]
fn own_address_needs_no_key_and_has_nothing_else() {
    let temp_dir = temp_dir();
    let (server, address) = start(temp_dir.path());
    for (path, status, text) in [
        ("/metrics", 200, "# EOF"),
        ("/healthz", 200, r#"{"status":"alive","failed":[]}"#),
        ("/readyz", 200, r#"{"status":"ready","failed":[]}"#),
        ("/", 404, "not_found"),
        ("/v2/wallet", 404, "not_found"),
        ("/console", 404, "not_found"),
    ] {
        let response = get(&address, path);
        assert!(response.starts_with(&format!("HTTP/1.1 {status} ")), "{path}: {response}");
        assert!(response.contains(text), "{path}: {response}");
        assert!(response.contains("\r\nx-request-id: "), "{path}: {response}");
    }
    assert!(get(&server.1, "/metrics").starts_with("HTTP/1.1 401 "), "the other address needs a key");
    assert_eq!(server.terminate(), 0);
}

#[test]
fn own_address_says_that_the_server_stops() {
    let temp_dir = temp_dir();
    let (mut server, address) = start(temp_dir.path());
    let mut running = TcpStream::connect(&server.1).unwrap();
    let head = format!(
        "POST /operator/v1/teams HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer mkt_demo_operator\r\n\
         content-type: application/json\r\ncontent-length: 100\r\n\r\n{{",
        server.1
    );
    running.write_all(head.as_bytes()).unwrap();
    get_until(&address, "/metrics", "marketplace_http_running_requests 1");
    server.signal("TERM");
    let response = get_until(&address, "/readyz", "not_draining");
    assert!(response.starts_with("HTTP/1.1 503 "), "{response}");
    assert!(get(&address, "/healthz").starts_with("HTTP/1.1 200 "), "it is alive until it has ended");
    drop(running);
    assert_eq!(server.0.wait().unwrap().code(), Some(0));
}

/// Backups have the time of the machine, which differs from the clock of a demo.
#[test]
fn backup_of_a_demo_has_an_age() {
    let temp_dir = temp_dir();
    let (server, address) = start_with(&["--data", "market"], temp_dir.path());
    stdout_of(&run(&["backup", "copy", "--data", "market"], temp_dir.path()));
    let response = get_until(&address, "/metrics", "\nmarketplace_backup_age_seconds ");
    let age = response.lines().find_map(|line| line.strip_prefix("marketplace_backup_age_seconds "));
    let age: f64 = age.unwrap().parse().unwrap();
    assert!((0.0..3600.0).contains(&age), "{age}");
    assert_eq!(server.terminate(), 0);
}

#[test]
fn address_in_use_is_reported_before_anything_is_created() {
    let temp_dir = temp_dir();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let file = format!("[metrics]\nlisten = \"{}\"\n", taken.local_addr().unwrap());
    std::fs::write(temp_dir.path().join("own.toml"), file).unwrap();
    let arguments = ["serve", "--listen", "127.0.0.1:0", "--config", "own.toml", "--data", "market"];
    let (code, message) = run_failing(&arguments, temp_dir.path());
    assert!(code == 1 && message.contains("metrics.listen"), "{message}");
    assert!(!temp_dir.path().join("market").exists());
}
