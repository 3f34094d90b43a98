//! Notifications of teams, as operators see them.

use uuid::Uuid;

use super::{
    Reader, Record,
    pages::{PageQuery, PageRequest, RowPage},
};
use crate::{
    domain::notifications::NotificationType,
    error::Result,
    store::notifications::{self, Notification},
    string_enum::StringEnum,
};

/// A notification of a team.
#[derive(Clone, Debug)]
pub struct NotificationRecord {
    /// The notification.
    pub notification: Notification,
    /// ID of the team that received it.
    pub team: Uuid,
}

/// What the list of notifications can be filtered by.
#[derive(Clone, Copy, Debug, Default)]
pub struct NotificationFilter {
    /// ID of the team.
    pub team: Option<Uuid>,
    /// Type of the event.
    pub kind: Option<NotificationType>,
    /// Whether no member of the team has read it.
    pub is_unread: Option<bool>,
}

const TEAM: &str = "LEFT JOIN teams t ON t.id = n.team";

fn columns() -> String {
    format!("{}, t.uuid AS team_uuid", notifications::COLUMNS)
}

fn tables() -> String {
    format!("{} {TEAM}", notifications::TABLES)
}

fn read(row: &rusqlite::Row) -> rusqlite::Result<NotificationRecord> {
    Ok(NotificationRecord {
        notification: notifications::read_notification(row)?,
        team: row.get("team_uuid")?,
    })
}

impl Record for NotificationRecord {
    type Id = Uuid;
    type Filter = NotificationFilter;

    const NAME: &'static str = "notification";

    fn find(reader: &Reader, id: &Uuid) -> Result<Option<NotificationRecord>> {
        let sql = format!("SELECT {} FROM {} WHERE n.uuid = ?1", columns(), tables());
        reader.query_first(&sql, [id], read)
    }

    fn page(
        reader: &Reader,
        filter: &NotificationFilter,
        request: PageRequest,
    ) -> Result<RowPage<NotificationRecord>> {
        PageQuery::new(&columns(), &tables(), "n.id")
            .refers_to("n.team", "teams", filter.team)
            .filter("n.type = ?", filter.kind.map(StringEnum::as_str))
            .filter("n.is_read = ?", filter.is_unread.map(|is_unread| !is_unread))
            .fetch(reader, request, read)
    }
}
