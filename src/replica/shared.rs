//! What the server of a replica and the thread that keeps its copy current have in common.

use std::{
    path::PathBuf,
    sync::{Arc, PoisonError, RwLock},
};

use super::{copy::Copy, generations::Generations, litestream::Program};
use crate::{config::Settings, error::Result, mcp::App, web::monitoring::ReplicaState};

/// What the thread that keeps the copy current shares with the server.
pub(super) struct Shared {
    /// The directory of the copies.
    pub(super) directory: PathBuf,
    pub(super) settings: Settings,
    pub(super) app: App,
    pub(super) base_url: String,
    pub(super) program: Program,
    pub(super) generations: Generations,
    current: RwLock<Option<Arc<Copy>>>,
    pub(super) state: Arc<ReplicaState>,
}

impl Shared {
    /// Returns what a replica with these settings shares. `program` runs Litestream.
    pub(super) fn new(settings: &Settings, app: App, (base_url, program): (&str, PathBuf)) -> Result<Shared> {
        Ok(Shared {
            directory: settings.data.folder.join("copies"),
            settings: settings.clone(),
            app,
            base_url: base_url.to_owned(),
            program: Program::new(settings, program),
            generations: Generations::open(&settings.replica.source, settings)?,
            current: RwLock::default(),
            state: Arc::default(),
        })
    }

    /// Serves another copy from the next request on.
    pub(super) fn switch_to(&self, copy: Arc<Copy>) {
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = Some(copy);
    }

    /// Returns the copy that is served; `None` before the first one is complete.
    pub(super) fn current(&self) -> Option<Arc<Copy>> {
        self.current.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
