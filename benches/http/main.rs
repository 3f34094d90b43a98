//! What a request costs the server: CPU milliseconds a request, read from the system, over real HTTP.
//!
//! `MARKET=folder cargo bench --bench http` starts the server on a folder that `marketplace seed --generate N` made and
//! prints a table. Parameters rotate over hundreds of values, so that no cache answers them all.

#![allow(clippy::print_stdout)] // A table is what it is for.

mod client;
mod values;

use std::{
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
    sync::atomic::{AtomicUsize, Ordering},
    time::Instant,
};

use client::Client;
use values::Values;

/// Requests that warm a case up before it is measured.
const WARM_UP: usize = 200;

/// Connections that make a load. A lone one measures, too, how dear it is for an idle machine to wake up; many, how much
/// the cores take from each other.
const CONNECTIONS: usize = 8;

/// Requests of a connection between two looks at the clock.
const BETWEEN_READINGS: usize = 20;

/// The server in a process of its own, so that its CPU time is its own.
struct Server {
    process: Child,
    address: String,
    started: std::time::Duration,
}

impl Server {
    fn start(folder: &Path) -> Server {
        let begun = Instant::now();
        let mut process = Command::new(env!("CARGO_BIN_EXE_marketplace"))
            .args(["serve", "--listen", "127.0.0.1:0", "--data"])
            .arg(folder)
            .env("MARKETPLACE_LOG_FILTER", "warn")
            .envs(budgets())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the server starts");
        let mut line = String::new();
        BufReader::new(process.stdout.take().expect("a pipe")).read_line(&mut line).expect("a first line");
        let address = line.trim().rsplit('/').next().expect("an address").to_owned();
        Server { process, address, started: begun.elapsed() }
    }

    /// CPU seconds that the process has used, in the system's ticks of a hundredth.
    fn cpu_seconds(&self) -> f64 {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.process.id())).expect("a process");
        let fields: Vec<&str> = stat.rsplit(") ").next().expect("fields").split(' ').collect();
        let ticks: u64 = fields[11..13].iter().map(|field| field.parse::<u64>().expect("ticks")).sum();
        ticks as f64 / 100.0
    }

    /// Megabytes of anonymous memory that the process holds.
    fn anonymous_mb(&self) -> u64 {
        let status =
            std::fs::read_to_string(format!("/proc/{}/status", self.process.id())).expect("a process");
        let line = status.lines().find(|line| line.starts_with("RssAnon")).expect("a line");
        line.split_whitespace().nth(1).and_then(|kb| kb.parse::<u64>().ok()).expect("kilobytes") / 1024
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A kind of request: its name, and the path of the n-th.
struct Case<'a> {
    name: &'static str,
    path: Box<dyn Fn(usize) -> String + Sync + 'a>,
}

fn main() {
    let Some(folder) = std::env::var_os("MARKET") else {
        println!("MARKET names no folder, so there is nothing to measure; see docs/performance.md");
        return;
    };
    let key = std::env::var("MARKET_KEY").unwrap_or_else(|_| make_key(Path::new(&folder)));
    let server = Server::start(Path::new(&folder));
    let mut client = Client::connect(&server.address, &key);
    let first = Instant::now();
    client.get("/v2/listings/browse");
    println!(
        "answers after {:.0} ms, the first page in {:.0} ms",
        millis(server.started),
        millis(first.elapsed())
    );
    let values = Values::gather(&mut client);
    println!("{} listings; {} MB anonymous\n", values.listings, server.anonymous_mb());
    println!("| request | CPU ms, alone | CPU ms, under load | requests a second |\n| - | - | - | - |");
    let mut clients: Vec<Client> = (0..CONNECTIONS).map(|_| Client::connect(&server.address, &key)).collect();
    let only = std::env::var("ONLY").unwrap_or_default();
    for case in cases(&values).iter().filter(|case| case.name.contains(&only)) {
        let (alone, _) = measure(&server, &mut clients[..1], case);
        let (loaded, rate) = measure(&server, &mut clients, case);
        println!("| {} | {alone:.3} | {loaded:.3} | {rate:.0} |", case.name);
    }
    println!("\n{} MB anonymous", server.anonymous_mb());
}

/// Settings of every budget: `BUDGETS` requests a minute, or none at all.
fn budgets() -> [(String, String); 8] {
    let each = std::env::var("BUDGETS").unwrap_or_else(|_| "0".to_owned());
    let names = ["CATALOG", "HISTORY", "SALES", "PURCHASES", "QUALITY_CHECKS", "UPLOADS", "OTHER", "ADDRESS"];
    names.map(|name| (format!("MARKETPLACE_LIMITS_{name}"), each.clone()))
}

fn millis(time: std::time::Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// A key of a fresh buyer, made with the command that people use.
fn make_key(folder: &Path) -> String {
    let marketplace = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_marketplace"))
            .args(arguments)
            .arg("--data")
            .arg(folder)
            .output()
            .expect("the command runs");
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    };
    let team = "Benchmark Buyer";
    marketplace(&["team", "create", team, "--role", "buyer", "--nda"]);
    marketplace(&["key", "create", team])
}

fn cases(values: &Values) -> Vec<Case<'_>> {
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

/// Loads the server over these connections at once, until it has used enough CPU time to be read well. Answers CPU
/// milliseconds a request, and requests a second.
fn measure(server: &Server, clients: &mut [Client], case: &Case) -> (f64, f64) {
    for n in 0..WARM_UP {
        clients[0].get(&(case.path)(n));
    }
    let sent = AtomicUsize::new(0);
    let (begun_cpu, begun) = (server.cpu_seconds(), Instant::now());
    std::thread::scope(|scope| {
        for client in clients {
            scope.spawn(|| {
                while server.cpu_seconds() - begun_cpu < 1.5 && begun.elapsed().as_secs() < 20 {
                    for _ in 0..BETWEEN_READINGS {
                        client.get(&(case.path)(WARM_UP + sent.fetch_add(1, Ordering::Relaxed)));
                    }
                }
            });
        }
    });
    let sent = sent.into_inner() as f64;
    ((server.cpu_seconds() - begun_cpu) * 1e3 / sent, sent / begun.elapsed().as_secs_f64())
}
