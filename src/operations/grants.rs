//! Upload grants: the holder of a grant's token uploads a zip in parts, which then becomes a codebase.
//!
//! Calls to the blob store happen outside of transactions, before their results are written.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use sha2::{Digest, Sha256};

use super::{access::Vendor, assets, cleanup, codebases, teams};
use crate::{
    blobs::{CompletionOutcome, PresignedUrl, StoredFile, UploadedPart, UrlSigner},
    domain::{
        assets::Exclusivity,
        grants::{GRANT_HOURS, Grant, GrantState},
        inventory::Asset,
        jobs::JobKind,
        row_ids::{GrantRowId, TeamRowId},
        uploads::{PartLayout, Upload},
    },
    error::{Error, GoneCode, Problem, Result},
    market::{Market, Reader, Writer},
    store::{self, grants::PendingUpload, uploads::NewUpload},
};

/// Length of a token, in characters.
const TOKEN_LENGTH: usize = 32;

/// Error message for a grant that has been used.
pub const GRANT_USED: &str = "The upload grant has already been used. Request another one.";

const GRANT_EXPIRED: &str = "The upload grant has expired or was revoked. Request another one.";

/// A grant to create.
#[derive(Clone, Debug)]
pub struct GrantInput<'a> {
    /// ID or name of the team.
    pub team: &'a str,
    /// Title of the codebase, 1 to 200 characters.
    pub title: &'a str,
    /// Exclusivity of the codebase.
    pub exclusivity: Exclusivity,
    /// Name of the group for the codebase, in any case; `None` for the default group.
    pub group: Option<&'a str>,
    /// Maximum size of the upload in bytes; `None` for the maximum of the settings.
    pub max_bytes: Option<u64>,
}

/// Creates a grant. Returns its row ID and its token, which cannot be shown again.
pub fn create(writer: &mut Writer, grant: &GrantInput) -> Result<(GrantRowId, String)> {
    let team = teams::resolve(writer.rows, grant.team)?.row_id;
    let group = grant.group.map(|name| {
        let groups = store::groups::list(writer.rows, team)?;
        let found = groups.into_iter().find(|group| group.name.eq_ignore_ascii_case(name));
        found
            .map(|group| group.row_id)
            .ok_or_else(|| Error::not_found(format!("group {name:?} of this team")))
    });
    let title = grant.title.trim();
    if title.is_empty() || title.chars().count() > 200 {
        return Err(Error::Conflict("the title must have 1 to 200 characters".to_owned()));
    }
    let limit = writer.settings.blobs.max_upload_bytes;
    let new = Grant {
        row_id: GrantRowId(0),
        team,
        title: title.to_owned(),
        exclusivity: grant.exclusivity,
        group_row_id: group.transpose()?,
        max_bytes: grant.max_bytes.unwrap_or(limit).clamp(1, limit),
        created_at: writer.now,
        expires_at: writer.now.plus_micros(GRANT_HOURS * 3600 * 1_000_000),
        revoked_at: None,
        consumed_at: None,
    };
    let mut token = URL_SAFE_NO_PAD.encode(writer.entropy.random_secret());
    token.truncate(TOKEN_LENGTH);
    let row_id = store::grants::insert(writer.rows, &new, &token_digest(&token))?;
    // Deletes the upload if it is not complete by then.
    store::jobs::enqueue(writer.rows, JobKind::Cleanup, row_id.into(), new.expires_at)?;
    Ok((row_id, token))
}

/// Returns a team's grants, newest first.
pub fn list(reader: &Reader, team: &str) -> Result<Vec<Grant>> {
    let team = teams::resolve(reader.rows, team)?;
    store::grants::list(reader.rows, team.row_id)
}

/// Revokes a grant that was not used. Its unfinished upload is deleted.
pub fn revoke(writer: &mut Writer, grant: GrantRowId) -> Result<()> {
    if !store::grants::revoke(writer.rows, grant, writer.now)? {
        return Err(Error::not_found(format!("unused grant {}", grant.0)));
    }
    cleanup::enqueue(writer)
}

fn token_digest(token: &str) -> [u8; 32] {
    Sha256::digest(token.as_bytes()).into()
}

