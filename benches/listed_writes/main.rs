//! Cost of a write that touches a listing, through the HTTP API in process: `PATCH /v2/codebases/{id}` of a
//! codebase that is on a listing. The write returns after searches show it. Also the cost of a
//! purchase, by the operation and through the operator API.
//!
//! Exits with an error if a target is missed.
//!
//! `cargo bench --bench listed_writes`; `LISTINGS=100000` for the size of the market. The data directory is
//! in the system's temporary directory, and the database waits for the disk as that of a server does.

#![allow(missing_docs, clippy::print_stdout)]

mod codebases;
#[path = "../shared/local_market.rs"]
mod local_market;
mod purchases;

use std::{
    process::ExitCode,
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, Instant},
};

use marketplace::{
    domain::principals::KeyScope,
    fixtures,
    market::{Market, Writer},
    mcp,
    operations::{self, access::Platform},
    rest,
    store::Durability,
};
use poem::{Body, Endpoint, Request};

use codebases::create_codebases;
use purchases::Purchases;

/// Number of listings that are written to.
const WRITTEN_LISTINGS: usize = 200;

/// Number of writes by one writer, and of the batches whose CPU time is measured. The system counts CPU time
/// in steps of 10 ms.
const WRITES: usize = 1_000;
const BATCHES: usize = 10;

/// Number of writers that measure the throughput, and for how long.
const WRITERS: usize = 8;
const THROUGHPUT_TIME: Duration = Duration::from_secs(5);

