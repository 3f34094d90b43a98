//! Changes of background jobs by operators. If a job is canceled, the work that it was for ends as failed, so that nothing
//! waits for it forever.

use super::{
    access::Platform, bulk_changes, data_analysis::finish_analysis, estimations, quality_runs,
    task_quality_refreshes, trace_imports,
};
use crate::{
    domain::{
        assets::ArtifactStatus,
        bulk_changes::BulkChangeOperation,
        estimation_requests::Reading,
        jobs::{JobKind, JobOperation, JobState, JobSubject},
        quality_runs::RunStatus,
        row_ids::{
            AssetRowId, BulkChangeRowId, EstimationRowId, JobRowId, QualityRunRowId, TaskQualityRefreshRowId,
            TraceImportRowId,
        },
        state_machine::StateMachine,
    },
    error::{Error, Result},
    market::Writer,
    store::{self, assets::DataProgress, jobs::StoredJob},
};

/// Message for the vendor whose data is not copied or analyzed.
const DATA_CANCELED: &str = "The platform canceled this. Detach the data, then attach it again.";

/// Message for the vendor whose estimation is not made.
const ESTIMATION_CANCELED: &str = "The platform canceled this estimation. Request another one.";

/// Message for a refresh that was canceled.
const REFRESH_CANCELED: &str = "The platform canceled this refresh. Request another one.";

/// Message for an import that was canceled.
const IMPORT_CANCELED: &str = "The import was canceled. Traces that it had added stay.";

/// Makes a waiting job start as soon as possible, with all its attempts, or enqueues a job again that was given up or canceled.
/// Returns the ID of the waiting job. Fails if the work that the job was for has ended and cannot be repeated.
pub fn retry(writer: &mut Writer, _: Platform, id: JobRowId) -> Result<JobRowId> {
    let job = find(writer, id)?;
    job.state.check(JobOperation::Retry)?;
    if job.state != JobState::Waiting {
        reopen(writer, job)?;
        store::jobs::forget_ended(writer.rows, id)?;
    }
    // This also wakes background work, if the job is queued already.
    writer.enqueue(job.kind, job.subject)?;
    let queued = store::jobs::find_queued(writer.rows, job.kind, job.subject)?;
    let queued = queued.ok_or_else(|| Error::internal("a job that was enqueued does not exist"))?;
    store::jobs::make_due(writer.rows, queued, writer.now)?;
    Ok(queued)
}

/// Deletes a waiting or running job, and ends the work that it was for as failed. A worker that executes it stops.
pub fn cancel(writer: &mut Writer, platform: Platform, id: JobRowId) -> Result<()> {
    let job = find(writer, id)?;
    let state = job.state.check(JobOperation::Cancel)?;
    let regular = match job.kind {
        JobKind::Cleanup => Some("The cleanup deletes files that nothing refers to, and cannot be canceled."),
        JobKind::SealLog => Some("Buyers wait for the next head of the log, so this cannot be canceled."),
        _ => None,
    };
    if let Some(message) = regular {
        return Err(Error::Conflict(message.to_owned()));
    }
    store::jobs::record_end(writer.rows, id, state, writer.now)?;
    store::jobs::cancel(writer.rows, job.kind, job.subject)?;
    let JobSubject(row_id) = job.subject;
    match job.kind {
        JobKind::AnalyzeArchive | JobKind::AnalyzeRepository => {
            finish_analysis(writer, AssetRowId(row_id), &DataProgress::analysis_failed(DATA_CANCELED))
        }
        JobKind::CopyRepository => {
            finish_analysis(writer, AssetRowId(row_id), &DataProgress::copy_failed(DATA_CANCELED))
        }
        JobKind::RunChecks => {
            match store::quality_runs::find_unfinished(writer.rows, QualityRunRowId(row_id))? {
                Some(run) => quality_runs::end_without_result(writer, &run, RunStatus::Cancelled, None),
                None => Ok(()),
            }
        }
        JobKind::ImportTraces => trace_imports::fail(writer, TraceImportRowId(row_id), IMPORT_CANCELED),
        JobKind::RefreshTaskQuality => {
            task_quality_refreshes::fail(writer, TaskQualityRefreshRowId(row_id), REFRESH_CANCELED)
        }
        JobKind::ChangeAssets => {
            bulk_changes::end(writer, BulkChangeRowId(row_id), BulkChangeOperation::Cancel)
        }
        JobKind::Estimate => {
            let failed = Reading::Failed(ESTIMATION_CANCELED.to_owned());
            estimations::complete(writer, platform, EstimationRowId(row_id), failed)
        }
        // The next download of the bundle enqueues another job, as the next end of the certification does.
        JobKind::PrepareBundle | JobKind::ReportRevocation | JobKind::SealLog | JobKind::Cleanup => Ok(()),
    }
}

fn find(writer: &Writer, id: JobRowId) -> Result<StoredJob> {
    store::jobs::find(writer.rows, id)?.ok_or_else(|| Error::not_found("job"))
}

/// Undoes that a job was given up or canceled, before it is enqueued again.
fn reopen(writer: &mut Writer, job: StoredJob) -> Result<()> {
    let ended = |message: &str| Err(Error::Conflict(message.to_owned()));
    let JobSubject(row_id) = job.subject;
    match job.kind {
        JobKind::AnalyzeArchive | JobKind::AnalyzeRepository => {
            reopen_data(writer, AssetRowId(row_id), &DataProgress::copied())
        }
        JobKind::CopyRepository => reopen_data(writer, AssetRowId(row_id), &DataProgress::pending()),
        JobKind::RefreshTaskQuality => {
            task_quality_refreshes::reopen(writer, TaskQualityRefreshRowId(row_id))
        }
        JobKind::RunChecks => ended("The quality run has ended. Start another one instead."),
        JobKind::ImportTraces => ended(
            "The import has ended, and its file was deleted. Upload the traces again; none is added twice.",
        ),
        JobKind::ChangeAssets => ended("The change of assets has ended. The team can make another one."),
        JobKind::Estimate => ended("The estimation has ended. Request another one instead."),
        JobKind::PrepareBundle | JobKind::ReportRevocation | JobKind::SealLog | JobKind::Cleanup => Ok(()),
    }
}

/// Resets the progress of an asset's data. Fails unless the data is still there and has failed.
fn reopen_data(writer: &Writer, asset: AssetRowId, progress: &DataProgress) -> Result<()> {
    let found = store::assets::find_by_row_id(writer.rows, asset)?;
    let data = found.and_then(|asset| asset.data);
    let has_failed = data
        .is_some_and(|data| [data.archive_status, data.analysis_status].contains(&ArtifactStatus::Failed));
    if !has_failed {
        let message = "The data of the asset was detached or replaced since, so there is nothing to retry.";
        return Err(Error::Conflict(message.to_owned()));
    }
    store::assets::set_progress(writer.rows, asset, progress)
}
