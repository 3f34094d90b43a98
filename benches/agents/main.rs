//! CPU time of a tool call compared with the HTTP request that it wraps, measured alternately over real HTTP;
//! and how long an agent that starts the server itself waits for the list of tools.
//!
//! `cargo bench --bench agents` serves the demo market, or the directory in `MARKET` with the API key in
//! `MARKET_KEY`.

#![allow(clippy::print_stdout)] // The benchmark prints a table.

#[path = "../http/client.rs"]
mod client;

use std::{
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Child, Command, Stdio},
    time::Instant,
};

use client::Client;
use serde_json::{Value, json};

/// Number of rounds, and of requests of each kind in a round.
const ROUNDS: usize = 9;
const REQUESTS: usize = 400;

/// Number of processes that are started and timed.
const STARTS: usize = 9;

/// Maximum time in milliseconds from the start of a process to its list of tools.
const MAX_WAIT_MS: f64 = 300.0;

/// Path of the agent server.
const MCP_PATH: &str = "/v2/mcp/";

fn main() {
    let directory = tempfile::tempdir().expect("create a temporary directory");
    let market_directory = std::env::var_os("MARKET").map_or_else(|| directory.path().to_owned(), Into::into);
    let key = std::env::var("MARKET_KEY").unwrap_or_else(|_| "mkt_demo_both".to_owned());
    let is_demo = std::env::var_os("MARKET").is_none();
    let server = Server::start(&market_directory, is_demo);
    let mut client = Client::connect(&server.address, &key);
    println!(
        "| tool | request, CPU ms | call, CPU ms | limit, CPU ms | response bytes |\n| - | - | - | - | - |"
    );
    let mut is_over_limit = false;
    for (tool, arguments, path) in cases(&mut client) {
        let body = json!({
            "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments},
        });
        let body = body.to_string();
        let bytes = client.get(&path).len();
        let called = client.post(MCP_PATH, &body);
        assert!(!String::from_utf8_lossy(&called).contains("\"isError\":true"), "{tool}");
        let (mut requests, mut calls) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            requests.push(server.cpu_per_call(|| _ = client.get(&path)));
            calls.push(server.cpu_per_call(|| _ = client.post(MCP_PATH, &body)));
        }
        let (request, call) = (median(requests), median(calls));
        let max_ms = request * 2.0 + 0.5;
        println!("| {tool} | {request:.3} | {call:.3} | {max_ms:.3} | {bytes} |");
        is_over_limit |= call > max_ms;
    }
    drop(server);
    let waited_ms = median((0..STARTS).map(|_| time_to_tool_list(&market_directory, &key)).collect());
    println!("\nlist of tools over stdio: {waited_ms:.0} ms after the start of the process");
    if is_over_limit || waited_ms > MAX_WAIT_MS {
        println!("a limit was exceeded");
        std::process::exit(1);
    }
}

/// Returns tool calls: the tool, its arguments, and the path of the request that it wraps.
fn cases(client: &mut Client) -> Vec<(&'static str, Value, String)> {
    let page: Value =
        serde_json::from_slice(&client.get("/v2/listings/browse?limit=1")).expect("the page is JSON");
    let id = page["items"][0]["id"].as_str().expect("the market has a listing").to_owned();
    vec![
        ("get_wallet", json!({}), "/v2/wallet".to_owned()),
        ("browse_listings", json!({}), "/v2/listings/browse?limit=20".to_owned()),
        (
            "browse_listings",
            json!({"query": "cobol", "limit": 20}),
            "/v2/listings/browse?query=cobol&limit=20".to_owned(),
        ),
        ("get_listing", json!({"listing_id": id}), format!("/v2/listings/browse/{id}")),
        ("list_assets", json!({}), "/v2/assets?limit=20".to_owned()),
        ("list_purchases", json!({"limit": 100}), "/v2/listings/browse/purchases".to_owned()),
        // The result is truncated, so the server requests the page twice.
        ("browse_listings", json!({"limit": 100}), "/v2/listings/browse?limit=100".to_owned()),
    ]
}

/// Returns the median.
fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

/// The server in a separate process, so that its CPU time can be measured.
struct Server {
    process: Child,
    address: String,
}

impl Server {
    fn start(directory: &Path, is_demo: bool) -> Server {
        let mut command = Command::new(env!("CARGO_BIN_EXE_marketplace"));
        command
            .args(["serve", "--listen", "127.0.0.1:0", "--data"])
            .arg(directory)
            .env("MARKETPLACE_LOG_FILTER", "warn");
        if is_demo {
            command.arg("--demo");
        }
        let mut process = command.stdout(Stdio::piped()).spawn().expect("start the server");
        let mut line = String::new();
        BufReader::new(process.stdout.take().expect("stdout is piped"))
            .read_line(&mut line)
            .expect("read a line");
        let address = line.trim().rsplit('/').next().expect("the line has an address").to_owned();
        Server { process, address }
    }

    /// Returns the CPU milliseconds of the server per call of a function that makes one request.
    fn cpu_per_call(&self, mut call: impl FnMut()) -> f64 {
        let before = self.total_cpu_ms();
        for _ in 0..REQUESTS {
            call();
        }
        (self.total_cpu_ms() - before) / REQUESTS as f64
    }

    /// Returns the CPU milliseconds of all threads so far, as the scheduler counts them.
    fn total_cpu_ms(&self) -> f64 {
        let threads =
            std::fs::read_dir(format!("/proc/{}/task", self.process.id())).expect("list the threads");
        let nanoseconds = threads.filter_map(|thread| {
            let spent = std::fs::read_to_string(thread.ok()?.path().join("schedstat")).ok()?;
            spent.split(' ').next()?.parse::<f64>().ok()
        });
        nanoseconds.sum::<f64>() / 1e6
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Returns the milliseconds from the start of a process to its list of tools.
fn time_to_tool_list(directory: &Path, key: &str) -> f64 {
    let start = Instant::now();
    let mut process = Command::new(env!("CARGO_BIN_EXE_marketplace"))
        .args(["mcp", "--data"])
        .arg(directory)
        .env("MARKETPLACE_API_KEY", key)
        .env("MARKETPLACE_KEYS_ALLOW_FIXTURE_KEYS", "true")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("start the process");
    let mut input = process.stdin.take().expect("stdin is piped");
    let mut output = BufReader::new(process.stdout.take().expect("stdout is piped"));
    let hello = json!({
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}},
    });
    let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let list = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"});
    write!(input, "{hello}\n{ready}\n{list}\n").expect("write to the process");
    let mut line = String::new();
    while !line.contains("\"inputSchema\"") {
        line.clear();
        assert!(output.read_line(&mut line).expect("read a response") > 0, "the process ended");
    }
    let waited = start.elapsed().as_secs_f64() * 1e3;
    drop(input);
    process.wait().expect("the process ends");
    waited
}
