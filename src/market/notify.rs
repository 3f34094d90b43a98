//! Wakes the background threads when there is work.

use std::{
    sync::{Condvar, Mutex, PoisonError},
    time::Duration,
};

/// A notifier that any number of threads can wait for. Notifications that arrive while a thread is busy are
/// not lost: notifications are counted, and a thread does not sleep until it has seen all of them.
#[derive(Debug, Default)]
pub struct Notify {
    count: Mutex<u64>,
    changed: Condvar,
}

impl Notify {
    /// Wakes all waiting threads.
    pub fn notify(&self) {
        *self.count.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.changed.notify_all();
    }

    /// Returns the number of notifications so far.
    pub fn count(&self) -> u64 {
        *self.count.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Blocks until there are more notifications than `seen`, or until the timeout.
    pub fn wait(&self, seen: u64, timeout: Duration) {
        let count = self.count.lock().unwrap_or_else(PoisonError::into_inner);
        let _count = self.changed.wait_timeout_while(count, timeout, |count| *count == seen);
    }
}
