//! Kills a process during operations with money: nothing is half done, and nothing that was acknowledged is lost.

use std::{
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Command, Stdio},
    sync::Mutex,
};

use marketplace::{config::Settings, market::Market};
use rusqlite::{Connection, OpenFlags};
use uuid::Uuid;

use super::{
    checks::check_market,
    driver::{Driver, Made, prepare},
};
use crate::{
    contract::kill::{kill_soon, open_with},
    harness::{environment, random::Random},
};

/// Environment variable with the data directory of the process to kill.
const DIRECTORY_VARIABLE: &str = "MONEY_KILL_FOLDER";

/// Environment variable with the random seed of its operations.
const SEED_VARIABLE: &str = "MONEY_KILL_SEED";

/// Opens the market as a server does. Earnings are available at once, since time does not pass in this test.
fn open(directory: &Path) -> Market {
    let mut settings = Settings::default();
    settings.quality.credits_per_run = 1.0;
    settings.payouts.hold_days = 0;
    open_with(directory, settings)
}

/// The process to kill: moves money in an endless loop, and prints a line after each operation that succeeded.
#[test]
fn moves_money_until_it_is_killed() {
    let (Ok(directory), Ok(seed)) = (std::env::var(DIRECTORY_VARIABLE), std::env::var(SEED_VARIABLE)) else {
        return;
    };
    let market = open(Path::new(&directory));
    let made = Mutex::new(Made::load(&market));
    let mut driver = Driver::new(&market, &made, Random::new(seed.parse().unwrap()));
    loop {
        // Listings change, too, so that there is something to buy.
        let result = match driver.random.below(10) {
            0 | 1 => driver.change_listing(),
            2..=4 => driver.trade(),
            5 => driver.trade_by_offer(),
            _ => driver.move_money(),
        };
        if let Ok((name, id)) = result {
            let mut out = std::io::stdout().lock();
            writeln!(out, "done {name} {id}").unwrap();
            out.flush().unwrap();
        }
    }
}

/// Starts the process, and kills it while it performs the operation after this number of others. Returns the
/// operations that succeeded, with the IDs of their records.
fn run_and_kill(directory: &Path, random: &mut Random, seed: u64, after: usize) -> Vec<(String, Uuid)> {
    let mut process = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "market_operations::kills::moves_money_until_it_is_killed", "--nocapture"])
        .env(DIRECTORY_VARIABLE, directory)
        .env(SEED_VARIABLE, seed.to_string())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut acknowledged = Vec::new();
    for line in BufReader::new(process.stdout.take().unwrap()).lines() {
        // The test harness prints to stdout, too, and our first line follows its text on the same line.
        let line = line.unwrap();
        let Some((_, fields)) = line.split_once("done ") else { continue };
        let (name, id) = fields.split_once(' ').unwrap();
        acknowledged.push((name.to_owned(), id.parse().unwrap()));
        if acknowledged.len() == after {
            kill_soon(&mut process, random);
        }
    }
    let status = process.wait().unwrap();
    assert!(acknowledged.len() >= after, "the process exited with {status}");
    acknowledged
}

/// Checks that an acknowledged operation was stored: its record exists, in a status that can follow.
fn check_stored(rows: &Connection, name: &str, id: Uuid) {
    let (table, statuses): (_, &[&str]) = match name {
        "credits.buy" => ("credit_purchases", &["completed"]),
        "withdrawal.create" => ("withdrawals", &["requested", "paid", "failed"]),
        "withdrawal.end" => ("withdrawals", &["paid", "failed"]),
        "offer.submit" => ("offers", &["submitted", "accepted", "declined", "withdrawn"]),
        "purchase.create" => ("purchases", &["pending", "completed", "cancelled", "refunded"]),
        "purchase.complete" => ("purchases", &["completed", "refunded"]),
        "purchase.cancel" => ("purchases", &["cancelled"]),
        "purchase.refund" => ("purchases", &["refunded"]),
        _ => return,
    };
    let sql = format!("SELECT status FROM {table} WHERE uuid = ?1");
    let status = rows.query_row(&sql, [id.as_bytes().as_slice()], |row| row.get::<_, String>(0));
    let status = status.unwrap_or_else(|error| panic!("{name} {id} is lost: {error}"));
    assert!(statuses.contains(&status.as_str()), "{name} {id}: {status}");
}

/// Returns how many conversions and adjustments are stored. They have no records of their own, but events.
fn count_stored(rows: &Connection) -> [u64; 2] {
    let count = |condition: &str| {
        rows.query_row(&format!("SELECT count(*) FROM events WHERE {condition}"), [], |row| row.get(0))
            .unwrap()
    };
    [count("type = 'wallet.converted'"), count("data ->> 'description' = 'Correction'")]
}

#[test]
fn money_survives_a_kill_during_any_operation() {
    let rounds = environment::rounds(4, 100);
    let directory = tempfile::tempdir().unwrap();
    prepare(&open(directory.path()));
    let mut random = Random::new(5);
    let mut stored_before = [0, 0];
    for _ in 0..rounds {
        let (seed, after) = (random.next(), 1 + random.below(60) as usize);
        let acknowledged = run_and_kill(directory.path(), &mut random, seed, after);
        let market = open(directory.path());
        check_market(&market);
        let rows = Connection::open_with_flags(
            directory.path().join("market.sqlite"),
            OpenFlags::SQLITE_OPEN_READ_ONLY,
        )
        .unwrap();
        for (name, id) in &acknowledged {
            check_stored(&rows, name, *id);
        }
        let stored = count_stored(&rows);
        for (index, name) in ["earnings.convert", "credits.adjust"].into_iter().enumerate() {
            let count = acknowledged.iter().filter(|(done, _)| done == name).count() as u64;
            let added = stored[index] - stored_before[index];
            assert!((count..=count + 1).contains(&added), "{name}: {count} acknowledged, {added} stored");
        }
        stored_before = stored;
    }
}
