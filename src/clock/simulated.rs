//! A clock that its owner moves: for tests, and for the worlds of the sandbox.

use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicI64, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use tokio::sync::Notify;
use uuid::Uuid;

use super::{entropy::Entropy, namespace::NAMESPACE};
use crate::{
    domain::{collections::Collection, time::Timestamp},
    string_enum::StringEnum,
};

/// The seed of the IDs of a stopped clock.
pub(super) const STOPPED: &str = "stopped";

/// Microseconds by which a write moves the clock of a world that does not run.
const MICROS_PER_WRITE: i64 = 1_000;

/// Returns the ID of a record that is created after `count` others of its collection.
pub(super) fn record_id(source: &str, collection: &str, count: u64) -> Uuid {
    Uuid::new_v5(&NAMESPACE, format!("{source}/{collection}/{count}").as_bytes())
}

/// The state of a simulated clock. A clock that is created with it continues where the other one was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClockState {
    /// The current time.
    pub now: Timestamp,
    /// Whether the clock runs as fast as the time of the machine.
    pub is_running: bool,
    /// What the IDs are derived from, besides the counts.
    pub seed: u64,
    /// Number of IDs generated so far, for each collection.
    pub id_counts: [u64; Collection::COUNT],
    /// Number of secrets generated so far.
    pub secret_count: u64,
    /// Number of events that reported that the clock was advanced; see [`Clock::report_count`](SimulatedClock::report_count).
    pub report_count: u64,
}

impl ClockState {
    /// Returns the state of a clock that has generated no ID.
    pub const fn new(now: Timestamp, is_running: bool, seed: u64) -> ClockState {
        let id_counts = [0; Collection::COUNT];
        ClockState { now, is_running, seed, id_counts, secret_count: 0, report_count: 0 }
    }
}

/// A clock that its owner moves. Its IDs are derived from counters.
#[derive(Debug)]
pub struct SimulatedClock {
    time: Mutex<Time>,
    /// What the IDs are derived from, besides the counts.
    id_source: Box<str>,
    seed: u64,
    id_counts: Box<[AtomicU64; Collection::COUNT]>,
    /// Shared with the source of secrets, which continues the same series in a fork.
    secret_count: Arc<AtomicU64>,
    report_count: AtomicU64,
    /// Microseconds by which a write moves the clock while it does not run.
    micros_per_write: AtomicI64,
    /// Wakes those who wait for a time.
    moved: Notify,
}

#[derive(Clone, Copy, Debug)]
struct Time {
    /// The time at `since`, or now if the clock does not run.
    at: Timestamp,
    /// When the clock began to run.
    since: Option<Instant>,
}

impl Time {
    fn now(self) -> Timestamp {
        let elapsed = self.since.map_or(Duration::ZERO, |since| since.elapsed());
        self.at.plus_micros(i64::try_from(elapsed.as_micros()).unwrap_or(i64::MAX))
    }
}

impl SimulatedClock {
    /// Creates a clock that is stopped at `now`: writes do not move it either.
    pub fn stopped(now: Timestamp) -> SimulatedClock {
        let state = ClockState::new(now, false, 0);
        SimulatedClock {
            id_source: STOPPED.into(),
            micros_per_write: AtomicI64::new(0),
            ..SimulatedClock::new(&state)
        }
    }

    /// Creates the clock of a world.
    pub fn new(state: &ClockState) -> SimulatedClock {
        let ClockState { now, is_running, seed, id_counts, secret_count, report_count } = *state;
        SimulatedClock {
            time: Mutex::new(Time { at: now, since: is_running.then(Instant::now) }),
            id_source: format!("world/{seed}").into(),
            seed,
            id_counts: Box::new(id_counts.map(AtomicU64::new)),
            secret_count: Arc::new(AtomicU64::new(secret_count)),
            report_count: AtomicU64::new(report_count),
            micros_per_write: AtomicI64::new(MICROS_PER_WRITE),
            moved: Notify::const_new(),
        }
    }

    /// Returns the state, for a clock that continues where this one is.
    pub fn state(&self) -> ClockState {
        let time = *self.lock();
        ClockState {
            now: time.now(),
            is_running: time.since.is_some(),
            seed: self.seed,
            id_counts: std::array::from_fn(|index| self.id_counts[index].load(Ordering::SeqCst)),
            secret_count: self.secret_count.load(Ordering::SeqCst),
            report_count: self.report_count.load(Ordering::SeqCst),
        }
    }

