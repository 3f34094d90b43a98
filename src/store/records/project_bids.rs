//! Vendors' bids on project opportunities, with their buyers.

use super::{
    Filter::{Equals, RefersTo},
    Records,
};
use crate::store::opportunities::BID_SOURCES;

/// Bids on project opportunities.
pub const PROJECT_BIDS: Records = Records {
    name: "project bid",
    columns: &["b.uuid AS id, o.uuid AS opportunity_id, t.uuid AS team_id,
         (SELECT y.uuid FROM teams y WHERE y.id = o.owner) AS buyer_id, o.status AS opportunity_status, b.status,
         b.num_tasks, b.expected_timeline_days, b.attachments,
         (SELECT json_group_array(json_object('id', lower(hex(s.uuid)), 'name', s.name))
             FROM json_each(b.delivery_tasksets) j JOIN tasksets s ON s.id = j.value) AS delivered_tasksets,
         b.platform_events, b.vendor_events, b.created_at, b.updated_at, b.completed_at"],
    tables: &[BID_SOURCES],
    row_id: "b.id",
    id: "b.uuid",
    condition: None,
    filters: &[
        ("team_id", RefersTo("b.team", "teams")),
        ("buyer_id", RefersTo("o.owner", "teams")),
        ("opportunity_id", RefersTo("b.opportunity", "opportunities")),
        ("status", Equals("b.status")),
    ],
};
