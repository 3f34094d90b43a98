//! How worlds open their markets.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use super::error::WorldError;
use crate::{
    clock::{Clock, Entropy},
    config::Settings,
    market::{Market, OpenMode, OpenOptions, StepRunner},
    search::Renderer,
    store::Durability,
};

/// What all worlds of a process have in common.
#[derive(Clone)]
pub struct Opener {
    /// The function that renders listings for API responses.
    pub renderer: Renderer,
    /// The function that carries out due steps.
    pub run_step: StepRunner,
    /// The program that child processes run.
    pub program: PathBuf,
}

impl Opener {
    /// Opens the market in a directory. Nothing is synchronized with the disk, since a world ends with its process.
    pub(super) fn open(
        &self,
        directory: &Path,
        settings: Settings,
        clock: Clock,
        seed: u64,
    ) -> Result<Market, WorldError> {
        let options = OpenOptions {
            data_dir: directory.to_owned(),
            settings,
            clock: Arc::new(clock),
            entropy: Entropy::seeded(seed),
            durability: Durability::None,
            mode: OpenMode::Serve,
            renderer: self.renderer,
            run_step: self.run_step,
            program: self.program.clone(),
        };
        Ok(Market::open(options)?)
    }
}
