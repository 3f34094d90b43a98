//! `marketplace health` and `marketplace version`, which containers, scripts, and packages use.

use std::{
    io::{Read, Write},
    net::TcpListener,
};

use serde_json::Value;

use super::{Server, marketplace, run, run_failing, stdout_of, temp_dir, without_certificates};
use crate::harness::generated;

#[test]
fn version_of_the_program_is_text_or_json() {
    let temp_dir = temp_dir();
    let text = stdout_of(&run(&["version"], temp_dir.path()));
    assert_eq!(text, stdout_of(&run(&["--version"], temp_dir.path())));
    let about: Value =
        serde_json::from_str(&stdout_of(&run(&["version", "--json"], temp_dir.path()))).unwrap();
    assert_eq!(about["version"], env!("CARGO_PKG_VERSION"));
    assert!(about["schema_version"].as_u64().unwrap() > 50, "{about}");
    assert!(about["platform"].as_str().unwrap().starts_with("linux-"), "{about}");
    assert!(about.get("commit").is_some(), "{about}");
    let image = format!("marketplace:{}", env!("CARGO_PKG_VERSION"));
    let page = generated::read("docs/install.md");
    assert_eq!(page.matches(" marketplace:").count(), page.matches(&image).count(), "of the image");
}

#[test]
fn health_asks_the_server_that_the_settings_name() {
    let temp_dir = temp_dir();
    let server = Server::start(&["--demo"], temp_dir.path());
    let url = format!("http://{}", server.1);
    assert_eq!(stdout_of(&run(&["health", "--url", &url], temp_dir.path())), "ready\n");
    assert_eq!(stdout_of(&run(&["health", "--url", &url, "--alive"], temp_dir.path())), "alive\n");
    // A server that listens on all addresses is asked at the address of this computer.
    let port = server.1.rsplit_once(':').unwrap().1;
    for variable in ["MARKETPLACE_SERVER_LISTEN", "MARKETPLACE_METRICS_LISTEN"] {
        let mut health = marketplace(&["health"], temp_dir.path());
        let output = health.env(variable, format!("0.0.0.0:{port}")).output().unwrap();
        assert_eq!(stdout_of(&output), "ready\n", "{variable}");
    }
    assert_eq!(server.terminate(), 0);
    let (code, message) = run_failing(&["health", "--url", &url], temp_dir.path());
    assert!(code == 1 && message.contains("no response from"), "{code}: {message}");
}

#[test]
fn health_says_what_is_wrong() {
    let temp_dir = temp_dir();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let answer = |status: &str, body: &str| {
        let respond = || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = Vec::new();
            while !request.ends_with(b"\r\n\r\n") {
                let mut byte = [0];
                stream.read_exact(&mut byte).unwrap();
                request.extend(byte);
            }
            write!(stream, "HTTP/1.1 {status}\r\ncontent-length: {}\r\n\r\n{body}", body.len()).unwrap();
        };
        std::thread::scope(|scope| {
            scope.spawn(respond);
            run_failing(&["health", "--url", &url], temp_dir.path())
        })
    };
    let not_ready = r#"{"status":"not_ready","failed":["reserve_free","not_draining"]}"#;
    let (code, message) = answer("503 Service Unavailable", not_ready);
    assert!(code == 1 && message.contains("not ready: reserve_free, not_draining"), "{code}: {message}");
    for (status, body) in [("200 OK", "<html>"), ("404 Not Found", "{}"), ("302 Found", "")] {
        let (code, message) = answer(status, body);
        assert!(code == 1 && message.contains("not as a marketplace does"), "{code}: {message}");
    }
    // A redirect can lead to any text. Errors escape what would control a terminal.
    let (code, message) = answer("302 Found\r\nlocation: /caf\u{e9}/\u{9b}2J", "");
    assert!(code == 1 && message.contains(" redirects to /caf\u{e9}/\\u{9b}2J, and"), "{code}: {message}");
    for url in ["nowhere", "http://user:secret@127.0.0.1"] {
        let (code, message) = run_failing(&["health", "--url", url], temp_dir.path());
        assert!(code == 2 && !message.contains("secret"), "{code}: {message}");
    }
}

#[test]
fn http_needs_no_certificates_of_the_system() {
    let temp_dir = temp_dir();
    let server = Server::start(&["--demo"], temp_dir.path());
    let url = format!("http://{}", server.1);
    for arguments in [
        &["health", "--url", &url] as &[&str],
        &["team", "list", "--url", &url],
        &["check", &url, "--key", "mkt_demo_vendor", "--max-requests", "20"],
    ] {
        let mut command = marketplace(arguments, temp_dir.path());
        command.env("MARKETPLACE_OPERATOR_KEY", "mkt_demo_operator");
        let output = without_certificates(command).output().unwrap();
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(!message.contains("certificates"), "{arguments:?}: {message}");
        assert!(!output.stdout.is_empty(), "{arguments:?}: {message}");
    }
}
