//! Random operations of many teams, concurrently and with kills: whatever they do, money, sales, statuses,
//! histories, and events stay consistent.

mod checks;
mod driver;
mod kills;

use std::{
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering},
    },
    thread,
};

use self::{
    checks::check_market,
    driver::{Driver, Made, prepare},
};
use crate::harness::{TestMarket, random::Random};

/// Number of threads that perform operations at the same time.
const THREADS: u64 = 4;

/// Number of operations of each thread. `OPERATIONS` sets another one.
const OPERATIONS: u64 = 400;

/// Microseconds per hour.
const HOUR: i64 = 3_600_000_000;

#[test]
fn random_operations_of_many_teams_keep_the_market_consistent() {
    let operations = std::env::var("OPERATIONS").map_or(OPERATIONS, |count| count.parse().unwrap());
    let market = TestMarket::with_settings(|settings| settings.quality.credits_per_run = 1.0);
    prepare(market.market());
    let (made, succeeded) = (Mutex::new(Made::default()), AtomicU64::new(0));
    thread::scope(|scope| {
        for seed in 0..THREADS {
            let (market, made, succeeded) = (&market, &made, &succeeded);
            scope.spawn(move || {
                let mut driver = Driver::new(market.market(), made, Random(seed));
                for _ in 0..operations {
                    if driver.random.percent(4) {
                        market.clock().advance(driver.random.below(60) as i64 * HOUR);
                    }
                    if driver.act().is_ok() {
                        succeeded.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        }
    });
    market.market().run_due_steps().unwrap();
    check_market(market.market());
    let (succeeded, all) = (succeeded.into_inner(), THREADS * operations);
    assert!(succeeded > all / 8, "only {succeeded} of {all} operations succeeded");
}
