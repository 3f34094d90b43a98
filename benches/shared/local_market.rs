//! A market in the process of the benchmark.

use std::{path::Path, sync::Arc};

use marketplace::{
    clock::{Clock, Entropy},
    config::{Settings, SettingsSources},
    market::{Market, OpenMode, OpenOptions},
    operations::due_steps,
    rest,
    store::Durability,
};

/// Opens the market in a directory, or creates it.
pub fn open(directory: &Path, durability: Durability) -> Market {
    let opened = Market::open(OpenOptions {
        data_dir: directory.to_owned(),
        settings: settings(),
        clock: Arc::new(Clock::System),
        entropy: Entropy::System,
        durability,
        mode: OpenMode::Serve,
        renderer: rest::RENDERER,
        run_step: due_steps::run_step,
        program: env!("CARGO_BIN_EXE_marketplace").into(),
    });
    opened.expect("open the market")
}

/// Returns the settings of the demo, which has no rate limits.
pub fn settings() -> Settings {
    let mut sources = SettingsSources::new();
    sources.apply_demo().and_then(|()| sources.resolve()).expect("the built-in settings are valid")
}