fn main() -> ExitCode {
    let listings: u64 = std::env::var("LISTINGS").ok().and_then(|text| text.parse().ok()).unwrap_or(10_000);
    let directory = tempfile::tempdir().expect("create a temporary directory");
    let market = local_market::open(directory.path(), Durability::Full);
    fixtures::seed_taxonomy(&market).expect("load the taxonomy");
    fixtures::generate(&market, listings, &()).expect("generate listings");
    let (key, codebases) = create_codebases(&market, WRITTEN_LISTINGS);
    let app = mcp::App::new(rest::App::new(market.settings(), false)).serve(market.clone(), "http://bench");
    let runtime = tokio::runtime::Runtime::new().expect("start a runtime");
    let number = AtomicU64::new(0);
    let write = async |writer: usize| {
        let number = number.fetch_add(1, Ordering::Relaxed);
        // Each writer has its own codebases.
        let codebase = codebases[(number as usize * WRITERS + writer) % WRITTEN_LISTINGS];
        let request = Request::builder()
            .method(poem::http::Method::PATCH)
            .uri(format!("/v2/codebases/{codebase}").parse().expect("the path is valid"))
            .header("authorization", format!("Bearer {key}"))
            .header("content-type", "application/json")
            .body(Body::from(format!(r#"{{"lines_of_code": {}}}"#, 100_000 + number)));
        let response = app.get_response(request).await;
        assert_eq!(response.status(), 200, "{:?}", response.into_body().into_string().await);
    };
    runtime.block_on(async {
        for _ in 0..100 {
            write(0).await;
        }
    });
    let alone = measure_one_writer(&market, |count| {
        runtime.block_on(async {
            let mut times = Vec::new();
            for _ in 0..count {
                let start = Instant::now();
                write(0).await;
                times.push(start.elapsed().as_secs_f64() * 1e3);
            }
            times
        })
    });
    let (start, commits, first) = (Instant::now(), market.commit_count(), number.load(Ordering::Relaxed));
    runtime.block_on(async {
        let writers = (0..WRITERS).map(|writer| {
            let write = &write;
            async move {
                while start.elapsed() < THROUGHPUT_TIME {
                    write(writer).await;
                }
            }
        });
        futures_util::future::join_all(writers).await;
    });
    let writes = (number.load(Ordering::Relaxed) - first) as f64;
    println!("\n{listings} listings; a write that touches one:\n\n| | measured | required |\n| - | - | - |");
    let mut targets = Targets::default();
    targets.at_most("wall time, median", alone.wall_ms, "ms", 3.0);
    println!("| wall time, 99th percentile | {:.2} ms | |", alone.slow_wall_ms);
    targets.at_most(&format!("CPU time, median of {BATCHES} batches"), alone.cpu_ms, "ms", 2.0);
    targets.at_most("commits per write", alone.commits, "", 2.0);
    let per_second = writes / start.elapsed().as_secs_f64();
    targets.at_least(&format!("throughput, {WRITERS} writers"), per_second, "per second", 300.0);
    let commits_of_all = (market.commit_count() - commits) as f64 / writes;
    targets.at_most(&format!("commits per write, {WRITERS} writers"), commits_of_all, "", 2.0);
    let (purchases, cost) = measure_purchases(&market);
    targets.of_purchase("A purchase with credits, by the operation", &cost);
    let cost = measure_purchases_of_operators(&market, &app, &runtime, &purchases.repeated(&market));
    targets.of_purchase("A purchase through `POST /operator/v1/purchases`, with an idempotency key", &cost);
    println!("\n{} segments", market.snapshot().segments());
    if targets.is_missed {
        println!("a target was missed");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

/// Measures purchases with credits, made one after another by operations.
fn measure_purchases(market: &Market) -> (Purchases, Cost) {
    let purchases = Purchases::prepare(market, "Bench", WRITES);
    let made = std::cell::Cell::new(0);
    let cost = measure_one_writer(market, |count| {
        let mut times = Vec::new();
        for _ in 0..count {
            let start = Instant::now();
            purchases.make(market, made.replace(made.get() + 1));
            times.push(start.elapsed().as_secs_f64() * 1e3);
        }
        times
    });
    (purchases, cost)
}

/// Measures purchases with credits through the operator API, made one after another.
fn measure_purchases_of_operators(
    market: &Market,
    app: &impl Endpoint<Output = poem::Response>,
    runtime: &tokio::runtime::Runtime,
    purchases: &Purchases,
) -> Cost {
    let create_key = |writer: &mut Writer| {
        let platform = Platform::of_process();
        operations::keys::create_for_operator(writer, platform, "bench", KeyScope::All, None)
    };
    let (_, key) = market.write_blocking(create_key).expect("create an operator key");
    let made = std::cell::Cell::new(0);
    let make = async || {
        let number = made.replace(made.get() + 1);
        let request = Request::builder()
            .method(poem::http::Method::POST)
            .uri(poem::http::Uri::from_static("/operator/v1/purchases"))
            .header("authorization", format!("Bearer {key}"))
            .header("idempotency-key", format!("purchase-{number}"))
            .header("content-type", "application/json")
            .body(Body::from(purchases.body(number).to_string()));
        let response = app.get_response(request).await;
        assert_eq!(response.status(), 201, "{:?}", response.into_body().into_string().await);
    };
    measure_one_writer(market, |count| {
        runtime.block_on(async {
            let mut times = Vec::new();
            for _ in 0..count {
                let start = Instant::now();
                make().await;
                times.push(start.elapsed().as_secs_f64() * 1e3);
            }
            times
        })
    })
}

/// Prints rows of tables, and notes whether a figure misses its target.
#[derive(Default)]
struct Targets {
    is_missed: bool,
}

impl Targets {
    fn at_most(&mut self, name: &str, measured: f64, unit: &str, target: f64) {
        println!("| {name} | {measured:.2} {unit} | {target} {unit} |");
        self.is_missed |= measured > target;
    }

    fn at_least(&mut self, name: &str, measured: f64, unit: &str, target: f64) {
        println!("| {name} | {measured:.0} {unit} | {target} {unit} |");
        self.is_missed |= measured < target;
    }

    /// Prints the table of a purchase.
    fn of_purchase(&mut self, title: &str, cost: &Cost) {
        println!("\n{title}:\n\n| | measured | required |\n| - | - | - |");
        println!("| wall time, median | {:.2} ms | |", cost.wall_ms);
        println!("| wall time, 99th percentile | {:.2} ms | |", cost.slow_wall_ms);
        self.at_most(&format!("CPU time, median of {BATCHES} batches"), cost.cpu_ms, "ms", 1.5);
        self.at_most("commits per purchase", cost.commits, "", 2.0);
    }
}

/// What a write costs when no other one runs.
struct Cost {
    wall_ms: f64,
    slow_wall_ms: f64,
    cpu_ms: f64,
    commits: f64,
}

/// Measures a function that makes a number of writes and returns the times that they took.
fn measure_one_writer(market: &Market, write: impl Fn(usize) -> Vec<f64>) -> Cost {
    let (mut wall, mut cpu) = (Vec::new(), Vec::new());
    let commits = market.commit_count();
    for _ in 0..BATCHES {
        let before = process_millis();
        wall.extend(write(WRITES / BATCHES));
        cpu.push((process_millis() - before) / (WRITES / BATCHES) as f64);
    }
    wall.sort_by(f64::total_cmp);
    cpu.sort_by(f64::total_cmp);
    Cost {
        wall_ms: wall[WRITES / 2],
        slow_wall_ms: wall[WRITES * 99 / 100],
        cpu_ms: cpu[BATCHES / 2],
        commits: (market.commit_count() - commits) as f64 / WRITES as f64,
    }
}

/// Returns the CPU milliseconds of the process so far, in steps of 10.
fn process_millis() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").expect("read the process status");
    let fields = stat.rsplit(") ").next().expect("the status has fields").split(' ');
    fields.skip(11).take(2).map(|ticks| ticks.parse::<f64>().expect("ticks are a number") * 10.0).sum()
}
