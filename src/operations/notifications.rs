//! Notifications of a team.

use super::access::Member;
use crate::{
    error::Result,
    market::Reader,
    store::{self, notifications::Notification},
};

/// Returns the team's newest notifications, and the number of all its unread notifications.
pub fn list_newest(reader: &Reader, member: &Member, limit: usize) -> Result<(Vec<Notification>, u64)> {
    let team = member.team_row_id();
    Ok((
        store::notifications::list_newest(reader.rows, team, limit)?,
        store::notifications::count_unread(reader.rows, team)?,
    ))
}
