//! A team's messages.

use super::access::Member;
use crate::{
    error::Result,
    market::Reader,
    store::{self, notifications::Notification},
};

/// The team's newest messages, and how many of all its messages nobody has read.
pub fn feed(reader: &Reader, member: &Member, limit: usize) -> Result<(Vec<Notification>, u64)> {
    let team = member.number();
    Ok((
        store::notifications::newest(reader.rows, team, limit)?,
        store::notifications::unread(reader.rows, team)?,
    ))
}
