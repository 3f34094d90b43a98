//! Cleanup of files that the database no longer refers to, and of expired and old rows, in the background and
//! by command.

use super::{
    access::Platform,
    cursor_order, discarded_uploads, idempotency,
    retention::{self, Removed},
    running_job::{JobResult, RunningJob},
    webhook_deliveries, webhook_inbox,
};
use crate::{
    domain::{
        jobs::{CLEANUP_INTERVAL_MICROS, JobKind, JobSubject, KEEP_ENDED_DAYS},
        time::Timestamp,
    },
    error::{Error, Result},
    market::{Market, Reader, Writer},
    store,
};

/// Seconds until the next cleanup, if something to delete was in use.
const RETRY_SECONDS: i64 = 60;

/// The subject of the cleanup that is due after the interval. One that is due earlier has another subject,
/// since jobs of the same kind and subject are queued once.
const NEXT: JobSubject = JobSubject(-1);

/// What a cleanup deleted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// Number of copies of repositories.
    pub repositories: u64,
    /// Number of files of bundles.
    pub bundle_files: u64,
    /// Whether copies of repositories, files of bundles, or uploads were kept because a backup is running, or a bundle is being
    /// prepared.
    pub is_backup_running: bool,
    /// Number of deleted uploads, which were not completed or no longer used.
    pub uploads: u64,
    /// Number of uploads to delete that were in use.
    pub in_use: u64,
    /// Number of stored responses to requests with an idempotency key.
    pub responses: u64,
    /// Number of earlier sort values of listings.
    pub sort_changes: u64,
    /// Events and other records that are no longer kept.
    pub old_records: Removed,
    /// Number of deliveries to webhooks that ended long ago.
    pub deliveries: u64,
}

/// Enqueues a cleanup that is due now.
pub fn enqueue(writer: &Writer) -> Result<()> {
    writer.enqueue(JobKind::Cleanup, JobSubject::NONE)
}

/// Deletes copies of repositories whose asset was detached, files of deleted bundles, uploads that can no longer be completed,
/// unused uploads after their retention time, expired responses, and events, audit entries, and webhook deliveries that are no
/// longer kept. Safe while another process serves the market, and on a full disk.
pub fn sweep(market: &Market) -> Result<Swept> {
    // If the lookup fails, the file is kept.
    let is_referenced = |asset, attached_at| {
        market
            .read_blocking(|reader| {
                Ok(store::assets::is_linked(reader.rows, asset, attached_at)?
                    || store::bundles::needs_repository(reader.rows, asset, attached_at)?)
            })
            .unwrap_or(true)
    };
    let is_used = |sha256: &str| {
        market.read_blocking(|reader| store::bundles::has_file(reader.rows, sha256)).unwrap_or(true)
    };
    // Done before files are deleted, since it may delete bundles, whose files are then unused. If it fails, such as on a full disk,
    // files are deleted nevertheless.
    let discarding = market.write_blocking(|writer| {
        store::discarded_uploads::discard_abandoned(writer.rows, writer.now)?;
        store::discarded_uploads::discard_unused(writer.rows, writer.now)?;
        store::jobs::forget_ended_before(writer.rows, writer.now.plus_days(-KEEP_ENDED_DAYS))
    });
    // The lock is taken only once: a child process that is started meanwhile inherits it until it executes its program, and a
    // second attempt would mistake this for a backup.
    let lock = market.blobs().try_lock_for_cleanup().map_err(Error::internal)?;
    let (mut repositories, mut bundle_files) = (0, 0);
    if let Some(lock) = &lock {
        repositories = market.blobs().cleanup_repositories(lock, is_referenced).map_err(Error::internal)?;
        bundle_files = market.blobs().cleanup_bundle_files(lock, is_used).map_err(Error::internal)?;
    }
    let is_backup_running = lock.is_none();
    discarding?;
    let discarded = discarded_uploads::delete_all(market, lock)?;
    let is_in_progress = |upload| {
        market
            .read_blocking(|reader| {
                let grant = store::grants::find_by_upload(reader.rows, upload)?;
                let is_granted = grant.is_some_and(|(grant, _)| grant.consumed_at.is_none());
                Ok(is_granted || store::operator_uploads::find(reader.rows, upload)?.is_some())
            })
            .unwrap_or(true)
    };
    let staged = market.blobs().cleanup_staged(is_in_progress).map_err(Error::internal)?;
    let uploads = discarded.uploads + staged;
    Ok(Swept {
        repositories,
        bundle_files,
        is_backup_running,
        uploads,
        in_use: discarded.in_use,
        responses: idempotency::delete_expired(market)?,
        sort_changes: cursor_order::prune_sort_changes(market)?,
        old_records: retention::remove_old(market, Platform::of_process())?,
        deliveries: webhook_deliveries::delete_old(market)?,
    })
}