    /// Whether the clock is that of a world, which writes move unless it runs.
    pub fn is_of_world(&self) -> bool {
        &*self.id_source != STOPPED
    }

    /// Returns the secrets of the market with this clock. They are derived from the seed and a count that is part of
    /// the state of the clock.
    pub fn entropy(&self) -> Entropy {
        Entropy::World { seed: self.seed, count: Arc::clone(&self.secret_count), origin: None }
    }

    /// Returns the number of events that reported that the clock was advanced.
    pub fn report_count(&self) -> u64 {
        self.report_count.load(Ordering::SeqCst)
    }

    /// Counts an event that reports that the clock was advanced.
    pub fn count_report(&self) {
        self.report_count.fetch_add(1, Ordering::SeqCst);
    }

    /// Returns the current time.
    pub fn now(&self) -> Timestamp {
        self.lock().now()
    }

    /// Whether the clock runs as fast as the time of the machine.
    pub fn is_running(&self) -> bool {
        self.lock().since.is_some()
    }

    /// Lets the clock run, or stops it.
    pub fn set_running(&self, is_running: bool) {
        self.change(|time| *time = Time { at: time.now(), since: is_running.then(Instant::now) });
    }

    /// Moves the clock to a time. It never goes back.
    pub fn set(&self, to: Timestamp) {
        self.change(|time| {
            if to > time.now() {
                *time = Time { at: to, since: time.since.map(|_| Instant::now()) };
            }
        });
    }

    /// Advances the clock by `micros` microseconds.
    pub fn advance(&self, micros: i64) {
        self.change(|time| time.at = time.at.plus_micros(micros));
    }

    /// Counts a write, which moves the clock of a world by a millisecond, so that no two writes have the same time.
    pub fn count_write(&self) {
        let micros = self.micros_per_write.load(Ordering::SeqCst);
        let mut time = self.lock();
        if time.since.is_none() {
            time.at = time.at.plus_micros(micros);
        }
    }

    /// Stops writes from moving the clock while the returned value exists.
    pub fn pause_ticks(&self) -> PausedTicks<'_> {
        PausedTicks { micros_per_write: self.micros_per_write.swap(0, Ordering::SeqCst), clock: self }
    }

    /// Waits until it is `at`.
    pub async fn sleep_until(&self, at: Timestamp) {
        loop {
            // Notified of every change after this line.
            let is_moved = self.moved.notified();
            let time = *self.lock();
            let remaining = at.0.saturating_sub(time.now().0);
            if remaining <= 0 {
                break;
            }
            if time.since.is_some() {
                let elapsed = tokio::time::sleep(Duration::from_micros(remaining.unsigned_abs()));
                tokio::select! {
                    () = is_moved => {}
                    () = elapsed => {}
                }
            } else {
                is_moved.await;
            }
        }
    }

    /// Generates the next ID of a collection.
    pub fn new_id(&self, collection: Collection) -> Uuid {
        let count = self.id_counts[collection as usize].fetch_add(1, Ordering::SeqCst);
        record_id(&self.id_source, collection.as_str(), count)
    }

    /// Returns the ID of a collection that is generated after `skipped` others.
    pub(super) fn peek_id(&self, collection: Collection, skipped: u64) -> Uuid {
        let count = self.id_counts[collection as usize].load(Ordering::SeqCst) + skipped;
        record_id(&self.id_source, collection.as_str(), count)
    }

    /// Counts IDs that were generated by [`SimulatedClock::peek_id`].
    pub(super) fn count_ids(&self, counts: &[u32; Collection::COUNT]) {
        for (total, count) in self.id_counts.iter().zip(counts).filter(|(_, count)| **count > 0) {
            total.fetch_add((*count).into(), Ordering::SeqCst);
        }
    }

    /// Generates an ID again, if it was the last one of its collection.
    pub(super) fn give_back_id(&self, collection: Collection, id: Uuid) {
        let count = &self.id_counts[collection as usize];
        let next = count.load(Ordering::SeqCst);
        if next > 0 && record_id(&self.id_source, collection.as_str(), next - 1) == id {
            // If another one was generated meanwhile, a gap remains.
            let _ = count.compare_exchange(next, next - 1, Ordering::SeqCst, Ordering::SeqCst);
        }
    }

    fn change(&self, change: impl FnOnce(&mut Time)) {
        change(&mut self.lock());
        self.moved.notify_waiters();
    }

    fn lock(&self) -> MutexGuard<'_, Time> {
        self.time.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// While this exists, writes do not move the clock.
