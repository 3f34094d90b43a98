//! Entries of the audit, as operators see them.

use super::{
    Filter::{Equals, FromDay, RefersTo, UntilDay},
    Records,
};

/// Entries of the audit: who changed what.
pub const AUDIT: Records = Records {
    name: "audit entry",
    columns: &[
        "a.id AS number, a.occurred_at, coalesce(k.kind, 'command') AS actor_kind, k.uuid AS key_id,
         a.session AS session_id,
         iif(k.kind = 'operator', k.uuid, NULL) AS operator_key_id, iif(k.kind = 'team', k.uuid, NULL) AS team_key_id, k.uuid AS operator, a.operation,
         json_object('kind', a.subject_kind, 'id', a.subject_id) AS subject, a.subject_kind, a.subject_id,
         t.uuid AS team_id, a.request_id, a.changes",
    ],
    tables: &["audit a LEFT JOIN keys k ON k.id = a.key LEFT JOIN teams t ON t.id = a.team"],
    row_id: "a.id",
    id: "a.id",
    condition: None,
    filters: &[
        ("operator_key_id", RefersTo("a.key", "keys")),
        ("operation", Equals("a.operation")),
        ("subject_id", Equals("a.subject_id")),
        ("team_id", RefersTo("a.team", "teams")),
        ("occurred_from", FromDay("+a.occurred_at")),
        ("occurred_until", UntilDay("+a.occurred_at")),
    ],
};
