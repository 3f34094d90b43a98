//! Wakes the background threads when there is work.

use std::{
    sync::{Condvar, Mutex, PoisonError},
    time::Duration,
};

/// A notifier that any number of threads can wait for. Notifications that arrive while a thread is busy are
/// not lost: notifications are counted, and a thread does not sleep until it has seen all of them.
#[derive(Debug, Default)]
pub struct Bell {
    rings: Mutex<u64>,
    changed: Condvar,
}

impl Bell {
    /// Wakes all waiting threads.
    pub fn ring(&self) {
        *self.rings.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.changed.notify_all();
    }

    /// Returns the number of notifications so far.
    pub fn rings(&self) -> u64 {
        *self.rings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Blocks until there are more notifications than `heard`, or until the timeout `most`.
    pub fn wait(&self, heard: u64, most: Duration) {
        let rings = self.rings.lock().unwrap_or_else(PoisonError::into_inner);
        let _rings = self.changed.wait_timeout_while(rings, most, |rings| *rings == heard);
    }
}
