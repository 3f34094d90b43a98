//! The minimum rate of a transfer, counted in bytes per window of time, so that a peer cannot hold resources
//! with one byte now and then.

use std::time::Duration;

use marketplace_text::numbers::counted;
use tokio::time::Instant;

use crate::{ConnectionSettings, Refusal};

/// Checks that a transfer moves at least `server.min_bytes_per_second` on average in each window of
/// `server.rate_window_seconds`.
///
/// Windows follow each other without overlap, and the first one begins with the transfer. Bytes beyond the
/// minimum of a window do not count for the next one.
#[derive(Clone, Copy, Debug)]
pub struct MinRate {
    /// Minimum number of bytes per window; 0 means that every transfer is fast enough.
    min_bytes: u64,
    window: Duration,
    window_end: Instant,
    bytes: u64,
}

impl MinRate {
    /// Begins the first window now.
    pub fn new(settings: &ConnectionSettings) -> MinRate {
        MinRate::with_window(settings, settings.rate_window_seconds)
    }

    /// Begins the first window now. Windows have this length instead of that of the settings.
    pub fn with_window(settings: &ConnectionSettings, seconds: u32) -> MinRate {
        let seconds = u64::from(seconds);
        let window = Duration::from_secs(seconds);
        MinRate {
            min_bytes: u64::from(settings.min_bytes_per_second) * seconds,
            window,
            window_end: Instant::now() + window,
            bytes: 0,
        }
    }

    /// Counts `bytes` that were transferred until `now`. Returns the time of the next check, or none if the
    /// transfer is too slow.
    ///
    /// The caller waits until that time at most, and then calls this again, with 0 if nothing was transferred.
    #[must_use]
    pub fn record(&mut self, bytes: u64, now: Instant) -> Option<Instant> {
        self.bytes = self.bytes.saturating_add(bytes);
        if now >= self.window_end {
            if self.bytes < self.min_bytes {
                return None;
            }
            self.restart(now);
        }
        Some(self.window_end)
    }

    /// Returns the time of the next check.
    pub const fn next_check(&self) -> Instant {
        self.window_end
    }

    /// Excludes time in which nothing could be transferred from the current window.
    pub fn exclude(&mut self, time: Duration) {
        self.window_end += time;
    }

    /// Begins a new window at `now`, for instance after a pause that was not the peer's fault.
    pub fn restart(&mut self, now: Instant) {
        self.window_end = now + self.window;
        self.bytes = 0;
    }

    /// Returns the refusal of a request body that is too slow.
    pub fn refusal(&self) -> Refusal {
        Refusal::TooSlow(format!(
            "The body arrived too slowly. Send it again, with at least {} every {}.",
            counted(self.min_bytes, "byte", "bytes"),
            counted(self.window.as_secs(), "second", "seconds")
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the second in which a transfer of `bytes` each second is found to be too slow, within an hour.
    fn second_of_end(settings: &ConnectionSettings, bytes: impl Fn(u64) -> u64) -> Option<u64> {
        let start = Instant::now();
        let mut rate = MinRate::new(settings);
        (1..3600).find(|second| {
            // Checked between two seconds, so that the clock between two lines above does not matter.
            let now = start + Duration::from_millis(second * 1000 + 500);
            rate.record(bytes(*second), now).is_none()
        })
    }

    #[test]
    fn transfer_below_the_minimum_of_a_window_is_too_slow() {
        let settings = ConnectionSettings {
            min_bytes_per_second: 100,
            rate_window_seconds: 10,
            ..ConnectionSettings::default()
        };
        assert_eq!(second_of_end(&settings, |_| 1), Some(10), "one byte now and then");
        assert_eq!(second_of_end(&settings, |_| 0), Some(10));
        assert_eq!(second_of_end(&settings, |_| 110), None);
        assert_eq!(second_of_end(&settings, |second| 1200 * u64::from(second % 10 == 5)), None, "in bursts");
        assert_eq!(
            second_of_end(&settings, |second| if second < 5 { 1 << 40 } else { 1 }),
            Some(20),
            "a fast start does not pay for a slow rest"
        );
        let unlimited = ConnectionSettings { min_bytes_per_second: 0, ..settings };
        assert_eq!(second_of_end(&unlimited, |_| 0), None);
    }

    #[test]
    fn refusal_says_what_is_fast_enough() {
        let settings = ConnectionSettings {
            min_bytes_per_second: 1,
            rate_window_seconds: 1,
            ..ConnectionSettings::default()
        };
        let Refusal::TooSlow(message) = MinRate::new(&settings).refusal() else {
            panic!("the body was too slow")
        };
        assert!(message.ends_with("with at least 1 byte every 1 second."), "{message}");
    }

    #[test]
    fn pause_begins_a_new_window() {
        let mut rate = MinRate::new(&ConnectionSettings::default());
        let later = Instant::now() + Duration::from_hours(1);
        rate.restart(later);
        assert_eq!(rate.record(0, later), Some(later + Duration::from_secs(10)));
        assert_eq!(rate.record(0, later + Duration::from_secs(10)), None);
        assert!(matches!(rate.refusal(), Refusal::TooSlow(_)));
    }
}
