//! Worlds of a test market.

use std::path::PathBuf;

use marketplace::{
    config::SettingsSources,
    market::Market,
    operations::due_steps,
    rest,
    worlds::{FaultRule, FaultTiming, NewFault, NewWorld, Opener, Worlds, WorldsOptions},
};

/// Name of the world that the shared demo market has.
pub const EXAMPLE: &str = "example";

/// Name of the snapshot of that world.
pub const EXAMPLE_SNAPSHOT: &str = "after-review";

/// ID of the fault that it has.
pub const EXAMPLE_FAULT: &str = "fault-1";

/// Returns a path without the base address of a world, if it has one.
pub fn path_in_world(path: &str) -> &str {
    let below = path.strip_prefix("/w/").and_then(|rest| rest.find('/').map(|end| &rest[end..]));
    below.unwrap_or(path)
}

/// Creates the world and the snapshot that routes name in their examples.
pub fn create_examples(worlds: &Worlds) {
    let new = NewWorld { name: Some(EXAMPLE.to_owned()), ..NewWorld::default() };
    let world = worlds.create(&new, None).unwrap();
    worlds.create_snapshot(&world, EXAMPLE_SNAPSHOT).unwrap();
    // It is never met, since the host is unknown.
    let rule = FaultRule::Host("git.example".to_owned());
    let fault = NewFault { rule, timing: FaultTiming::default(), is_forced: false };
    assert_eq!(world.faults().add(fault).unwrap().id(), EXAMPLE_FAULT);
}

/// Creates the worlds of a market, in its data directory.
pub fn open(root: &Market) -> Worlds {
    let program = PathBuf::from(env!("CARGO_BIN_EXE_marketplace"));
    let opener = Opener::new(rest::RENDERER, due_steps::run_step, program);
    let directory = root.data_dir().join("worlds");
    let sources = SettingsSources::new();
    let options = WorldsOptions { opener, sources, root: root.clone(), is_demo: true, directory };
    Worlds::new(options).unwrap()
}
