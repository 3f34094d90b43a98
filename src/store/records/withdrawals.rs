//! Withdrawals of earnings, as operators see them.

use super::{
    Filter::{Equals, RefersTo},
    Records,
};

/// Withdrawals.
pub const WITHDRAWALS: Records = Records {
    name: "withdrawal",
    columns: &["w.uuid AS id, t.uuid AS team_id, w.cents AS amount, 'USD' AS currency, w.status,
         e.uuid AS ledger_entry_id, r.uuid AS reversal_entry_id, w.payout_setup,
         w.requested_at, w.decided_at"],
    tables: &["withdrawals w LEFT JOIN ledger_entries e ON e.id = w.entry LEFT JOIN teams t ON t.id = w.team
         LEFT JOIN ledger_entries r ON r.id = w.reversal"],
    row_id: "w.id",
    id: "w.uuid",
    condition: None,
    filters: &[("team_id", RefersTo("w.team", "teams")), ("status", Equals("w.status"))],
};
