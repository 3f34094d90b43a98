//! Work that requests only ask for: its kinds, how long somebody may hold it, and when it is tried again.

use super::vocabulary::vocabulary;

vocabulary! {
    /// What a job does.
    JobKind {
        /// Reads an uploaded archive: the data of an asset.
        ReadArchive = "read_archive",
        /// Copies a linked repository.
        CopyRepository = "copy_repository",
        /// Reads a repository that was copied.
        ReadRepository = "read_repository",
        /// Carries out a quality run.
        RunChecks = "run_checks",
        /// Takes away files that nobody refers to any more.
        Sweep = "sweep",
    }
}

/// The kinds of jobs that bring or read the data of an asset, whose row number they are about.
pub const OF_DATA: [JobKind; 3] = [JobKind::ReadArchive, JobKind::CopyRepository, JobKind::ReadRepository];

/// Who carries out a job: each lane has workers of its own, so that waiting for a host holds up no reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lane {
    /// Fetches from elsewhere, and mostly waits.
    Copies,
    /// Reads what is here, and mostly computes.
    Readings,
}

impl JobKind {
    /// The lane that it belongs to.
    pub const fn lane(self) -> Lane {
        match self {
            JobKind::CopyRepository => Lane::Copies,
            JobKind::ReadArchive | JobKind::ReadRepository | JobKind::RunChecks | JobKind::Sweep => {
                Lane::Readings
            }
        }
    }
}

/// How often a job is begun before it is given up, whether it broke by itself or took its server down.
pub const MAX_ATTEMPTS: u32 = 5;

/// How long a job is held without a sign of life, in microseconds.
pub const LEASE: i64 = 60 * SECOND;

/// How long a job waits that broke for the first time, in microseconds.
const FIRST_WAIT: i64 = 10 * SECOND;

const SECOND: i64 = 1_000_000;

/// How long a job waits after it broke, in microseconds: twice as long each time. Nothing where it is given up.
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
