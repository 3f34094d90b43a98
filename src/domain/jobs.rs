//! Background jobs: their kinds, leases, and retry delays.

use super::vocabulary::vocabulary;

vocabulary! {
    /// The kind of a background job.
    JobKind {
        /// Analyzes an uploaded archive that is attached to an asset.
        ReadArchive = "read_archive",
        /// Copies a linked repository.
        CopyRepository = "copy_repository",
        /// Analyzes a copied repository.
        ReadRepository = "read_repository",
        /// Runs the checks of a quality run.
        RunChecks = "run_checks",
        /// Deletes files that are no longer referenced.
        Sweep = "sweep",
    }
}

/// The kinds of jobs that copy or analyze the data of an asset. Their subject is the row ID of the asset.
pub const OF_DATA: [JobKind; 3] = [JobKind::ReadArchive, JobKind::CopyRepository, JobKind::ReadRepository];

/// A job queue. Each queue has its own workers, so that waiting for a remote host does not delay analyses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lane {
    /// Copies from remote hosts. These jobs mostly wait for the network.
    Copies,
    /// Analyses and checks of local data. These jobs mostly use the CPU.
    Readings,
}

impl JobKind {
    /// Returns the queue of this kind of job.
    pub const fn lane(self) -> Lane {
        match self {
            JobKind::CopyRepository => Lane::Copies,
            JobKind::ReadArchive | JobKind::ReadRepository | JobKind::RunChecks | JobKind::Sweep => {
                Lane::Readings
            }
        }
    }
}

/// Maximum number of times that a job is started, whether it failed or the server crashed while running it.
pub const MAX_ATTEMPTS: u32 = 5;

/// Duration in microseconds after which a job without a heartbeat is released to other workers.
pub const LEASE: i64 = 60 * SECOND;

/// Delay in microseconds before the first retry of a failed job.
const FIRST_WAIT: i64 = 10 * SECOND;

const SECOND: i64 = 1_000_000;

/// Returns the delay in microseconds before the next attempt, which doubles each time, or `None` to give up.
pub fn wait_after(attempts: u32) -> Option<i64> {
    (attempts < MAX_ATTEMPTS).then(|| FIRST_WAIT << attempts.saturating_sub(1).min(10))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_until_a_job_is_given_up() {
        let waits: Vec<_> =
            (1..=MAX_ATTEMPTS).map(|attempts| wait_after(attempts).map(|wait| wait / SECOND)).collect();
        assert_eq!(waits, [Some(10), Some(20), Some(40), Some(80), None]);
    }
}
