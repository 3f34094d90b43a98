//! Notifications of a team.

use uuid::Uuid;

use super::access::Member;
use crate::{
    domain::{collections::Collection, notifications::NotificationType, teams::TeamRowId},
    error::Result,
    market::{Reader, Writer},
    store::{
        self,
        notifications::{BulkNotification, NewNotification, Notification},
    },
};

/// Notifies a team, in the transaction of the change that it is about. A replayed change notifies nobody,
/// nor does a step that was overdue at an upgrade.
pub fn send(
    writer: &Writer,
    team: TeamRowId,
    kind: NotificationType,
    title: &str,
    message: &str,
) -> Result<()> {
    if writer.is_replay || writer.is_quiet() {
        return Ok(());
    }
    let notification = NewNotification {
        id: writer.new_id(Collection::Notifications),
        team,
        kind,
        title,
        message,
        is_read: false,
        link: None,
        opportunity: None,
        project_opportunity: None,
        project_bid: None,
        task: None,
        created_at: writer.now,
    };
    store::notifications::insert(writer.rows, &notification)
}

/// Like [`send`], for many teams: one statement inserts all of their notifications.
pub fn send_to_all(
    writer: &Writer,
    teams: &[TeamRowId],
    kind: NotificationType,
    title: &str,
    message: &str,
) -> Result<()> {
    if writer.is_replay || writer.is_quiet() {
        return Ok(());
    }
    let new_id = |team: &TeamRowId| (*team, writer.new_id(Collection::Notifications));
    let recipients: Vec<(TeamRowId, Uuid)> = teams.iter().map(new_id).collect();
    let notification = BulkNotification { kind, title, message, created_at: writer.now };
    store::notifications::insert_for_all(writer.rows, &recipients, &notification)
}

/// Returns the team's newest notifications, and the number of all its unread notifications.
pub fn list_newest(reader: &Reader, member: &Member, limit: usize) -> Result<(Vec<Notification>, u64)> {
    let team = member.team_row_id();
    Ok((
        store::notifications::list_newest(reader.rows, team, limit)?,
        store::notifications::count_unread(reader.rows, team)?,
    ))
}
