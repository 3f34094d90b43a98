//! Background jobs: their kinds, leases, and retry delays.

use super::{
    listings::ListingRowId,
    row_ids::{
        self, AssetRowId, BulkChangeRowId, BundleRowId, EstimationRowId, GrantRowId, QualityRunRowId,
        TaskQualityRefreshRowId, TraceImportRowId,
    },
    state_machine::state_machine,
    time::{MICROS_PER_DAY, MICROS_PER_HOUR, MICROS_PER_SECOND},
};
use crate::string_enum::string_enum;

string_enum! {
    /// The kind of a background job.
    JobKind {
        /// Analyzes an uploaded archive that is attached to an asset.
        AnalyzeArchive = "read_archive",
        /// Copies a linked repository.
        CopyRepository = "copy_repository",
        /// Analyzes a copied repository.
        AnalyzeRepository = "read_repository",
        /// Runs the checks of a quality run.
        RunChecks = "run_checks",
        /// Imports graded traces from an uploaded file.
        ImportTraces = "import_traces",
        /// Refreshes the quality of a team's task assets.
        RefreshTaskQuality = "refresh_task_quality",
        /// Changes many assets.
        ChangeAssets = "change_assets",
        /// Measures the source of an estimation, and quotes it.
        Estimate = "estimate",
        /// Prepares the files of a bundle.
        PrepareBundle = "prepare_bundle",
        /// Tells buyers that a certification that was attested to them has ended.
        ReportRevocation = "report_revocation",
        /// Signs a head of the log of attestations.
        SealLog = "seal_log",
        /// Deletes files that are no longer referenced.
        Cleanup = "sweep",
    }
}

string_enum! {
    /// The state of a background job that has not completed. A completed job is deleted.
    JobState {
        /// Waiting for its time, or for its turn.
        Waiting = "waiting",
        /// In progress.
        Running = "running",
        /// Given up after the last attempt failed.
        Failed = "failed",
        /// Canceled by an operator.
        Cancelled = "cancelled",
    }
}

string_enum! {
    /// What an operator can do with a background job.
    JobOperation {
        /// Starts it as soon as possible.
        Retry = "retry",
        /// Ends it without a result.
        Cancel = "cancel",
    }
}

state_machine! {
    JobState by JobOperation;
    Waiting: Retry => Waiting, Cancel => Cancelled;
    Running: Cancel => Cancelled;
    Failed: Retry => Waiting;
    Cancelled: Retry => Waiting;
}

/// Days for which jobs that were given up or canceled are kept.
pub const KEEP_ENDED_DAYS: i64 = 30;

/// The kinds of jobs that copy or analyze the data of an asset. Their subject is the row ID of the asset.
pub const DATA_JOB_KINDS: [JobKind; 3] =
    [JobKind::AnalyzeArchive, JobKind::CopyRepository, JobKind::AnalyzeRepository];

/// The row ID of the record that a job works on. The kind of the job determines the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JobSubject(pub i64);

row_ids::column!(JobSubject);

impl JobSubject {
    /// The subject of a job that does not work on a particular record.
    pub const NONE: JobSubject = JobSubject(0);
}

row_ids::subject!(
    JobSubject:
    GrantRowId,
    AssetRowId,
    QualityRunRowId,
    BundleRowId,
    BulkChangeRowId,
    EstimationRowId,
    ListingRowId,
    TaskQualityRefreshRowId,
    TraceImportRowId,
);

string_enum! {
    /// A job queue. No job waits for those of another queue, so that waiting for a remote host does not delay
    /// analyses, and analyses do not delay updates. Where jobs run one after another, this is the order of the queues.
    Queue {
        /// Updates of rows, and cleanups. These jobs consist of short transactions.
        Updates = "updates",
        /// Copies from remote hosts. These jobs mostly wait for the network.
        Copies = "copies",
        /// Analyses and checks of local data. These jobs mostly use the CPU.
        Analyses = "analyses",
    }
}

