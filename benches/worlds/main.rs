//! Cost of worlds: forks and resets of the demo, a fork of a market with many listings, a write that touches a listing, what
//! hundreds of worlds occupy, and the memory of the process that serves them over HTTP.
//!
//! Exits with an error if a target is missed.
//!
//! `cargo bench --bench worlds`; `LISTINGS=100000` for the size of the large market, 0 to leave it out. The worlds are in
//! the system's temporary directory.

#![allow(missing_docs, clippy::print_stdout)]

#[path = "../http/client.rs"]
#[expect(dead_code, reason = "the benchmark of routes also reads")]
mod client;
#[path = "../listed_writes/codebases.rs"]
mod codebases;
#[expect(dead_code, reason = "worlds have clocks of their own")]
#[path = "../shared/local_market.rs"]
mod local_market;
mod process;
mod serving;

use std::{
    path::Path,
    process::ExitCode,
    sync::Arc,
    time::{Duration, Instant},
};

use marketplace::{
    blobs::{DiskFile, DiskUsage},
    clock::{Clock, Entropy},
    config::SettingsSources,
    fixtures, market,
    market::{Market, OpenMode, OpenOptions},
    mcp,
    operations::due_steps,
    rest,
    store::{self, Durability},
    worlds::{DEFAULT_SEED, NewWorld, Opener, START, World, Worlds, WorldsOptions},
};
use poem::{Body, Endpoint, Request};

use codebases::create_codebases;
use local_market::settings;

/// Number of forks, of resets, and of writes whose times are measured.
const FORKS: usize = 200;
const RESETS: usize = 200;
const WRITES: usize = 500;

/// Number of forks of the large market.
const LARGE_FORKS: usize = 50;

/// Number of worlds whose memory is measured.
const WORLDS: usize = 500;

/// How long nothing is done, to measure what worlds do on their own.
const IDLE_TIME: Duration = Duration::from_secs(5);

/// Number of listings that are written to.
const WRITTEN_LISTINGS: usize = 50;

