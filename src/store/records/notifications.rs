//! Notifications of teams, as operators see them.

use super::{
    Filter::{Equals, Matches, RefersTo},
    Records,
};
use crate::store::notifications;

/// Notifications.
pub const NOTIFICATIONS: Records = Records {
    name: "notification",
    columns: &["n.uuid AS id, t.uuid AS team_id, n.type, n.title, n.message, n.is_read AS read, n.created_at, n.link,
         o.uuid AS opportunity_id, p.uuid AS project_opportunity_id, b.uuid AS project_bid_id, k.uuid AS task_id"],
    tables: &[notifications::TABLES, "LEFT JOIN teams t ON t.id = n.team"],
    row_id: "n.id",
    id: "n.uuid",
    condition: None,
    filters: &[
        ("team_id", RefersTo("n.team", "teams")),
        ("type", Equals("n.type")),
        ("unread", Matches("n.is_read = NOT ?")),
    ],
};