/// Returns the team's grant with this token. Fails if the grant was used, expired, or revoked.
fn find_open(
    rows: &store::Reader,
    vendor: &Vendor,
    token: &str,
    now: crate::domain::time::Timestamp,
) -> Result<(Grant, Option<PendingUpload>)> {
    let found = store::grants::find(rows, &token_digest(token))?;
    let (grant, pending) = found
        .filter(|(grant, _)| grant.team == vendor.team_row_id())
        .ok_or_else(|| Error::not_found("upload grant"))?;
    match grant.state(now) {
        GrantState::Open => Ok((grant, pending)),
        GrantState::Expired => Err(Error::Gone(GoneCode::GrantExpired, GRANT_EXPIRED.to_owned())),
        GrantState::Consumed => Err(Error::Gone(GoneCode::GrantConsumed, GRANT_USED.to_owned())),
    }
}

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

/// An upload plan: the upload, and the URL of each part.
#[derive(Debug)]
pub struct UploadPlan {
    /// The upload in progress.
    pub upload: Upload,
    /// URLs of the parts, in order.
    pub parts: Vec<PresignedUrl>,
}

/// The result of [`prepare_upload`], which [`plan_upload`] writes.
#[derive(Clone, Debug, Default)]
pub struct PreparedUpload {
    /// The new upload; `None` if the upload in progress can be continued.
    new: Option<Upload>,
    /// The upload in progress that the new one replaces, since no part of it was received.
    replaced: Option<Upload>,
}

/// Makes the blob store calls that a plan requires, before [`plan_upload`] writes it.
pub fn prepare_upload(
    market: &Market,
    vendor: &Vendor,
    token: &str,
    file: &FileInput,
) -> Result<PreparedUpload> {
    let (grant, pending) = market
        .read_blocking_for(vendor.requester(), |reader| find_open(reader.rows, vendor, token, reader.now))?;
    if file.size_bytes > grant.max_bytes {
        let msg =
            format!("`size_bytes` must be at most {}, the limit of this upload grant.", grant.max_bytes);
        return Err(Error::invalid(Problem::body(&["size_bytes"], "less_than_equal", msg)));
    }
    let existing = pending.map(|pending| pending.upload);
    if existing.as_ref().is_some_and(|upload| upload.layout.size_bytes == file.size_bytes) {
        return Ok(PreparedUpload::default());
    }
    if let Some(upload) = &existing
        && !market.blobs().received_parts(upload).map_err(Error::internal)?.is_empty()
    {
        let message = "Parts of a file of another size were already uploaded with this grant. Upload the rest \
                    of that file, or request another grant.";
        return Err(Error::Conflict(message.to_owned()));
    }
    let (id, layout) = (market.clock().new_id(), PartLayout::new(file.size_bytes));
    let store_upload_id = market.blobs().start_upload(id, layout).map_err(Error::internal)?;
    Ok(PreparedUpload { new: Some(Upload { id, layout, store_upload_id }), replaced: existing })
}

/// Writes the plan of an upload. Returns the existing upload if the file has the same size.
pub fn plan_upload(
    writer: &mut Writer,
    vendor: &Vendor,
    token: &str,
    file: FileInput,
    prepared: &PreparedUpload,
) -> Result<Upload> {
    let (grant, pending) = find_open(writer.rows, vendor, token, writer.now)?;
    let existing = pending.map(|pending| pending.upload);
    let upload = match (existing, &prepared.new) {
        (Some(existing), _) if existing.layout.size_bytes == file.size_bytes => existing,
        (existing, Some(new)) if existing == prepared.replaced => new.clone(),
        // A concurrent request has planned another upload.
        _ => {
            return Err(Error::Conflict(
                "A concurrent request has started another upload with this grant. Try again.".to_owned(),
            ));
        }
    };
    let pending = PendingUpload { upload: upload.clone(), file_name: file.file_name, sha256: file.sha256 };
    store::grants::set_pending_upload(writer.rows, grant.row_id, Some(&pending))?;
    Ok(upload)
}

/// Aborts uploads that were prepared but are not part of a plan. Call this whether or not [`plan_upload`]
/// succeeded.
pub fn abort_unplanned(market: &Market, prepared: PreparedUpload) -> Result<()> {
    for upload in [prepared.new, prepared.replaced].into_iter().flatten() {
        let is_pending = market
            .read_blocking(|reader| Ok(store::grants::find_by_upload(reader.rows, upload.id)?.is_some()))?;
        if !is_pending {
            market.blobs().abort_upload(&upload).map_err(Error::internal)?;
        }
    }
    Ok(())
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
    upload: uuid::Uuid,
) -> Result<(Upload, Vec<UploadedPart>)> {
    let (_, pending) = market
        .read_blocking_for(vendor.requester(), |reader| find_open(reader.rows, vendor, token, reader.now))?;
    let pending = expect_upload(pending, upload)?;
    let received = market.blobs().received_parts(&pending.upload).map_err(Error::internal)?;
    Ok((pending.upload, received))
}

