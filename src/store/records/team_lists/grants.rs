//! Upload grants of a team.

use super::{Filter, Records, TeamRecord, TeamRecords};
use crate::store::records::grants::{GRANTS, GrantRecord, with_state};

impl TeamRecord for GrantRecord {
    /// `text` is a part of the title.
    const LIST: &'static TeamRecords = &Records {
        filters: &[("status", Filter::Custom(with_state)), ("text", Filter::Contains("g.title"))],
        ..GRANTS
    }
    .of_team("g.team");
}
