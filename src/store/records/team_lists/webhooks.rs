//! Webhooks of a team.

use super::{Filter, TeamRecord, TeamRecords};
use crate::store::webhooks::{self, Webhook};

impl TeamRecord for Webhook {
    const LIST: &'static TeamRecords = &WEBHOOKS;
}

/// Webhooks of a team.
pub const WEBHOOKS: TeamRecords = TeamRecords {
    name: "webhook",
    columns: &[webhooks::COLUMNS],
    tables: &[webhooks::TABLES],
    row_id: "w.id",
    id: "w.uuid",
    team: "w.team",
    condition: Some("w.deleted_at IS NULL"),
    filters: &[("status", Filter::Matches("(w.disabled_at IS NULL) = (? = 'enabled')"))],
};
