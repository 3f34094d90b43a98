//! Random operations of many teams, concurrently and with kills: money, sales, statuses, histories, and events
//! stay consistent, and no vendor learns a buyer.

mod checks;
pub mod driver;
mod kills;

use std::{collections::BTreeMap, sync::Mutex, thread};

use self::{
    checks::check_market,
    driver::{Driver, Made, OPERATIONS, check_keys, prepare},
};
use crate::{
    anonymity,
    harness::{TestMarket, environment, random::Random},
};

/// Number of threads that perform operations at the same time.
const THREADS: u64 = 4;

/// Number of operations of each thread from which on every kind of operation succeeds at least once.
const ENOUGH_OPERATIONS: u64 = 2_000;

/// Microseconds per hour.
const HOUR: i64 = 3_600_000_000;

#[test]
fn random_operations_of_many_teams_keep_the_market_consistent() {
    let operations = environment::rounds(400, ENOUGH_OPERATIONS);
    let market = TestMarket::with_settings(|settings| settings.quality.credits_per_run = 1.0);
    prepare(market.market());
    anonymity::random::create_webhooks(&market);
    let made = Mutex::new(Made::load(market.market()));
    let counts: Mutex<BTreeMap<&str, u64>> = Mutex::new(OPERATIONS.map(|name| (name, 0)).into());
    thread::scope(|scope| {
        for seed in 0..THREADS {
            let (market, made, counts) = (&market, &made, &counts);
            scope.spawn(move || {
                let mut driver = Driver::new(market.market(), made, Random::new(seed));
                for _ in 0..operations {
                    if driver.random.percent(4) {
                        // Often hours, sometimes days.
                        let most = *driver.random.pick(&[12, 12, 12, 200]);
                        market.clock().advance(driver.random.below(most) as i64 * HOUR);
                    }
                    if let Ok((name, _)) = driver.act() {
                        *counts.lock().unwrap().get_mut(name).expect("a name of an operation") += 1;
                    }
                }
            });
        }
    });
    market.market().run_due_steps().unwrap();
    check_market(market.market());
    check_keys(market.market(), &made);
    let secrets: Vec<_> = {
        let made = made.lock().unwrap();
        made.keys.iter().filter_map(|key| Some((key.team?, key.text.clone()))).collect()
    };
    anonymity::random::check_vendors_learn_no_buyer(&market, &secrets);
    let counts = counts.into_inner().unwrap();
    eprintln!("operations that succeeded: {counts:#?}");
    let (succeeded, all) = (counts.values().sum::<u64>(), THREADS * operations);
    assert!(succeeded > all / 8, "only {succeeded} of {all} operations succeeded");
    let missing: Vec<_> = counts.iter().filter(|(_, count)| **count == 0).collect();
    assert!(missing.is_empty() || operations < ENOUGH_OPERATIONS, "{missing:?}");
}
