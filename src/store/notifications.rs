//! Notifications of teams.

use uuid::Uuid;

use super::{Reader, Writer, row};
use crate::{
    domain::{
        notifications::NotificationType,
        row_ids::{OpportunityRowId, ProjectBidRowId, TaskRowId},
        teams::TeamRowId,
        time::Timestamp,
    },
    error::Result,
    string_enum::StringEnum,
};

/// The fields of a notification to insert. It refers to other records by their row IDs.
#[derive(Debug)]
pub struct NewNotification<'a> {
    /// ID of the notification.
    pub id: Uuid,
    /// Row ID of the team that receives it.
    pub team: TeamRowId,
    /// Type of the event.
    pub kind: NotificationType,
    /// Short title.
    pub title: &'a str,
    /// Text of one or two sentences.
    pub message: &'a str,
    /// Whether a member of the team has read it.
    pub is_read: bool,
    /// Path of a page in an application of the platform.
    pub link: Option<&'a str>,
    /// Row ID of the related opportunity for listings.
    pub opportunity: Option<OpportunityRowId>,
    /// Row ID of the related project opportunity.
    pub project_opportunity: Option<OpportunityRowId>,
    /// Row ID of the related project bid.
    pub project_bid: Option<ProjectBidRowId>,
    /// Row ID of the related task.
    pub task: Option<TaskRowId>,
    /// Time of creation.
    pub created_at: Timestamp,
}

/// Inserts a notification.
pub fn insert(writer: &Writer, notification: &NewNotification) -> Result<()> {
    const SQL: &str =
        "INSERT INTO notifications (uuid, team, type, title, message, is_read, link, opportunity,
             project_opportunity, project_bid, task, created_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)";
    writer.execute(
        SQL,
        (
            notification.id,
            notification.team,
            notification.kind.as_str(),
            notification.title,
            notification.message,
            notification.is_read,
            notification.link,
            notification.opportunity,
            notification.project_opportunity,
            notification.project_bid,
            notification.task,
            notification.created_at.0,
        ),
    )?;
    Ok(())
}

/// The fields of a notification that many teams receive.
#[derive(Debug)]
pub struct BulkNotification<'a> {
    /// Type of the event.
    pub kind: NotificationType,
    /// Short title.
    pub title: &'a str,
    /// Text of one or two sentences.
    pub message: &'a str,
    /// Time of creation.
    pub created_at: Timestamp,
}

/// Inserts a notification for each of the teams, with the given IDs, by one statement.
pub fn insert_for_all(
    writer: &Writer,
    recipients: &[(TeamRowId, Uuid)],
    notification: &BulkNotification,
) -> Result<()> {
    const SQL: &str = "INSERT INTO notifications (uuid, team, type, title, message, is_read, created_at)
         SELECT unhex(value ->> 1), value ->> 0, ?2, ?3, ?4, 0, ?5 FROM json_each(?1) ORDER BY key";
    let BulkNotification { kind, title, message, created_at } = notification;
    let recipients: Vec<(i64, String)> =
        recipients.iter().map(|(team, id)| (team.0, id.simple().to_string())).collect();
    writer.execute(SQL, (row::to_json(&recipients)?, kind.as_str(), title, message, created_at.0))?;
    Ok(())
}

/// A notification, as its team reads it.
#[derive(Clone, Debug)]
pub struct Notification {
    /// ID of the notification.
    pub id: Uuid,
    /// Type of the event.
    pub kind: NotificationType,
    /// Short title.
    pub title: String,
    /// Text of one or two sentences.
    pub message: String,
    /// Whether a member of the team has read it.
    pub is_read: bool,
    /// Path of a page in an application of the platform.
    pub link: Option<String>,
    /// ID of the related opportunity for listings.
    pub opportunity: Option<Uuid>,
    /// ID of the related project opportunity.
    pub project_opportunity: Option<Uuid>,
    /// ID of the related project bid.
    pub project_bid: Option<Uuid>,
    /// ID of the related task.
    pub task: Option<Uuid>,
    /// Time of creation.
    pub created_at: Timestamp,
}

/// Returns a team's newest notifications, newest first.
pub fn list_newest(reader: &Reader, team: TeamRowId, limit: usize) -> Result<Vec<Notification>> {
    const SQL: &str = "SELECT n.uuid, n.type, n.title, n.message, n.is_read, n.link, n.created_at,
             o.uuid AS opportunity, p.uuid AS project_opportunity, b.uuid AS project_bid, k.uuid AS task
         FROM notifications n
         LEFT JOIN opportunities o ON o.id = n.opportunity
         LEFT JOIN opportunities p ON p.id = n.project_opportunity
         LEFT JOIN project_bids b ON b.id = n.project_bid
         LEFT JOIN tasks k ON k.id = n.task
         WHERE n.team = ?1 ORDER BY n.created_at DESC, n.id DESC LIMIT ?2";
    reader.query_all(SQL, (team, limit as i64), |row| {
        Ok(Notification {
            id: row.get("uuid")?,
            kind: row::string_enum(row, "type")?,
            title: row.get("title")?,
            message: row.get("message")?,
            is_read: row.get("is_read")?,
            link: row.get("link")?,
            opportunity: row.get("opportunity")?,
            project_opportunity: row.get("project_opportunity")?,
            project_bid: row.get("project_bid")?,
            task: row.get("task")?,
            created_at: row::time(row, "created_at")?,
        })
    })
}

/// Returns the number of a team's unread notifications.
pub fn count_unread(reader: &Reader, team: TeamRowId) -> Result<u64> {
    reader.query_one("SELECT count(*) FROM notifications WHERE team = ?1 AND NOT is_read", [team], |row| {
        row.get(0)
    })
}
