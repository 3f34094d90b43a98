//! Messages to teams.

use uuid::Uuid;

use super::{Reader, Writer, row};
use crate::{
    domain::{notifications::NotificationType, teams::TeamNumber, time::Timestamp, vocabulary::Vocabulary},
    error::Result,
};

/// A message to be; what it is about by row numbers.
#[derive(Debug)]
pub struct NewNotification<'a> {
    /// Its id.
    pub id: Uuid,
    /// The team.
    pub team: TeamNumber,
    /// What happened.
    pub kind: NotificationType,
    /// In a few words.
    pub title: &'a str,
    /// In a sentence or two.
    pub message: &'a str,
    /// Whether somebody has read it.
    pub is_read: bool,
    /// A path in the web app.
    pub link: Option<&'a str>,
    /// The opportunity.
    pub opportunity: Option<i64>,
    /// The project opportunity.
    pub project_opportunity: Option<i64>,
    /// The project bid.
    pub project_bid: Option<i64>,
    /// The task.
    pub task: Option<i64>,
    /// When it is sent.
    pub created_at: Timestamp,
}

/// Adds a message.
pub fn insert(writer: &Writer, notification: &NewNotification) -> Result<i64> {
    const SQL: &str =
        "INSERT INTO notifications (uuid, team, type, title, message, is_read, link, opportunity,
             project_opportunity, project_bid, task, created_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)";
    writer.insert(
        SQL,
        (
            notification.id,
            notification.team.0,
            notification.kind.word(),
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
    )
}

/// A message as its team reads it.
#[derive(Clone, Debug)]
pub struct Notification {
    /// Its id.
    pub id: Uuid,
    /// What happened.
    pub kind: NotificationType,
    /// In a few words.
    pub title: String,
    /// In a sentence or two.
    pub message: String,
    /// Whether somebody has read it.
    pub is_read: bool,
    /// A path in the web app.
    pub link: Option<String>,
    /// The opportunity.
    pub opportunity: Option<Uuid>,
    /// The project opportunity.
    pub project_opportunity: Option<Uuid>,
    /// The project bid.
    pub project_bid: Option<Uuid>,
    /// The task.
    pub task: Option<Uuid>,
    /// When it was sent.
    pub created_at: Timestamp,
}

/// A team's newest messages.
pub fn newest(reader: &Reader, team: TeamNumber, limit: usize) -> Result<Vec<Notification>> {
    const SQL: &str = "SELECT n.uuid, n.type, n.title, n.message, n.is_read, n.link, n.created_at,
             o.uuid AS opportunity, p.uuid AS project_opportunity, b.uuid AS project_bid, k.uuid AS task
         FROM notifications n
         LEFT JOIN opportunities o ON o.id = n.opportunity
         LEFT JOIN opportunities p ON p.id = n.project_opportunity
         LEFT JOIN project_bids b ON b.id = n.project_bid
         LEFT JOIN tasks k ON k.id = n.task
         WHERE n.team = ?1 ORDER BY n.created_at DESC, n.id DESC LIMIT ?2";
    reader.all(SQL, (team.0, limit as i64), |row| {
        Ok(Notification {
            id: row.get("uuid")?,
            kind: row::word(row, "type")?,
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

/// How many of a team's messages nobody has read.
pub fn unread(reader: &Reader, team: TeamNumber) -> Result<u64> {
    reader
        .one("SELECT count(*) FROM notifications WHERE team = ?1 AND NOT is_read", [team.0], |row| row.get(0))
}
