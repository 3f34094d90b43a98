//! API keys of a team.

use super::{Filter, Records, TeamRecord, TeamRecords};
use crate::store::records::keys::{TEAM_KEYS, TeamKeyRecord};

impl TeamRecord for TeamKeyRecord {
    const LIST: &'static TeamRecords = &KEYS;
}

/// API keys of a team. `text` is a part of the name.
pub const KEYS: TeamRecords =
    Records { filters: &[("text", Filter::Contains("k.name"))], ..TEAM_KEYS }.of_team("k.team");
