//! Webhooks of teams and of operators, as operators see them.

use super::{
    Filter::{Custom, Matches, RefersTo},
    Records,
};
use crate::store::webhooks;

/// Webhooks.
pub const WEBHOOKS: Records = Records {
    name: "webhook",
    columns: &[
        webhooks::IS_FAILING,
        "AS failing, w.uuid AS id, t.uuid AS team_id, w.url, w.description, w.event_types,
         iif(w.disabled_at IS NULL, 'enabled', 'disabled') AS status, w.disabled_reason, w.disabled_at,
         w.previous_secret_ends_at, w.last_success_at, w.created_at, w.updated_at",
    ],
    tables: &[webhooks::TABLES],
    row_id: "w.id",
    id: "w.uuid",
    condition: Some("w.deleted_at IS NULL"),
    filters: &[
        ("team_id", RefersTo("w.team", "teams")),
        ("status", Matches("(w.disabled_at IS NULL) = (? = 'enabled')")),
        (
            "failing",
            Custom(|query, value, _| match value.as_bool() {
                Some(false) => query.when(&format!("NOT {}", webhooks::IS_FAILING)),
                _ => query.when(webhooks::IS_FAILING),
            }),
        ),
    ],
};