fn main() -> ExitCode {
    market::raise_descriptor_limit();
    let listings: u64 = std::env::var("LISTINGS").ok().and_then(|text| text.parse().ok()).unwrap_or(100_000);
    let directory = tempfile::tempdir().expect("create a temporary directory");
    let opener = Opener::new(rest::RENDERER, due_steps::run_step, env!("CARGO_BIN_EXE_marketplace").into());
    let worlds = open_worlds(&opener, open_root(&directory.path().join("small"), 0));
    let mut targets = Targets::default();
    println!("| | measured | required |\n| - | - | - |");
    measure_forks(&worlds, &mut targets);
    measure_resets(&worlds, &mut targets);
    measure_writes(&worlds, &mut targets);
    if listings > 0 {
        let root = open_root(&directory.path().join("large"), listings);
        measure_large_forks(&open_worlds(&opener, root), listings, &mut targets);
    }
    measure_many(&worlds, &opener, &mut targets);
    serving::measure(&directory.path().join("served"), WORLDS, &mut targets);
    if targets.is_missed {
        println!("a target was missed");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

fn measure_forks(worlds: &Worlds, targets: &mut Targets) {
    let start = Instant::now();
    let first = create(worlds, "first", "demo");
    println!(
        "| first fork of the demo, with its template | {:.0} ms | |",
        start.elapsed().as_secs_f64() * 1e3
    );
    println!("| bytes of its own | {} | |", own_bytes(&first));
    worlds.delete("first");
    let times = time(FORKS, |number| {
        create(worlds, &number.to_string(), "demo");
    });
    targets.of_times("fork of the demo", &times, 5.0, Some(15.0));
    let deletions = time(FORKS, |number| {
        assert!(worlds.delete(&number.to_string()));
    });
    println!("| deletion of a world, median | {:.2} ms | |", median(&deletions));
}

fn measure_resets(worlds: &Worlds, targets: &mut Targets) {
    let world = create(worlds, "reset", "demo");
    let times = time(RESETS, |_| world.reset().expect("reset a world"));
    targets.of_times("reset", &times, 5.0, Some(15.0));
    worlds.delete("reset");
}

/// Measures `PATCH /v2/codebases/{id}` of codebases that are on listings.
fn measure_writes(worlds: &Worlds, targets: &mut Targets) {
    let world = create(worlds, "writes", "demo");
    let market = world.market();
    let (key, codebases) = create_codebases(&market, WRITTEN_LISTINGS);
    let app = mcp::App::new(rest::App::new(market.settings(), false)).serve(market, "http://bench");
    let runtime = tokio::runtime::Runtime::new().expect("start a runtime");
    let times = time(WRITES, |number| {
        let codebase = codebases[number % WRITTEN_LISTINGS];
        let request = Request::builder()
            .method(poem::http::Method::PATCH)
            .uri(format!("/v2/codebases/{codebase}").parse().expect("the path is valid"))
            .header("authorization", format!("Bearer {key}"))
            .header("content-type", "application/json")
            .body(Body::from(format!(r#"{{"lines_of_code": {}}}"#, 100_000 + number)));
        let response = runtime.block_on(app.get_response(request));
        assert_eq!(response.status(), 200);
    });
    targets.of_times("write that touches a listing", &times, 3.0, None);
    drop(app);
    worlds.delete("writes");
}

fn measure_large_forks(worlds: &Worlds, listings: u64, targets: &mut Targets) {
    let start = Instant::now();
    let copy = create(worlds, "copy", "market");
    println!("| fork of the server's market | {:.0} ms | |", start.elapsed().as_secs_f64() * 1e3);
    create_team(&copy, 0);
    let start = Instant::now();
    worlds.create_snapshot(&copy, "large").expect("make a snapshot");
    println!("| snapshot of that | {:.1} ms | |", start.elapsed().as_secs_f64() * 1e3);
    let times = time(LARGE_FORKS, |number| {
        create(worlds, &number.to_string(), "large");
    });
    println!("| first fork of the snapshot | {:.1} ms | |", times[0]);
    targets.of_times(&format!("fork of a snapshot with {listings} listings"), &times, 30.0, None);
    let world = worlds.find("0").expect("find a world");
    let times = time(LARGE_FORKS, |number| create_team(&world, 1 + number));
    println!("| write to it, median | {:.2} ms | |", median(&times));
}

/// Opens a market of a server, with generated listings.
fn open_root(directory: &Path, listings: u64) -> Market {
    let mut settings = settings();
    settings.sandbox.max_worlds = WORLDS as u32 + 1;
    let market = Market::open(OpenOptions {
        data_dir: directory.to_owned(),
        settings,
        clock: Arc::new(Clock::stopped(START)),
        entropy: Entropy::seeded(DEFAULT_SEED),
        durability: Durability::None,
        mode: OpenMode::Serve,
        renderer: rest::RENDERER,
        run_step: due_steps::run_step,
        program: env!("CARGO_BIN_EXE_marketplace").into(),
    })
    .expect("open a market");
    fixtures::seed_taxonomy(&market).expect("load the taxonomy");
    if listings > 0 {
        fixtures::generate(&market, listings, &()).expect("generate listings");
    }
    market
}

fn open_worlds(opener: &Opener, root: Market) -> Worlds {
    let mut sources = SettingsSources::new();
    sources.apply_demo().expect("the built-in settings are valid");
    let directory = root.data_dir().join("worlds");
    let options = WorldsOptions { opener: opener.clone(), sources, root, is_demo: false, directory };
    Worlds::new(options).expect("create worlds")
}

fn measure_many(worlds: &Worlds, opener: &Opener, targets: &mut Targets) {
    let before = process::Usage::now();
    let created: Vec<Arc<World>> =
        (0..WORLDS).map(|number| create(worlds, &number.to_string(), "demo")).collect();
    print_usage(&format!("{WORLDS} new worlds"), &before);
    for (number, world) in created.iter().enumerate() {
        create_team(world, number);
    }
    print_usage(&format!("{WORLDS} worlds after a write to each"), &before);
    while opener.idle_closer().open_count() > 0 {
        std::thread::sleep(Duration::from_millis(100));
    }
    // The thread that closes what is idle ends after its next look.
    std::thread::sleep(Duration::from_secs(2));
    let idle = print_usage(&format!("{WORLDS} idle worlds"), &before);
    targets.at_most("threads of idle worlds", idle.threads as f64 - before.threads as f64, "", 0.0);
    std::thread::sleep(IDLE_TIME);
    let later = process::Usage::now();
    targets.at_most("CPU time of idle worlds in 5 s", later.cpu_ms - idle.cpu_ms, "ms", 0.0);
    let bytes = || {
        let mut usage = DiskUsage::default();
        for world in &created {
            world.add_disk_usage(&mut usage).expect("list the files of a world");
        }
        usage.bytes()
    };
    println!("| bytes of {WORLDS} worlds | {:.1} MB | |", bytes() as f64 / 1e6);
    let again = time(5, |_| {
        bytes();
    });
    println!("| summing them up again, median | {:.2} ms | |", median(&again));
    let times = time(WORLDS, |number| {
        let count = created[number].market().read_blocking(|reader| store::teams::list(reader.rows));
        assert!(!count.expect("read").is_empty());
    });
    println!("| first read after that, median | {:.2} ms | |", median(&times));
}

fn create(worlds: &Worlds, name: &str, source: &str) -> Arc<World> {
    let new = NewWorld { name: Some(name.to_owned()), source: source.to_owned(), ..NewWorld::default() };
    worlds.create(&new, None).expect("create a world")
}

fn own_bytes(world: &World) -> u64 {
    world.market().disk_files().expect("list the files").iter().map(DiskFile::own_bytes).sum()
}

fn create_team(world: &World, number: usize) {
    let name = format!("Bench {number}");
    let team = marketplace::operations::teams::TeamInput {
        name: &name,
        is_vendor: true,
        is_buyer: false,
        tier: 1,
        has_accepted_nda: true,
    };
    let created =
        world.market().write_blocking(|writer| marketplace::operations::teams::create(writer, &team));
    created.expect("create a team");
}

/// Prints the additional memory of the process, and returns it.
fn print_usage(what: &str, before: &process::Usage) -> process::Usage {
    let now = process::Usage::now();
    println!(
        "| {what} | {:.0} MB, {} threads, {} files | |",
        now.anonymous_mb - before.anonymous_mb,
        now.threads,
        now.files
    );
    process::Usage { anonymous_mb: now.anonymous_mb - before.anonymous_mb, ..now }
}

/// Returns the milliseconds that each call takes.
fn time(count: usize, call: impl Fn(usize)) -> Vec<f64> {
    let timed = |number| {
        let start = Instant::now();
        call(number);
        start.elapsed().as_secs_f64() * 1e3
    };
    (0..count).map(timed).collect()
}

fn median(times: &[f64]) -> f64 {
    percentile(times, 50)
}

fn percentile(times: &[f64], percent: usize) -> f64 {
    let mut sorted = times.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[(sorted.len() * percent / 100).min(sorted.len() - 1)]
}

/// Prints rows of the table, and notes whether a figure misses its target.
#[derive(Default)]
struct Targets {
    is_missed: bool,
}

impl Targets {
    fn at_most(&mut self, name: &str, measured: f64, unit: &str, target: f64) {
        println!("| {name} | {measured:.2} {unit} | {target} {unit} |");
        self.is_missed |= measured > target;
    }

    fn of_times(&mut self, name: &str, times: &[f64], median_ms: f64, slow_ms: Option<f64>) {
        self.at_most(&format!("{name}, median"), median(times), "ms", median_ms);
        let slow = percentile(times, 99);
        match slow_ms {
            Some(target) => self.at_most(&format!("{name}, 99th percentile"), slow, "ms", target),
            None => println!("| {name}, 99th percentile | {slow:.2} ms | |"),
        }
    }
}
