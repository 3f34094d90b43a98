//! Kills a process while it advances a clock: the next one carries out the rest, and each step is carried out once.
//!
//! A world ends with its process, so the test runs the same scheduler on the directory of a market. It starts its own
//! executable as the process to kill.

use std::{
    cell::Cell,
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Command, Stdio},
    sync::{Arc, Mutex},
};

use marketplace::{
    clock::{Clock, ClockState, Entropy, SimulatedClock},
    config::Settings,
    domain::time::Timestamp,
    market::{Market, OpenOptions, Requester},
    operations::webhook_inbox,
    store::Durability,
    worlds::{DoneWork, DueWork, JobPlaces, START, WorkKind},
};

use super::DAY;
use crate::{harness, market_operations::driver};

/// Environment variable with the data directory of the process to kill.
const DIRECTORY_VARIABLE: &str = "ADVANCE_FOLDER";

/// How much of the work that is due each killed process carries out at least. Most of it are cleanups.
const KILLED_AFTER: [usize; 4] = [2, 20, 40, 50];

/// Returns settings with which no event is removed, so that all can be compared.
fn settings() -> Settings {
    let mut settings = harness::usual_settings();
    settings.events.keep_days = 0;
    settings
}

fn open(directory: &Path, now: Timestamp) -> Market {
    Market::open(OpenOptions {
        clock: Arc::new(Clock::Simulated(SimulatedClock::new(&ClockState::new(now, false, 1)))),
        entropy: Entropy::seeded(1),
        durability: Durability::Full,
        ..harness::market_options(directory, settings())
    })
    .unwrap()
}

fn advance(market: &Market, on_done: &dyn Fn(DoneWork)) {
    let job_places = JobPlaces::new(1);
    let work = DueWork {
        market,
        has_jobs: true,
        job_places: &job_places,
        receive: &|_| webhook_inbox::accept(),
        fails_job: None,
        on_done,
    };
    work.advance_to(START.plus_micros(90 * DAY), Requester::process()).unwrap();
}

/// Creates a market in which much becomes due.
fn prepare(directory: &Path) {
    let market = open(directory, START);
    driver::prepare(&market);
    let made = Mutex::new(driver::Made::load(&market));
    let mut driver = driver::Driver::new(&market, &made, harness::random::Random::new(3));
    for _ in 0..400 {
        // Most refused operations are refused again, and change nothing.
        let _ = driver.act();
    }
}

/// The process to kill: advances the clock, and prints a line after each step and each job. It goes on when it gets a line.
#[test]
fn advances_until_it_is_killed() {
    let Ok(directory) = std::env::var(DIRECTORY_VARIABLE) else { return };
    let market = open(Path::new(&directory), START);
    advance(&market, &|work| {
        let mut out = std::io::stdout().lock();
        writeln!(out, "done {} {}", work.kind.as_str(), work.due_at).unwrap();
        out.flush().unwrap();
        std::io::stdin().read_line(&mut String::new()).unwrap();
    });
}

/// Starts a process that advances the clock, and kills it after a number of steps and jobs.
fn advance_and_kill(directory: &Path, count: usize) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "worlds::kills::advances_until_it_is_killed", "--nocapture"])
        .env(DIRECTORY_VARIABLE, directory)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut go_on = child.stdin.take().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let mut seen = 0;
    for _ in lines.filter(|line| line.contains("done ")).take(count) {
        seen += 1;
        if seen < count {
            writeln!(go_on).unwrap();
        }
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(seen, count, "it was killed before it was done");
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
    for directory in &directories {
        prepare(directory.path());
    }
    let [killed, whole] = directories.each_ref().map(tempfile::TempDir::path);
    for count in KILLED_AFTER {
        advance_and_kill(killed, count);
    }
    let [continued, whole] = [killed, whole].map(|directory| {
        let (market, steps) = (open(directory, START), Cell::new(0));
        advance(&market, &|work| steps.set(steps.get() + u64::from(matches!(work.kind, WorkKind::Step(_)))));
        (events(&market), steps.get())
    });
    assert!(0 < continued.1 && continued.1 < whole.1, "{} of {} steps were left", continued.1, whole.1);
    assert_eq!(continued.0, whole.0);
}
