//! A market at work for a long time, then with too much work, then with a team that floods it.
//!
//! `MARKET=directory cargo bench --bench soak` copies a directory that `marketplace seed --generate 100000` has made, and sends what
//! people, programs, and agents send. `SECONDS` is how long the market is at 80 % of its capacity, 600 unless set. `CAPACITY` is this
//! capacity in requests a second, so that it need not be found; there is no flood then. All figures are ratios within one run. The
//! client runs on the same cores, and is part of the capacity. The status is 1 if a target is missed.

#![allow(clippy::print_stdout)] // The benchmark prints tables.

#[path = "../http/client.rs"]
mod client;
mod load;
mod mix;
#[allow(dead_code)] // Only memory is of interest here.
#[path = "../worlds/process.rs"]
mod process;
#[allow(dead_code)] // No cursors are sent.
#[path = "../http/request_values.rs"]
mod request_values;
mod server;

use std::{
    collections::BTreeMap,
    path::Path,
    str::FromStr,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};

use client::Client;
use load::{Answers, Load, Pace, quantile, run};
use mix::{KINDS, Mix};
use process::Usage;
use server::Server;

/// Connections that send as fast as they are answered, which finds the most that the server can do.
const CONNECTIONS: usize = 32;

/// Connections of the market at work: enough that nobody waits for the answer to another.
const AT_WORK: usize = 256;

/// The server keeps up with a rate if it refuses nothing, and the slowest hundredth waits for less, in milliseconds, in these seconds:
/// that is long enough for the index to be merged meanwhile.
const MAX_BACKLOG_MS: f64 = 100.0;
const TRIAL_SECONDS: u64 = 30;

/// Seconds of the market at work whose slowest hundredth is printed, so that it shows whether it becomes slower.
const SLICE_SECONDS: u64 = 60;

/// Connections with which the market has too much work, and how much is meant by that, relative to its capacity.
const TOO_MANY: usize = 640;
const MIN_OVERLOAD: f64 = 2.0;

/// Connections of the team that floods the market.
const FLOODING: usize = 64;

/// Requests per second of two other teams that are within their budgets.
const RATE_WITHIN_BUDGETS: f64 = 20.0;

/// The most that the slowest hundredth may take, relative to the idle server; and with too much work, relative to the market at work.
const MAX_BUSY_RATIO: f64 = 3.0;
const MAX_OVERLOAD_RATIO: f64 = 2.0;

/// The most that another team may take, relative to when nobody floods the market.
const MAX_FLOOD_RATIO: f64 = 1.25;

/// The growth of memory in the second half, in MB, that is still treated as none: the memory that the allocator keeps varies.
const MEMORY_NOISE_MB: f64 = 8.0;

fn main() {
    let Some(market) = std::env::var_os("MARKET") else {
        println!("set MARKET to the directory of a market; see docs/performance.md");
        return;
    };
    let seconds = number_of("SECONDS").unwrap_or(600);
    let directory = tempfile::tempdir().expect("create a directory");
    server::copy_directory(Path::new(&market), directory.path());
    let mut server = Server::start(directory.path());
    let mix = Mix::sample(&mut Client::connect(&server.address, &server.buyers[0].key));
    println!("{} listings", mix.values.listings);
    let send = |load| run(&server, &mix, load, &AtomicBool::new(false));
    let of_all = |connections, pace, seconds| Load {
        connections,
        pace,
        time: Duration::from_secs(seconds),
        is_of_all_teams: true,
    };
    send(of_all(1, Pace::AsAnswered, 5));
    let idle = send(of_all(1, Pace::AsAnswered, 20));
    let most = send(of_all(CONNECTIONS, Pace::AsAnswered, 20)).rate();
    println!("{CONNECTIONS} connections without pauses: {most:.0} requests a second");
    // Changes of many connections are committed together, so more is possible without pauses than at a rate.
    let rates = (0..).map(|step| most * 0.95_f64.powi(step));
    let keeps_up = |rate: &f64| {
        let answers = send(of_all(AT_WORK, Pace::Rate(*rate), TRIAL_SECONDS));
        let wait = quantile(answers.all(), 990);
        println!(
            "{rate:.0} requests a second: {wait:.0} ms by the slowest hundredth, {} refused",
            answers.refused
        );
        answers.refused == 0 && wait < MAX_BACKLOG_MS
    };
    let find = || rates.take(20).find(keeps_up).expect("the server keeps up with a third of that");
    let given = number_of("CAPACITY");
    let capacity = given.unwrap_or_else(find);
    println!("capacity: {capacity:.0} requests a second");
    let mut failed = false;
    let mut check = |what: &str, is_met: bool| {
        println!("{}: {what}", if is_met { "met" } else { "MISSED" });
        failed |= !is_met;
    };

    let (busy, memory) = watch_memory(&server, || {
        let mut all = Answers::default();
        for begin in (0..seconds).step_by(SLICE_SECONDS as usize) {
            let length = SLICE_SECONDS.min(seconds - begin);
            let slice = send(of_all(AT_WORK, Pace::Rate(capacity * 0.8), length));
            print_summary(&format!("from second {begin}"), &slice);
            all.add_later(slice);
        }
        all
    });
    print_summary("at 80 %", &busy);
    let (idle_p99, busy_p99) = (quantile(idle.all(), 990), quantile(busy.all(), 990));
    check(
        &format!(
            "the slowest hundredth takes {busy_p99:.1} ms, {:.1} times that of the idle server",
            busy_p99 / idle_p99
        ),
        busy_p99 <= idle_p99 * MAX_BUSY_RATIO,
    );
    check(&format!("{} answers are wrong: {:?}", busy.wrong.len(), named(&busy)), busy.wrong.is_empty());
    let (first, second) = memory.split_at(memory.len() / 2);
    let [first, second] = [first, second].map(|half| quantile(half.to_vec(), 1000));
    check(
        &format!("memory of its own: at most {first:.0} MB in the first half, and {second:.0} in the second"),
        second <= first + MEMORY_NOISE_MB,
    );

    let overload = send(of_all(TOO_MANY, Pace::AtMost(capacity * 3.0), 60));
    print_table([&idle, &busy, &overload]);
    print_summary("at three times the capacity", &overload);
    check(
        &format!("{} answers are wrong: {:?}", overload.wrong.len(), named(&overload)),
        overload.wrong.is_empty(),
    );
    let offered = overload.answered() / capacity;
    check(&format!("{offered:.1} times the capacity was sent"), offered >= MIN_OVERLOAD);
    check(
        &format!(
            "served requests take {:.1} ms by the slowest hundredth, {:.1} times that at 80 %",
            quantile(overload.all(), 990),
            quantile(overload.all(), 990) / busy_p99
        ),
        quantile(overload.all(), 990) <= busy_p99 * MAX_OVERLOAD_RATIO,
    );
    if given.is_none() {
        let ratio = flood(&server, &mix, capacity * 0.1);
        println!("during a flood without budgets, another team waits {ratio:.2} times as long by the median");
        server.restart_with_budgets(directory.path());
        let ratio = flood(&server, &mix, RATE_WITHIN_BUDGETS);
        check(
            &format!("during a flood, another team waits {ratio:.2} times as long by the median"),
            ratio <= MAX_FLOOD_RATIO,
        );
    }
    // Which ends its process; leaving with a status does not.
    drop(server);
    if failed {
        std::process::exit(1);
    }
}

