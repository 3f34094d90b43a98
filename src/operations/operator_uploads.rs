//! Uploads of files by operators, for a team or one of its tasksets. An upload is planned, its parts are sent to signed URLs,
//! and the module for its purpose completes it (`team_uploads.rs`, `trace_uploads.rs`). The next cleanup discards an upload
//! that was not completed in time.

use uuid::Uuid;

use super::{
    access::{Platform, check_open},
    discarded_uploads,
    grant_uploads::{FileInput, conflict_error, delete_unused, start},
    quotas,
};
use crate::{
    blobs::{CompletionOutcome, ReceivedBytes, StoredFile, UploadLock, UploadedPart},
    domain::{
        grants::GRANT_HOURS, principals::Principal, teams::Team, time::MICROS_PER_HOUR,
        upload_activity::UploadStep, uploads::Upload,
    },
    error::{Error, ErrorChain, Problem, Result},
    market::{CheckContext, Market, Reader, Writer},
    store::{
        self,
        operator_uploads::{OperatorUpload, UploadTarget, UploadTaskset},
    },
};

/// Maximum number of uploads in progress for a team, both for uploads by operators and for uploads by the team itself.
const MAX_IN_PROGRESS: u64 = 10;

/// What a file is uploaded for.
#[derive(Clone, Copy, Debug)]
pub enum UploadPurpose {
    /// A zip for the team with this ID.
    Zip(Uuid),
    /// Traces for the taskset with this ID.
    Traces(Uuid),
}

/// Makes the blob store calls that a plan requires, before [`plan`] writes it. Call [`finish_plan`] with the result.
pub fn prepare(market: &Market, _: Platform, purpose: UploadPurpose, file: &FileInput) -> Result<Upload> {
    prepare_for(market, purpose, file)
}

pub(super) fn prepare_for(market: &Market, purpose: UploadPurpose, file: &FileInput) -> Result<Upload> {
    let max_bytes = market.settings().blobs.max_upload_bytes;
    if file.size_bytes == 0 || file.size_bytes > max_bytes {
        let message = format!(
            "`size_bytes` must be 1 to {max_bytes}, the setting `blobs.max_upload_bytes` of the server."
        );
        return Err(Error::invalid(Problem::body(&["size_bytes"], "less_than_equal", message)));
    }
    market.read_blocking(|reader| find_owner(reader.rows, purpose).map(drop))?;
    start(market, file.size_bytes)
}

/// Writes the plan of an upload. Its bytes count for the quota of the team.
pub fn plan(
    writer: &mut Writer,
    _: Platform,
    purpose: UploadPurpose,
    file: &FileInput,
    upload: &Upload,
) -> Result<OperatorUpload> {
    plan_for(writer, purpose, file, upload, None)
}

/// Like [`plan`], also for an upload by the team itself, which becomes the `target`.
pub(super) fn plan_for(
    writer: &mut Writer,
    purpose: UploadPurpose,
    file: &FileInput,
    upload: &Upload,
    target: Option<UploadTarget>,
) -> Result<OperatorUpload> {
    let (team, taskset) = find_owner(writer.rows, purpose)?;
    let used = store::operator_uploads::count(writer.rows, team.row_id, target.is_some(), writer.now)?;
    let quota = if target.is_some() { "uploads_in_progress" } else { "operator_uploads" };
    quotas::check_one_more("team", (quota, MAX_IN_PROGRESS), used)?;
    let planned = OperatorUpload {
        upload: upload.clone(),
        team: team.row_id,
        team_id: team.id,
        taskset,
        file_name: file.file_name.clone(),
        sha256: file.sha256.clone(),
        created_at: writer.now,
        expires_at: writer.now.plus_micros(GRANT_HOURS * MICROS_PER_HOUR),
        target,
    };
    quotas::enforce(writer, Principal::Team(team.row_id), |writer| {
        store::operator_uploads::insert(writer.rows, &planned)
    })?;
    Ok(planned)
}

/// Deletes the upload that [`prepare`] started if [`plan`] did not write it. Call this in any case, also after an error of
/// [`plan`].
pub fn finish_plan(market: &Market, upload: &Upload) {
    let finish = || -> Result<()> {
        let find = |reader: &Reader| store::operator_uploads::find(reader.rows, upload.id);
        if market.read_blocking(find)?.is_some() { Ok(()) } else { delete_unused(market, upload) }
    };
    if let Err(cause) = finish() {
        tracing::warn!(cause = %ErrorChain(&cause), "an upload that was not used could not be deleted");
    }
}

/// Returns an upload in progress.
pub(super) fn find(context: &CheckContext, upload: Uuid) -> Result<OperatorUpload> {
    let found = store::operator_uploads::find(context.rows, upload)?;
    found.filter(|found| found.expires_at > context.now).ok_or_else(not_in_progress)
}

pub(super) fn not_in_progress() -> Error {
    Error::not_found("upload in progress")
}

/// Returns the parts of an upload that were received so far. Fails if the store no longer has the upload.
pub(super) fn received_parts(market: &Market, found: &OperatorUpload) -> Result<Vec<UploadedPart>> {
    find_received_parts(market, found)?.ok_or_else(|| missing_in_store(found))
}

