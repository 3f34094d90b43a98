//! Webhooks of a team.

use super::{Filter, Records, TeamRecord, TeamRecords};
use crate::store::webhooks::{self, Webhook};

impl TeamRecord for Webhook {
    const LIST: &'static TeamRecords = &Records {
        name: "webhook",
        columns: &[webhooks::COLUMNS],
        tables: &[webhooks::TABLES],
        row_id: "w.id",
        id: "w.uuid",
        condition: Some("w.deleted_at IS NULL"),
        filters: &[("status", Filter::Matches("(w.disabled_at IS NULL) = (? = 'enabled')"))],
    }
    .of_team("w.team");
}
