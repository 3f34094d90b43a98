//! Grants of uploads: who holds the token of one puts a zip into the market, part by part, and it becomes a codebase.
//!
//! What is asked of the store of uploads happens outside of transactions, before what it answered is written.

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

/// Characters of a token.
const TOKEN_LENGTH: usize = 32;

/// What is said of a grant that was used.
pub const CONSUMED: &str = "This grant was used. Ask for another one.";

const EXPIRED: &str =
    "This grant counts no more: its time is over, or it was taken back. Ask for another one.";

/// What a grant is to allow.
#[derive(Clone, Debug)]
pub struct GrantIn<'a> {
    /// The team, by its id or name.
    pub team: &'a str,
    /// The title of the codebase.
    pub title: &'a str,
    /// Its exclusivity.
    pub exclusivity: Exclusivity,
    /// The folder that it goes to, by its name; the default one where none is named.
    pub group: Option<&'a str>,
    /// Bytes that may be uploaded; as many as the settings say where none are named.
    pub max_bytes: Option<u64>,
}

/// Makes a grant. Answers its number and its token, which is shown this once.
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
        return Err(Error::Conflict("a title has 1 to 200 characters".to_owned()));
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
    // What was not completed by then is taken away.
    store::jobs::enqueue(writer.rows, JobKind::Sweep, number, new.expires_at)?;
    Ok((number, token))
}

/// A team's grants, newest first.
pub fn list(reader: &Reader, team: &str) -> Result<Vec<Grant>> {
    let team = teams::resolve(reader.rows, team)?;
    store::grants::list(reader.rows, team.number)
}

/// Takes a grant back; what was uploaded under it goes.
pub fn revoke(writer: &mut Writer, number: i64) -> Result<()> {
    if !store::grants::revoke(writer.rows, number, writer.now)? {
        return Err(Error::not_found(format!("unused grant {number}")));
    }
    sweeping::ask(writer)
}

fn digest(token: &str) -> [u8; 32] {
    Sha256::digest(token.as_bytes()).into()
}

/// The team's grant of a token, if it may be used.
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

/// A file that is to be uploaded.
#[derive(Clone, Debug)]
pub struct FileIn {
    /// What it is called.
    pub file_name: String,
    /// Its size.
    pub size_bytes: u64,
    /// Its SHA-256 digest in hexadecimal.
    pub sha256: Option<String>,
}

/// How a file is sent: the upload, and the address of each part.
#[derive(Debug)]
pub struct Plan {
    /// The upload.
    pub upload: Upload,
    /// The address of each part, in order.
    pub parts: Vec<Address>,
}

/// What was found out before a plan is written.
#[derive(Clone, Debug, Default)]
pub struct Prepared {
    /// The upload to be, if it is another one than that under way.
    new: Option<Upload>,
    /// The upload under way, of which nothing has come.
    empty: Option<Upload>,
}

/// Asks the store for what a plan needs, before it is written.
pub fn prepare(market: &Market, vendor: &Vendor, token: &str, file: &FileIn) -> Result<Prepared> {
    let (grant, staged) = market.read_blocking(|reader| open(reader.rows, vendor, token, reader.now))?;
    if file.size_bytes > grant.max_bytes {
        let msg = format!("`size_bytes` is at most {}: this grant takes no more.", grant.max_bytes);
        return Err(Error::invalid(Problem::body(&["size_bytes"], "less_than_equal", msg)));
    }
    let under_way = staged.map(|staged| staged.upload);
    if under_way.as_ref().is_some_and(|upload| upload.split.size_bytes == file.size_bytes) {
        return Ok(Prepared::default());
    }
    if let Some(upload) = &under_way
        && !market.blobs().received(upload).map_err(Error::internal)?.is_empty()
    {
        let what = "Parts of a file of another size were uploaded under this grant. Send the rest of that file, or ask for \
                    another grant.";
        return Err(Error::Conflict(what.to_owned()));
    }
    let (id, split) = (market.clock().id(), Split::of(file.size_bytes));
    let reference = market.blobs().begin(id, split).map_err(Error::internal)?;
    Ok(Prepared { new: Some(Upload { id, split, reference }), empty: under_way })
}

/// Plans the upload of a file: the same plan for a file of the same size.
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
        // Somebody else has planned something meanwhile.
        _ => {
            return Err(Error::Conflict(
                "Another upload was begun under this grant just now. Ask again.".to_owned(),
            ));
        }
    };
    let staged = Staged { upload: upload.clone(), file_name: file.file_name, sha256: file.sha256 };
    store::grants::stage(writer.rows, grant.number, Some(&staged))?;
    Ok(upload)
}

/// Forgets what was begun in vain, whatever became of the plan.
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

/// Addresses of parts, by their numbers.
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

/// The upload under way under a grant, with the parts that were received.
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

/// The upload under way, if it is the one that a body names.
fn named(staged: Option<Staged>, upload: uuid::Uuid) -> Result<Staged> {
    staged.filter(|staged| staged.upload.id == upload).ok_or_else(|| {
        let msg = "No such upload is under way under this grant. Plan it with `POST .../grants/{token}`.";
        Error::invalid(Problem::body(&["upload_id"], "unknown_reference", msg))
    })
}

/// Puts the parts of an upload together and holds it against what was announced. Nothing where the grant was used already,
/// which [`complete`] tells.
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
    // An earlier try may have come this far and no further.
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
            "Parts are still on their way. Complete the upload when they are there.".to_owned(),
        )),
        Finished::Whole(written) => match &staged.sha256 {
            Some(sha256) if *sha256 != written.sha256 => {
                market.write_blocking(|writer| store::grants::stage(writer.rows, grant.number, None))?;
                market.blobs().remove_upload(upload).map_err(Error::internal)?;
                Err(Error::Conflict(format!(
                    "The zip has the SHA-256 digest {}, and {sha256} was announced. Upload it again from the beginning.",
                    written.sha256
                )))
            }
            _ => Ok(Some(written)),
        },
    }
}

/// Makes a codebase of an upload that was put together, and ends its grant.
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
    let written = written.ok_or_else(|| Error::internal("an upload was not put together"))?;
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

/// The upload that a part is sent for, if it may be: its split.
pub fn split_of(reader: &Reader, upload: uuid::Uuid) -> Result<Split> {
    let found = store::grants::of_upload(reader.rows, upload)?;
    let open = found.filter(|(grant, _)| grant.state(reader.now) == GrantState::Open);
    let staged = open.and_then(|(_, staged)| staged);
    staged.map(|staged| staged.upload.split).ok_or_else(|| Error::not_found("upload under way"))
}
