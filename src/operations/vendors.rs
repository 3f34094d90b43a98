//! Vendors by name, as the catalog shows them.

use uuid::Uuid;

use super::access::{AuthenticatedTeam, Buyer};
use crate::{domain::teams::TeamRowId, error::Result, market::Reader, store};

/// Returns the row IDs of the teams with this name, in any case. Names are not unique.
pub fn find_by_name(reader: &Reader, name: &str) -> Result<Vec<TeamRowId>> {
    let teams = store::teams::list_by_name_key(reader.rows, name.trim())?;
    Ok(teams.into_iter().map(|team| team.row_id).collect())
}

/// Returns whether a team with this name has a published listing. It does not reveal whether other teams exist.
pub fn is_published(reader: &Reader, _: &AuthenticatedTeam, name: &str) -> Result<bool> {
    for team in find_by_name(reader, name)? {
        if has_listing(reader, team)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns the IDs of the teams with this name that have a published listing, in any case.
pub fn find_published(reader: &Reader, _: &Buyer, name: &str) -> Result<Vec<Uuid>> {
    let mut found = Vec::new();
    for team in store::teams::list_by_name_key(reader.rows, name.trim())? {
        if has_listing(reader, team.row_id)? {
            found.push(team.id);
        }
    }
    Ok(found)
}

/// Returns the names of teams that have published listings, oldest teams first, of the first `max` vendors.
pub fn published_names(reader: &Reader, _: &AuthenticatedTeam, max: usize) -> Result<Vec<String>> {
    let vendors = store::teams::list_vendor_names(reader.rows, max)?;
    let mut names = Vec::with_capacity(vendors.len());
    for (team, name) in vendors {
        if has_listing(reader, team)? {
            names.push(name);
        }
    }
    Ok(names)
}

fn has_listing(reader: &Reader, team: TeamRowId) -> Result<bool> {
    Ok(reader.index.active_count(team.0 as u64)? > 0)
}
