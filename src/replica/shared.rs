//! Shared state of the server of a replica and the thread that keeps its copy current.

use std::{
    path::PathBuf,
    sync::{
        Arc, PoisonError, RwLock,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use super::{generations::Generations, litestream::Program, served_copy::ServedCopy};
use crate::{
    config::Settings, error::Result, http_server::tls::Certificates, mcp::App, web::monitoring::ReplicaState,
};

/// The directory of the copies in the data directory of a replica.
pub(super) const COPIES: &str = "copies";

/// What the thread that keeps the copy current shares with the server.
pub(super) struct Shared {
    /// The directory of the copies.
    pub(super) directory: PathBuf,
    pub(super) settings: Settings,
    pub(super) app: App,
    pub(super) base_url: String,
    pub(super) program: Program,
    pub(super) generations: Generations,
    current: RwLock<Option<Arc<ServedCopy>>>,
    pub(super) state: Arc<ReplicaState>,
    /// The certificate, if the server has TLS of its own.
    pub(super) certificates: Option<Arc<Certificates>>,
    /// Whether the copy is not kept current any more, and another one is not complete yet.
    is_stale: AtomicBool,
    /// Whether the last update of the copy has failed, and is repeated.
    has_failed_update: AtomicBool,
    is_draining: AtomicBool,
}

impl Shared {
    /// Returns the shared state of a replica with these settings. `program` runs Litestream.
    pub(super) fn new(
        settings: &Settings,
        app: App,
        certificates: Option<Arc<Certificates>>,
        (base_url, program): (&str, PathBuf),
    ) -> Result<Shared> {
        Ok(Shared {
            directory: settings.data.folder.join(COPIES),
            settings: settings.clone(),
            app,
            base_url: base_url.to_owned(),
            program: Program::new(settings, program),
            generations: Generations::open(&settings.replica.source, settings)?,
            current: RwLock::default(),
            state: Arc::default(),
            certificates,
            is_stale: AtomicBool::default(),
            has_failed_update: AtomicBool::default(),
            is_draining: AtomicBool::default(),
        })
    }

    /// Records that the copy is not kept current any more: the primary answers, if it can, until there is another.
    pub(super) fn mark_stale(&self) {
        self.state.set_followed(false);
        self.is_stale.store(true, Ordering::SeqCst);
    }

    /// Records whether the last update of the copy has failed, and returns it: the primary answers meanwhile, if it can.
    pub(super) fn note_failed_update(&self, has_failed: bool) -> bool {
        if self.has_failed_update.swap(has_failed, Ordering::SeqCst) != has_failed {
            self.state.set_followed(!has_failed);
        }
        has_failed
    }

    /// Whether the primary answers, if it can, although there is a copy.
    pub(super) fn is_stale(&self) -> bool {
        self.is_stale.load(Ordering::SeqCst)
            || self.has_failed_update.load(Ordering::SeqCst)
            || self.state.is_behind()
    }

    /// Serves another copy from the next request on.
    pub(super) fn switch_to(&self, copy: Arc<ServedCopy>) {
        self.state.set_followed(true);
        self.is_stale.store(false, Ordering::SeqCst);
        self.has_failed_update.store(false, Ordering::SeqCst);
        self.state.set_behind(Duration::ZERO);
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(earlier) = current.as_ref() {
            loop {
                let uses = earlier.market.key_cache().take_uses();
                copy.market.key_cache().keep_uses(&uses);
                if !uses.is_full() {
                    break;
                }
            }
        }
        if self.is_draining.load(Ordering::SeqCst) {
            copy.monitor.begin_draining();
        }
        *current = Some(copy);
    }

    /// Records that the server is stopping, also at a copy that is served from now on.
    pub(super) fn begin_draining(&self) {
        self.is_draining.store(true, Ordering::SeqCst);
        if let Some(copy) = self.current() {
            copy.monitor.begin_draining();
        }
    }

    /// Returns the copy that is served; `None` before the first one is complete.
    pub(super) fn current(&self) -> Option<Arc<ServedCopy>> {
        self.current.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
