//! Uploads of files with traces, by operators. The import of the traces completes an upload.

use uuid::Uuid;

use super::{
    access::Platform,
    operator_uploads::{self, JoinedFile, UploadPurpose, find_owner, not_in_progress},
    trace_imports,
};
use crate::{
    blobs::UploadedPart,
    error::{Error, Problem, Result},
    market::{Market, Reader, Writer},
    store::{
        self,
        operator_uploads::{OperatorUpload, UploadTaskset},
        uploads::NewUpload,
    },
};

/// An upload of traces in progress, and its taskset.
pub type TraceUpload = (OperatorUpload, UploadTaskset);

fn find(reader: &Reader, upload: Uuid) -> Result<TraceUpload> {
    let found = operator_uploads::find(&reader.check_context(), upload)?;
    let taskset = found.taskset.ok_or_else(not_in_progress)?;
    Ok((found, taskset))
}

/// Returns an upload in progress, with the parts received so far.
pub fn find_with_parts(
    market: &Market,
    _: Platform,
    upload: Uuid,
) -> Result<(TraceUpload, Vec<UploadedPart>)> {
    let found = market.read_blocking(|reader| find(reader, upload))?;
    let received = operator_uploads::received_parts(market, &found.0)?;
    Ok((found, received))
}

/// Joins the parts of an upload for this taskset. Fails with [`Error::PartsMissing`] if some were not received. A file
/// with another digest than announced is discarded.
pub fn join(market: &Market, _: Platform, taskset: Uuid, upload: Uuid) -> Result<JoinedFile> {
    operator_uploads::join(market, |reader| {
        find_owner(reader.rows, UploadPurpose::Traces(taskset))?;
        let found = match find(reader, upload) {
            Err(Error::NotFound(_)) => None,
            found => Some(found?),
        };
        let found = found.filter(|(_, found)| found.id == taskset).map(|(found, _)| found);
        found.ok_or_else(|| {
            let message = "No upload with this ID is in progress for this taskset. Plan one with \
                           `POST /operator/v1/tasksets/{taskset_id}/trace-uploads`.";
            Error::invalid(Problem::body(&["upload_id"], "unknown_reference", message))
        })
    })
}

/// Completes a joined upload, and enqueues the import of its traces. Returns the ID of the import.
pub fn start_import(writer: &mut Writer, _: Platform, joined: &JoinedFile) -> Result<Uuid> {
    let JoinedFile { upload: planned, file, .. } = joined;
    let taskset = planned.taskset.ok_or_else(not_in_progress)?;
    let taskset =
        store::tasksets::find(writer.rows, taskset.id)?.ok_or_else(|| Error::not_found("taskset"))?;
    operator_uploads::consume(writer, joined)?;
    let id = planned.upload.id;
    let new = NewUpload {
        id,
        team: taskset.team,
        file_name: &planned.file_name,
        size_bytes: file.size_bytes,
        sha256: &file.sha256,
        url: &format!("traces:{id}"),
        created_at: writer.now,
    };
    trace_imports::record_upload(writer, &taskset, &new)
}
