//! Background refreshes of the quality data of a team's task assets. Each team has at most one refresh at a
//! time.

use super::{
    access::Vendor,
    running_job::{JobError, JobResult, RunningJob},
};
use crate::{
    domain::{
        collections::Collection,
        events::{EventData, TaskQualityRefreshData},
        jobs::JobKind,
        row_ids::{AssetRowId, TaskQualityRefreshRowId},
        tasks::RefreshStatus,
        time::Timestamp,
    },
    error::{Error, Result},
    market::Writer,
    store::{self, task_quality_refreshes::Refresh},
};

/// Number of task assets that are refreshed in one transaction.
const BATCH_SIZE: usize = 100;

/// Error message for the vendor if a refresh fails. The cause is logged.
const REFRESH_FAILED: &str =
    "The refresh failed on every attempt because of an internal error. Request another one.";

/// A refresh, if there is one, and when a task asset of the team was last refreshed.
pub type RefreshState = (Option<Refresh>, Option<Timestamp>);

/// Requests a refresh. Returns the unfinished refresh if there is one.
pub fn request(writer: &mut Writer, vendor: &Vendor) -> Result<RefreshState> {
    let team = vendor.team_row_id();
    if store::task_quality_refreshes::find_latest(writer.rows, team)?
        .is_none_or(|latest| latest.finished_at.is_some())
    {
        let total = store::task_quality::count_task_assets(writer.rows, team)?;
        let id = writer.new_id(Collection::TaskQualityRefreshes);
        let row_id = store::task_quality_refreshes::insert(writer.rows, id, team, total, writer.now)?;
        writer.enqueue(JobKind::RefreshTaskQuality, row_id)?;
        let data =
            TaskQualityRefreshData { refresh_id: id, status: RefreshStatus::Queued, total, refreshed: 0 };
        writer.emit(Some(team), id, &EventData::TaskQualityRefreshRequested(data))?;
    }
    latest(writer.rows, vendor)
}

/// Returns the unfinished refresh, or the last one.
pub fn latest(rows: &store::Reader, vendor: &Vendor) -> Result<RefreshState> {
    let team = vendor.team_row_id();
    Ok((
        store::task_quality_refreshes::find_latest(rows, team)?,
        store::task_quality::last_refreshed_at(rows, team)?,
    ))
}

/// Executes a refresh. One that was interrupted starts from the beginning, since it is harmless to refresh an
/// asset twice.
pub fn run(job: &RunningJob) -> JobResult {
    let found = job
        .market()
        .read_blocking(|reader| store::task_quality_refreshes::find(reader.rows, job.refresh_row_id()))?;
    let Some(mut refresh) = found else { return job.finish(|_| Ok(())) };
    let (mut after, mut is_first) = (AssetRowId(0), true);
    while job.renew_and_continue() {
        let is_complete = job.advance(|writer| {
            if is_first {
                refresh.status = RefreshStatus::Running;
                refresh.started_at = Some(writer.now);
                refresh.total = store::task_quality::count_task_assets(writer.rows, refresh.team)?;
                refresh.refreshed = 0;
            }
            let assets =
                store::task_quality::list_task_assets_after(writer.rows, refresh.team, after, BATCH_SIZE)?;
            for asset in &assets {
                store::task_quality::refresh(writer.rows, *asset, writer.now)?;
            }
            after = assets.last().copied().unwrap_or(after);
            refresh.refreshed += assets.len() as u64;
            // Tasks may have been imported since they were counted.
            refresh.total = refresh.total.max(refresh.refreshed);
            let is_complete = assets.len() < BATCH_SIZE;
            if is_complete {
                refresh.total = refresh.refreshed;
                refresh.status = RefreshStatus::Completed;
                refresh.finished_at = Some(writer.now);
            }
            store::task_quality_refreshes::update(writer.rows, &refresh)?;
            if is_complete {
                emit_end(writer, &refresh, EventData::TaskQualityRefreshCompleted)?;
            }
            Ok(is_complete)
        })?;
        if is_complete {
            return Ok(());
        }
        is_first = false;
    }
    Err(JobError::Stopped)
}

fn emit_end(writer: &Writer, refresh: &Refresh, make: fn(TaskQualityRefreshData) -> EventData) -> Result<()> {
    let Refresh { id, team, status, total, refreshed, .. } = *refresh;
    let data = TaskQualityRefreshData { refresh_id: id, status, total, refreshed };
    writer.emit(Some(team), id, &make(data))
}

/// Finishes a refresh that failed too often.
pub fn give_up(job: &RunningJob) -> JobResult {
    job.finish(|writer| fail(writer, job.refresh_row_id(), REFRESH_FAILED))
}

/// Ends a refresh that failed or is canceled.
pub(super) fn fail(writer: &Writer, row_id: TaskQualityRefreshRowId, message: &str) -> Result<()> {
    let Some(refresh) = store::task_quality_refreshes::find(writer.rows, row_id)? else { return Ok(()) };
    let failed = Refresh {
        status: RefreshStatus::Failed,
        finished_at: Some(writer.now),
        error: Some(message.to_owned()),
        ..refresh
    };
    store::task_quality_refreshes::update(writer.rows, &failed)?;
    emit_end(writer, &failed, EventData::TaskQualityRefreshFailed)
}

/// Queues a refresh again that has failed. Fails if another one was requested since.
pub(super) fn reopen(writer: &Writer, row_id: TaskQualityRefreshRowId) -> Result<()> {
    let found = store::task_quality_refreshes::find(writer.rows, row_id)?;
    let refresh = found.ok_or_else(|| Error::not_found("refresh"))?;
    let latest = store::task_quality_refreshes::find_latest(writer.rows, refresh.team)?;
    if refresh.status != RefreshStatus::Failed || latest.is_none_or(|latest| latest.row_id != row_id) {
        let message = "The team has requested another refresh since, so there is nothing to retry.";
        return Err(Error::Conflict(message.to_owned()));
    }
    let queued = Refresh {
        status: RefreshStatus::Queued,
        started_at: None,
        finished_at: None,
        error: None,
        ..refresh
    };
    store::task_quality_refreshes::update(writer.rows, &queued)?;
    emit_end(writer, &queued, EventData::TaskQualityRefreshRequested)
}
