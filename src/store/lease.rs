//! Until when a server may write: it may not be the primary any more after that.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use rustix::time::{ClockId, clock_gettime};

use crate::error::{Error, Result};

/// The value of a lease that never ends.
const ENDLESS: u64 = u64::MAX;

/// The value of a lease that has ended and cannot be renewed.
const ENDED: u64 = 0;

/// Seconds after which a client should repeat a write that was refused.
const RETRY_SECONDS: u64 = 5;

/// The time until which writes are permitted, in milliseconds of [`uptime`]. Without replication, it never comes.
#[derive(Debug)]
pub struct Lease(AtomicU64);

impl Default for Lease {
    fn default() -> Lease {
        Lease(AtomicU64::new(ENDLESS))
    }
}

impl Lease {
    /// Refuses all writes after a time, as [`uptime`] measures it, unless this is called again before. Has no effect after
    /// [`Lease::end`].
    pub fn set_end(&self, time: Duration) {
        let time = u64::try_from(time.as_millis()).unwrap_or(ENDLESS).max(ENDED + 1);
        let _ = self.0.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |end| (end != ENDED).then_some(time));
    }

    /// Refuses all writes from now on.
    pub fn end(&self) {
        self.0.store(ENDED, Ordering::SeqCst);
    }

    /// Whether writes are refused.
    pub fn has_ended(&self) -> bool {
        let end = self.0.load(Ordering::SeqCst);
        end != ENDLESS && uptime().as_millis() > u128::from(end)
    }

    /// Returns an error if writes are refused.
    pub(super) fn check(&self) -> Result<()> {
        if self.has_ended() { Err(Error::AtCapacity { retry_seconds: RETRY_SECONDS }) } else { Ok(()) }
    }
}

/// Returns the time since the machine was started, including the time for which it was suspended.
pub fn uptime() -> Duration {
    let time = clock_gettime(ClockId::Boottime);
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec.unsigned_abs().try_into().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{Store, secrets};

    #[test]
    fn nothing_is_written_after_the_end() {
        let (_directory, store) = Store::temporary();
        let write = |name: &str, end: Option<Duration>| {
            store.write(|writer| {
                // The lease can end while a transaction runs.
                if let Some(end) = end {
                    store.lease().set_end(end);
                }
                secrets::insert(writer, name, &[1; 32])
            })
        };
        write("without", None).unwrap();
        store.lease().set_end(uptime() + Duration::from_hours(1));
        write("before", None).unwrap();
        for (name, end) in [("during", Some(Duration::ZERO)), ("after", None)] {
            let error = write(name, end).unwrap_err();
            assert!(matches!(error, Error::AtCapacity { .. }), "{error:?}");
            assert_eq!(store.read(|rows| secrets::find(rows, name)).unwrap(), None, "{name}");
        }
        store.lease().set_end(uptime() + Duration::from_hours(1));
        write("again", None).unwrap();
        store.lease().end();
        store.lease().set_end(uptime() + Duration::from_hours(1));
        assert!(write("at last", None).is_err(), "it has ended for good");
    }
}
