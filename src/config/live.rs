//! The settings of a running market, which can be replaced, and the parts of the server that depend on them.
//!
//! A part that reads settings on each use needs no code for this. A part that keeps state derived from settings registers with
//! [`LiveSettings::register`].

use std::{
    fmt,
    sync::{
        Mutex, OnceLock, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use super::Settings;

/// Maximum number of changes while a server runs. Replaced settings stay in memory, since requests may still use them.
const MAX_CHANGES: usize = 1000;

/// The prepared change of a part. Applying it cannot fail.
pub struct Prepared {
    /// Description of the change for the log, such as `certificate of market.example`. Empty if the names of the changed
    /// settings are enough.
    pub what: String,
    /// Makes the change.
    pub apply: Box<dyn FnOnce() + Send>,
}

/// Prepares the change that new settings require of a part, without changing anything. Returns `None` if nothing has to
/// change. An error says which setting is wrong, and why; then no part changes anything.
type Prepare = Box<dyn Fn(&Settings) -> Result<Option<Prepared>, String> + Send + Sync>;

/// The settings of a market, and the parts that depend on them.
pub struct LiveSettings {
    first: Settings,
    /// The replacements of the initial settings, in order, so that references to all settings stay valid as long as the market.
    /// Unused in most markets, such as those of worlds.
    later: OnceLock<Box<[OnceLock<Box<Settings>>]>>,
    /// Number of settings in `later`.
    changes: AtomicUsize,
    parts: Mutex<Vec<Prepare>>,
}

impl fmt::Debug for LiveSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LiveSettings").field(self.current()).finish()
    }
}

impl LiveSettings {
    /// Creates settings that have not been replaced yet.
    pub const fn new(settings: Settings) -> LiveSettings {
        LiveSettings {
            first: settings,
            later: OnceLock::new(),
            changes: AtomicUsize::new(0),
            parts: Mutex::new(Vec::new()),
        }
    }

    /// Returns the settings in effect. They do not change while the reference is in use.
    pub fn current(&self) -> &Settings {
        let newest = self.changes.load(Ordering::Acquire).checked_sub(1);
        newest.and_then(|newest| self.later.get()?[newest].get()).map_or(&self.first, Box::as_ref)
    }

    /// Registers a part that keeps state derived from settings. On each reload, all parts prepare, even if no setting
    /// has changed, since a file that a setting names may have changed. They apply their changes only if all have
    /// succeeded.
    pub fn register(
        &self,
        prepare: impl Fn(&Settings) -> Result<Option<Prepared>, String> + Send + Sync + 'static,
    ) {
        self.parts.lock().unwrap_or_else(PoisonError::into_inner).push(Box::new(prepare));
    }

    /// Replaces the settings, if there are new ones, and updates the parts. Returns what the parts have changed. If a
    /// part fails, nothing changes.
    pub fn replace(&self, settings: Option<Settings>) -> Result<Vec<String>, String> {
        // The lock is held to the end, so that reloads run one after another.
        let parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
        let changes = self.changes.load(Ordering::Relaxed);
        if settings.is_some() && changes >= MAX_CHANGES {
            return Err(format!("the settings were changed {MAX_CHANGES} times; start the server again"));
        }
        let next = settings.as_ref().unwrap_or(self.current());
        let prepared = parts.iter().map(|prepare| prepare(next)).collect::<Result<Vec<_>, _>>()?;
        if let Some(settings) = settings {
            let later = self.later.get_or_init(|| (0..MAX_CHANGES).map(|_| OnceLock::new()).collect());
            later[changes].get_or_init(|| Box::new(settings));
            self.changes.store(changes + 1, Ordering::Release);
        }
        let mut changed = Vec::new();
        for Prepared { what, apply } in prepared.into_iter().flatten() {
            apply();
            changed.push(what);
        }
        changed.retain(|what| !what.is_empty());
        Ok(changed)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, atomic::AtomicU64};

    use super::*;

    fn settings(assets: u64) -> Settings {
        let mut settings = Settings::default();
        settings.quotas.assets = assets;
        settings
    }

    #[test]
    fn parts_follow_the_settings_together_or_not_at_all() {
        let live = LiveSettings::new(settings(1));
        let at_start = live.current();
        let used = Arc::new(AtomicU64::new(1));
        let part = Arc::clone(&used);
        live.register(move |settings| {
            let (part, assets) = (Arc::clone(&part), settings.quotas.assets);
            let apply = Box::new(move || part.store(assets, Ordering::Relaxed));
            Ok(Some(Prepared { what: format!("quota {assets}"), apply }))
        });
        live.register(|settings| match settings.quotas.assets {
            3 => Err("three is too many".to_owned()),
            _ => Ok(None),
        });
        let state = || (live.current().quotas.assets, used.load(Ordering::Relaxed));
        assert_eq!(live.replace(Some(settings(2))).unwrap(), ["quota 2"]);
        assert_eq!(state(), (2, 2));
        assert_eq!(live.replace(Some(settings(3))).unwrap_err(), "three is too many");
        assert_eq!(state(), (2, 2));
        assert_eq!(live.replace(None).unwrap(), ["quota 2"], "parts prepare, also without other settings");
        assert_eq!(at_start.quotas.assets, 1, "requests that have begun keep their settings");
    }

    #[test]
    fn number_of_changes_is_limited() {
        let live = LiveSettings::new(settings(0));
        for assets in 1..=MAX_CHANGES as u64 {
            live.replace(Some(settings(assets))).unwrap();
        }
        assert!(live.replace(Some(settings(7))).unwrap_err().contains("start the server again"));
        assert_eq!(live.current().quotas.assets, MAX_CHANGES as u64);
    }
}
