//! The health of a market (index, jobs, disk, database, last backup), with the parts that need attention.
//!
//! Facts of the database are read in one transaction, facts of the file system as [`FileFacts`].

use super::backups::LastBackup;
use crate::{
    domain::{jobs::JobState, time::Timestamp},
    error::Result,
    market::{DATABASE_FILE, Market, Reader},
    store,
};

/// Number of changes that the index may lack before it needs attention. A large import exceeds it for a while.
pub const MAX_INDEX_LAG: u64 = 10_000;

/// Seconds for which a due job may wait before the queue needs attention.
pub const MAX_JOB_WAIT_SECONDS: i64 = 15 * 60;

/// Bytes that should be free on the disk in addition to its reserve.
pub const MIN_FREE_BYTES: u64 = 5_000_000_000;

/// Size in bytes of the database's log that needs attention.
pub const MAX_LOG_BYTES: u64 = 500_000_000;

/// Seconds after which a backup is old.
pub const MAX_BACKUP_AGE_SECONDS: i64 = 2 * 24 * 60 * 60;

/// What the file system knows about a market.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileFacts {
    /// The time at which they were read, without the offset of the market: backups are dated by it.
    pub read_at: Timestamp,
    /// Number of bytes that are free on the disk.
    pub disk_free_bytes: u64,
    /// Number of bytes that writes leave free on the disk, for work that frees space.
    pub disk_reserve_bytes: u64,
    /// Size of the database's log file in bytes, also of the parts that were checkpointed.
    pub log_bytes: u64,
    /// The last backup; `None` if none is known.
    pub last_backup: Option<LastBackup>,
    /// Whether the market is backed up on this machine. Worlds never are, and neither are the copies of replicas.
    pub is_backed_up: bool,
}

impl FileFacts {
    /// Reads the facts. Costs a few system calls.
    pub fn read(market: &Market) -> Result<FileFacts> {
        let (disk_free_bytes, disk_reserve_bytes) = market.free_space()?;
        let is_world = market.is_world();
        let is_backed_up = !is_world && !market.is_replica();
        let log = market.data_dir().join(format!("{DATABASE_FILE}-wal"));
        Ok(FileFacts {
            read_at: market.clock().unshifted_now(),
            disk_free_bytes,
            disk_reserve_bytes,
            log_bytes: if is_world { 0 } else { std::fs::metadata(log).map_or(0, |file| file.len()) },
            last_backup: LastBackup::read(market.data_dir()).filter(|_| is_backed_up),
            is_backed_up,
        })
    }
}

/// The state of a market at one point in time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Health {
    /// Time of the market.
    pub now: Timestamp,
    /// Number of changes that the index lacks.
    pub index_lag: u64,
    /// Whether the index is known to be damaged. A server rebuilds it.
    pub has_index_failed: bool,
    /// Number of jobs that are not due yet, or wait for a slot.
    pub waiting_jobs: u64,
    /// Number of jobs in progress.
    pub running_jobs: u64,
    /// Seconds for which the first due job has waited; `None` if no job is due.
    pub oldest_job_seconds: Option<i64>,
    /// Size of the database in bytes, without its log.
    pub database_bytes: u64,
    /// What the file system knows.
    pub files: FileFacts,
}

/// Why something needs attention.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Concern {
    /// The index is damaged.
    IndexFailed,
    /// The index lacks many changes.
    IndexBehind,
    /// A job has waited for a long time.
    JobsLate,
    /// Only the reserve of the disk is left, so nothing is accepted that needs space.
    DiskFull,
    /// Little more than the reserve of the disk is left.
    DiskLow,
    /// The log of the database is large.
    LogLarge,
    /// No backup is known.
    NoBackup,
    /// The last backup is old.
    BackupOld,
    /// The last backup lacks files that are damaged in the market.
    BackupIncomplete,
    /// The last check of a backup found problems.
    BackupCheckFailed,
}

impl Health {
    /// Reads the health in few statements, whatever the size of the market. It contains nothing about teams and their records,
    /// so it needs no proof of access.
    pub fn read(reader: &Reader, files: FileFacts) -> Result<Health> {
        let mut health = Health {
            now: reader.now,
            index_lag: index_lag(reader)?,
            has_index_failed: reader.index.has_failed(),
            waiting_jobs: 0,
            running_jobs: 0,
            oldest_job_seconds: None,
            database_bytes: store::snapshots::size_bytes(reader.rows)?,
            files,
        };
        for jobs in store::market_facts::count_jobs(reader.rows)? {
            match jobs.state {
                JobState::Waiting => {
                    health.waiting_jobs = jobs.count;
                    let waited = reader.now.seconds() - jobs.oldest_at.seconds();
                    health.oldest_job_seconds = (waited >= 0).then_some(waited);
                }
                JobState::Running => health.running_jobs = jobs.count,
                JobState::Failed | JobState::Cancelled => {}
            }
        }
        Ok(health)
    }

    /// Returns why the index needs attention; `None` if it does not.
    pub fn index_concern(&self) -> Option<Concern> {
        if self.has_index_failed {
            return Some(Concern::IndexFailed);
        }
        (self.index_lag > MAX_INDEX_LAG).then_some(Concern::IndexBehind)
    }

    /// Returns why the queue of jobs needs attention; `None` if it does not.
    pub fn job_concern(&self) -> Option<Concern> {
        self.oldest_job_seconds.filter(|waited| *waited > MAX_JOB_WAIT_SECONDS).map(|_| Concern::JobsLate)
    }

