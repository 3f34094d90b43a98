//! The upload of a grant: from its plan to the codebase that it becomes.
//!
//! The grant's row is the source of truth. An upload is planned in one transaction, and in another either consumed with its
//! grant or discarded (`discarded_uploads.rs`); after a restart, it continues where its row and its files are. Within a
//! process, [`UploadStep`] excludes steps that would disturb each other. An answer only acknowledges the state of the database,
//! so a lost lock cannot lose bytes.

use uuid::Uuid;

use super::{
    access::Vendor,
    assets,
    codebases::{self, UploadedCodebase},
    discarded_uploads,
    grants::{self, find_open},
    upload_part_list::{check_parts_exist, find_missing, problem_of_part, received_parts},
    uploads,
};
use crate::{
    blobs::{
        CompletionOutcome, PartWriter, PresignedUrl, ReceivedBytes, StoredFile, UploadLock, UploadedPart,
        UrlSigner,
    },
    domain::{
        collections::Collection,
        events::{EventData, UploadGrantConsumedData},
        grants::{Grant, GrantState},
        inventory::Asset,
        principals::PrincipalKind,
        teams::{Team, TeamRowId},
        upload_activity::{UploadConflict, UploadStep},
        uploads::{PartLayout, Upload},
    },
    error::{Error, ErrorChain, GoneCode, Problem, Result},
    market::{Market, Reader, Requester, Writer},
    store::{self, grants::PendingUpload},
};

/// The file that a client wants to upload.
#[derive(Clone, Debug)]
pub struct FileInput {
    /// File name.
    pub file_name: String,
    /// Size in bytes.
    pub size_bytes: u64,
    /// SHA-256 digest in hexadecimal, if the client sent one. The upload is compared with it.
    pub sha256: Option<String>,
}

/// The result of [`prepare`], which [`plan`] writes.
#[derive(Debug, Default)]
pub struct PreparedUpload {
    /// The new upload; `None` if the upload in progress can be continued.
    new: Option<Upload>,
    /// The upload in progress that the new one replaces: no part of it was received, or the store no longer has it. No parts arrive
    /// while it is locked.
    replaced: Option<(Upload, UploadLock)>,
}

/// Makes the blob store calls that a plan requires, before [`plan`] writes it. Call [`finish_plan`] with the
/// result.
pub fn prepare(market: &Market, vendor: &Vendor, token: &str, file: &FileInput) -> Result<PreparedUpload> {
    let (grant, pending) = market
        .read_blocking_for(vendor.requester(), |reader| find_open(reader.rows, vendor, token, reader.now))?;
    check_size(&grant, file.size_bytes)?;
    let existing = pending.map(|pending| pending.upload);
    if let Some(upload) = &existing
        && upload.layout.size_bytes == file.size_bytes
        && !market.blobs().is_dropped(upload).map_err(Error::internal)?
    {
        return Ok(PreparedUpload::default());
    }
    let replaced = existing.map(|upload| lock_unreceived(market, upload)).transpose()?;
    Ok(PreparedUpload { new: Some(start(market, file.size_bytes)?), replaced })
}

/// Starts an upload of a file of this size in the store.
pub(super) fn start(market: &Market, size_bytes: u64) -> Result<Upload> {
    let (id, layout) = (market.clock().new_id(Collection::Uploads), PartLayout::new(size_bytes));
    let store_upload_id = market.blobs().start_upload(id, layout).map_err(Error::internal)?;
    Ok(Upload { id, layout, store_upload_id })
}

/// Deletes an upload that was started and not planned, unless it is in use.
pub(super) fn delete_unused(market: &Market, upload: &Upload) -> Result<()> {
    if let Ok(lock) = market.blobs().lock_upload(upload.id, UploadStep::Delete) {
        market.blobs().delete_upload(upload, &lock).map_err(Error::internal)?;
        market.clock().give_back_id(Collection::Uploads, upload.id);
    }
    Ok(())
}

