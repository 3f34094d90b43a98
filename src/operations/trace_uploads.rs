//! Uploads of files with traces, by operators. An upload is planned for a taskset, its parts are sent to signed URLs,
//! and the import of its traces completes it. One that is not completed in time is discarded by the next cleanup.

use uuid::Uuid;

use super::{
    access::{Platform, check_open},
    discarded_uploads,
    grant_uploads::{FileInput, conflict_error},
    trace_imports,
};
use crate::{
    blobs::{CompletionOutcome, StoredFile, UploadLock, UploadedPart},
    domain::{
        collections::Collection,
        grants::GRANT_HOURS,
        upload_activity::UploadStep,
        uploads::{PartLayout, Upload},
    },
    error::{Error, ErrorChain, Problem, QuotaExcess, Result},
    market::{Market, Reader, Writer},
    store::{self, tasksets::Taskset, trace_uploads::TraceUpload, uploads::NewUpload},
};

/// Maximum number of uploads in progress for the tasksets of a team.
const MAX_IN_PROGRESS: u64 = 10;

/// Makes the blob store calls that a plan requires, before [`plan`] writes it. Call [`finish_plan`] with the result.
pub fn prepare(market: &Market, _: Platform, taskset: Uuid, file: &FileInput) -> Result<Upload> {
    let max_bytes = market.settings().blobs.max_upload_bytes;
    if file.size_bytes == 0 || file.size_bytes > max_bytes {
        let message = format!("`size_bytes` must be 1 to {max_bytes}.");
        return Err(Error::invalid(Problem::body(&["size_bytes"], "less_than_equal", message)));
    }
    market.read_blocking(|reader| find_taskset(reader.rows, taskset).map(|_| ()))?;
    let (id, layout) = (market.clock().new_id(Collection::Uploads), PartLayout::new(file.size_bytes));
    let store_upload_id = market.blobs().start_upload(id, layout).map_err(Error::internal)?;
    Ok(Upload { id, layout, store_upload_id })
}

/// Writes the plan of an upload.
pub fn plan(
    writer: &mut Writer,
    _: Platform,
    taskset: Uuid,
    file: &FileInput,
    upload: &Upload,
) -> Result<TraceUpload> {
    let taskset = find_taskset(writer.rows, taskset)?;
    let used = store::trace_uploads::count(writer.rows, taskset.team, writer.now)?;
    if used >= MAX_IN_PROGRESS {
        return Err(Error::QuotaExceeded(QuotaExcess {
            holder: "team",
            quota: "trace_uploads",
            limit: MAX_IN_PROGRESS,
            used,
            requested: 1,
        }));
    }
    let planned = TraceUpload {
        upload: upload.clone(),
        taskset: taskset.row_id,
        taskset_id: taskset.id,
        team: taskset.team,
        team_id: store::teams::find_by_row_id(writer.rows, taskset.team)?.id,
        file_name: file.file_name.clone(),
        sha256: file.sha256.clone(),
        created_at: writer.now,
        expires_at: writer.now.plus_micros(GRANT_HOURS * 3600 * 1_000_000),
    };
    store::trace_uploads::insert(writer.rows, &planned)?;
    Ok(planned)
}

/// Deletes what [`prepare`] started if [`plan`] did not write it. Call this whether or not [`plan`] succeeded.
pub fn finish_plan(market: &Market, upload: &Upload) {
    let finish = || -> Result<()> {
        let find = |reader: &Reader| store::trace_uploads::find(reader.rows, upload.id);
        if market.read_blocking(find)?.is_none()
            && let Ok(lock) = market.blobs().lock_upload(upload.id, UploadStep::Delete)
        {
            market.blobs().delete_upload(upload, &lock).map_err(Error::internal)?;
            market.clock().give_back_id(Collection::Uploads, upload.id);
        }
        Ok(())
    };
    if let Err(cause) = finish() {
        tracing::warn!(cause = %ErrorChain(&cause), "an upload that was not used could not be deleted");
    }
}

/// Returns an upload in progress.
pub fn find(reader: &Reader, _: Platform, upload: Uuid) -> Result<TraceUpload> {
    let found = store::trace_uploads::find(reader.rows, upload)?;
    found.filter(|found| found.expires_at > reader.now).ok_or_else(|| Error::not_found("upload in progress"))
}

