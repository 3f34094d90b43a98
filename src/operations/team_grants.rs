//! The upload grants that a team manages itself. It cannot see the grants of other teams.

use uuid::Uuid;

use super::{
    access::Vendor,
    grants::{self, GrantInput},
    groups, quotas,
};
use crate::{
    domain::{assets::Exclusivity, grants::Grant},
    error::{Error, Result},
    market::{Reader, Writer},
    store,
};

/// Maximum number of grants of a team that can be used.
pub const MAX_OPEN: u64 = 100;

/// Maximum number of grants in a list.
pub const MAX_LISTED: u32 = 1_000;

/// A grant to create.
#[derive(Clone, Debug)]
pub struct TeamGrantInput<'a> {
    /// Title of the codebase, 1 to 200 characters.
    pub title: &'a str,
    /// Exclusivity of the codebase.
    pub exclusivity: Exclusivity,
    /// ID of the group for the codebase; `None` for the default group.
    pub group: Option<Uuid>,
    /// Maximum size of the upload in bytes; `None` for the maximum of the settings.
    pub max_bytes: Option<u64>,
}

/// Creates a grant of the team. Returns it with its token, which cannot be shown again. A team can have at most
/// [`MAX_OPEN`] grants that can be used.
pub fn create(writer: &mut Writer, vendor: &Vendor, input: &TeamGrantInput) -> Result<(Grant, String)> {
    let used = store::grants::count_open(writer.rows, vendor.team_row_id(), writer.now)?;
    quotas::check_one_more("team", ("open_upload_grants", MAX_OPEN), used)?;
    let group = input.group.map(|id| groups::find(writer.rows, vendor, id)).transpose()?;
    let grant = GrantInput {
        team: &vendor.team().id.to_string(),
        title: input.title,
        exclusivity: input.exclusivity,
        group: group.as_ref().map(|group| group.name.as_str()),
        max_bytes: input.max_bytes,
    };
    let (row_id, token) = grants::create(writer, &grant)?;
    let created = store::grants::find_by_row_id(writer.rows, row_id)?
        .ok_or_else(|| Error::internal("the grant was not stored"))?;
    Ok((created, token))
}

/// Returns the newest grants of the team, newest first; at most `limit`, and at most [`MAX_LISTED`].
pub fn list(reader: &Reader, vendor: &Vendor, limit: u32) -> Result<Vec<Grant>> {
    store::grants::list_newest(reader.rows, vendor.team_row_id(), limit.min(MAX_LISTED))
}

/// Returns a grant of the team.
pub fn find(rows: &store::Reader, vendor: &Vendor, id: Uuid) -> Result<Grant> {
    let found = store::grants::find_by_id(rows, id)?.filter(|grant| grant.team == vendor.team_row_id());
    found.ok_or_else(|| Error::not_found("upload grant"))
}

/// Revokes a usable grant of the team. Data that was uploaded with it is discarded.
pub fn revoke(writer: &mut Writer, vendor: &Vendor, id: Uuid) -> Result<()> {
    let grant = find(writer.rows, vendor, id)?;
    grants::revoke(writer, grant.row_id)
}