/// Fails if a file is larger than a grant allows.
pub(super) fn check_size(grant: &Grant, size_bytes: u64) -> Result<()> {
    if size_bytes <= grant.max_bytes {
        return Ok(());
    }
    let msg = format!("`size_bytes` must be at most {}, the limit of this upload grant.", grant.max_bytes);
    Err(Error::invalid(Problem::body(&["size_bytes"], "less_than_equal", msg)))
}

/// Locks an upload to be replaced. Fails if any part of it was received, and the store still has it.
fn lock_unreceived(market: &Market, upload: Upload) -> Result<(Upload, UploadLock)> {
    let has_parts = || {
        let message = "Parts of a file of another size were already uploaded with this grant. Upload the rest \
                    of that file, or request another grant.";
        Error::Conflict(message.to_owned())
    };
    let lock =
        market.blobs().lock_upload(upload.id, UploadStep::Replace).map_err(|conflict| match conflict {
            UploadConflict::PartsArriving(_) => has_parts(),
            other => conflict_error(other),
        })?;
    match market.blobs().received_bytes(&upload).map_err(Error::internal)? {
        None => Ok((upload, lock)),
        Some(ReceivedBytes::Parts(parts)) if parts.is_empty() => Ok((upload, lock)),
        Some(_) => Err(has_parts()),
    }
}

/// Returns the error for the upload of a grant if the store no longer has the upload.
fn missing_in_store() -> Error {
    let message = "The store no longer has this upload, so it cannot be continued. Plan it again with \
                   `POST .../grants/{token}`.";
    Error::Conflict(message.to_owned())
}

pub(super) fn conflict_error(conflict: UploadConflict) -> Error {
    let message = match conflict {
        UploadConflict::PartsArriving(parts) => {
            return Error::Conflict(format!(
                "These parts are still being uploaded: {parts}. Complete the upload when they have arrived."
            ));
        }
        UploadConflict::Completing => {
            "Another request is completing this upload. Wait for its response, then send this request again."
        }
        UploadConflict::Discarding => {
            "A concurrent request has started another upload with this grant. Try again."
        }
    };
    Error::Conflict(message.to_owned())
}

/// Returns the error for a part that cannot be received now.
pub(super) fn part_conflict_error(conflict: UploadConflict) -> Error {
    match conflict {
        UploadConflict::PartsArriving(part) => Error::Conflict(format!(
            "Another request is sending part {part}. Send it again when that request has finished."
        )),
        other => conflict_error(other),
    }
}

/// Fails if the parts of an upload were joined, since the file would not contain bytes that arrive now.
pub(super) fn check_not_joined(market: &Market, upload: &Upload) -> Result<()> {
    if market.blobs().is_joined(upload).map_err(Error::internal)? {
        let message = "All parts of this upload have arrived. Complete it.";
        return Err(Error::Conflict(message.to_owned()));
    }
    Ok(())
}

/// Writes the plan of an upload. Returns the existing upload if the file has the same size, and the store still has it.
pub fn plan(
    market: &Market,
    writer: &mut Writer,
    vendor: &Vendor,
    token: &str,
    file: FileInput,
    prepared: &PreparedUpload,
) -> Result<Upload> {
    let (grant, pending) = find_open(writer.rows, vendor, token, writer.now)?;
    let existing = pending.map(|pending| pending.upload);
    let replaced = prepared.replaced.as_ref().map(|(upload, _)| upload);
    let upload = match (existing, &prepared.new) {
        (existing, Some(new)) if existing.as_ref() == replaced => {
            store::discarded_uploads::discard(writer.rows, grant.row_id)?;
            new.clone()
        }
        (Some(existing), _) if existing.layout.size_bytes == file.size_bytes => {
            // A plan may announce another digest. `join` reads the digest in a transaction after it got its
            // lock, so it sees either this plan, or this plan sees the lock.
            match market.blobs().plan_conflict(existing.id) {
                Some(conflict) => return Err(conflict_error(conflict)),
                None => existing,
            }
        }
        // A concurrent request has planned another upload.
        _ => return Err(conflict_error(UploadConflict::Discarding)),
    };
    let pending = PendingUpload { upload: upload.clone(), file_name: file.file_name, sha256: file.sha256 };
    store::grants::set_pending_upload(writer.rows, grant.row_id, &pending)?;
    Ok(upload)
}

