//! Notifications of a team.

use super::access::Member;
use crate::{
    error::Result,
    market::Reader,
    store::{self, notifications::Notification},
};

/// Returns the team's newest notifications, and the number of all its unread notifications.
pub fn feed(reader: &Reader, member: &Member, limit: usize) -> Result<(Vec<Notification>, u64)> {
    let team = member.number();
    Ok((
        store::notifications::newest(reader.rows, team, limit)?,
        store::notifications::unread(reader.rows, team)?,
    ))
}