impl JobKind {
    /// Returns the kind of the record that a job of this kind works on; empty if there is none.
    pub const fn subject_kind(self) -> &'static str {
        match self {
            JobKind::AnalyzeArchive | JobKind::CopyRepository | JobKind::AnalyzeRepository => "asset",
            JobKind::RunChecks => "quality_run",
            JobKind::ImportTraces => "trace_import",
            JobKind::RefreshTaskQuality => "task_quality_refresh",
            JobKind::ChangeAssets => "bulk_change",
            JobKind::Estimate => "estimation",
            JobKind::PrepareBundle | JobKind::ReportRevocation => "listing",
            JobKind::SealLog | JobKind::Cleanup => "",
        }
    }

    /// Returns the queue of this kind of job.
    pub const fn queue(self) -> Queue {
        match self {
            JobKind::CopyRepository | JobKind::Estimate => Queue::Copies,
            JobKind::AnalyzeArchive
            | JobKind::AnalyzeRepository
            | JobKind::RunChecks
            | JobKind::PrepareBundle
            | JobKind::ImportTraces => Queue::Analyses,
            JobKind::RefreshTaskQuality
            | JobKind::ChangeAssets
            | JobKind::ReportRevocation
            | JobKind::SealLog
            | JobKind::Cleanup => Queue::Updates,
        }
    }
}

/// Maximum number of jobs of the queue [`Queue::Updates`] that run at the same time. All of them write to the
/// database, so more would only wait for each other.
pub const MAX_UPDATES: u32 = 2;

/// Maximum number of times that a job is started if each start fails, for instance because a host cannot be
/// reached.
pub const MAX_ATTEMPTS: u32 = 5;

/// Maximum number of times that a job is started if each start is interrupted: its process or the server is
/// killed, or the server is stopped.
pub const MAX_INTERRUPTED_STARTS: u32 = 2;

/// Duration in microseconds after which a job without a heartbeat is released to other workers.
pub const LEASE_MICROS: i64 = 60 * MICROS_PER_SECOND;

/// Delay in microseconds before the next attempt of a job that found the disk full.
pub const FULL_DISK_DELAY_MICROS: i64 = 60 * MICROS_PER_SECOND;

/// Time in microseconds since a job was enqueued from which attempts count that find the storage unavailable: a day. Unlike a
/// full disk, that can be a fault of a single file, which does not pass.
pub const MAX_POSTPONED_MICROS: i64 = MICROS_PER_DAY;

/// Delay in microseconds before the next regular cleanup: six hours.
pub const CLEANUP_INTERVAL_MICROS: i64 = 6 * MICROS_PER_HOUR;

/// Interval in microseconds between the heads of the log of attestations: an hour.
pub const LOG_INTERVAL_MICROS: i64 = MICROS_PER_HOUR;

/// Delay in microseconds before the first retry of a failed job.
const FIRST_RETRY_DELAY_MICROS: i64 = 10 * MICROS_PER_SECOND;

/// How many microseconds a waiting job can be ahead of its time. A job that is due later was scheduled while the clock was
/// ahead. This is twice the longest delay, so that a small adjustment of the clock has no effect.
pub const MAX_WAIT_MICROS: i64 = 2 * (FIRST_RETRY_DELAY_MICROS << (MAX_ATTEMPTS - 2));

/// Like [`MAX_WAIT_MICROS`], for [`REGULAR_KINDS`].
pub const MAX_REGULAR_WAIT_MICROS: i64 = 2 * CLEANUP_INTERVAL_MICROS;

/// The kinds of jobs that follow by themselves after an interval.
pub const REGULAR_KINDS: [JobKind; 2] = [JobKind::Cleanup, JobKind::SealLog];

/// Returns the delay in microseconds before the next attempt, which doubles each time, or `None` to give up.
pub fn retry_delay(attempts: u32) -> Option<i64> {
    (attempts < MAX_ATTEMPTS).then(|| FIRST_RETRY_DELAY_MICROS << attempts.saturating_sub(1).min(10))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retry_delay_doubles_until_the_last_attempt() {
        let waits: Vec<_> = (1..=MAX_ATTEMPTS)
            .map(|attempts| retry_delay(attempts).map(|wait| wait / MICROS_PER_SECOND))
            .collect();
        assert_eq!(waits, [Some(10), Some(20), Some(40), Some(80), None]);
        let longest =
            (1..MAX_ATTEMPTS).filter_map(retry_delay).chain([FULL_DISK_DELAY_MICROS]).max().unwrap();
        assert_eq!(MAX_WAIT_MICROS, 2 * longest);
    }
}
