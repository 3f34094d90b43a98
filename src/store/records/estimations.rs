//! Estimations, as operators see them.

use super::{
    Filter::{Equals, RefersTo},
    Records,
};
use crate::store::estimations;

/// Estimations.
pub const ESTIMATIONS: Records = Records {
    name: "estimation",
    columns: &["e.uuid AS id, t.uuid AS team_id, e.kind AS sku, e.channel, e.repo_full_name, e.name, e.status,
         e.quote_low_cents AS quote_low, e.quote_high_cents AS quote_high, 'USD' AS currency, e.failure_message,
         a.uuid AS inventory_asset_id, e.created_by, e.created_at, e.completed_at"],
    tables: &[estimations::TABLES, "LEFT JOIN teams t ON t.id = e.team"],
    row_id: "e.id",
    id: "e.uuid",
    condition: None,
    filters: &[("team_id", RefersTo("e.team", "teams")), ("status", Equals("e.status"))],
};
