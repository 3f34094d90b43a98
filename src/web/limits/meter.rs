//! A rate limiter with one quota per caller. The quota refills evenly and allows bursts of up to a minute's
//! worth.

use std::{
    collections::HashMap,
    fmt,
    hash::Hash,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU32, AtomicUsize, Ordering},
    },
    time::Duration,
};

use governor::{
    Quota, RateLimiter, clock::Clock, middleware::StateInformationMiddleware, nanos::Nanos,
    state::keyed::DashMapStateStore,
};

use crate::clock::Stopwatch;

/// The period of a quota in seconds.
pub const WINDOW_SECONDS: u32 = 60;

/// Number of requests between two cleanups, which remove callers whose quota is full again.
const CLEANUP_INTERVAL: u32 = 8192;

/// The state of a caller's quota after a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuotaState {
    /// Name of the budget, as in the `RateLimit` headers.
    pub name: &'static str,
    /// Requests allowed in [`WINDOW_SECONDS`].
    pub quota: u32,
    /// Requests that the caller may make immediately.
    pub remaining: u32,
    /// Seconds until the quota is full again, rounded up.
    pub full_in_seconds: u32,
    /// Seconds until the next request is allowed; none if this request was allowed.
    pub retry_in_seconds: Option<u32>,
}

/// Counts the requests of each caller against one quota.
pub struct Meter<K: Hash + Eq + Clone> {
    name: &'static str,
    quota: u32,
    limiter: RateLimiter<K, DashMapStateStore<K>, LimiterClock, StateInformationMiddleware>,
    clock: LimiterClock,
    count: AtomicU32,
    /// Debts: requests that callers were charged beyond their remaining quota. They are paid from the refill.
    debts: Mutex<HashMap<K, u32>>,
    /// Number of callers with debts. While there are none, requests need no lock.
    debtors: AtomicUsize,
}

impl<K: Hash + Eq + Clone> fmt::Debug for Meter<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Meter({} {})", self.name, self.quota)
    }
}

impl<K: Hash + Eq + Clone> Meter<K> {
    /// Creates a meter, or none if `quota` is 0, which means unlimited.
    pub fn new(name: &'static str, quota: u32, stopwatch: &Stopwatch) -> Option<Meter<K>> {
        let per_minute = Quota::per_minute(quota.try_into().ok()?);
        let clock = LimiterClock(stopwatch.clone());
        let limiter = RateLimiter::new(per_minute, DashMapStateStore::default(), clock.clone());
        let (count, debtors) = (AtomicU32::new(0), AtomicUsize::new(0));
        Some(Meter { name, quota, limiter, clock, count, debts: Mutex::default(), debtors })
    }

    /// Counts a request if the quota allows it, and returns the state of the quota.
    pub fn count(&self, caller: &K) -> QuotaState {
        if self.count.fetch_add(1, Ordering::Relaxed) % CLEANUP_INTERVAL == CLEANUP_INTERVAL - 1 {
            self.limiter.retain_recent();
        }
        let debt = if self.debtors.load(Ordering::Relaxed) == 0 { 0 } else { self.pay(caller) };
        match self.limiter.check_key(caller) {
            Ok(state) if debt == 0 => self.allowed(state.remaining_burst_capacity()),
            // Unreachable: the refill since the debt was paid is less than one request.
            Ok(_) => self.rejected(Duration::ZERO, debt),
            Err(wait) => self.rejected(wait.wait_time_from(self.clock.now()), debt),
        }
    }

    /// Charges a caller for more requests. If fewer are left, the rest becomes a debt of at most one quota.
    pub fn charge(&self, caller: &K, requests: u32) -> QuotaState {
        let mut debts = self.lock_debts();
        let debt = debts.entry(caller.clone()).or_default();
        *debt = debt.saturating_add(requests).min(self.quota);
        let mut remaining = 0;
        while *debt > 0
            && let Ok(state) = self.limiter.check_key(caller)
        {
            *debt -= 1;
            remaining = state.remaining_burst_capacity();
        }
        let debt = *debt;
        if debt == 0 {
            debts.remove(caller);
        }
        self.debtors.store(debts.len(), Ordering::Relaxed);
        if debt == 0 {
            return self.allowed(remaining);
        }
        drop(debts);
        let full_in_seconds = self.refill_seconds(self.quota).saturating_add(self.refill_seconds(debt));
        QuotaState { full_in_seconds, ..self.allowed(0) }
    }

    /// Pays the debt of a caller from its remaining requests. Returns the remaining debt.
    fn pay(&self, caller: &K) -> u32 {
        let mut debts = self.lock_debts();
        let Some(debt) = debts.get_mut(caller) else { return 0 };
        while *debt > 0 && self.limiter.check_key(caller).is_ok() {
            *debt -= 1;
        }
        let debt = *debt;
        if debt == 0 {
            debts.remove(caller);
            self.debtors.store(debts.len(), Ordering::Relaxed);
        }
        debt
    }

    fn lock_debts(&self) -> MutexGuard<'_, HashMap<K, u32>> {
        self.debts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the state of a quota with `remaining` requests left.
    fn allowed(&self, remaining: u32) -> QuotaState {
        let Meter { name, quota, .. } = *self;
        let remaining = remaining.min(quota);
        let full_in_seconds = self.refill_seconds(quota - remaining);
        QuotaState { name, quota, remaining, full_in_seconds, retry_in_seconds: None }
    }

