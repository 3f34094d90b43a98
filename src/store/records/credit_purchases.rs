//! Purchases of credits, as operators see them.

use super::{
    Filter::{Equals, RefersTo},
    Records,
};

/// Purchases of credits.
pub const CREDIT_PURCHASES: Records = Records {
    name: "credit purchase",
    columns: &["c.uuid AS id, t.uuid AS team_id, c.cents AS amount, 'USD' AS currency, c.status,
         e.uuid AS ledger_entry_id, c.requested_by AS key_id, c.created_at,
         iif(c.status = 'completed', c.decided_at, NULL) AS completed_at, c.decided_at"],
    tables: &["credit_purchases c LEFT JOIN ledger_entries e ON e.id = c.entry
         LEFT JOIN teams t ON t.id = c.team"],
    row_id: "c.id",
    id: "c.uuid",
    condition: None,
    filters: &[("team_id", RefersTo("c.team", "teams")), ("status", Equals("c.status"))],
};