/// Deletes the upload that [`prepare`] started if [`plan`] did not use it, and the upload that was replaced. Call
/// this in any case, also after an error of [`plan`].
pub fn finish_plan(market: &Market, prepared: PreparedUpload) {
    let PreparedUpload { new, replaced } = prepared;
    let finish = || -> Result<()> {
        if let Some(upload) = &new
            && !is_known(market, upload.id)?
        {
            delete_unused(market, upload)?;
        }
        if let Some((upload, lock)) = &replaced
            && !is_known(market, upload.id)?
        {
            discarded_uploads::delete(market, upload, lock)?;
        }
        Ok(())
    };
    if let Err(cause) = finish() {
        // The plan is not affected, and a discarded upload is deleted by the next cleanup.
        tracing::warn!(cause = %ErrorChain(&cause), "an upload that was not used could not be deleted");
    }
}

/// Whether an upload belongs to a grant, pending or consumed.
fn is_known(market: &Market, upload: Uuid) -> Result<bool> {
    market.read_blocking(|reader| Ok(store::grants::find_by_upload(reader.rows, upload)?.is_some()))
}

/// Returns the upload URLs of parts, with their part numbers.
pub fn part_urls(
    market: &Market,
    base_url: &str,
    upload: &Upload,
    numbers: impl IntoIterator<Item = u32>,
) -> Result<Vec<(u32, PresignedUrl)>> {
    let signer = UrlSigner { base_url, secret: market.blob_secret(), now: market.clock().now() };
    let numbers: Vec<u32> = numbers.into_iter().collect();
    let urls = market.blobs().presign_parts(upload, &numbers, signer).map_err(Error::internal)?;
    Ok(numbers.into_iter().zip(urls).collect())
}

/// Returns the upload in progress of a grant, with the parts received so far.
pub fn upload_in_progress(
    market: &Market,
    vendor: &Vendor,
    token: &str,
    upload: Uuid,
) -> Result<(Upload, Vec<UploadedPart>)> {
    let (grant, pending) = market
        .read_blocking_for(vendor.requester(), |reader| find_open(reader.rows, vendor, token, reader.now))?;
    let upload = expect_upload(pending, upload)?.upload;
    let received = market.blobs().received_bytes(&upload).map_err(Error::internal)?;
    let received = received.ok_or_else(missing_in_store)?;
    let list = |reader: &Reader| received_parts(reader.rows, &grant, &upload, &received);
    let parts = market.read_blocking_for(vendor.requester(), list)?;
    Ok((upload, parts))
}

/// Checks that the upload in progress is the one that the request body names.
pub(super) fn expect_upload(pending: Option<PendingUpload>, upload: Uuid) -> Result<PendingUpload> {
    pending.filter(|pending| pending.upload.id == upload).ok_or_else(|| {
        let msg =
            "This upload is not in progress with this grant. Plan an upload with `POST .../grants/{token}`.";
        Error::invalid(Problem::body(&["upload_id"], "unknown_reference", msg))
    })
}

/// An upload whose parts were joined to a file with the announced size and digest. As long as it exists, the
/// upload is not planned again, replaced, or deleted by this process.
#[derive(Debug)]
pub struct JoinedUpload {
    pending: PendingUpload,
    file: StoredFile,
    lock: UploadLock,
}