/// Returns the parts of an upload that were received so far, or `None` if the store no longer has the upload. May return no parts
/// while they are being joined.
pub(super) fn find_received_parts(
    market: &Market,
    found: &OperatorUpload,
) -> Result<Option<Vec<UploadedPart>>> {
    // Looked up first. While the parts are being joined, the store may have neither the parts nor the file.
    let is_joining = market.blobs().plan_conflict(found.upload.id).is_some();
    let received = market.blobs().received_bytes(&found.upload).map_err(Error::internal)?;
    Ok(received.map(|received| list_parts(&received, found)).or_else(|| is_joining.then(Vec::new)))
}

fn list_parts(received: &ReceivedBytes, found: &OperatorUpload) -> Vec<UploadedPart> {
    // Requests that complete an upload contain no entity tags, so the tags of joined parts are not stored.
    received.parts(found.upload.layout, Vec::new())
}

/// Returns the error for an upload if the store no longer has it.
fn missing_in_store(found: &OperatorUpload) -> Error {
    let advice = match (&found.target, found.taskset) {
        (Some(_), _) => "Discard it, and send the file again.",
        (None, None) => "Cancel it, and plan another one.",
        (None, Some(_)) => "Plan another one.",
    };
    Error::Conflict(format!("The store no longer has this upload, so it cannot be continued. {advice}"))
}

/// An upload whose parts were joined to a file of the announced size and digest. As long as it exists, no other
/// request completes or deletes the upload.
#[derive(Debug)]
pub struct JoinedFile {
    /// The upload.
    pub(super) upload: OperatorUpload,
    /// The file.
    pub(super) file: StoredFile,
    _lock: UploadLock,
}

impl JoinedFile {
    /// Returns the SHA-256 digest of the file.
    pub fn sha256(&self) -> &str {
        &self.file.sha256
    }
}

/// Joins the parts of the upload that `find_planned` returns. Fails with [`Error::PartsMissing`] if some were not
/// received. A file with another digest than announced is discarded.
pub(super) fn join(
    market: &Market,
    find_planned: impl Fn(&Reader) -> Result<OperatorUpload>,
) -> Result<JoinedFile> {
    let id = market.read_blocking(&find_planned)?.upload.id;
    let lock = market.blobs().lock_upload(id, UploadStep::Complete).map_err(conflict_error)?;
    // Read again, since the upload may have been completed or discarded before it was locked.
    let planned = market.read_blocking(&find_planned)?;
    let file = join_parts(market, &planned, &lock)?;
    if let Some(sha256) = planned.sha256.as_ref().filter(|announced| **announced != file.sha256) {
        let message = format!(
            "The file has the SHA-256 digest {}, but {sha256} was announced. Plan another upload, and send the whole \
             file.",
            file.sha256
        );
        market.write_blocking(|writer| store::discarded_uploads::discard_operator_upload(writer.rows, id))?;
        discarded_uploads::delete(market, &planned.upload, &lock)?;
        return Err(Error::Conflict(message));
    }
    Ok(JoinedFile { upload: planned, file, _lock: lock })
}

fn join_parts(market: &Market, planned: &OperatorUpload, lock: &UploadLock) -> Result<StoredFile> {
    let received = market.blobs().received_bytes(&planned.upload).map_err(Error::internal)?;
    let received = received.ok_or_else(|| missing_in_store(planned))?;
    let parts = list_parts(&received, planned).into_iter();
    let parts: Vec<(u32, String)> = parts.map(|part| (part.part_number, part.etag)).collect();
    match market.blobs().join_parts(&planned.upload, &received, &parts, lock).map_err(Error::internal)? {
        CompletionOutcome::Complete(file) => Ok(file),
        CompletionOutcome::Missing(missing) => Err(Error::PartsMissing(missing)),
    }
}

/// Ends a joined upload, which the caller completes in the same transaction. Fails if it was canceled meanwhile, or if
/// its team was closed.
pub(super) fn consume(writer: &Writer, joined: &JoinedFile) -> Result<()> {
    let id = joined.upload.upload.id;
    if store::operator_uploads::find(writer.rows, id)?.as_ref() != Some(&joined.upload) {
        return Err(not_in_progress());
    }
    check_open(&store::teams::find_by_row_id(writer.rows, joined.upload.team)?)?;
    store::operator_uploads::delete(writer.rows, id)
}

/// Returns the team of an upload, and the taskset if it is for one. Fails if the team was closed.
pub(super) fn find_owner(
    rows: &store::Reader,
    purpose: UploadPurpose,
) -> Result<(Team, Option<UploadTaskset>)> {
    let (team, taskset) = match purpose {
        UploadPurpose::Zip(id) => {
            (store::teams::find(rows, id)?.ok_or_else(|| Error::not_found("team"))?, None)
        }
        UploadPurpose::Traces(id) => {
            let found = store::tasksets::find(rows, id)?.ok_or_else(|| Error::not_found("taskset"))?;
            let taskset = UploadTaskset { row_id: found.row_id, id: found.id };
            (store::teams::find_by_row_id(rows, found.team)?, Some(taskset))
        }
    };
    check_open(&team)?;
    Ok((team, taskset))
}
