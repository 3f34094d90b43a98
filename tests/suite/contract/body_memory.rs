//! The memory that one request can make the server use, measured as the peak of a real server process.

use std::{fs, io::Read};

use marketplace::{
    clock::{Clock, Entropy},
    config::{Settings, SettingsSources},
    fixtures,
    market::{Market, OpenOptions},
};

use super::cases::VENDOR;
use crate::harness::{market_options, server::Server};

/// Size in bytes of each body. Larger ones take more time and show the same.
const BODY_BYTES: usize = 2 << 20;

/// Creates a demo market in a directory.
fn create_market(directory: &std::path::Path) {
    let mut sources = SettingsSources::new();
    sources.apply_demo().unwrap();
    let settings: Settings = sources.resolve().unwrap();
    let market = Market::open(OpenOptions {
        clock: std::sync::Arc::new(Clock::System),
        entropy: Entropy::System,
        ..market_options(directory, settings)
    })
    .unwrap();
    fixtures::seed_taxonomy(&market).unwrap();
    fixtures::seed(&market, &fixtures::demo_set().unwrap()).unwrap();
}

/// Returns a figure of `/proc/PID/status` in bytes.
fn memory(server: &Server, figure: &str) -> usize {
    let status = fs::read_to_string(format!("/proc/{}/status", server.id())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(figure)?.strip_prefix(':')).unwrap();
    line.trim().trim_end_matches(" kB").parse::<usize>().unwrap() * 1024
}

/// Sends a request and returns its status, and the bytes by which it raised the peak of the server's memory.
fn measure(server: &Server, path: &str, body: &[u8]) -> (u16, usize) {
    // Resets the peak to the memory in use.
    fs::write(format!("/proc/{}/clear_refs", server.id()), "5").unwrap();
    let before = memory(server, "VmRSS");
    let mut stream = server.start_request("POST", path, body.len(), body);
    let mut response = Vec::new();
    stream.read_to_end(&mut response).unwrap();
    let response = String::from_utf8_lossy(&response);
    let status = response.split(' ').nth(1).and_then(|status| status.parse().ok());
    (status.unwrap_or_default(), memory(server, "VmHWM").saturating_sub(before))
}

/// Returns `start`, then `part` as often as fits, then `end`.
fn body(start: &str, part: &str, end: &str, bytes: usize) -> Vec<u8> {
    let count = (bytes - start.len() - end.len()) / part.len();
    format!("{start}{}{end}", part.repeat(count)).into_bytes()
}

#[test]
fn request_raises_peak_memory_by_at_most_ten_times_its_body() {
    let directory = tempfile::tempdir().unwrap();
    create_market(directory.path());
    let settings = [("MARKETPLACE_KEYS_ALLOW_FIXTURE_KEYS".to_owned(), "true".to_owned())];
    let server = Server::start(directory.path(), VENDOR, &settings);
    let row = r#"{"title":"a","exclusivity":"available","extra_columns":{"a":["#;
    let columns = format!(r#"{{"items":[{row}"#);
    let path = "/v2/codebases/batch";
    // The first request warms up what stays in memory.
    measure(&server, path, b"{}");
    for (name, bytes) in [
        ("deep arrays", vec![b'['; BODY_BYTES]),
        ("deep objects", body("", "{\"a\":", "", BODY_BYTES)),
        ("numbers in the wrong place", body("[", "0,", "0]", BODY_BYTES)),
        ("unknown names", body("{", "\"a\":0,", "\"b\":0}", BODY_BYTES)),
        ("empty rows", body("{\"items\":[", "{},", "{}]}", BODY_BYTES)),
        ("numbers in columns", body(&columns, "0,", "0]}}]}", BODY_BYTES)),
        ("objects in columns", body(&columns, "{\"a\":0},", "0]}}]}", BODY_BYTES)),
        (
            "nested columns",
            body(&columns, &format!("{}{},", "[".repeat(100), "]".repeat(100)), "0]}}]}", BODY_BYTES),
        ),
        ("escaped text", body(r#"{"items":[{"title":""#, r"\u0041", "\"}]}", BODY_BYTES)),
        ("escaped columns", body(&format!("{columns}\""), r"\ud83d\ude00", "\"]}}]}", BODY_BYTES)),
    ] {
        let (status, raised) = measure(&server, path, &bytes);
        assert!([400, 422].contains(&status), "{name}: {status}");
        assert!(raised <= 10 * BODY_BYTES + (4 << 20), "{name}: {raised} bytes");
    }
    let columns = format!("[{}0]", "1234567.25,".repeat(5_900));
    let row = format!(r#"{{"title":"a","exclusivity":"available","extra_columns":{{"a":{columns}}}}}"#);
    let rows = format!(r#"{{"items":[{}]}}"#, vec![row; 30].join(","));
    let (status, raised) = measure(&server, path, rows.as_bytes());
    assert_eq!(status, 201);
    assert!(raised <= 10 * rows.len() + (4 << 20), "valid rows: {raised} bytes");
    let call =
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"browse_listings","arguments":{"#;
    let bytes = (1 << 20) - 1;
    let list = |fields: &str| {
        call.replace("browse_listings", "list_assets")
            .into_bytes()
            .into_iter()
            .chain(format!("\"limit\":30{fields}}}}}}}").into_bytes())
            .collect::<Vec<u8>>()
    };
    for (name, bytes) in [
        ("deep arrays", vec![b'['; bytes]),
        ("numbers", body(&format!("{call}\"ids\":["), "0,", "0]}}}", bytes)),
        ("names", body(call, "\"a\":0,", "\"b\":0}}}", bytes)),
        ("large assets", list("")),
        ("fields of large assets", list(r#","fields":["id","extra_columns"]"#)),
        ("path of fields", body(&format!("{call}\"fields\":[\""), "a.", "a\"]}}}", bytes)),
    ] {
        let (status, raised) = measure(&server, "/v2/mcp/", &bytes);
        assert!([200, 400].contains(&status), "agent server, {name}: {status}");
        assert!(raised <= 64 << 20, "agent server, {name}: {raised} bytes");
    }
}