/// Cleanups in succession that find nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdleCleanups {
    /// Time at which the first is due.
    pub first: Timestamp,
    /// Their number, at least 1.
    pub count: u64,
}

impl IdleCleanups {
    /// Returns the times at which they are due.
    pub fn times(self) -> impl Iterator<Item = Timestamp> {
        (0..self.count as i64).map(move |number| self.first.plus_micros(number * CLEANUP_INTERVAL_MICROS))
    }

    /// Has the effect of all of them at once, at the time when the last one is due: each enqueues the next one.
    pub fn skip(self, writer: &Writer) -> Result<()> {
        let next = self.first.plus_micros(self.count as i64 * CLEANUP_INTERVAL_MICROS);
        store::jobs::repeat(writer.rows, JobKind::Cleanup, NEXT, self.count, next)
    }
}

/// Returns the cleanups up to a time that would find nothing and before which nothing else is due; `None` if there are none.
/// Requires that the market was swept and has not changed since.
pub fn find_idle(reader: &Reader, until: Timestamp) -> Result<Option<IdleCleanups>> {
    let Some(first) = store::jobs::find_due_at(reader.rows, JobKind::Cleanup, NEXT)? else { return Ok(None) };
    let others = [
        store::due_steps::next_due_at(reader.rows)?,
        store::jobs::next_due_besides(reader.rows, JobKind::Cleanup, NEXT)?,
        webhook_inbox::next_due_at(reader)?,
        next_effect_at(reader)?,
    ];
    let last =
        others.into_iter().flatten().map(|at| at.plus_micros(-1)).chain([until]).min().unwrap_or(until);
    let count = (last.0.saturating_sub(first.0)).div_euclid(CLEANUP_INTERVAL_MICROS) + 1;
    Ok(u64::try_from(count).ok().filter(|count| *count > 0).map(|count| IdleCleanups { first, count }))
}

/// Returns when a sweep can find something again if nothing but the time changes; `None` for never. May be early. The last
/// sweep must have left nothing.
fn next_effect_at(reader: &Reader) -> Result<Option<Timestamp>> {
    if store::discarded_uploads::has_any(reader.rows, reader.now)? {
        return Ok(Some(reader.now));
    }
    let first_job = store::jobs::first_ended_at(reader.rows)?;
    let all = [
        store::discarded_uploads::next_discard_at(reader.rows)?,
        first_job.map(|at| at.plus_days(KEEP_ENDED_DAYS)),
        idempotency::next_expiry_at(reader)?,
        cursor_order::next_prune_at(reader)?,
        retention::next_removal_at(reader)?,
        webhook_deliveries::next_deletion_at(reader)?,
    ];
    Ok(all.into_iter().flatten().min())
}

/// Sweeps, and again after the interval, or sooner if a backup was running, or an upload was in use or was discarded
/// meanwhile.
pub fn run(job: &RunningJob) -> JobResult {
    let swept = sweep(job.market())?;
    job.finish(|writer| {
        enqueue_next(writer)?;
        // In a world, time does not pass, so repeating the sweep would always find the same uploads in use.
        let is_retried = !job.market().clock().is_of_world();
        let is_left = swept.is_backup_running || store::discarded_uploads::has_any(writer.rows, writer.now)?;
        if is_retried && is_left {
            let due_at = writer.now.plus_seconds(RETRY_SECONDS);
            writer.enqueue_at(JobKind::Cleanup, JobSubject::NONE, due_at)?;
        }
        Ok(())
    })
}

/// Finishes a cleanup that failed too often. The next one is due after the interval.
pub fn give_up(job: &RunningJob) -> JobResult {
    job.finish(|writer| enqueue_next(writer))
}

/// Enqueues the cleanup after the interval, if none is queued. A server cleans up when it starts; the market of a world
/// has been clean until its clock is advanced the first time.
pub fn enqueue_next_if_none(writer: &Writer) -> Result<()> {
    if store::jobs::is_queued(writer.rows, JobKind::Cleanup, NEXT)? { Ok(()) } else { enqueue_next(writer) }
}

fn enqueue_next(writer: &Writer) -> Result<()> {
    let due_at = writer.now.plus_micros(CLEANUP_INTERVAL_MICROS);
    writer.enqueue_at(JobKind::Cleanup, NEXT, due_at)
}
