//! CPU time of requests: CPU milliseconds of the server per request over real HTTP, as the system reports
//! them.
//!
//! `MARKET=directory cargo bench --bench http` starts the server on a directory created by `marketplace seed
//! --generate N` and prints a table. Parameters rotate over hundreds of values, so that no cache holds all
//! responses.

#![allow(clippy::print_stdout)] // The benchmark prints a table.

mod client;
mod request_values;

use std::{
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
    sync::atomic::{AtomicUsize, Ordering},
    time::Instant,
};

use client::Client;
use request_values::RequestValues;

/// Number of requests that warm up a case before it is measured.
const WARM_UP_REQUESTS: usize = 200;

/// Number of connections under load. A single connection also measures the cost of waking an idle machine;
/// many connections also measure how much the cores slow each other down.
const CONNECTIONS: usize = 8;

/// Number of requests of a connection between two checks of the time.
const REQUESTS_PER_CHECK: usize = 20;

/// The server in a separate process, so that its CPU time can be measured.
struct Server {
    process: Child,
    address: String,
    startup_time: std::time::Duration,
}

impl Server {
    fn start(directory: &Path) -> Server {
        let start = Instant::now();
        let mut process = Command::new(env!("CARGO_BIN_EXE_marketplace"))
            .args(["serve", "--listen", "127.0.0.1:0", "--data"])
            .arg(directory)
            .env("MARKETPLACE_LOG_FILTER", "warn")
            .envs(rate_limit_settings())
            .stdout(Stdio::piped())
            .spawn()
            .expect("start the server");
        let mut line = String::new();
        BufReader::new(process.stdout.take().expect("stdout is piped"))
            .read_line(&mut line)
            .expect("read a line");
        let address = line.trim().rsplit('/').next().expect("the line has an address").to_owned();
        Server { process, address, startup_time: start.elapsed() }
    }

    /// Returns the CPU seconds of the server so far, from system ticks of 1/100 s.
    fn cpu_seconds(&self) -> f64 {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.process.id()))
            .expect("read the process status");
        let fields: Vec<&str> = stat.rsplit(") ").next().expect("the status has fields").split(' ').collect();
        let ticks: u64 =
            fields[11..13].iter().map(|field| field.parse::<u64>().expect("ticks are a number")).sum();
        ticks as f64 / 100.0
    }

    /// Returns the anonymous resident memory of the server in MB.
    fn anonymous_mb(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.process.id()))
            .expect("read the process status");
        let line = status.lines().find(|line| line.starts_with("RssAnon")).expect("the status has RssAnon");
        line.split_whitespace().nth(1).and_then(|kb| kb.parse::<u64>().ok()).expect("RssAnon is a number")
            / 1024
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A kind of request: its name, and a function that returns the path of the n-th request.
struct Case<'a> {
    name: &'static str,
    path: Box<dyn Fn(usize) -> String + Sync + 'a>,
}

fn main() {
    let Some(directory) = std::env::var_os("MARKET") else {
        println!("set MARKET to the directory of a market; see docs/performance.md");
        return;
    };
    let key = std::env::var("MARKET_KEY").unwrap_or_else(|_| create_buyer_key(Path::new(&directory)));
    let server = Server::start(Path::new(&directory));
    let mut client = Client::connect(&server.address, &key);
    let first = Instant::now();
    client.get("/v2/listings/browse");
    println!(
        "server started in {:.0} ms, first page in {:.0} ms",
        to_millis(server.startup_time),
        to_millis(first.elapsed())
    );
    let values = RequestValues::sample(&mut client);
    println!("{} listings; {} MB of anonymous memory\n", values.listings, server.anonymous_mb());
    println!(
        "| request | CPU ms, one connection | CPU ms, under load | requests per second |\n| - | - | - | - |"
    );
    let mut clients: Vec<Client> = (0..CONNECTIONS).map(|_| Client::connect(&server.address, &key)).collect();
    let name_filter = std::env::var("ONLY").unwrap_or_default();
    for case in cases(&values).iter().filter(|case| case.name.contains(&name_filter)) {
        let (alone, _) = measure(&server, &mut clients[..1], case);
        let (loaded, rate) = measure(&server, &mut clients, case);
        println!("| {} | {alone:.3} | {loaded:.3} | {rate:.0} |", case.name);
    }
    println!("\n{} MB of anonymous memory", server.anonymous_mb());
}

/// Returns the settings of all rate limits: `BUDGETS` requests per minute, or 0 for no limits.
fn rate_limit_settings() -> [(String, String); 8] {
    let limit = std::env::var("BUDGETS").unwrap_or_else(|_| "0".to_owned());
    let names = ["CATALOG", "HISTORY", "SALES", "PURCHASES", "QUALITY_CHECKS", "UPLOADS", "OTHER", "ADDRESS"];
    names.map(|name| (format!("MARKETPLACE_LIMITS_{name}"), limit.clone()))
}

fn to_millis(time: std::time::Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// Creates a buyer team and returns its API key. Uses the command line as people do.
fn create_buyer_key(directory: &Path) -> String {
    let marketplace = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_marketplace"))
            .args(arguments)
            .arg("--data")
            .arg(directory)
            .output()
            .expect("run the command");
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    };
    let team = "Benchmark Buyer";
    marketplace(&["team", "create", team, "--role", "buyer", "--nda"]);
    marketplace(&["key", "create", team])
}

fn cases(values: &RequestValues) -> Vec<Case<'_>> {
    let browse = |rest: String| format!("/v2/listings/browse?{rest}");
    vec![
        Case {
            name: "bare first page with counts and facets",
            path: Box::new(move |_| browse("limit=24".to_owned())),
        },
        Case {
            name: "two words matching 3 %, with facets",
            path: Box::new(move |n| browse(format!("query={}", values.pair(n)))),
        },
        Case {
            name: "the same with three filters, by price",
            path: Box::new(move |n| {
                browse(format!("query={}&{}&sort=price_low", values.pair(n), values.filters(n)))
            }),
        },
        Case {
            name: "page 200 of recent",
            path: Box::new(move |n| browse(format!("sort=recent&cursor={}", values.cursor(n)))),
        },
        Case { name: "one detail", path: Box::new(move |n| format!("/v2/listings/browse/{}", values.id(n))) },
        Case {
            name: "three filters, by price, no words",
            path: Box::new(move |n| browse(format!("{}&sort=price_low", values.filters(n)))),
        },
    ]
}

/// Sends requests over these connections in parallel, until the server has used enough CPU time for an
/// accurate measurement. Returns the CPU milliseconds per request, and the requests per second.
fn measure(server: &Server, clients: &mut [Client], case: &Case) -> (f64, f64) {
    for n in 0..WARM_UP_REQUESTS {
        clients[0].get(&(case.path)(n));
    }
    let sent = AtomicUsize::new(0);
    let (start_cpu, start) = (server.cpu_seconds(), Instant::now());
    std::thread::scope(|scope| {
        for client in clients {
            scope.spawn(|| {
                while server.cpu_seconds() - start_cpu < 1.5 && start.elapsed().as_secs() < 20 {
                    for _ in 0..REQUESTS_PER_CHECK {
                        client.get(&(case.path)(WARM_UP_REQUESTS + sent.fetch_add(1, Ordering::Relaxed)));
                    }
                }
            });
        }
    });
    let sent = sent.into_inner() as f64;
    ((server.cpu_seconds() - start_cpu) * 1e3 / sent, sent / start.elapsed().as_secs_f64())
}
