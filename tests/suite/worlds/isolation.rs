//! Random scripts in many worlds at once: each gives exactly what it gives alone.

use std::{
    sync::{Arc, Mutex},
    thread,
};

use marketplace::worlds::World;

use super::{
    DAY, Sandbox,
    tables::{Tables, assert_same, tables},
};
use crate::{
    harness::{environment, random::Random},
    market_operations::driver::{Driver, Made, prepare},
};

/// Number of operations in each world.
const OPERATIONS: u64 = 120;

/// Performs random operations in a world, and advances its clock now and then. Returns what they returned.
pub fn play(world: &World, seed: u64, operations: u64) -> Vec<String> {
    let made = Mutex::new(Made::load(&world.market()));
    let market = world.market();
    let mut driver = Driver::new(&market, &made, Random::new(seed));
    let mut results = Vec::new();
    for _ in 0..operations {
        if driver.random.percent(10) {
            let micros = driver.random.below(5 * DAY as u64) as i64;
            let target = world.clock().now.plus_micros(micros);
            results.push(format!("{:?}", world.advance_to(target).unwrap()));
        }
        let result = driver.act().map_err(|error| error.to_string());
        world.settle().unwrap();
        results.push(format!("{} {result:?}", world.clock().now.0));
    }
    results
}

fn run(sandbox: &Sandbox, name: &str, seed: u64) -> (Vec<String>, Tables) {
    let world: Arc<World> = sandbox.create(name, "empty");
    prepare(&world.market());
    let results = play(&world, seed, OPERATIONS);
    let tables = tables(&world.market());
    sandbox.worlds().delete(name);
    (results, tables)
}

#[test]
fn scripts_in_many_worlds_at_once_give_what_each_gives_alone() {
    let sandbox = Sandbox::new(100);
    let count = environment::rounds(4, 40);
    let alone: Vec<_> = (0..count).map(|seed| run(&sandbox, &format!("alone-{seed}"), seed)).collect();
    let together: Vec<_> = thread::scope(|scope| {
        let sandbox = &sandbox;
        let threads: Vec<_> = (0..count)
            .map(|seed| scope.spawn(move || run(sandbox, &format!("together-{seed}"), seed)))
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    for (seed, (alone, together)) in alone.iter().zip(&together).enumerate() {
        assert_eq!(alone.0, together.0, "seed {seed}");
        assert_same(&alone.1, &together.1, &format!("seed {seed}"));
    }
    let succeeded = alone[0].0.iter().filter(|result| result.contains(" Ok(")).count();
    assert!(succeeded > 20 && alone[0].0 != alone[1].0, "{succeeded} operations succeeded");
}
