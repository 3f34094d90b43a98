//! Where time, ids and secrets come from. Nothing else in the crate asks the system for any of them.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicI64, AtomicU64, Ordering},
    },
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use uuid::Uuid;

use crate::domain::time::Timestamp;

/// The namespace of every id that is made from a name. `fixtures/schema.json` states it.
pub const NAMESPACE: Uuid = Uuid::from_u128(0x6d61_726b_6574_706c_6163_6500_0000_0001);

/// The id of a fixture record: UUIDv5 of `collection/key`.
pub fn record_id(collection: &str, key: &str) -> Uuid {
    Uuid::new_v5(&NAMESPACE, format!("{collection}/{key}").as_bytes())
}

/// Tells the time and makes ids. A stopped clock repeats itself: the same calls give the same times and ids.
#[derive(Debug)]
pub enum Clock {
    /// The system's time, and random ids.
    System,
    /// A time that moves only when it is told to, and ids that count up.
    Stopped {
        /// The time, in microseconds since 1970.
        now: AtomicI64,
        /// Ids made so far.
        ids: AtomicU64,
    },
}

impl Clock {
    /// A clock that stands still at `now`.
    pub const fn stopped(now: Timestamp) -> Clock {
        Clock::Stopped { now: AtomicI64::new(now.0), ids: AtomicU64::new(0) }
    }

    /// The time.
    pub fn now(&self) -> Timestamp {
        match self {
            Clock::System => {
                let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
                Timestamp(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
            }
            Clock::Stopped { now, .. } => Timestamp(now.load(Ordering::SeqCst)),
        }
    }

    /// Moves a stopped clock on; the system's goes by itself.
    pub fn advance(&self, micros: i64) {
        if let Clock::Stopped { now, .. } = self {
            now.fetch_add(micros, Ordering::SeqCst);
        }
    }

    /// A fresh id.
    pub fn id(&self) -> Uuid {
        match self {
            Clock::System => Uuid::new_v4(),
            Clock::Stopped { ids, .. } => {
                let count = ids.fetch_add(1, Ordering::SeqCst);
                Uuid::new_v5(&NAMESPACE, format!("stopped/{count}").as_bytes())
            }
        }
    }
}

/// Measures how long things take by a clock. It never goes back, however the system's time is set.
#[derive(Clone, Debug)]
pub struct Stopwatch {
    clock: Arc<Clock>,
    began: Instant,
}

impl Stopwatch {
    /// One that begins now.
    pub fn start(clock: Arc<Clock>) -> Stopwatch {
        Stopwatch { clock, began: Instant::now() }
    }

    /// How long it has run; on a stopped clock, since 1970.
    pub fn elapsed(&self) -> Duration {
        match &*self.clock {
            Clock::System => self.began.elapsed(),
            Clock::Stopped { now, .. } => Duration::from_micros(now.load(Ordering::SeqCst).unsigned_abs()),
        }
    }
}

/// Where secrets come from: apart from the clock, so that fixing the time never fixes a key.
#[derive(Debug)]
pub enum Entropy {
    /// The system's source.
    System,
    /// A repeatable source for tests: a counter, hashed with a seed.
    Seeded(Mutex<(u64, u64)>),
}

impl Entropy {
    /// A repeatable source; only tests want one.
    pub const fn seeded(seed: u64) -> Entropy {
        Entropy::Seeded(Mutex::new((seed, 0)))
    }

    /// 32 secret bytes.
    pub fn secret(&self) -> [u8; 32] {
        let mut bytes = [0u8; 32];
        match self {
            Entropy::System => {
                getrandom::fill(&mut bytes).expect("the system has a source of entropy");
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
