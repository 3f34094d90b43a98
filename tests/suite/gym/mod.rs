//! Tests of the gym: its questions, its checkers, what it counts, and what the reference run costs.

mod agents;
mod generated;
mod questions;
mod reference;

use marketplace::{
    config::Settings,
    fixtures::demo_image::{self, DEMO_TIME},
    gym::{DEFAULT_SEED, Gym, GymOptions},
    store::Durability,
};
use tempfile::TempDir;

/// A gym with its directory, which is deleted after it.
struct TestGym {
    gym: Gym,
    _directory: TempDir,
}

/// Opens a gym of the demo market.
fn demo_gym(seed: u64) -> TestGym {
    let directory = tempfile::tempdir().unwrap();
    demo_image::unpack(&directory.path().join("market"), None, Durability::None).unwrap();
    open(directory, DEMO_TIME, seed)
}

/// Opens a gym in the directory `market` of a directory.
fn open(directory: TempDir, now: marketplace::domain::time::Timestamp, seed: u64) -> TestGym {
    let options = GymOptions {
        directory: directory.path().join("market"),
        settings: Settings::default(),
        now,
        seed,
        base_url: "http://127.0.0.1:1".to_owned(),
    };
    TestGym { gym: Gym::open(options).unwrap(), _directory: directory }
}

/// Opens a gym of the demo market with the usual seed.
fn usual_gym() -> TestGym {
    demo_gym(DEFAULT_SEED)
}
