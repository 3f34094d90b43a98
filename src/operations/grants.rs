//! Upload grants: the holder of a grant's token uploads a zip in parts, which then becomes a codebase.
//!
//! Calls to the blob store happen outside of transactions, before their results are written.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use sha2::{Digest, Sha256};

use super::{access::Vendor, assets, codebases, sweeping, teams};
use crate::{
    blobs::{Address, Finished, Received, Signer, Written},
    domain::{
        assets::Exclusivity,
        inventory::Asset,
        jobs::JobKind,
        uploads::{GRANT_HOURS, Grant, GrantState, Split, Upload},
    },
    error::{Code, Error, Problem, Result},
    market::{Market, Reader, Writer},
    store::{self, grants::Staged, uploads::NewUpload},
};

/// Length of a token, in characters.
const TOKEN_LENGTH: usize = 32;

/// Error message for a grant that has been used.
pub const CONSUMED: &str = "The upload grant has already been used. Request another one.";

const EXPIRED: &str = "The upload grant has expired or was revoked. Request another one.";

/// A grant to create.
#[derive(Clone, Debug)]
pub struct GrantIn<'a> {
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
pub fn create(writer: &mut Writer, grant: &GrantIn) -> Result<(i64, String)> {
    let team = teams::resolve(writer.rows, grant.team)?.number;
    let group = grant.group.map(|name| {
        let groups = store::groups::list(writer.rows, team)?;
        let found = groups.into_iter().find(|group| group.name.eq_ignore_ascii_case(name));
        found
            .map(|group| group.number)
            .ok_or_else(|| Error::not_found(format!("group {name:?} of this team")))
    });
    let title = grant.title.trim();
    if title.is_empty() || title.chars().count() > 200 {
        return Err(Error::Conflict("the title must have 1 to 200 characters".to_owned()));
    }
    let most = writer.settings.blobs.max_upload_bytes;
    let new = Grant {
        number: 0,
        team,
        title: title.to_owned(),
        exclusivity: grant.exclusivity,
        group: group.transpose()?,
        max_bytes: grant.max_bytes.unwrap_or(most).clamp(1, most),
        created_at: writer.now,
        expires_at: writer.now.plus_micros(GRANT_HOURS * 3600 * 1_000_000),
        revoked_at: None,
        consumed_at: None,
    };
    let mut token = URL_SAFE_NO_PAD.encode(writer.entropy.secret());
    token.truncate(TOKEN_LENGTH);
    let number = store::grants::insert(writer.rows, &new, &digest(&token))?;
    // Deletes the upload if it is not complete by then.
    store::jobs::enqueue(writer.rows, JobKind::Sweep, number, new.expires_at)?;
    Ok((number, token))
}

/// Returns a team's grants, newest first.
pub fn list(reader: &Reader, team: &str) -> Result<Vec<Grant>> {
    let team = teams::resolve(reader.rows, team)?;
    store::grants::list(reader.rows, team.number)
}

/// Revokes a grant that was not used. Its unfinished upload is deleted.
pub fn revoke(writer: &mut Writer, number: i64) -> Result<()> {
    if !store::grants::revoke(writer.rows, number, writer.now)? {
        return Err(Error::not_found(format!("unused grant {number}")));
    }
    sweeping::ask(writer)
}

fn digest(token: &str) -> [u8; 32] {
    Sha256::digest(token.as_bytes()).into()
}

/// Returns the team's grant with this token. Fails if the grant was used, expired, or revoked.
fn open(
    rows: &store::Reader,
    vendor: &Vendor,
    token: &str,
    now: crate::domain::time::Timestamp,
) -> Result<(Grant, Option<Staged>)> {
    let found = store::grants::find(rows, &digest(token))?;
    let (grant, staged) = found
        .filter(|(grant, _)| grant.team == vendor.number())
        .ok_or_else(|| Error::not_found("upload grant"))?;
    match grant.state(now) {
        GrantState::Open => Ok((grant, staged)),
        GrantState::Expired => Err(Error::Gone(Code::GrantExpired, EXPIRED.to_owned())),
        GrantState::Consumed => Err(Error::Gone(Code::GrantConsumed, CONSUMED.to_owned())),
    }
}

