//! Upload grants of a team.

use super::{Filter, TeamRecord, TeamRecords};
use crate::store::records::grants::{GRANTS, GrantRecord, with_state};

impl TeamRecord for GrantRecord {
    const LIST: &'static TeamRecords = &TEAM_GRANTS;
}

/// Upload grants of a team. `text` is a part of the title.
pub const TEAM_GRANTS: TeamRecords = TeamRecords {
    name: GRANTS.name,
    columns: GRANTS.columns,
    tables: GRANTS.tables,
    row_id: GRANTS.row_id,
    id: GRANTS.id,
    team: "g.team",
    condition: GRANTS.condition,
    filters: &[("status", Filter::Custom(with_state)), ("text", Filter::Contains("g.title"))],
};
