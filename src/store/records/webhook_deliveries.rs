//! Deliveries to webhooks with their attempts, as operators see them. Deliveries to deleted webhooks are not shown.

use super::{
    Filter::{Equals, OfPages, RefersTo},
    Records,
};
use crate::store::webhook_attempts;

/// Deliveries. The ID of the message is made from that of the delivery.
pub const WEBHOOK_DELIVERIES: Records = Records {
    name: "webhook delivery",
    columns: &[
        "d.uuid AS id, d.uuid AS message_id, w.uuid AS webhook_id, t.uuid AS team_id, d.event_type, d.body, d.status,
         d.created_at, d.next_attempt_at, d.ended_at, d.attempts AS attempt_count,",
        webhook_attempts::JSON,
        "AS attempts",
    ],
    tables: &["webhook_deliveries d JOIN webhooks w ON w.id = d.webhook AND w.deleted_at IS NULL
         LEFT JOIN teams t ON t.id = w.team"],
    row_id: "d.id",
    id: "d.uuid",
    condition: None,
    filters: &[
        ("webhook_id", RefersTo("d.webhook", "webhooks")),
        ("status", Equals("d.status")),
        ("event_type", Equals("d.event_type")),
        ("failing", OfPages("d.status = 'failed' OR d.status = 'pending' AND d.failures > 0")),
    ],
};