/// The file that a client wants to upload.
#[derive(Clone, Debug)]
pub struct FileIn {
    /// File name.
    pub file_name: String,
    /// Size in bytes.
    pub size_bytes: u64,
    /// SHA-256 digest in hexadecimal, if the client sent one. The upload is compared with it.
    pub sha256: Option<String>,
}

/// An upload plan: the upload, and the URL of each part.
#[derive(Debug)]
pub struct Plan {
    /// The upload in progress.
    pub upload: Upload,
    /// URLs of the parts, in order.
    pub parts: Vec<Address>,
}

/// The result of [`prepare`], which [`plan`] writes.
#[derive(Clone, Debug, Default)]
pub struct Prepared {
    /// The new upload; `None` if the upload in progress can be continued.
    new: Option<Upload>,
    /// The upload in progress that the new one replaces, since no part of it was received.
    empty: Option<Upload>,
}

/// Makes the blob store calls that a plan requires, before [`plan`] writes it.
pub fn prepare(market: &Market, vendor: &Vendor, token: &str, file: &FileIn) -> Result<Prepared> {
    let (grant, staged) = market.read_blocking(|reader| open(reader.rows, vendor, token, reader.now))?;
    if file.size_bytes > grant.max_bytes {
        let msg =
            format!("`size_bytes` must be at most {}, the limit of this upload grant.", grant.max_bytes);
        return Err(Error::invalid(Problem::body(&["size_bytes"], "less_than_equal", msg)));
    }
    let under_way = staged.map(|staged| staged.upload);
    if under_way.as_ref().is_some_and(|upload| upload.split.size_bytes == file.size_bytes) {
        return Ok(Prepared::default());
    }
    if let Some(upload) = &under_way
        && !market.blobs().received(upload).map_err(Error::internal)?.is_empty()
    {
        let what = "Parts of a file of another size were already uploaded with this grant. Upload the rest \
                    of that file, or request another grant.";
        return Err(Error::Conflict(what.to_owned()));
    }
    let (id, split) = (market.clock().id(), Split::of(file.size_bytes));
    let reference = market.blobs().begin(id, split).map_err(Error::internal)?;
    Ok(Prepared { new: Some(Upload { id, split, reference }), empty: under_way })
}

/// Writes the plan of an upload. Returns the existing upload if the file has the same size.
pub fn plan(
    writer: &mut Writer,
    vendor: &Vendor,
    token: &str,
    file: FileIn,
    prepared: &Prepared,
) -> Result<Upload> {
    let (grant, staged) = open(writer.rows, vendor, token, writer.now)?;
    let under_way = staged.map(|staged| staged.upload);
    let upload = match (under_way, &prepared.new) {
        (Some(old), _) if old.split.size_bytes == file.size_bytes => old,
        (old, Some(new)) if old == prepared.empty => new.clone(),
        // A concurrent request has planned another upload.
        _ => {
            return Err(Error::Conflict(
                "A concurrent request has started another upload with this grant. Try again.".to_owned(),
            ));
        }
    };
    let staged = Staged { upload: upload.clone(), file_name: file.file_name, sha256: file.sha256 };
    store::grants::stage(writer.rows, grant.number, Some(&staged))?;
    Ok(upload)
}

/// Aborts uploads that were prepared but are not part of a plan. Call this whether or not [`plan`] succeeded.
pub fn discard(market: &Market, prepared: Prepared) -> Result<()> {
    for upload in [prepared.new, prepared.empty].into_iter().flatten() {
        let is_staged =
            market.read_blocking(|reader| Ok(store::grants::of_upload(reader.rows, upload.id)?.is_some()))?;
        if !is_staged {
            market.blobs().abort(&upload).map_err(Error::internal)?;
        }
    }
    Ok(())
}

/// Returns the upload URLs of parts, with their part numbers.
pub fn addresses(
    market: &Market,
    base_url: &str,
    upload: &Upload,
    numbers: impl IntoIterator<Item = u32>,
) -> Result<Vec<(u32, Address)>> {
    let signer = Signer { base_url, secret: market.blob_secret(), now: market.clock().now() };
    let numbers: Vec<u32> = numbers.into_iter().collect();
    let addresses = market.blobs().addresses(upload, &numbers, signer).map_err(Error::internal)?;
    Ok(numbers.into_iter().zip(addresses).collect())
}

