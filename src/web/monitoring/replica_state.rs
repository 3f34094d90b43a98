//! What the monitor of a replica reports besides that of its market.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The state of a replica.
#[derive(Debug, Default)]
pub struct ReplicaState {
    is_primary_away: AtomicBool,
    is_followed: AtomicBool,
    is_outdated: AtomicBool,
    restarts: AtomicU64,
    restores: AtomicU64,
}

impl ReplicaState {
    /// Records whether the primary could be reached.
    pub fn set_primary_away(&self, is_away: bool) {
        self.is_primary_away.store(is_away, Ordering::Relaxed);
    }

    /// Whether the primary could not be reached at the last attempt.
    pub fn is_primary_away(&self) -> bool {
        self.is_primary_away.load(Ordering::Relaxed)
    }

    /// Records whether Litestream keeps the copy current.
    pub fn set_followed(&self, is_followed: bool) {
        self.is_followed.store(is_followed, Ordering::Relaxed);
    }

    /// Whether Litestream keeps the copy current.
    pub fn is_followed(&self) -> bool {
        self.is_followed.load(Ordering::Relaxed)
    }

    /// Records whether the copy has the schema of another version of the program.
    pub fn set_outdated(&self, is_outdated: bool) {
        self.is_outdated.store(is_outdated, Ordering::Relaxed);
    }

    /// Whether the copy has the schema of another version of the program.
    pub fn is_outdated(&self) -> bool {
        self.is_outdated.load(Ordering::Relaxed)
    }

    /// Counts that Litestream was started again.
    pub fn count_restart(&self) {
        self.restarts.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts that the database was restored.
    pub fn count_restore(&self) {
        self.restores.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns how often Litestream was started again, and how often the database was restored.
    pub fn counts(&self) -> (u64, u64) {
        (self.restarts.load(Ordering::Relaxed), self.restores.load(Ordering::Relaxed))
    }
}
