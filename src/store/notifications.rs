//! Notifications of teams.

use uuid::Uuid;

use super::{
    Reader, Writer,
    row::{self, FromRow},
};
use crate::{
    domain::{
        notifications::NotificationType,
        opportunities::OpportunityKind,
        row_ids::{OpportunityRowId, ProjectBidRowId, TaskRowId},
        teams::TeamRowId,
        time::Timestamp,
    },
    error::Result,
};

/// What a notification says, and what it refers to.
#[derive(Clone, Copy, Debug)]
pub struct Notice<'a> {
    /// Type of the event.
    pub kind: NotificationType,
    /// Short title.
    pub title: &'a str,
    /// Text of one or two sentences.
    pub message: &'a str,
    /// Path of a page in an application of the platform.
    pub link: Option<&'a str>,
    /// Path of the page of the web app that it leads to, if that is neither the link nor the page of what it refers to.
    pub page: Option<&'a str>,
    /// The related opportunity for listings.
    pub opportunity: Option<OpportunityRowId>,
    /// The related project opportunity.
    pub project_opportunity: Option<OpportunityRowId>,
    /// The related project bid.
    pub project_bid: Option<ProjectBidRowId>,
    /// The related task.
    pub task: Option<TaskRowId>,
}

impl<'a> Notice<'a> {
    /// Creates a notification that refers to nothing.
    pub const fn new(kind: NotificationType, title: &'a str, message: &'a str) -> Notice<'a> {
        Notice {
            kind,
            title,
            message,
            link: None,
            page: None,
            opportunity: None,
            project_opportunity: None,
            project_bid: None,
            task: None,
        }
    }
}

/// A notification to insert.
#[derive(Debug)]
pub struct NewNotification<'a> {
    /// ID of the notification.
    pub id: Uuid,
    /// Row ID of the team that receives it.
    pub team: TeamRowId,
    /// What it says.
    pub notice: Notice<'a>,
    /// Whether a member of the team has read it.
    pub is_read: bool,
    /// Time of creation.
    pub created_at: Timestamp,
}

/// Inserts a notification.
pub fn insert(writer: &Writer, notification: &NewNotification) -> Result<()> {
    const SQL: &str =
        "INSERT INTO notifications (uuid, team, type, title, message, is_read, link, opportunity,
             project_opportunity, project_bid, task, created_at, page)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)";
    let notice = notification.notice;
    writer.run(
        SQL,
        (
            notification.id,
            notification.team,
            notice.kind,
            notice.title,
            notice.message,
            notification.is_read,
            notice.link,
            notice.opportunity,
            notice.project_opportunity,
            notice.project_bid,
            notice.task,
            notification.created_at,
            notice.page,
        ),
    )
}

/// Notifications to insert for any number of teams.
#[derive(Debug)]
pub struct BulkNotification<'a> {
    /// Type of the event.
    pub kind: NotificationType,
    /// Title and message.
    pub text: (&'a str, &'a str),
    /// A team with another title and message.
    pub owner: Option<(TeamRowId, &'a str, &'a str)>,
    /// Path of a page in an application of the platform.
    pub link: Option<&'a str>,
    /// Path of the page of the web app that it leads to, if that is neither the link nor the page of what it refers to.
    pub page: Option<&'a str>,
    /// The related opportunity, and its kind. The notification refers to the latest bid of its team on it, too.
    pub opportunity: Option<(OpportunityRowId, OpportunityKind)>,
    /// ID from which the IDs of the notifications are derived.
    pub seed: Uuid,
    /// Time of creation.
    pub created_at: Timestamp,
}

/// A query for row IDs of teams, in the column `team`, with its two parameters, ?1 and ?2.
pub(super) type TeamQuery<'a> = (&'a str, [rusqlite::types::Value; 2]);

/// Inserts a notification for each team of a query, with one statement. Memory does not depend on the number of
/// teams: SQLite keeps at most its page cache, and writes the rest to the log.
pub(super) fn insert_for_all(
    writer: &Writer,
    (teams, [first, second]): TeamQuery,
    notification: &BulkNotification,
) -> Result<()> {
    let BulkNotification { kind, text, owner, link, page, opportunity, seed, created_at } = notification;
    let column = match opportunity {
        Some((_, OpportunityKind::Project)) => "project_opportunity",
        _ => "opportunity",
    };
    let sql = format!(
        "INSERT INTO notifications (uuid, team, type, title, message, is_read, link, {column}, project_bid, created_at, page)
         SELECT derived_id(?3, r.team), r.team, ?4, CASE WHEN r.team = ?7 THEN ?8 ELSE ?5 END,
             CASE WHEN r.team = ?7 THEN ?9 ELSE ?6 END, 0, ?10, ?11,
             (SELECT max(b.id) FROM project_bids b WHERE b.opportunity = ?11 AND b.team = r.team), ?12, ?13
         FROM ({teams}) r ORDER BY r.team"
    );
    let (owner, owner_title, owner_message) = match owner {
        Some((team, title, message)) => (Some(*team), *title, *message),
        None => (None, "", ""),
    };
    let opportunity = opportunity.map(|(row_id, _)| row_id);
    writer.run(
        &sql,
        (
            first,
            second,
            seed,
            kind,
            text.0,
            text.1,
            owner,
            owner_title,
            owner_message,
            link,
            opportunity,
            created_at,
            page,
        ),
    )
}