/// Returns the upload in progress of a grant, with the parts received so far.
pub fn under_way(
    market: &Market,
    vendor: &Vendor,
    token: &str,
    upload: uuid::Uuid,
) -> Result<(Upload, Vec<Received>)> {
    let (_, staged) = market.read_blocking(|reader| open(reader.rows, vendor, token, reader.now))?;
    let staged = named(staged, upload)?;
    let received = market.blobs().received(&staged.upload).map_err(Error::internal)?;
    Ok((staged.upload, received))
}

/// Checks that the upload in progress is the one that the request body names.
fn named(staged: Option<Staged>, upload: uuid::Uuid) -> Result<Staged> {
    staged.filter(|staged| staged.upload.id == upload).ok_or_else(|| {
        let msg =
            "This upload is not in progress with this grant. Plan an upload with `POST .../grants/{token}`.";
        Error::invalid(Problem::body(&["upload_id"], "unknown_reference", msg))
    })
}

/// Joins the parts of an upload and compares the file with the announced size and digest. Returns `None` if
/// the grant was already used; [`complete`] then returns the error.
pub fn join(
    market: &Market,
    vendor: &Vendor,
    token: &str,
    upload: uuid::Uuid,
    parts: &[(u32, String)],
) -> Result<Option<Written>> {
    let found = market.read_blocking(|reader| open(reader.rows, vendor, token, reader.now));
    let (grant, staged) = match found {
        Err(Error::Gone(Code::GrantConsumed, _)) => return Ok(None),
        other => other?,
    };
    let staged = named(staged, upload)?;
    // An earlier request may have joined the parts and failed afterwards.
    let whole = market
        .blobs()
        .measure_upload(upload)
        .ok()
        .filter(|written| written.size_bytes == staged.upload.split.size_bytes);
    let finished = match whole {
        Some(written) => Finished::Whole(written),
        _ => market.blobs().finish(&staged.upload, parts).map_err(Error::internal)?,
    };
    match finished {
        Finished::Missing(missing) => Err(Error::PartsMissing(missing)),
        Finished::Busy => Err(Error::Conflict(
            "Some parts are still being uploaded. Complete the upload when they have arrived.".to_owned(),
        )),
        Finished::Whole(written) => match &staged.sha256 {
            Some(sha256) if *sha256 != written.sha256 => {
                market.write_blocking(|writer| store::grants::stage(writer.rows, grant.number, None))?;
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
pub fn complete(
    writer: &mut Writer,
    vendor: &Vendor,
    token: &str,
    base_url: &str,
    upload: uuid::Uuid,
    written: Option<&Written>,
) -> Result<Asset> {
    let (grant, staged) = open(writer.rows, vendor, token, writer.now)?;
    let staged = named(staged, upload)?;
    let written = written.ok_or_else(|| Error::internal("the parts of an upload were not joined"))?;
    let url = super::uploads::address(base_url, upload);
    let new = NewUpload {
        id: upload,
        team: grant.team,
        file_name: &staged.file_name,
        size_bytes: written.size_bytes,
        sha256: &written.sha256,
        url: &url,
        created_at: writer.now,
    };
    let number = store::uploads::insert(writer.rows, &new)?;
    store::grants::consume(writer.rows, grant.number, writer.now)?;
    let asset = codebases::create_from_upload(writer, vendor, &grant, number, written.size_bytes)?;
    assets::find(writer.rows, vendor, asset, None)
}

/// Returns how an upload is split into parts. Fails unless the upload is in progress and its grant is still
/// open.
pub fn split_of(reader: &Reader, upload: uuid::Uuid) -> Result<Split> {
    let found = store::grants::of_upload(reader.rows, upload)?;
    let open = found.filter(|(grant, _)| grant.state(reader.now) == GrantState::Open);
    let staged = open.and_then(|(_, staged)| staged);
    staged.map(|staged| staged.upload.split).ok_or_else(|| Error::not_found("upload in progress"))
}
