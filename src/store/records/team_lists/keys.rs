//! API keys of a team.

use super::{Filter, Records, TeamRecord, TeamRecords};
use crate::store::records::keys::{TEAM_KEYS, TeamKeyRecord};

impl TeamRecord for TeamKeyRecord {
    /// `text` is a part of the name.
    const LIST: &'static TeamRecords =
        &Records { filters: &[("text", Filter::Contains("k.name"))], ..TEAM_KEYS }.of_team("k.team");
}
