//! Notifications of a team.

use uuid::Uuid;

use super::access::{Member, Platform, TeamProof};
use crate::{
    domain::{
        collections::Collection,
        events::{EventData, NotificationData},
        listings::Actor,
        notifications::NotificationType,
        teams::TeamRowId,
    },
    error::{Error, Problem, Result},
    market::{Reader, Writer},
    store::{
        self,
        notifications::{NewNotification, Notification},
    },
};

pub use store::notifications::Notice;

/// Maximum number of notifications that a team marks as read in one transaction.
pub const MAX_READ_AT_ONCE: u32 = 1_000;

/// Whether changes send notifications. No notifications are sent for replayed changes, for steps that were overdue at an
/// upgrade, and for steps in the past of a fixture set.
pub const fn are_sent(writer: &Writer) -> bool {
    !writer.is_replay && !writer.is_quiet()
}

/// Notifies a team, in the transaction of the change that it is about. See [`are_sent`].
pub fn send_notice(writer: &Writer, team: TeamRowId, notice: &Notice) -> Result<()> {
    if !are_sent(writer) {
        return Ok(());
    }
    let id = writer.new_id(Collection::Notifications);
    let notification = NewNotification { id, team, notice: *notice, is_read: false, created_at: writer.now };
    store::notifications::insert(writer.rows, &notification)
}

/// Notifies a team of something at this path of the web app. See [`send_notice`].
pub fn send(
    writer: &Writer,
    team: TeamRowId,
    kind: NotificationType,
    (title, message): (&str, &str),
    page: &str,
) -> Result<()> {
    send_notice(writer, team, &Notice { page: Some(page), ..Notice::new(kind, title, message) })
}

/// Returns the team's newest notifications, and the number of all its unread notifications.
pub fn list_newest(reader: &Reader, member: &Member, limit: usize) -> Result<(Vec<Notification>, u64)> {
    let team = member.team_row_id();
    Ok((
        store::notifications::list_newest(reader.rows, team, limit)?,
        store::notifications::count_unread(reader.rows, team)?,
    ))
}

/// Returns the team's newest notifications about any of these records: those that refer to one of them, or whose page is that of
/// one.
pub fn list_about(
    reader: &Reader,
    proof: &impl TeamProof,
    ids: &[Uuid],
    limit: usize,
) -> Result<Vec<Notification>> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    store::notifications::list_about(reader.rows, proof.team_row_id(), ids, limit)
}

/// Returns the number of the team's unread notifications.
pub fn unread_count(reader: &Reader, member: &Member) -> Result<u64> {
    store::notifications::count_unread(reader.rows, member.team_row_id())
}

/// Returns the unread notification of the team that was written last; its time can be earlier than that of others.
pub fn newest_unread(reader: &Reader, member: &Member) -> Result<Option<Uuid>> {
    store::notifications::newest_unread(reader.rows, member.team_row_id())
}

/// Which notifications a team marks as read.
#[derive(Clone, Copy, Debug)]
pub enum MarkedRead<'a> {
    /// Those with these IDs.
    These(&'a [Uuid]),
    /// The oldest [`MAX_READ_AT_ONCE`] of the unread ones that were written before the one with this ID, and this one.
    Until(Uuid),
}

/// Marks notifications of the team as read. Fails if one of the IDs is not of a notification of the team. Returns the number of
/// those that were unread.
pub fn mark_read_by_team(
    writer: &mut Writer,
    member: &Member,
    actor: Actor,
    marked: MarkedRead,
) -> Result<u64> {
    let team = member.team_row_id();
    let unread = match marked {
        MarkedRead::Until(newest) => {
            find_own(writer, team, newest)?;
            store::notifications::list_unread(writer.rows, team, newest, MAX_READ_AT_ONCE)?
        }
        MarkedRead::These(ids) => {
            check_count(ids.len())?;
            ids.iter().map(|id| find_own(writer, team, *id)).collect::<Result<Vec<_>>>()?
        }
    };
    let mut count = 0;
    for (id, kind) in unread {
        count += u64::from(mark(writer, team, actor, id, kind)?);
    }
    Ok(count)
}

/// Returns the ID and the type of a notification of the team.
fn find_own(writer: &Writer, team: TeamRowId, id: Uuid) -> Result<(Uuid, NotificationType)> {
    let found = store::notifications::find_team(writer.rows, id)?;
    let (_, kind) = found.filter(|(owner, _)| *owner == team).ok_or_else(not_found)?;
    Ok((id, kind))
}

fn check_count(count: usize) -> Result<()> {
    if count <= MAX_READ_AT_ONCE as usize {
        return Ok(());
    }
    let message = format!("At most {MAX_READ_AT_ONCE} notifications can be marked as read at once.");
    Err(Error::invalid(Problem::body(&["ids"], "too_long", message)))
}

/// Marks a notification as read, in the name of its team. Does nothing if the team has read it.
pub fn mark_read(writer: &mut Writer, _: Platform, actor: Actor, id: Uuid) -> Result<()> {
    let found = store::notifications::find_team(writer.rows, id)?;
    let (team, kind) = found.ok_or_else(not_found)?;
    mark(writer, team, actor, id, kind).map(drop)
}

/// Marks a notification as read. Returns whether it was unread.
fn mark(
    writer: &Writer,
    team: TeamRowId,
    actor: Actor,
    id: Uuid,
    notification_type: NotificationType,
) -> Result<bool> {
    if !store::notifications::mark_read(writer.rows, id)? {
        return Ok(false);
    }
    let data = NotificationData { notification_id: id, actor, notification_type };
    writer.emit(Some(team), id, &EventData::NotificationRead(data))?;
    Ok(true)
}

fn not_found() -> Error {
    Error::not_found("notification")
}