#[derive(Debug)]
pub struct PausedTicks<'a> {
    clock: &'a SimulatedClock,
    micros_per_write: i64,
}

impl Drop for PausedTicks<'_> {
    fn drop(&mut self) {
        self.clock.micros_per_write.store(self.micros_per_write, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    fn world(is_running: bool) -> SimulatedClock {
        SimulatedClock::new(&ClockState::new(Timestamp(1_000), is_running, 1))
    }

    #[tokio::test]
    async fn stopped_clock_wakes_when_it_is_advanced_far_enough() {
        let clock = SimulatedClock::stopped(Timestamp(1_000));
        clock.sleep_until(Timestamp(1_000)).await;
        let mut sleep = std::pin::pin!(clock.sleep_until(Timestamp(1_003)));
        for _ in 0..3 {
            assert!(sleep.as_mut().now_or_never().is_none());
            clock.advance(1);
        }
        assert!(sleep.as_mut().now_or_never().is_some());
    }

    #[tokio::test]
    async fn running_clock_wakes_by_itself() {
        let clock = world(true);
        clock.sleep_until(Timestamp(1_500)).await;
        assert!(clock.now() >= Timestamp(1_500));
    }

    #[test]
    fn clock_of_a_world_moves_with_each_write_unless_it_runs() {
        let clock = world(false);
        clock.count_write();
        assert_eq!(clock.now(), Timestamp(2_000));
        clock.set(Timestamp(1_500));
        assert_eq!(clock.now(), Timestamp(2_000), "it never goes back");
        clock.set(Timestamp(5_000));
        clock.set_running(true);
        let before = clock.lock().at;
        clock.count_write();
        assert_eq!(clock.lock().at, before);
        let stopped = SimulatedClock::stopped(Timestamp(1_000));
        stopped.count_write();
        assert_eq!(stopped.now(), Timestamp(1_000));
    }

    #[test]
    fn ids_depend_on_the_seed_and_the_count_of_their_collection() {
        let (clock, other) = (world(false), SimulatedClock::new(&ClockState::new(Timestamp(0), false, 2)));
        let [team, key] = [Collection::Teams, Collection::Keys].map(|of| clock.new_id(of));
        assert!(team != key && team != other.new_id(Collection::Teams));
        let mut continued = clock.state();
        assert_eq!(
            SimulatedClock::new(&continued).new_id(Collection::Teams),
            clock.new_id(Collection::Teams)
        );
        continued.id_counts = [0; Collection::COUNT];
        assert_eq!(SimulatedClock::new(&continued).new_id(Collection::Teams), team);
    }

    #[test]
    fn id_that_was_given_back_is_generated_again() {
        let clock = world(false);
        let [first, last] = [clock.new_id(Collection::Uploads), clock.new_id(Collection::Uploads)];
        clock.give_back_id(Collection::Uploads, first);
        clock.give_back_id(Collection::Teams, last);
        assert_eq!(clock.state().id_counts[Collection::Uploads as usize], 2, "it is not the last one");
        clock.give_back_id(Collection::Uploads, last);
        assert_eq!(clock.new_id(Collection::Uploads), last);
    }

    #[test]
    fn secrets_continue_where_the_state_was_taken() {
        let clock = world(false);
        let (entropy, first) = (clock.entropy(), clock.entropy().random_secret());
        let forked = SimulatedClock::new(&clock.state());
        let second = entropy.random_secret();
        assert!(first != second && forked.entropy().random_secret() == second);
        let count = entropy.count();
        let third = entropy.random_secret();
        entropy.give_back_from(count);
        assert_eq!(entropy.random_secret(), third);
        assert_ne!(
            Entropy::seeded(1).random_secret(),
            first,
            "templates have other secrets than their worlds"
        );
    }
}
