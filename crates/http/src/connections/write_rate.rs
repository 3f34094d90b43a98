//! The rate at which a client reads responses.
//!
//! Only time during which the send buffer is full counts: otherwise the server has nothing to send, or the
//! system has taken it. Systems report what a client has read in steps (64 KB on one machine), so windows are not
//! shorter than the time in which a client must read anything.

use std::{
    io::{self, IoSlice},
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use tokio::time::{Instant, Sleep, sleep_until};

use crate::{ConnectionSettings, min_rate::MinRate};

/// The limits on how slowly a client may read.
#[derive(Clone, Copy, Debug)]
pub struct WriteLimits {
    /// The minimum rate, from now.
    rate: MinRate,
    /// Maximum time in which the client reads nothing.
    max_pause: Duration,
}

impl WriteLimits {
    /// Takes the limits from the settings.
    pub fn new(settings: &ConnectionSettings) -> WriteLimits {
        WriteLimits {
            rate: MinRate::with_window(settings, settings.rate_window_seconds.max(settings.write_seconds)),
            max_pause: Duration::from_secs(settings.write_seconds.into()),
        }
    }
}

/// Measures the rate at which a client reads.
#[derive(Debug)]
pub struct WriteRate {
    limits: WriteLimits,
    /// None until the send buffer is full for the first time.
    measured: Option<Box<Measured>>,
}

#[derive(Debug)]
struct Measured {
    rate: MinRate,
    /// When the client last read something.
    last_progress: Instant,
    /// Since when the send buffer has space; none while it is full.
    writable_since: Option<Instant>,
    timer: Pin<Box<Sleep>>,
}

impl WriteRate {
    /// Begins to measure when the send buffer is full for the first time.
    pub const fn new(limits: WriteLimits) -> WriteRate {
        WriteRate { limits, measured: None }
    }

    /// Records that the socket took `bytes`. Fails if the client reads too slowly.
    pub fn written(&mut self, bytes: u64) -> io::Result<()> {
        let Some(measured) = &mut self.measured else { return Ok(()) };
        let now = Instant::now();
        measured.resume(now);
        measured.last_progress = now;
        measured.writable_since = Some(now);
        measured.rate.record(bytes, now).map(drop).ok_or_else(too_slow)
    }

    /// Waits while the send buffer is full. When the rate is due for a check, writes `data` by `write_now`, which
    /// shows what the client has read meanwhile. Fails if it reads too slowly.
    pub fn poll_blocked(
        &mut self,
        context: &mut Context<'_>,
        write_now: impl FnOnce() -> io::Result<usize>,
        data: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let max_pause = self.limits.max_pause;
        let measured = self.measured.get_or_insert_with(|| {
            let now = Instant::now();
            let mut rate = self.limits.rate;
            rate.restart(now);
            let timer = Box::pin(sleep_until(now));
            Box::new(Measured { rate, last_progress: now, writable_since: None, timer })
        });
        if let Some(since) = measured.writable_since {
            let now = Instant::now();
            measured.resume(now);
            measured.last_progress += now - since;
        }
        let due = measured.rate.next_check().min(measured.last_progress + max_pause);
        measured.timer.as_mut().reset(due);
        if measured.timer.as_mut().poll(context).is_pending() {
            return Poll::Pending;
        }
        let written = match write_now() {
            Ok(written) => written,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => 0,
            Err(error) => return Poll::Ready(Err(error)),
        };
        let now = Instant::now();
        let is_everything = written == data.iter().map(|slice| slice.len()).sum::<usize>();
        if is_everything {
            // The rate of the client is unknown, since it may have waited for more data.
            measured.rate.restart(now);
        }
        let is_fast_enough = measured.rate.record(written as u64, now).is_some();
        if written == 0 && now >= measured.last_progress + max_pause || !is_fast_enough {
            return Poll::Ready(Err(too_slow()));
        }
        if written > 0 {
            measured.last_progress = now;
            measured.writable_since = Some(now);
            return Poll::Ready(Ok(written));
        }
        // The window was good, so this waits for the next check.
        context.waker().wake_by_ref();
        Poll::Pending
    }
}

impl Measured {
    /// Excludes the time during which the send buffer had space.
    fn resume(&mut self, now: Instant) {
        if let Some(since) = self.writable_since.take() {
            self.rate.exclude(now - since);
        }
    }
}

fn too_slow() -> io::Error {
    io::Error::new(io::ErrorKind::TimedOut, "the client reads too slowly")
}
