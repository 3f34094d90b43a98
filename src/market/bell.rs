//! A bell that wakes whoever works in the background.

use std::{
    sync::{Condvar, Mutex, PoisonError},
    time::Duration,
};

/// A bell that many may wait for. Ringing it while somebody is busy is not lost: who counts the rings it has heard does not
/// sleep until it has heard them all.
#[derive(Debug, Default)]
pub struct Bell {
    rings: Mutex<u64>,
    changed: Condvar,
}

impl Bell {
    /// Wakes whoever waits.
    pub fn ring(&self) {
        *self.rings.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.changed.notify_all();
    }

    /// Rings so far.
    pub fn rings(&self) -> u64 {
        *self.rings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sleeps until the bell is rung more often than was heard, or so long at most.
    pub fn wait(&self, heard: u64, most: Duration) {
        let rings = self.rings.lock().unwrap_or_else(PoisonError::into_inner);
        let _rings = self.changed.wait_timeout_while(rings, most, |rings| *rings == heard);
    }
}
