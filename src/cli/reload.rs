//! Reloads of the settings of a server by SIGHUP.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::{CommandError, logging::ChangeFilter, process, service_manager::ServiceManager};
use crate::{
    config::{Prepared, Reloaded, SettingsSources},
    market::Market,
};

/// Reads all sources of the settings again, and checks them.
pub type ReadSources = Box<dyn Fn() -> Result<SettingsSources, CommandError> + Send>;

/// Reloads the settings of a market.
pub struct Reloader {
    /// The market whose settings change.
    pub market: Market,
    /// The sources of the settings in effect.
    pub sources: SettingsSources,
    /// Reads the sources again.
    pub read: ReadSources,
    /// Changes the filter of the log.
    pub change_filter: Option<ChangeFilter>,
    /// The service manager, which is notified of reloads.
    pub manager: ServiceManager,
    /// The status of the server between reloads, in one line.
    pub status: String,
}

/// The reloads of a server. They end when this is dropped.
pub struct Reloads(Arc<Shared>);

#[derive(Default)]
struct Shared {
    phase: Mutex<Phase>,
    has_changed: Condvar,
}

#[derive(Default)]
enum Phase {
    /// The server does not serve yet. Signals are handled later.
    #[default]
    Starting,
    Serving(Box<Reloader>),
    /// The thread that waits for signals runs until the process ends, and must not keep the market open.
    Stopped,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Phase> {
        self.phase.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn enter(&self, phase: Phase) {
        *self.lock() = phase;
        self.has_changed.notify_all();
    }
}

impl Drop for Reloads {
    fn drop(&mut self) {
        self.0.enter(Phase::Stopped);
    }
}

impl Reloads {
    /// Handles SIGHUP from now on, on its own thread. Signals that arrive before the server serves are handled when it
    /// does.
    pub fn install() -> Result<Reloads, CommandError> {
        let shared = Arc::<Shared>::default();
        let reloads = Reloads(Arc::clone(&shared));
        process::on_hangup(move || {
            let is_starting = |phase: &mut Phase| matches!(phase, Phase::Starting);
            let waited = shared.has_changed.wait_while(shared.lock(), is_starting);
            if let Phase::Serving(reloader) = &mut *waited.unwrap_or_else(PoisonError::into_inner) {
                reloader.run();
            }
        })?;
        Ok(reloads)
    }

    /// Reloads the settings with each signal.
    pub fn begin(&self, reloader: Reloader) {
        if let Some(change) = reloader.change_filter.clone() {
            reloader.market.live_settings().register(move |settings| {
                let (change, settings) = (Arc::clone(&change), settings.clone());
                Ok(Some(Prepared { what: String::new(), apply: Box::new(move || change(&settings)) }))
            });
        }
        self.0.enter(Phase::Serving(Box::new(reloader)));
    }
}

impl Reloader {
    /// Applies the settings that can change, and logs them. If any setting is invalid, nothing changes.
    fn run(&mut self) {
        self.manager.reloading();
        match self.reload() {
            Ok(done) => {
                let (taken, needs_restart) = (done.taken.join(" "), done.needs_restart.join(" "));
                tracing::info!(taken, needs_restart, parts = ?done.parts, "the settings were reloaded");
                if done.needs_restart.is_empty() {
                    self.manager.ready(&self.status);
                } else {
                    tracing::warn!(
                        settings = needs_restart,
                        "these settings have changed, but need a restart of the server"
                    );
                    self.manager.ready(&format!("{}; restart it to apply {needs_restart}", self.status));
                }
            }
            Err(error) => {
                tracing::error!(%error, "the settings were not reloaded, and nothing has changed");
                self.manager.ready(&format!("{}; its settings were not reloaded: {error}", self.status));
            }
        }
    }

    fn reload(&mut self) -> Result<Done, CommandError> {
        let new = (self.read)()?;
        let Reloaded { settings, sources, taken, needs_restart } =
            self.sources.reload(self.market.settings(), new)?;
        let parts = self.market.live_settings().replace(settings).map_err(CommandError::Other)?;
        self.sources = sources;
        Ok(Done { taken, needs_restart, parts })
    }
}

/// The result of a reload.
struct Done {
    taken: Vec<String>,
    needs_restart: Vec<String>,
    /// What changed besides settings.
    parts: Vec<String>,
}
