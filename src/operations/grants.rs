//! Upload grants: the holder of a grant's token uploads a zip in parts, which then becomes a codebase.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use sha2::{Digest, Sha256};

use super::{access::Vendor, cleanup, discarded_uploads, teams};
use crate::{
    domain::{
        assets::Exclusivity,
        grants::{GRANT_HOURS, Grant, GrantState},
        jobs::JobKind,
        row_ids::GrantRowId,
        teams::Team,
        time::Timestamp,
    },
    error::{Error, GoneCode, Result},
    market::{Market, Reader, Writer},
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
    let Team { row_id: team, name: team_name, .. } = teams::resolve(writer.rows, grant.team)?;
    let group = grant.group.map(|name| {
        store::groups::find_by_name(writer.rows, team, name)?
            .map(|group| group.row_id)
            .ok_or_else(|| Error::not_found(format!("group {name:?} of the team {team_name:?}")))
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
    writer.enqueue_at(JobKind::Cleanup, row_id, new.expires_at)?;
    Ok((row_id, token))
}

/// Returns a team's grants, newest first.
pub fn list(reader: &Reader, team: &str) -> Result<Vec<Grant>> {
    let team = teams::resolve(reader.rows, team)?;
    store::grants::list(reader.rows, team.row_id)
}

/// Revokes a grant that was not used. Its unfinished upload is discarded; the next cleanup deletes it.
pub fn revoke(writer: &mut Writer, grant: GrantRowId) -> Result<()> {
    if !store::grants::revoke(writer.rows, grant, writer.now)? {
        return Err(Error::not_found(format!("unused grant {}", grant.0)));
    }
    store::discarded_uploads::discard(writer.rows, grant)?;
    cleanup::enqueue(writer)
}

/// Revokes a grant that was not used, and deletes its unfinished upload at once, unless it is in use. Works
/// on a full disk.
pub fn revoke_and_delete(market: &Market, grant: GrantRowId) -> Result<()> {
    market.write_blocking(|writer| revoke(writer, grant))?;
    discarded_uploads::delete_all(market).map(|_| ())
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
        GrantState::Expired => Err(Error::Gone(GoneCode::GrantExpired, GRANT_EXPIRED.to_owned())),
        GrantState::Consumed => Err(Error::Gone(GoneCode::GrantConsumed, GRANT_USED.to_owned())),
    }
}