    /// Returns why the disk needs attention; `None` if it does not.
    pub const fn disk_concern(&self) -> Option<Concern> {
        let FileFacts { disk_free_bytes: free, disk_reserve_bytes: reserve, .. } = self.files;
        if free < reserve {
            return Some(Concern::DiskFull);
        }
        if free < reserve.saturating_add(MIN_FREE_BYTES) { Some(Concern::DiskLow) } else { None }
    }

    /// Returns why the database needs attention; `None` if it does not.
    pub const fn database_concern(&self) -> Option<Concern> {
        if self.files.log_bytes > MAX_LOG_BYTES { Some(Concern::LogLarge) } else { None }
    }

    /// Returns the age of the last backup in seconds; `None` if none is known.
    pub fn backup_age_seconds(&self) -> Option<i64> {
        self.files.last_backup.as_ref().map(|backup| self.files.read_at.seconds() - backup.made_at.seconds())
    }

    /// Returns the seconds since the last check of a backup; `None` if none is known.
    pub fn backup_check_age_seconds(&self) -> Option<i64> {
        let check = self.files.last_backup.as_ref()?.check.as_ref()?;
        Some(self.files.read_at.seconds() - check.checked_at.seconds())
    }

    /// Returns why backups need attention; `None` if they do not.
    pub fn backup_concern(&self) -> Option<Concern> {
        match (&self.files.last_backup, self.backup_age_seconds()) {
            _ if !self.files.is_backed_up => None,
            (Some(backup), _) if backup.missing_files > 0 => Some(Concern::BackupIncomplete),
            (Some(LastBackup { check: Some(check), .. }), _) if check.problems > 0 => {
                Some(Concern::BackupCheckFailed)
            }
            (Some(_), Some(age)) if age > MAX_BACKUP_AGE_SECONDS => Some(Concern::BackupOld),
            (Some(_), _) => None,
            (None, _) => Some(Concern::NoBackup),
        }
    }
}

/// Returns the number of changes that the index lacks.
pub fn index_lag(reader: &Reader) -> Result<u64> {
    let change = u64::try_from(store::index_queue::last_change(reader.rows)?).unwrap_or_default();
    Ok(change.saturating_sub(reader.index.change()))
}

#[cfg(test)]
mod tests {
    use super::{super::backups::BackupCheck, *};

    fn healthy() -> Health {
        let made_at = Timestamp(0);
        let files = FileFacts {
            read_at: Timestamp(0).plus_seconds(MAX_BACKUP_AGE_SECONDS),
            disk_free_bytes: 2 * MIN_FREE_BYTES,
            disk_reserve_bytes: MIN_FREE_BYTES,
            log_bytes: MAX_LOG_BYTES,
            last_backup: Some(LastBackup { made_at, bytes: 1, missing_files: 0, check: None }),
            is_backed_up: true,
        };
        Health {
            now: Timestamp(0),
            index_lag: MAX_INDEX_LAG,
            has_index_failed: false,
            waiting_jobs: 1,
            running_jobs: 0,
            oldest_job_seconds: Some(MAX_JOB_WAIT_SECONDS),
            database_bytes: 1,
            files,
        }
    }

    fn concerns(change: impl FnOnce(&mut Health)) -> Vec<Concern> {
        let mut health = healthy();
        change(&mut health);
        let found = [
            health.index_concern(),
            health.job_concern(),
            health.disk_concern(),
            health.database_concern(),
            health.backup_concern(),
        ];
        found.into_iter().flatten().collect()
    }

    #[test]
    fn limits_are_exact() {
        assert_eq!(concerns(|_| ()), []);
        assert_eq!(concerns(|health| health.index_lag += 1), [Concern::IndexBehind]);
        assert_eq!(concerns(|health| health.has_index_failed = true), [Concern::IndexFailed]);
        let late = Some(MAX_JOB_WAIT_SECONDS + 1);
        assert_eq!(concerns(|health| health.oldest_job_seconds = late), [Concern::JobsLate]);
        assert_eq!(concerns(|health| health.files.disk_free_bytes -= 1), [Concern::DiskLow]);
        assert_eq!(concerns(|health| health.files.disk_free_bytes = MIN_FREE_BYTES - 1), [Concern::DiskFull]);
        assert_eq!(concerns(|health| health.files.log_bytes += 1), [Concern::LogLarge]);
        let old = Timestamp(0).plus_seconds(MAX_BACKUP_AGE_SECONDS + 1);
        assert_eq!(concerns(|health| health.files.read_at = old), [Concern::BackupOld]);
        assert_eq!(concerns(|health| health.files.last_backup = None), [Concern::NoBackup]);
    }

    #[test]
    fn backup_that_lacks_files_needs_attention() {
        let damaged = LastBackup { made_at: Timestamp(0), bytes: 1, missing_files: 1, check: None };
        assert_eq!(
            concerns(|health| health.files.last_backup = Some(damaged)),
            [Concern::BackupIncomplete],
            "also if it is not old"
        );
    }

    #[test]
    fn backup_that_could_not_be_restored_needs_attention() {
        for (problems, expected) in [(0, None), (1, Some(Concern::BackupCheckFailed))] {
            let check = BackupCheck { checked_at: Timestamp(0), made_at: Timestamp(0), problems, seconds: 1 };
            let change = |health: &mut Health| {
                health.files.last_backup.as_mut().unwrap().check = Some(check);
                assert_eq!(health.backup_check_age_seconds(), Some(MAX_BACKUP_AGE_SECONDS));
            };
            assert_eq!(concerns(change), Vec::from_iter(expected));
        }
    }

    #[test]
    fn market_that_is_backed_up_elsewhere_or_never_needs_no_backup() {
        let into_other = |health: &mut Health| {
            health.files.is_backed_up = false;
            health.files.last_backup = None;
        };
        assert_eq!(concerns(into_other), []);
    }
}