/// Joins the parts of an upload and compares the file with the announced size and digest. Returns `None` if
/// the grant was already used; [`complete`] then returns the error. Call [`finish_completion`] with the
/// result.
pub fn join(
    market: &Market,
    vendor: &Vendor,
    token: &str,
    upload: Uuid,
    parts: &[(u32, String)],
) -> Result<Option<JoinedUpload>> {
    let find = |rows: &store::Reader, now| match find_open(rows, vendor, token, now) {
        Err(Error::Gone(GoneCode::GrantConsumed, _)) => Ok(None),
        other => {
            let (grant, pending) = other?;
            Ok(Some((grant, expect_upload(pending, upload)?)))
        }
    };
    let planned = market.read_blocking_for(vendor.requester(), |reader| find(reader.rows, reader.now))?;
    let Some((_, planned)) = planned else { return Ok(None) };
    let numbers = parts.iter().map(|(number, _)| Some(*number));
    check_parts_exist(numbers, planned.upload.layout.part_count(), problem_of_part)?;
    let lock = market.blobs().lock_upload(upload, UploadStep::Complete).map_err(conflict_error)?;
    let received = market.blobs().received_bytes(&planned.upload).map_err(Error::internal)?;
    // A write transaction, since it begins after every plan that did not see the lock has been committed.
    let found = market.write_blocking_for(vendor.requester(), |writer| {
        let Some((grant, pending)) = find(writer.rows, writer.now)? else { return Ok(None) };
        let received = received.as_ref().ok_or_else(missing_in_store)?;
        let missing = find_missing(writer.rows, &grant, &pending.upload, received, parts)?;
        Ok(Some((grant, pending, missing)))
    })?;
    let Some((grant, pending, missing)) = found else { return Ok(None) };
    let outcome = match &received {
        Some(received) if missing.is_empty() => {
            market.blobs().join_parts(&pending.upload, received, parts, &lock).map_err(Error::internal)?
        }
        _ => CompletionOutcome::Missing(missing),
    };
    match outcome {
        CompletionOutcome::Missing(missing) => Err(Error::PartsMissing(missing)),
        CompletionOutcome::Complete(file) => match &pending.sha256 {
            Some(sha256) if *sha256 != file.sha256 => {
                let error = digest_conflict(&file.sha256, sha256);
                // Also if the key has ended meanwhile.
                market.write_blocking_for(vendor.requester().without_key(), |writer| {
                    discard_unchanged(writer, &grant, &pending, find(writer.rows, writer.now))
                })?;
                finish_completion(market, Some(JoinedUpload { pending, file, lock }));
                Err(error)
            }
            _ => Ok(Some(JoinedUpload { pending, file, lock })),
        },
    }
}

fn digest_conflict(received: &str, announced: &str) -> Error {
    Error::Conflict(format!(
        "The zip has the SHA-256 digest {received}, but {announced} was announced. Plan the upload again, and send the \
         whole file."
    ))
}

/// Discards the pending upload of a grant, unless the grant has another one now.
fn discard_unchanged(
    writer: &Writer,
    grant: &Grant,
    pending: &PendingUpload,
    now: Result<Option<(Grant, PendingUpload)>>,
) -> Result<()> {
    match now {
        Ok(Some((_, now))) if now == *pending => store::discarded_uploads::discard(writer.rows, grant.row_id),
        _ => Ok(()),
    }
}

/// Creates a codebase from a joined upload, and marks its grant as used.
pub fn complete(
    writer: &mut Writer,
    vendor: &Vendor,
    token: &str,
    base_url: &str,
    upload: Uuid,
    joined: Option<&JoinedUpload>,
) -> Result<Asset> {
    let (grant, pending) = find_open(writer.rows, vendor, token, writer.now)?;
    let pending = expect_upload(pending, upload)?;
    let joined = joined.ok_or_else(|| Error::internal("the parts of an upload were not joined"))?;
    if pending != joined.pending {
        return Err(conflict_error(UploadConflict::Discarding));
    }
    // The grant first, so that the bytes count once.
    grants::consume(writer, &grant, upload)?;
    let of_team = (upload, grant.team);
    let upload_row_id = uploads::record(writer, base_url, of_team, &pending.file_name, &joined.file)?;
    let codebase = UploadedCodebase {
        title: &grant.title,
        exclusivity: Some(grant.exclusivity),
        group: grant.group_row_id,
    };
    let bytes = joined.file.size_bytes;
    let asset = codebases::create_from_upload(writer, vendor, codebase, upload_row_id, bytes)?;
    let data = UploadGrantConsumedData { grant_id: grant.id, asset_id: asset };
    writer.emit(Some(grant.team), grant.id, &EventData::UploadGrantConsumed(data))?;
    assets::find(writer.rows, vendor, asset, None)
}