    /// Returns the state of a used-up quota. One request refills in `wait`, and `debt` requests come before
    /// the next one.
    fn rejected(&self, wait: Duration, debt: u32) -> QuotaState {
        let Meter { name, quota, .. } = *self;
        let retry_in = ceil_seconds(wait).saturating_add(self.refill_seconds(debt)).max(1);
        // After the wait, one request is available, and the rest of the quota still has to refill.
        let full_in_seconds = retry_in.saturating_add(self.refill_seconds(quota - 1));
        QuotaState { name, quota, remaining: 0, full_in_seconds, retry_in_seconds: Some(retry_in) }
    }

    /// Returns the seconds in which `requests` are refilled, rounded up.
    fn refill_seconds(&self, requests: u32) -> u32 {
        (u64::from(requests) * u64::from(WINDOW_SECONDS)).div_ceil(u64::from(self.quota)) as u32
    }

    /// Number of callers in memory.
    #[cfg(test)]
    fn callers(&self) -> usize {
        self.limiter.len()
    }
}

/// Converts a duration to seconds, rounded up.
fn ceil_seconds(wait: Duration) -> u32 {
    wait.as_nanos().div_ceil(1_000_000_000) as u32
}

/// Adapts the market's stopwatch to the limiter's clock.
#[derive(Clone, Debug)]
struct LimiterClock(Stopwatch);

impl Clock for LimiterClock {
    type Instant = Nanos;

    fn now(&self) -> Nanos {
        self.0.elapsed().into()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{clock, domain::time::Timestamp};

    fn meter(quota: u32) -> (Arc<clock::Clock>, Meter<u32>) {
        let clock = Arc::new(clock::Clock::stopped(Timestamp::parse("2026-03-01T09:00:00Z").unwrap()));
        let meter = Meter::new("other", quota, &Stopwatch::start(Arc::clone(&clock))).unwrap();
        (clock, meter)
    }

    #[test]
    fn quota_is_per_caller_and_refills_evenly() {
        let (clock, meter) = meter(6);
        for remaining in (0..6).rev() {
            let state = meter.count(&1);
            assert_eq!((state.remaining, state.retry_in_seconds), (remaining, None));
            assert_eq!(state.full_in_seconds, (6 - remaining) * 10);
        }
        assert_eq!(meter.count(&1).retry_in_seconds, Some(10));
        assert_eq!(meter.count(&2).remaining, 5);
        clock.advance(3_499_999);
        let rejected = meter.count(&1);
        assert_eq!(
            (rejected.retry_in_seconds, rejected.full_in_seconds),
            (Some(7), 57),
            "6.500001 seconds are not enough"
        );
        clock.advance(6_500_001);
        let allowed = meter.count(&1);
        assert_eq!((allowed.remaining, allowed.retry_in_seconds), (0, None));
        clock.advance(60_000_000);
        assert_eq!(meter.count(&1).remaining, 5);
    }

    #[test]
    fn cost_is_charged_afterwards_and_can_exceed_what_is_left() {
        let (clock, meter) = meter(6);
        assert_eq!(meter.count(&1).remaining, 5);
        let state = meter.charge(&1, 3);
        assert_eq!((state.remaining, state.full_in_seconds, state.retry_in_seconds), (2, 40, None));
        let state = meter.charge(&1, 4);
        assert_eq!((state.remaining, state.full_in_seconds), (0, 80), "two requests more than were left");
        assert_eq!(meter.count(&1).retry_in_seconds, Some(30), "the debt comes first");
        assert_eq!(meter.count(&2).remaining, 5, "another caller owes nothing");
        clock.advance(20_000_000);
        assert_eq!(meter.count(&1).retry_in_seconds, Some(10));
        clock.advance(10_000_000);
        assert_eq!((meter.count(&1).remaining, meter.count(&1).retry_in_seconds), (0, Some(10)));
        meter.charge(&1, u32::MAX);
        clock.advance(60_000_000);
        assert_eq!(meter.count(&1).retry_in_seconds, Some(10), "the debt is at most one quota");
        clock.advance(10_000_000);
        assert_eq!(meter.count(&1).retry_in_seconds, None);
    }

    #[test]
    fn requests_wait_for_no_lock_while_nobody_has_debts() {
        let (_, meter) = meter(6);
        meter.charge(&1, 2);
        let held = meter.debts.try_lock().unwrap();
        assert_eq!(meter.debtors.load(Ordering::Relaxed), 0, "the debt was paid at once");
        assert_eq!(meter.count(&1).remaining, 3);
        drop(held);
        meter.charge(&1, 9);
        assert_eq!(meter.debtors.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn zero_quota_has_no_meter_and_maximum_quota_works() {
        let (clock, meter) = meter(u32::MAX);
        assert_eq!(meter.count(&1).retry_in_seconds, None);
        assert!(Meter::<u32>::new("other", 0, &Stopwatch::start(clock)).is_none());
    }

    #[test]
    fn callers_with_full_quota_are_removed() {
        let (clock, meter) = meter(60);
        for caller in 0..CLEANUP_INTERVAL - 1 {
            meter.count(&caller);
        }
        assert_eq!(meter.callers(), CLEANUP_INTERVAL as usize - 1);
        clock.advance(120_000_000);
        meter.count(&0);
        assert_eq!(meter.callers(), 1);
    }
}