/// Returns the number in a variable, if it is set.
fn number_of<T: FromStr>(variable: &str) -> Option<T> {
    std::env::var(variable).ok().and_then(|text| text.parse().ok())
}

/// Lets one team send as much as it can, and returns how long others that send at this rate wait, relative to before.
fn flood(server: &Server, mix: &Mix, rate: f64) -> f64 {
    let load = |connections, pace, seconds, is_of_all_teams| Load {
        connections,
        pace,
        time: Duration::from_secs(seconds),
        is_of_all_teams,
    };
    let others = load(2, Pace::Rate(rate), 30, true);
    let stop = AtomicBool::new(false);
    let alone = run(server, mix, others, &stop);
    let flooded = thread::scope(|scope| {
        let flood = load(FLOODING, Pace::AsAnswered, 3600, false);
        let stop = &stop;
        let flood = scope.spawn(move || run(server, mix, flood, stop));
        let flooded = run(server, mix, others, &AtomicBool::new(false));
        stop.store(true, Ordering::Relaxed);
        print_summary("the flood", &flood.join().expect("the thread ends"));
        flooded
    });
    print_summary("others before it", &alone);
    print_summary("others during it", &flooded);
    quantile(flooded.all(), 500) / quantile(alone.all(), 500)
}

/// Does some work, and returns the memory of the server in MB for each second of it.
fn watch_memory(server: &Server, work: impl FnOnce() -> Answers) -> (Answers, Vec<f64>) {
    let is_done = AtomicBool::new(false);
    thread::scope(|scope| {
        let watching = scope.spawn(|| {
            let mut memory = Vec::new();
            while !is_done.load(Ordering::Relaxed) {
                memory.push(Usage::of_process(&server.id()).anonymous_mb);
                thread::sleep(Duration::from_secs(1));
            }
            memory
        });
        let answers = work();
        is_done.store(true, Ordering::Relaxed);
        (answers, watching.join().expect("the thread ends"))
    })
}

fn print_summary(name: &str, answers: &Answers) {
    let all = answers.all();
    println!(
        "{name}: {:.0} requests a second, {:.0} of them served, {} refused; {:.2} ms by the median, {:.1} ms by the slowest hundredth",
        answers.answered(),
        answers.rate(),
        answers.refused,
        quantile(all.clone(), 500),
        quantile(all, 990)
    );
}

/// Prints the median and the slowest hundredth of each kind of request, in ms: of the idle server, at work, and with too much work.
fn print_table(loads: [&Answers; 3]) {
    println!("\n| request | idle | at 80 % | at three times the capacity |\n| - | - | - | - |");
    for (kind, (_, name, _)) in KINDS.iter().enumerate() {
        let cells = loads.map(|answers| {
            let quantile = |thousandths| quantile(answers.served[kind].clone(), thousandths);
            format!("{:.2}, {:.2}", quantile(500), quantile(990))
        });
        println!("| {name} | {} |", cells.join(" | "));
    }
    println!();
}

/// Returns how many answers are wrong: by the kind of the request, and by the status.
fn named(answers: &Answers) -> BTreeMap<(&'static str, u16), usize> {
    let mut counts = BTreeMap::new();
    for (kind, status) in &answers.wrong {
        *counts.entry((KINDS[*kind].1, *status)).or_default() += 1;
    }
    counts
}
