//! Figures of the monitor of a replica, besides those of its market.

use std::{
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    time::Duration,
};

/// Maximum delay of a copy. If it is longer, the primary answers instead, if it can.
const MAX_BEHIND: Duration = Duration::from_secs(40);

/// The state of a replica.
#[derive(Debug, Default)]
pub struct ReplicaState {
    is_primary_away: AtomicBool,
    is_followed: AtomicBool,
    is_outdated: AtomicBool,
    /// Seconds for which the copy has lacked something of the primary.
    seconds_behind: AtomicU64,
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

    /// Records for how long the copy has lacked something that the primary had.
    pub fn set_behind(&self, time: Duration) {
        self.seconds_behind.store(time.as_secs(), Ordering::Relaxed);
    }

    /// Returns for how many seconds the copy has lacked something that the primary had, as of the last report to it: 0 if it was
    /// less than the time between two reports.
    pub fn seconds_behind(&self) -> u64 {
        self.seconds_behind.load(Ordering::Relaxed)
    }

    /// Whether the copy has lacked something for too long.
    pub fn is_behind(&self) -> bool {
        self.seconds_behind() > MAX_BEHIND.as_secs()
    }

    /// Whether the copy is kept current.
    pub fn is_current(&self) -> bool {
        self.is_followed() && !self.is_behind()
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

/// The state of the replication of a primary.
#[derive(Debug)]
pub struct ReplicationState {
    is_running: AtomicBool,
}

impl Default for ReplicationState {
    fn default() -> ReplicationState {
        ReplicationState { is_running: AtomicBool::new(true) }
    }
}

impl ReplicationState {
    /// Records whether Litestream runs. At first, it is about to be started, which counts as running.
    pub fn set_running(&self, is_running: bool) {
        self.is_running.store(is_running, Ordering::Relaxed);
    }

    /// Whether Litestream runs.
    pub fn is_running(&self) -> bool {
        self.is_running.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copy_that_lacks_something_for_long_is_not_current() {
        let state = ReplicaState::default();
        state.set_followed(true);
        for (behind, is_current) in
            [(Duration::ZERO, true), (MAX_BEHIND, true), (MAX_BEHIND + Duration::from_secs(1), false)]
        {
            state.set_behind(behind);
            assert_eq!((state.is_current(), state.seconds_behind()), (is_current, behind.as_secs()));
        }
        state.set_behind(Duration::ZERO);
        state.set_followed(false);
        assert!(!state.is_current());
    }
}
