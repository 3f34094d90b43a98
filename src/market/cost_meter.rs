//! What one request costs: the time of its reads and writes, and the time that it waits for them.

use std::{
    ops::Sub,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

/// What the slots of a scheduler are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activity {
    /// Requests in progress. A slow client keeps such a slot, so the time in it is no cost.
    Request,
    /// Parsing large bodies, and compressing large responses.
    Compute,
    /// Connections for reading.
    Read,
    /// The connection for writing.
    Write,
}

/// Number of activities.
const ACTIVITIES: usize = 4;

/// The times of one request, in nanoseconds.
#[derive(Debug, Default)]
struct Counters {
    waited: [AtomicU64; ACTIVITIES],
    worked: [AtomicU64; ACTIVITIES],
    index_wait: AtomicU64,
}

/// Counts the time that the reads and writes of one request take, and the time that it waits for them. Clones
/// count for the same request.
#[derive(Clone, Debug, Default)]
pub struct CostMeter(Arc<Counters>);

/// The times of a request so far, without what has not ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CostTimes {
    /// Time that the request waited because too many others were in progress.
    pub slot_wait: Duration,
    /// Time that large bodies and responses waited until they were parsed or compressed.
    pub compute_wait: Duration,
    /// Time that reads waited for a connection.
    pub read_wait: Duration,
    /// Time of the reads.
    pub read: Duration,
    /// Time that writes waited for the connection.
    pub write_wait: Duration,
    /// Time of the writes, until the end of the commit.
    pub write: Duration,
    /// Time from a commit until the index contains the change.
    pub index_wait: Duration,
}

impl CostMeter {
    /// Adds the time that work waited for a slot.
    pub(super) fn add_wait(&self, activity: Activity, time: Duration) {
        add(&self.0.waited[activity as usize], time);
    }

    /// Adds the time that work occupied a slot.
    pub(super) fn add_work(&self, activity: Activity, time: Duration) {
        if activity != Activity::Request {
            add(&self.0.worked[activity as usize], time);
        }
    }

    /// Adds the time that a write waited for the index.
    pub(super) fn add_index_wait(&self, time: Duration) {
        add(&self.0.index_wait, time);
    }

    /// Returns the time so far that the request is charged for: that of its reads, its writes, and of
    /// computing.
    pub fn total(&self) -> Duration {
        self.0.worked.iter().map(load).sum()
    }

    /// Returns all times so far.
    pub fn times(&self) -> CostTimes {
        let waited = |activity: Activity| load(&self.0.waited[activity as usize]);
        let worked = |activity: Activity| load(&self.0.worked[activity as usize]);
        CostTimes {
            slot_wait: waited(Activity::Request),
            compute_wait: waited(Activity::Compute),
            read_wait: waited(Activity::Read),
            read: worked(Activity::Read),
            write_wait: waited(Activity::Write),
            write: worked(Activity::Write),
            index_wait: load(&self.0.index_wait),
        }
    }
}

impl Sub for CostTimes {
    type Output = CostTimes;

    /// Returns the times since an earlier moment of the same request.
    fn sub(self, earlier: CostTimes) -> CostTimes {
        CostTimes {
            slot_wait: self.slot_wait.saturating_sub(earlier.slot_wait),
            compute_wait: self.compute_wait.saturating_sub(earlier.compute_wait),
            read_wait: self.read_wait.saturating_sub(earlier.read_wait),
            read: self.read.saturating_sub(earlier.read),
            write_wait: self.write_wait.saturating_sub(earlier.write_wait),
            write: self.write.saturating_sub(earlier.write),
            index_wait: self.index_wait.saturating_sub(earlier.index_wait),
        }
    }
}

/// Returns a time in milliseconds, with microseconds as decimals, as in the log.
pub fn milliseconds(time: Duration) -> f64 {
    time.as_micros() as f64 / 1e3
}

fn add(counter: &AtomicU64, time: Duration) {
    counter.fetch_add(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
}

fn load(counter: &AtomicU64) -> Duration {
    Duration::from_nanos(counter.load(Ordering::Relaxed))
}
