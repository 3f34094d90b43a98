//! Upload grants: the holder of a grant's token uploads a zip in parts, which then becomes a codebase.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use super::{access::Vendor, cleanup, discarded_uploads, teams};
use crate::{
    domain::{
        assets::Exclusivity,
        collections::Collection,
        due_steps::StepKind,
        events::{EventData, UploadGrantData},
        grants::{GRANT_HOURS, Grant, GrantOperation, GrantState},
        row_ids::GrantRowId,
        state_machine::StateMachine,
        teams::{Team, TeamRowId},
        texts,
        time::{MICROS_PER_HOUR, Timestamp},
    },
    error::{Error, GoneCode, Result, quoted},
    market::{Market, Reader, Writer},
    request_problems::check_text,
    store::{self, grants::PendingUpload},
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
    let Team { row_id: team, name: team_name, .. } = teams::resolve_open(writer.rows, grant.team)?;
    let group = grant.group.map(|name| {
        store::groups::find_by_name(writer.rows, team, name)?.map(|group| group.row_id).ok_or_else(|| {
            Error::not_found(format!("group {} of the team {}", quoted(name), quoted(&team_name)))
        })
    });
    let title = grant.title.trim();
    check_text(&["title"], title, texts::TITLE)?;
    let limit = writer.settings.blobs.max_upload_bytes;
    let new = Grant {
        row_id: GrantRowId(0),
        id: writer.new_id(Collection::UploadGrants),
        team,
        title: title.to_owned(),
        exclusivity: grant.exclusivity,
        group_row_id: group.transpose()?,
        max_bytes: grant.max_bytes.unwrap_or(limit).clamp(1, limit),
        created_at: writer.now,
        expires_at: writer.now.plus_micros(GRANT_HOURS * MICROS_PER_HOUR),
        revoked_at: None,
        consumed_at: None,
        expired_at: None,
    };
    let token = token_of(&writer.entropy.random_secret());
    let row_id = store::grants::insert(writer.rows, &new, &token_digest(&token))?;
    writer.schedule(StepKind::GrantExpires, row_id, new.expires_at)?;
    writer.emit(Some(team), new.id, &EventData::UploadGrantCreated(UploadGrantData::from(&new)))?;
    Ok((row_id, token))
}

/// Returns a team's grants, newest first.
pub fn list(reader: &Reader, team: &str) -> Result<Vec<Grant>> {
    let team = teams::resolve(reader.rows, team)?;
    store::grants::list(reader.rows, team.row_id)
}

/// Revokes an open grant. Its unfinished upload is discarded; the next cleanup deletes it.
pub fn revoke(writer: &mut Writer, row_id: GrantRowId) -> Result<()> {
    let found = store::grants::find_by_row_id(writer.rows, row_id)?;
    let grant = found.ok_or_else(|| Error::not_found(format!("grant {}", row_id.0)))?;
    check(&grant, GrantOperation::Revoke, writer.now)?;
    store::grants::revoke(writer.rows, row_id, writer.now)?;
    writer.unschedule(StepKind::GrantExpires, row_id)?;
    discard_upload(writer, row_id)?;
    writer.emit(Some(grant.team), grant.id, &EventData::UploadGrantRevoked(UploadGrantData::from(&grant)))
}

/// Revokes all open grants of a team. Returns their number.
pub(super) fn revoke_all(writer: &mut Writer, team: TeamRowId) -> Result<u64> {
    let mut count = 0;
    for grant in store::grants::list_unfinished(writer.rows, team)? {
        if check(&grant, GrantOperation::Revoke, writer.now).is_ok() {
            revoke(writer, grant.row_id)?;
            count += 1;
        }
    }
    Ok(count)
}

/// Records that a grant has expired, and discards its unfinished upload. Requests compare the time of expiry
/// themselves, so a grant is never open for longer.
pub fn expire(writer: &mut Writer, row_id: GrantRowId) -> Result<()> {
    let found = store::grants::find_by_row_id(writer.rows, row_id)?;
    let grant = found.ok_or_else(|| Error::internal("a grant that expires does not exist"))?;
    if !grant.state_until_expiry().allows(GrantOperation::Expire) {
        return Ok(());
    }
    store::grants::expire(writer.rows, row_id, writer.now)?;
    discard_upload(writer, row_id)?;
    writer.emit(Some(grant.team), grant.id, &EventData::UploadGrantExpired(UploadGrantData::from(&grant)))
}

/// Records that a grant was used by its pending upload, which became an asset.
pub(super) fn consume(writer: &mut Writer, grant: &Grant, upload: Uuid) -> Result<()> {
    check(grant, GrantOperation::Consume, writer.now)?;
    store::grants::mark_consumed(writer.rows, grant.row_id, upload, writer.now)?;
    writer.unschedule(StepKind::GrantExpires, grant.row_id)
}

fn discard_upload(writer: &Writer, grant: GrantRowId) -> Result<()> {
    store::discarded_uploads::discard(writer.rows, grant)?;
    cleanup::enqueue(writer)
}

/// Checks that the state of a grant allows an operation.
fn check(grant: &Grant, operation: GrantOperation, now: Timestamp) -> Result<GrantState> {
    Ok(grant.state(now).check(operation)?)
}

/// Revokes an unused grant, and deletes its unfinished upload at once, unless the upload is in use, or a backup might contain it.
/// Works on a full disk.
pub fn revoke_and_delete(market: &Market, grant: GrantRowId) -> Result<()> {
    market.write_blocking(|writer| revoke(writer, grant))?;
    let lock = market.blobs().try_lock_for_cleanup().map_err(Error::internal)?;
    discarded_uploads::delete_all(market, lock).map(|_| ())
}

/// Returns the token that is made of a secret.
fn token_of(secret: &[u8; 32]) -> String {
    let mut token = URL_SAFE_NO_PAD.encode(secret);
    token.truncate(TOKEN_LENGTH);
    token
}

/// Whether the token that is made of a secret exists.
pub fn is_taken(reader: &Reader, secret: &[u8; 32]) -> Result<bool> {
    Ok(store::grants::find(reader.rows, &token_digest(&token_of(secret)))?.is_some())
}

fn token_digest(token: &str) -> [u8; 32] {
    Sha256::digest(token.as_bytes()).into()
}

/// Returns the team's grant with this token. Fails if the grant was used, expired, or revoked.
pub(super) fn find_open(
    rows: &store::Reader,
    vendor: &Vendor,
    token: &str,
    now: Timestamp,
) -> Result<(Grant, Option<PendingUpload>)> {
    let found = store::grants::find(rows, &token_digest(token))?;
    let (grant, pending) = found
        .filter(|(grant, _)| grant.team == vendor.team_row_id())
        .ok_or_else(|| Error::not_found("upload grant"))?;
    match grant.state(now) {
        GrantState::Open => Ok((grant, pending)),
        GrantState::Expired | GrantState::Revoked => {
            Err(Error::Gone(GoneCode::GrantExpired, GRANT_EXPIRED.to_owned()))
        }
        GrantState::Consumed => Err(Error::Gone(GoneCode::GrantConsumed, GRANT_USED.to_owned())),
    }
}
