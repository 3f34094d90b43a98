//! Kills a process while it advances a clock: the next one carries out the rest, and each step is carried out once.
//!
//! A world ends with its process, so the test runs the same scheduler on the directory of a market. It starts its own
//! executable as the process to kill.

use std::{
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Command, Stdio},
    sync::{Arc, Mutex},
};

use marketplace::{
    clock::{Clock, ClockState, Entropy, SimulatedClock},
    domain::time::Timestamp,
    market::{Market, OpenMode, OpenOptions, Requester},
    operations::{due_steps, webhook_inbox},
    rest,
    store::Durability,
    worlds::{DoneWork, DueWork, START, WorkKind},
};

use super::DAY;
use crate::{harness, market_operations::driver};

/// Environment variable with the data directory of the process to kill.
const DIRECTORY_VARIABLE: &str = "ADVANCE_FOLDER";

/// Number of kills.
const ROUNDS: usize = 4;

fn open(directory: &Path, now: Timestamp) -> Market {
    Market::open(OpenOptions {
        data_dir: directory.to_owned(),
        settings: harness::usual_settings(),
        clock: Arc::new(Clock::Simulated(SimulatedClock::new(&ClockState::new(now, false, 1)))),
        entropy: Entropy::seeded(1),
        durability: Durability::Full,
        mode: OpenMode::Serve,
        renderer: rest::RENDERER,
        run_step: due_steps::run_step,
        program: env!("CARGO_BIN_EXE_marketplace").into(),
    })
    .unwrap()
}

fn advance(market: &Market, on_done: &dyn Fn(DoneWork)) {
    let work = DueWork { market, has_jobs: true, receive: &|_| webhook_inbox::accept(), on_done };
    work.advance_to(START.plus_micros(90 * DAY), Requester::process()).unwrap();
}

/// Creates a market in which much becomes due.
fn prepare(directory: &Path) {
    let market = open(directory, START);
    driver::prepare(&market);
    let made = Mutex::new(driver::Made::load(&market));
    let mut driver = driver::Driver::new(&market, &made, harness::random::Random(3));
    for _ in 0..250 {
        let _ = driver.act();
    }
}

/// The process to kill: advances the clock, and prints a line after each step.
#[test]
fn advances_until_it_is_killed() {
    let Ok(directory) = std::env::var(DIRECTORY_VARIABLE) else { return };
    let market = open(Path::new(&directory), START);
    advance(&market, &|work| {
        if matches!(work.kind, WorkKind::Step(_)) {
            let mut out = std::io::stdout().lock();
            writeln!(out, "done {}", work.due_at).unwrap();
            out.flush().unwrap();
        }
    });
}

/// Starts a process that advances the clock, and kills it after some steps.
fn advance_and_kill(directory: &Path, steps: usize) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "worlds::kills::advances_until_it_is_killed", "--nocapture"])
        .env(DIRECTORY_VARIABLE, directory)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let seen = lines.filter(|line| line.contains("done ")).take(steps).count();
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(seen, steps, "it was killed before it was done");
}

/// Returns the types, times, subjects, and data of the events, except for reports of advances.
fn events(market: &Market) -> Vec<[String; 4]> {
    let tables = super::tables::tables(market);
    let rows = tables["events"].iter().filter(|row| row["type"] != "clock.advanced");
    rows.map(|row| ["type", "occurred_at", "subject", "data"].map(|column| row[column].clone())).collect()
}

#[test]
fn advance_that_is_killed_is_continued_and_carries_out_each_step_once() {
    let directories = [(); 2].map(|()| tempfile::tempdir().unwrap());
    directories.each_ref().map(|directory| prepare(directory.path()));
    let [killed, whole] = directories.each_ref().map(tempfile::TempDir::path);
    for round in 0..ROUNDS {
        advance_and_kill(killed, 1 + 2 * round);
    }
    let [continued, whole] = [killed, whole].map(|directory| {
        let market = open(directory, START);
        advance(&market, &|_| {});
        events(&market)
    });
    assert!(whole.len() > 100);
    assert_eq!(continued, whole);
}
