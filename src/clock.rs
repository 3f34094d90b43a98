//! The only source of time, IDs, and secrets in the crate. Tests replace it to get reproducible results.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicI64, AtomicU64, Ordering},
    },
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use tokio::sync::Notify;
use uuid::Uuid;

use crate::{
    domain::{collections::Collection, time::Timestamp},
    string_enum::StringEnum,
};

/// UUID namespace for IDs derived from names. Documented in `fixtures/schema.json`.
pub const NAMESPACE: Uuid = Uuid::from_u128(0x6d61_726b_6574_706c_6163_6500_0000_0001);

/// Returns the ID of a fixture record: the UUIDv5 of `collection/key` in [`NAMESPACE`].
pub fn fixture_record_id(collection: &str, key: &str) -> Uuid {
    Uuid::new_v5(&NAMESPACE, format!("{collection}/{key}").as_bytes())
}

/// Returns the ID of a record that is created on a stopped clock after `count` others of its collection.
pub fn stopped_record_id(collection: &str, count: u64) -> Uuid {
    Uuid::new_v5(&NAMESPACE, format!("stopped/{collection}/{count}").as_bytes())
}

/// A source of time and IDs. A stopped clock is deterministic: the same calls return the same times and IDs.
#[derive(Debug)]
pub enum Clock {
    /// The system time, and random UUIDs (version 4).
    System,
    /// A time that only [`Clock::advance`] changes, and IDs derived from counters.
    Stopped {
        /// Current time in microseconds since the Unix epoch.
        now: AtomicI64,
        /// Number of IDs generated so far, for each collection.
        id_counts: Box<[AtomicU64; Collection::COUNT]>,
        /// Wakes those who wait for a time.
        advanced: Notify,
    },
}

impl Clock {
    /// Creates a clock that is stopped at `now`.
    pub fn stopped(now: Timestamp) -> Clock {
        Clock::Stopped {
            now: AtomicI64::new(now.0),
            id_counts: Box::new([const { AtomicU64::new(0) }; Collection::COUNT]),
            advanced: Notify::const_new(),
        }
    }

    /// Returns the current time.
    pub fn now(&self) -> Timestamp {
        match self {
            Clock::System => {
                let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
                Timestamp(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
            }
            Clock::Stopped { now, .. } => Timestamp(now.load(Ordering::SeqCst)),
        }
    }

    /// Advances a stopped clock by `micros` microseconds. Has no effect on the system clock.
    pub fn advance(&self, micros: i64) {
        if let Clock::Stopped { now, advanced, .. } = self {
            now.fetch_add(micros, Ordering::SeqCst);
            advanced.notify_waiters();
        }
    }

    /// Waits until it is `at`. A stopped clock has to be advanced to that time.
    pub async fn sleep_until(&self, at: Timestamp) {
        match self {
            // The system time may have been changed meanwhile.
            Clock::System => loop {
                let remaining = at.0.saturating_sub(self.now().0);
                if remaining <= 0 {
                    break;
                }
                tokio::time::sleep(Duration::from_micros(remaining.unsigned_abs())).await;
            },
            Clock::Stopped { now, advanced, .. } => loop {
                // Notified of every change after this line.
                let is_advanced = advanced.notified();
                if now.load(Ordering::SeqCst) >= at.0 {
                    break;
                }
                is_advanced.await;
            },
        }
    }

    /// Generates a new ID of a record. A stopped clock counts each collection on its own, so the IDs of one
    /// do not depend on what happens in another.
    pub fn new_id(&self, collection: Collection) -> Uuid {
        match self {
            Clock::System => Uuid::new_v4(),
            Clock::Stopped { id_counts, .. } => {
                let count = id_counts[collection as usize].fetch_add(1, Ordering::SeqCst);
                stopped_record_id(collection.as_str(), count)
            }
        }
    }
}

/// Measures elapsed time. It is monotonic: changes of the system time do not affect it.
#[derive(Clone, Debug)]
pub struct Stopwatch {
    clock: Arc<Clock>,
    started: Instant,
}

impl Stopwatch {
    /// Starts a stopwatch now.
    pub fn start(clock: Arc<Clock>) -> Stopwatch {
        Stopwatch { clock, started: Instant::now() }
    }

    /// Returns the time since the start; on a stopped clock, the time since the Unix epoch.
    pub fn elapsed(&self) -> Duration {
        match &*self.clock {
            Clock::System => self.started.elapsed(),
            Clock::Stopped { now, .. } => Duration::from_micros(now.load(Ordering::SeqCst).unsigned_abs()),
        }
    }
}

/// A source of secrets. It is separate from [`Clock`], so that a stopped clock makes no secret predictable.
#[derive(Debug)]
pub enum Entropy {
    /// The random number generator of the operating system.
    System,
    /// A deterministic source for tests: SHA-256 of a seed and a counter.
    Seeded(Mutex<(u64, u64)>),
}

impl Entropy {
    /// Creates a deterministic source. For tests only.
    pub const fn seeded(seed: u64) -> Entropy {
        Entropy::Seeded(Mutex::new((seed, 0)))
    }

    /// Returns 32 random bytes.
    pub fn random_secret(&self) -> [u8; 32] {
        let mut bytes = [0u8; 32];
        match self {
            Entropy::System => {
                getrandom::fill(&mut bytes).expect("the operating system provides random bytes");
            }
            Entropy::Seeded(state) => {
                use sha2::{Digest, Sha256};
                let mut state = state.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                state.1 += 1;
                let digest = Sha256::new()
                    .chain_update(state.0.to_le_bytes())
                    .chain_update(state.1.to_le_bytes())
                    .finalize();
                bytes.copy_from_slice(&digest);
            }
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    #[tokio::test]
    async fn stopped_clock_wakes_when_it_is_advanced_far_enough() {
        let clock = Clock::stopped(Timestamp(1_000));
        clock.sleep_until(Timestamp(1_000)).await;
        let mut sleep = std::pin::pin!(clock.sleep_until(Timestamp(1_003)));
        for _ in 0..3 {
            assert!(sleep.as_mut().now_or_never().is_none());
            clock.advance(1);
        }
        assert!(sleep.as_mut().now_or_never().is_some());
    }
}
