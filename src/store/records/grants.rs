//! Upload grants, as operators see them.

use serde_json::Value;
use uuid::Uuid;

use super::{
    Filter::{Custom, RefersTo},
    Filters, FromRow, Record, Records,
    pages::PageQuery,
};
use crate::{
    domain::grants::{Grant, GrantState},
    store::grants,
    string_enum::StringEnum,
};

/// An upload grant.
#[derive(Clone, Debug, FromRow)]
pub struct GrantRecord {
    /// The grant.
    #[row(with = grants::read_fields)]
    pub grant: Grant,
    /// ID of the team.
    #[row(name = "team_id")]
    pub team: Uuid,
    /// ID of the group for the codebase; `None` for the default group.
    #[row(name = "group_uuid")]
    pub group: Option<Uuid>,
    /// Name of the file that was begun to be uploaded, or became a codebase; `None` if none was.
    pub file_name: Option<String>,
    /// Size of that file in bytes.
    pub size_bytes: Option<u64>,
}

impl Record for GrantRecord {
    type Id = Uuid;

    const RECORDS: &'static Records = &GRANTS;
}

/// Upload grants.
pub const GRANTS: Records = Records {
    name: "upload grant",
    columns: &[
        "g.id, g.uuid, g.team, g.title, g.exclusivity, g.group_id, g.max_bytes, g.created_at, g.expires_at,
         g.revoked_at, g.consumed_at, g.expired_at, g.file_name, g.size_bytes,
         (SELECT t.uuid FROM teams t WHERE t.id = g.team) AS team_id,
         (SELECT o.uuid FROM groups o WHERE o.id = g.group_id) AS group_uuid",
    ],
    tables: &["upload_grants g"],
    row_id: "g.id",
    id: "g.uuid",
    condition: None,
    filters: &[("team_id", RefersTo("g.team", "teams")), ("status", Custom(with_state))],
};

// Both expressions have an index. A few grants have expired, but no step has recorded it yet.
const HAS_USE: &str = "CASE WHEN g.consumed_at IS NOT NULL THEN 'consumed'
    WHEN g.revoked_at IS NOT NULL THEN 'revoked' ELSE 'unused' END = ?";
const IS_OPEN: &str = "(g.consumed_at IS NULL AND g.revoked_at IS NULL AND g.expired_at IS NULL) = 1";

/// Adds the condition that grants have a state.
pub(super) fn with_state(query: PageQuery, value: &Value, _: &Filters) -> PageQuery {
    let now = query.now.0;
    match value.as_str().and_then(GrantState::parse) {
        Some(GrantState::Open) => query.when(IS_OPEN).filter("g.expires_at > ?", now),
        Some(GrantState::Expired) => {
            query.filter(HAS_USE, "unused").filter("(g.expired_at IS NOT NULL OR g.expires_at <= ?)", now)
        }
        Some(GrantState::Consumed) => query.filter(HAS_USE, "consumed"),
        Some(GrantState::Revoked) => query.filter(HAS_USE, "revoked"),
        None => query.when("0"),
    }
}
