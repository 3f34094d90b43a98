//! Notifications of a team.

use super::{Filter, Records, TeamRecord, TeamRecords};
use crate::store::notifications::{self, Notification};

impl TeamRecord for Notification {
    const LIST: &'static TeamRecords = &Records {
        name: "notification",
        columns: &[notifications::COLUMNS],
        tables: &[notifications::TABLES],
        row_id: "n.id",
        id: "n.uuid",
        condition: None,
        filters: &[("type", Filter::OneOf("n.type")), ("unread", Filter::Matches("n.is_read = NOT ?"))],
    }
    .of_team("n.team");
}
