//! Vendors by name, as the catalog shows them.

use crate::{domain::teams::TeamRowId, error::Result, market::Reader, store};

/// Returns the row IDs of the teams with this name, in any case. Names are not unique.
pub fn find_by_name(reader: &Reader, name: &str) -> Result<Vec<TeamRowId>> {
    let teams = store::teams::list_by_name_key(reader.rows, name.trim())?;
    Ok(teams.into_iter().map(|team| team.row_id).collect())
}