/// A notification, as its team reads it.
#[derive(Clone, Debug, FromRow)]
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
    /// Path of the page of the web app that it leads to, if that is neither the link nor the page of what it refers to.
    pub page: Option<String>,
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

/// The columns of a [`Notification`], from [`TABLES`].
pub(super) const COLUMNS: &str =
    "n.uuid AS id, n.type AS kind, n.title, n.message, n.is_read, n.link, n.page, n.created_at,
    o.uuid AS opportunity, p.uuid AS project_opportunity, b.uuid AS project_bid, k.uuid AS task";

/// The tables of [`COLUMNS`].
pub(super) const TABLES: &str = "notifications n
    LEFT JOIN opportunities o ON o.id = n.opportunity
    LEFT JOIN opportunities p ON p.id = n.project_opportunity
    LEFT JOIN project_bids b ON b.id = n.project_bid
    LEFT JOIN tasks k ON k.id = n.task";

/// Returns a team's newest notifications, newest first.
pub fn list_newest(reader: &Reader, team: TeamRowId, limit: usize) -> Result<Vec<Notification>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM {TABLES} WHERE n.team = ?1 ORDER BY n.created_at DESC, n.id DESC LIMIT ?2"
    );
    reader.query_all(&sql, (team, limit as i64), Notification::from_row)
}

/// Number of a team's newest notifications that are searched for a subject.
const MAX_SEARCHED: u32 = 1_000;

/// Returns a team's newest notifications that refer to one of these records, or whose page ends with the ID of one of them, newest
/// first. Older ones than the newest 1,000 of the team are not looked at.
pub fn list_about(reader: &Reader, team: TeamRowId, ids: &[Uuid], limit: usize) -> Result<Vec<Notification>> {
    let sql = format!(
        "WITH wanted (id) AS (SELECT lower(value) FROM json_each(?2))
         SELECT {COLUMNS} FROM (
             SELECT id AS recent FROM notifications WHERE team = ?1 ORDER BY created_at DESC, id DESC LIMIT ?3) x
         CROSS JOIN {TABLES}
         WHERE n.id = x.recent AND (
             substr(n.page, -36) IN (SELECT id FROM wanted)
             OR lower(hex(o.uuid)) IN (SELECT replace(id, '-', '') FROM wanted)
             OR lower(hex(p.uuid)) IN (SELECT replace(id, '-', '') FROM wanted)
             OR lower(hex(b.uuid)) IN (SELECT replace(id, '-', '') FROM wanted))
         ORDER BY n.created_at DESC, n.id DESC LIMIT ?4"
    );
    let ids: Vec<String> = ids.iter().map(Uuid::to_string).collect();
    reader.query_all(&sql, (team, row::to_json(&ids)?, MAX_SEARCHED, limit as i64), Notification::from_row)
}

/// Returns the team of a notification, and its type.
pub fn find_team(reader: &Reader, id: Uuid) -> Result<Option<(TeamRowId, NotificationType)>> {
    const SQL: &str = "SELECT team, type FROM notifications WHERE uuid = ?1";
    reader.query_first(SQL, [id], |row| Ok((row.get(0)?, row.get(1)?)))
}

/// Returns the ID of the unread notification of a team that was inserted last. Its time can be earlier than that of others.
pub fn newest_unread(reader: &Reader, team: TeamRowId) -> Result<Option<Uuid>> {
    const SQL: &str =
        "SELECT uuid FROM notifications WHERE team = ?1 AND NOT is_read ORDER BY id DESC LIMIT 1";
    reader.query_first(SQL, [team], |row| row.get(0))
}

/// Returns the IDs and types of a team's oldest unread notifications that were inserted before this one, and its own.
pub fn list_unread(
    reader: &Reader,
    team: TeamRowId,
    until: Uuid,
    limit: u32,
) -> Result<Vec<(Uuid, NotificationType)>> {
    const SQL: &str = "SELECT uuid, type FROM notifications WHERE team = ?1 AND NOT is_read
            AND id <= (SELECT id FROM notifications WHERE uuid = ?2)
        ORDER BY id LIMIT ?3";
    reader.query_all(SQL, (team, until, limit), |row| Ok((row.get(0)?, row.get(1)?)))
}

/// Marks a notification as read. Returns whether it was unread.
pub fn mark_read(writer: &Writer, id: Uuid) -> Result<bool> {
    const SQL: &str = "UPDATE notifications SET is_read = 1 WHERE uuid = ?1 AND NOT is_read";
    Ok(writer.execute(SQL, [id])? == 1)
}

/// Returns the number of a team's unread notifications.
pub fn count_unread(reader: &Reader, team: TeamRowId) -> Result<u64> {
    reader.query_one("SELECT count(*) FROM notifications WHERE team = ?1 AND NOT is_read", [team], |row| {
        row.get(0)
    })
}
