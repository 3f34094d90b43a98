//! The only source of time, IDs, and secrets in the crate. Tests replace it to get reproducible results.

mod entropy;
mod namespace;
mod pending_ids;
mod simulated;

use std::{
    sync::Arc,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use uuid::Uuid;

pub use self::{
    entropy::Entropy,
    namespace::{NAMESPACE, fixture_record_id},
    pending_ids::PendingIds,
    simulated::{ClockState, PausedTicks, SimulatedClock},
};
use crate::domain::{collections::Collection, time::Timestamp};

/// Returns the ID of a record that is created on a stopped clock after `count` others of its collection.
pub fn stopped_record_id(collection: &str, count: u64) -> Uuid {
    simulated::record_id(simulated::STOPPED, collection, count)
}

/// A source of time and IDs. A simulated clock is deterministic while it does not run: the same calls return the same times
/// and IDs.
#[derive(Debug)]
pub enum Clock {
    /// The system time, and random UUIDs (version 4).
    System,
    /// The system time and these microseconds, negative if the clock is behind, and random UUIDs (version 4).
    Shifted(i64),
    /// A time that its owner moves, and IDs derived from counters.
    Simulated(SimulatedClock),
}

impl Clock {
    /// Creates a clock that is stopped at `now`: only [`Clock::advance`] moves it.
    pub fn stopped(now: Timestamp) -> Clock {
        Clock::Simulated(SimulatedClock::stopped(now))
    }

    /// Returns a clock that is `micros` microseconds ahead of the system clock, if this is the system clock. Returns other
    /// clocks unchanged.
    #[must_use]
    pub fn with_offset(self: Arc<Clock>, micros: i64) -> Arc<Clock> {
        if matches!(*self, Clock::System) { Arc::new(Clock::Shifted(micros)) } else { self }
    }

    /// Returns the current time.
    pub fn now(&self) -> Timestamp {
        match self {
            Clock::System => system_time(),
            Clock::Shifted(micros) => system_time().plus_micros(*micros),
            Clock::Simulated(clock) => clock.now(),
        }
    }

    /// Returns the current time without the offset of a market, as commands see it that work without the market.
    pub fn unshifted_now(&self) -> Timestamp {
        match self {
            Clock::System | Clock::Shifted(_) => system_time(),
            Clock::Simulated(clock) => clock.now(),
        }
    }

    /// Advances a simulated clock by `micros` microseconds. Has no effect on the system clock.
    pub fn advance(&self, micros: i64) {
        if let Clock::Simulated(clock) = self {
            clock.advance(micros);
        }
    }

    /// Counts a write, which moves some simulated clocks.
    pub fn count_write(&self) {
        if let Clock::Simulated(clock) = self {
            clock.count_write();
        }
    }

    /// Waits until it is `at`, or until the time has passed that this takes now: after the clock of the system was set back, `at`
    /// may be far away. The owner of a simulated clock that does not run has to advance it to that time.
    pub async fn sleep_until(&self, at: Timestamp) {
        match self {
            Clock::System | Clock::Shifted(_) => {
                let remaining = at.0.saturating_sub(self.now().0);
                tokio::time::sleep(Duration::from_micros(remaining.max(0).unsigned_abs())).await;
            }
            Clock::Simulated(clock) => clock.sleep_until(at).await,
        }
    }

    /// Generates a new ID of a record. A simulated clock counts each collection on its own, so the IDs of one
    /// do not depend on what happens in another.
    pub fn new_id(&self, collection: Collection) -> Uuid {
        match self {
            Clock::System | Clock::Shifted(_) => Uuid::new_v4(),
            Clock::Simulated(clock) => clock.new_id(collection),
        }
    }

    /// Returns the IDs of a transaction that has created nothing.
    pub fn pending_ids(&self) -> PendingIds<'_> {
        match self {
            Clock::System | Clock::Shifted(_) => PendingIds::random(),
            Clock::Simulated(clock) => PendingIds::counted(clock),
        }
    }

    /// Returns an unused ID if it was the last one of its collection, so that a failed request does not change later IDs. Has
    /// no effect with the system clock.
    pub fn give_back_id(&self, collection: Collection, id: Uuid) {
        if let Clock::Simulated(clock) = self {
            clock.give_back_id(collection, id);
        }
    }

    /// Whether the clock is that of a world of the sandbox.
    pub fn is_of_world(&self) -> bool {
        matches!(self, Clock::Simulated(clock) if clock.is_of_world())
    }

    /// Returns the number of events that reported that the clock of a world was advanced. They shift the numbers of later
    /// events, but values that are derived from such a number must not depend on how often the clock was advanced.
    pub fn report_count(&self) -> u64 {
        match self {
            Clock::System | Clock::Shifted(_) => 0,
            Clock::Simulated(clock) => clock.report_count(),
        }
    }
}

fn system_time() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
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

    /// Returns the time since the start; on a simulated clock, the time since the Unix epoch.
    pub fn elapsed(&self) -> Duration {
        match &*self.clock {
            Clock::System | Clock::Shifted(_) => self.started.elapsed(),
            Clock::Simulated(clock) => Duration::from_micros(clock.now().0.unsigned_abs()),
        }
    }
}
