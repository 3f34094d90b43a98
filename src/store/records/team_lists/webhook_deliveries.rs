//! Deliveries to the webhooks of a team, with their attempts. Deliveries to deleted webhooks are not shown.

use uuid::Uuid;

use super::{Filter, FromRow, Records, TeamRecord, TeamRecords};
use crate::store::{
    webhook_attempts::{self, Attempt},
    webhook_deliveries::{self, Delivery},
};

/// A delivery, as the team sees it.
#[derive(Clone, Debug, FromRow)]
pub struct TeamDelivery {
    /// The delivery.
    #[row(flatten)]
    pub delivery: Delivery,
    /// ID of the webhook.
    #[row(name = "webhook_uuid")]
    pub webhook: Uuid,
    /// URL of the webhook.
    pub url: String,
    /// The last attempts, newest first.
    #[row(name = "last_attempts", json)]
    pub attempts: Vec<Attempt>,
}

impl TeamRecord for TeamDelivery {
    const LIST: &'static TeamRecords = &Records {
        name: "webhook delivery",
        columns: &[
            webhook_deliveries::COLUMNS,
            ", w.uuid AS webhook_uuid, w.url,",
            webhook_attempts::JSON,
            "AS last_attempts",
        ],
        tables: &["webhook_deliveries d JOIN webhooks w ON w.id = d.webhook AND w.deleted_at IS NULL"],
        row_id: "d.id",
        id: "d.uuid",
        condition: None,
        filters: &[
            ("webhook", Filter::RefersTo("d.webhook", "webhooks")),
            ("status", Filter::OneOf("d.status")),
            ("event_type", Filter::OneOf("d.event_type")),
        ],
    }
    .of_team("w.team");
}