/// Returns an upload in progress, with the parts received so far.
pub fn find_with_parts(
    market: &Market,
    platform: Platform,
    upload: Uuid,
) -> Result<(TraceUpload, Vec<UploadedPart>)> {
    let found = market.read_blocking(|reader| find(reader, platform, upload))?;
    let received = market.blobs().received_parts(&found.upload).map_err(Error::internal)?;
    Ok((found, received))
}

/// An upload whose parts were joined to a file of the announced size and digest. As long as it exists, no other
/// request completes or deletes the upload.
#[derive(Debug)]
pub struct JoinedTraces {
    upload: TraceUpload,
    file: StoredFile,
    _lock: UploadLock,
}

/// Joins the parts of an upload for this taskset. Fails with [`Error::PartsMissing`] if some were not received. A file
/// with another digest than announced is discarded.
pub fn join(market: &Market, platform: Platform, taskset: Uuid, upload: Uuid) -> Result<JoinedTraces> {
    let find_planned = |reader: &Reader| {
        find_taskset(reader.rows, taskset)?;
        let found = match find(reader, platform, upload) {
            Err(Error::NotFound(_)) => None,
            found => Some(found?),
        };
        found.filter(|found| found.taskset_id == taskset).ok_or_else(|| {
            let message = "No upload with this ID is in progress for this taskset. Plan one with \
                           `POST /operator/v1/tasksets/{taskset_id}/trace-uploads`.";
            Error::invalid(Problem::body(&["upload_id"], "unknown_reference", message))
        })
    };
    market.read_blocking(find_planned)?;
    let lock = market.blobs().lock_upload(upload, UploadStep::Complete).map_err(conflict_error)?;
    // Read again, since the upload may have been completed or discarded before it was locked.
    let planned = market.read_blocking(find_planned)?;
    let file = join_parts(market, &planned.upload, &lock)?;
    if let Some(sha256) = planned.sha256.as_ref().filter(|announced| **announced != file.sha256) {
        let message = format!(
            "The file has the SHA-256 digest {}, but {sha256} was announced. Plan another upload, and send the whole \
             file.",
            file.sha256
        );
        market.write_blocking(|writer| store::discarded_uploads::discard_traces(writer.rows, upload))?;
        discarded_uploads::delete(market, &planned.upload, &lock)?;
        return Err(Error::Conflict(message));
    }
    Ok(JoinedTraces { upload: planned, file, _lock: lock })
}

fn join_parts(market: &Market, upload: &Upload, lock: &UploadLock) -> Result<StoredFile> {
    // If there is a file, an earlier request has joined the parts and failed afterwards.
    if let Some(file) = market.blobs().find_joined(upload).map_err(Error::internal)? {
        return Ok(file);
    }
    let received = market.blobs().received_parts(upload).map_err(Error::internal)?;
    let parts: Vec<(u32, String)> =
        received.iter().map(|part| (part.part_number, part.etag.clone())).collect();
    match market.blobs().join_parts(upload, &received, &parts, lock).map_err(Error::internal)? {
        CompletionOutcome::Complete(file) => Ok(file),
        CompletionOutcome::Missing(missing) => Err(Error::PartsMissing(missing)),
    }
}

/// Completes a joined upload, and enqueues the import of its traces. Returns the ID of the import.
pub fn start_import(writer: &mut Writer, _: Platform, joined: &JoinedTraces) -> Result<Uuid> {
    let JoinedTraces { upload, file, .. } = joined;
    let id = upload.upload.id;
    if store::trace_uploads::find(writer.rows, id)?.as_ref() != Some(upload) {
        return Err(Error::not_found("upload in progress"));
    }
    store::trace_uploads::delete(writer.rows, id)?;
    let taskset = find_taskset(writer.rows, upload.taskset_id)?;
    let new = NewUpload {
        id,
        team: taskset.team,
        file_name: &upload.file_name,
        size_bytes: file.size_bytes,
        sha256: &file.sha256,
        url: &format!("traces:{id}"),
        created_at: writer.now,
    };
    trace_imports::record_upload(writer, &taskset, &new)
}

/// Returns a taskset. Fails if its team was closed.
fn find_taskset(rows: &store::Reader, id: Uuid) -> Result<Taskset> {
    let taskset = store::tasksets::find(rows, id)?.ok_or_else(|| Error::not_found("taskset"))?;
    check_open(&store::teams::find_by_row_id(rows, taskset.team)?)?;
    Ok(taskset)
}