/// Releases a joined upload after [`complete`] has succeeded or failed. Deletes its bytes if it was discarded
/// meanwhile.
pub fn finish_completion(market: &Market, joined: Option<JoinedUpload>) {
    let Some(joined) = joined else { return };
    let deleted = is_known(market, joined.pending.upload.id).and_then(|is_known| {
        if is_known {
            Ok(())
        } else {
            discarded_uploads::delete(market, &joined.pending.upload, &joined.lock)
        }
    });
    if let Err(cause) = deleted {
        tracing::warn!(cause = %ErrorChain(&cause), "a discarded upload could not be deleted");
    }
}

/// An upload in progress.
struct InProgress {
    team: TeamRowId,
    /// Who sends the parts: the team, or an operator for it.
    sender: PrincipalKind,
    upload: Upload,
}

/// Returns an upload. Fails unless it is in progress and its grant, if it has one, is still open.
fn find_in_progress(reader: &Reader, upload: Uuid) -> Result<InProgress> {
    let by_operator = store::operator_uploads::find(reader.rows, upload)?;
    if let Some(found) = by_operator.filter(|found| found.expires_at > reader.now) {
        let sender = if found.target.is_some() { PrincipalKind::Team } else { PrincipalKind::Operator };
        return Ok(InProgress { team: found.team, sender, upload: found.upload });
    }
    let found = store::grants::find_by_upload(reader.rows, upload)?;
    let open = found.filter(|(grant, _)| grant.state(reader.now) == GrantState::Open);
    let pending = open.and_then(|(grant, pending)| {
        Some(InProgress { team: grant.team, sender: PrincipalKind::Team, upload: pending?.upload })
    });
    pending.ok_or_else(|| Error::not_found("upload in progress"))
}

/// Returns the team of an upload in progress, and who sends the parts: the team, or an operator for it.
pub fn find_sender(reader: &Reader, upload: Uuid) -> Result<(Team, PrincipalKind)> {
    let InProgress { team, sender, .. } = find_in_progress(reader, upload)?;
    Ok((store::teams::find_by_row_id(reader.rows, team)?, sender))
}

/// Starts receiving a part of `size` bytes in the built-in store. Fails if the upload is not in progress, if its parts were joined,
/// if another request uses the upload in a way that excludes the part, or if the disk has no space for the part.
pub fn start_part(
    market: &Market,
    requester: Requester,
    upload: Uuid,
    number: u32,
    size: u64,
) -> Result<PartWriter> {
    if !market.blobs().receives_parts() {
        return Err(Error::not_found("upload in progress"));
    }
    let lock =
        market.blobs().lock_upload(upload, UploadStep::ReceivePart(number)).map_err(part_conflict_error)?;
    // Checked with the lock, so no cleanup deletes the upload between this check and the first byte.
    let upload = market.read_blocking_for(requester, |reader| find_in_progress(reader, upload))?.upload;
    if upload.layout.part(number).is_none_or(|(_, length)| length != size) {
        return Err(Error::not_found("part of this upload"));
    }
    check_not_joined(market, &upload)?;
    let reservation = market.reserve_space(size)?;
    let writer = market.blobs().start_part(lock, upload.layout, number).map_err(Error::internal)?;
    Ok(writer.with_reservation(reservation))
}