/// Checks that the upload in progress is the one that the request body names.
fn expect_upload(pending: Option<PendingUpload>, upload: uuid::Uuid) -> Result<PendingUpload> {
    pending.filter(|pending| pending.upload.id == upload).ok_or_else(|| {
        let msg =
            "This upload is not in progress with this grant. Plan an upload with `POST .../grants/{token}`.";
        Error::invalid(Problem::body(&["upload_id"], "unknown_reference", msg))
    })
}

/// Joins the parts of an upload and compares the file with the announced size and digest. Returns `None` if
/// the grant was already used; [`complete_upload`] then returns the error.
pub fn join_parts(
    market: &Market,
    vendor: &Vendor,
    token: &str,
    upload: uuid::Uuid,
    parts: &[(u32, String)],
) -> Result<Option<StoredFile>> {
    let found = market
        .read_blocking_for(vendor.requester(), |reader| find_open(reader.rows, vendor, token, reader.now));
    let (grant, pending) = match found {
        Err(Error::Gone(GoneCode::GrantConsumed, _)) => return Ok(None),
        other => other?,
    };
    let pending = expect_upload(pending, upload)?;
    // An earlier request may have joined the parts and failed afterwards.
    let joined = market
        .blobs()
        .hash_upload(upload)
        .ok()
        .filter(|written| written.size_bytes == pending.upload.layout.size_bytes);
    let outcome = match joined {
        Some(written) => CompletionOutcome::Complete(written),
        _ => market.blobs().complete_upload(&pending.upload, parts).map_err(Error::internal)?,
    };
    match outcome {
        CompletionOutcome::Missing(missing) => Err(Error::PartsMissing(missing)),
        CompletionOutcome::Busy => Err(Error::Conflict(
            "Some parts are still being uploaded. Complete the upload when they have arrived.".to_owned(),
        )),
        CompletionOutcome::Complete(written) => match &pending.sha256 {
            Some(sha256) if *sha256 != written.sha256 => {
                market.write_blocking_for(vendor.requester(), |writer| {
                    store::grants::set_pending_upload(writer.rows, grant.row_id, None)
                })?;
                market.blobs().remove_upload(upload).map_err(Error::internal)?;
                Err(Error::Conflict(format!(
                    "The zip has the SHA-256 digest {}, but {sha256} was announced. Upload the file again.",
                    written.sha256
                )))
            }
            _ => Ok(Some(written)),
        },
    }
}

/// Creates a codebase from a joined upload, and marks its grant as used.
pub fn complete_upload(
    writer: &mut Writer,
    vendor: &Vendor,
    token: &str,
    base_url: &str,
    upload: uuid::Uuid,
    written: Option<&StoredFile>,
) -> Result<Asset> {
    let (grant, pending) = find_open(writer.rows, vendor, token, writer.now)?;
    let pending = expect_upload(pending, upload)?;
    let written = written.ok_or_else(|| Error::internal("the parts of an upload were not joined"))?;
    let url = super::uploads::upload_url(base_url, upload);
    let new = NewUpload {
        id: upload,
        team: grant.team,
        file_name: &pending.file_name,
        size_bytes: written.size_bytes,
        sha256: &written.sha256,
        url: &url,
        created_at: writer.now,
    };
    let upload_row_id = store::uploads::insert(writer.rows, &new)?;
    store::grants::mark_consumed(writer.rows, grant.row_id, writer.now)?;
    let asset = codebases::create_from_upload(writer, vendor, &grant, upload_row_id, written.size_bytes)?;
    assets::find(writer.rows, vendor, asset, None)
}

/// Returns how an upload is split into parts. Fails unless the upload is in progress and its grant is still
/// open.
pub fn find_split(reader: &Reader, upload: uuid::Uuid) -> Result<(PartLayout, TeamRowId)> {
    let found = store::grants::find_by_upload(reader.rows, upload)?;
    let open = found.filter(|(grant, _)| grant.state(reader.now) == GrantState::Open);
    let pending = open.and_then(|(grant, pending)| Some((pending?.upload.layout, grant.team)));
    pending.ok_or_else(|| Error::not_found("upload in progress"))
}
