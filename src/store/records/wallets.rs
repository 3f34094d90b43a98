//! Wallets, as operators see them.

use super::Records;

/// Wallets of teams. A wallet has the ID of its team.
pub const WALLETS: Records = Records {
    name: "wallet",
    columns: &["t.uuid AS team_id, t.name AS team_name, w.credits_cents AS credits, w.earned_cents AS earnings_total,
         w.pending_cents AS earnings_pending, w.available_cents AS earnings_available, 'USD' AS currency"],
    tables: &["wallets w JOIN teams t ON t.id = w.team"],
    row_id: "w.team",
    id: "t.uuid",
    condition: None,
    filters: &[],
};
