//! A rate limiter with one quota per caller. The quota refills evenly and allows bursts of up to a minute's
//! worth.

use std::{
    fmt,
    hash::Hash,
    sync::atomic::{AtomicU32, Ordering},
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
const FORGET_EVERY: u32 = 8192;

/// The state of a caller's quota after a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// Name of the budget, as in the `RateLimit` headers.
    pub name: &'static str,
    /// Requests allowed in [`WINDOW_SECONDS`].
    pub quota: u32,
    /// Requests that the caller may make immediately.
    pub remaining: u32,
    /// Seconds until the quota is full again, rounded up.
    pub whole_in: u32,
    /// Seconds until the next request is allowed; none if this request was allowed.
    pub retry_in: Option<u32>,
}

/// Counts the requests of each caller against one quota.
pub struct Meter<K: Hash + Eq + Clone> {
    name: &'static str,
    quota: u32,
    limiter: RateLimiter<K, DashMapStateStore<K>, Watch, StateInformationMiddleware>,
    watch: Watch,
    count: AtomicU32,
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
        let watch = Watch(stopwatch.clone());
        let limiter = RateLimiter::new(per_minute, DashMapStateStore::default(), watch.clone());
        Some(Meter { name, quota, limiter, watch, count: AtomicU32::new(0) })
    }

    /// Counts a request if the quota allows it, and returns the state of the quota.
    pub fn count(&self, caller: &K) -> Reading {
        if self.count.fetch_add(1, Ordering::Relaxed) % FORGET_EVERY == FORGET_EVERY - 1 {
            self.limiter.retain_recent();
        }
        let Meter { name, quota, .. } = *self;
        match self.limiter.check_key(caller) {
            Ok(state) => {
                let remaining = state.remaining_burst_capacity().min(quota);
                Reading {
                    name,
                    quota,
                    remaining,
                    whole_in: self.refilled_in(quota - remaining),
                    retry_in: None,
                }
            }
            Err(wait) => {
                // After the wait, one request is available, and the rest of the quota still has to refill.
                let retry_in = seconds(wait.wait_time_from(self.watch.now())).max(1);
                let whole_in = retry_in.saturating_add(self.refilled_in(quota - 1));
                Reading { name, quota, remaining: 0, whole_in, retry_in: Some(retry_in) }
            }
        }
    }

    /// Returns the seconds in which `requests` are refilled, rounded up.
    fn refilled_in(&self, requests: u32) -> u32 {
        (u64::from(requests) * u64::from(WINDOW_SECONDS)).div_ceil(u64::from(self.quota)) as u32
    }

    /// Number of callers in memory.
    #[cfg(test)]
    fn callers(&self) -> usize {
        self.limiter.len()
    }
}

/// Converts a duration to seconds, rounded up.
fn seconds(wait: Duration) -> u32 {
    wait.as_nanos().div_ceil(1_000_000_000) as u32
}

/// Adapts the market's stopwatch to the limiter's clock.
#[derive(Clone, Debug)]
struct Watch(Stopwatch);

impl Clock for Watch {
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
    fn a_quota_is_spent_refills_evenly_and_is_each_callers_own() {
        let (clock, meter) = meter(6);
        for remaining in (0..6).rev() {
            let reading = meter.count(&1);
            assert_eq!((reading.remaining, reading.retry_in), (remaining, None));
            assert_eq!(reading.whole_in, (6 - remaining) * 10);
        }
        assert_eq!(meter.count(&1).retry_in, Some(10));
        assert_eq!(meter.count(&2).remaining, 5);
        clock.advance(3_499_999);
        let refused = meter.count(&1);
        assert_eq!((refused.retry_in, refused.whole_in), (Some(7), 57), "6.500001 seconds are not enough");
        clock.advance(6_500_001);
        let allowed = meter.count(&1);
        assert_eq!((allowed.remaining, allowed.retry_in), (0, None));
        clock.advance(60_000_000);
        assert_eq!(meter.count(&1).remaining, 5);
    }

    #[test]
    fn no_quota_is_no_meter_and_a_large_one_counts() {
        let (clock, meter) = meter(u32::MAX);
        assert_eq!(meter.count(&1).retry_in, None);
        assert!(Meter::<u32>::new("other", 0, &Stopwatch::start(clock)).is_none());
    }

    #[test]
    fn callers_are_forgotten_when_their_quota_is_whole() {
        let (clock, meter) = meter(60);
        for caller in 0..FORGET_EVERY - 1 {
            meter.count(&caller);
        }
        assert_eq!(meter.callers(), FORGET_EVERY as usize - 1);
        clock.advance(120_000_000);
        meter.count(&0);
        assert_eq!(meter.callers(), 1);
    }
}
