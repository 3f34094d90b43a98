//! Counts of a market's background work, and the load of its connections to the database, for monitoring.

use std::sync::atomic::{AtomicU64, Ordering};

use super::Market;
use crate::{
    domain::{
        jobs::JobKind,
        webhooks::{AttemptError, AttemptResult},
    },
    string_enum::{StringEnum, string_enum},
};

string_enum! {
    /// How an attempt of a job ended.
    JobOutcome {
        /// The job is done, whatever it found.
        Completed = "completed",
        /// The process is stopping.
        Stopped = "stopped",
        /// The job lost its claim, or what it works on was changed.
        Interrupted = "interrupted",
        /// Something unexpected happened.
        Failed = "failed",
    }
}

/// Number of kinds of jobs.
const JOB_KINDS: usize = JobKind::ALL.len();

/// Number of outcomes of jobs.
const JOB_OUTCOMES: usize = JobOutcome::ALL.len();

/// Outcomes of an attempt to send to a webhook that got a response: accepted or rejected.
const ANSWERED: [&str; 2] = ["accepted", "rejected"];

/// Number of outcomes of attempts to send to a webhook.
const WEBHOOK_OUTCOMES: usize = ANSWERED.len() + AttemptError::ALL.len();

/// Numbers of attempts since the market was opened.
#[derive(Debug, Default)]
pub struct AttemptCounters {
    jobs: [[AtomicU64; JOB_OUTCOMES]; JOB_KINDS],
    webhooks: [AtomicU64; WEBHOOK_OUTCOMES],
}

/// How busy the connections to the database are.
#[derive(Clone, Copy, Debug)]
pub struct PoolLoad {
    /// Number of connections in use.
    pub used: usize,
    /// Number of connections.
    pub max: usize,
    /// Number of reads or writes that wait for one.
    pub waiting: usize,
}

impl AttemptCounters {
    /// Counts an attempt of a job that has ended.
    pub fn count_job(&self, kind: JobKind, outcome: JobOutcome) {
        self.jobs[kind as usize][outcome as usize].fetch_add(1, Ordering::Relaxed);
    }

    /// Counts an attempt to send to a webhook that has ended.
    pub fn count_webhook(&self, result: &AttemptResult) {
        let outcome = match result.outcome {
            Ok(200..=299) => 0,
            Ok(_) => 1,
            Err(error) => ANSWERED.len() + error as usize,
        };
        self.webhooks[outcome].fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the numbers of attempts of jobs, by the kinds of the jobs and the outcomes.
    pub fn jobs(&self) -> impl Iterator<Item = (JobKind, JobOutcome, u64)> + '_ {
        JobKind::ALL.iter().zip(&self.jobs).flat_map(|(kind, counts)| {
            let of_kind = JobOutcome::ALL.iter().zip(counts);
            of_kind.map(|(outcome, count)| (*kind, *outcome, count.load(Ordering::Relaxed)))
        })
    }

    /// Returns the numbers of attempts to send to webhooks, by the outcomes.
    pub fn webhooks(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        let errors = AttemptError::ALL.iter().map(|error| error.as_str());
        let counts = self.webhooks.iter().map(|count| count.load(Ordering::Relaxed));
        ANSWERED.into_iter().chain(errors).zip(counts)
    }
}

impl Market {
    /// Returns the numbers of attempts since the market was opened.
    pub fn attempts(&self) -> &AttemptCounters {
        &self.inner.attempts
    }

    /// Returns how busy the connections for reading and the one for writing are.
    pub fn pool_loads(&self) -> [PoolLoad; 2] {
        let readers = self.settings().data.read_connections() as usize;
        [(&self.inner.readers, readers), (&self.inner.writers, 1)].map(|(scheduler, max)| {
            let (used, waiting) = scheduler.load();
            PoolLoad { used, max, waiting }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attempts_are_counted_by_outcome() {
        let counters = AttemptCounters::default();
        for kind in JobKind::ALL {
            for outcome in JobOutcome::ALL {
                counters.count_job(*kind, *outcome);
            }
        }
        assert_eq!(
            counters.jobs().map(|(.., count)| count).collect::<Vec<_>>(),
            [1; JOB_KINDS * JOB_OUTCOMES]
        );
        let errors = AttemptError::ALL.iter().map(|error| Err(*error));
        for outcome in [Ok(204), Ok(302)].into_iter().chain(errors) {
            counters.count_webhook(&AttemptResult { outcome, retry_after: None, response: String::new() });
        }
        assert!(counters.webhooks().all(|(_, count)| count == 1));
        assert!(counters.webhooks().any(|(outcome, _)| outcome == AttemptError::TimedOut.as_str()));
    }
}
