//! API keys of a team.

use super::{Filter, TeamRecord, TeamRecords};
use crate::store::records::keys::{TEAM_KEYS, TeamKeyRecord};

impl TeamRecord for TeamKeyRecord {
    const LIST: &'static TeamRecords = &KEYS;
}

/// API keys of a team. `text` is a part of the name.
pub const KEYS: TeamRecords = TeamRecords {
    name: TEAM_KEYS.name,
    columns: TEAM_KEYS.columns,
    tables: TEAM_KEYS.tables,
    row_id: TEAM_KEYS.row_id,
    id: TEAM_KEYS.id,
    team: "k.team",
    condition: TEAM_KEYS.condition,
    filters: &[("text", Filter::Contains("k.name"))],
};
