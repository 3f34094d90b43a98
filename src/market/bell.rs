//! A bell that wakes whoever works in the background.

use std::{
    sync::{Condvar, Mutex, PoisonError},
    time::Duration,
};

/// A bell. Ringing it while nobody waits is not lost: the next to wait does not sleep.
#[derive(Debug, Default)]
pub struct Bell {
    is_rung: Mutex<bool>,
    changed: Condvar,
}

impl Bell {
    /// Wakes whoever waits.
    pub fn ring(&self) {
        *self.is_rung.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.changed.notify_all();
    }

    /// Sleeps until the bell is rung, or so long at most.
    pub fn wait(&self, most: Duration) {
        let is_rung = self.is_rung.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.changed.wait_timeout_while(is_rung, most, |is_rung| !*is_rung);
        let (mut is_rung, _) = waited.unwrap_or_else(PoisonError::into_inner);
        *is_rung = false;
    }
}
