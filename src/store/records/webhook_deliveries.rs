//! Deliveries to webhooks with their attempts, as operators see them. Those of deleted webhooks are not shown.

use uuid::Uuid;

use super::{
    Reader, Record,
    pages::{PageQuery, PageRequest, RowPage},
};
use crate::{
    domain::{events::EventType, webhooks::DeliveryStatus},
    error::Result,
    store::{
        row,
        webhook_attempts::{self, Attempt},
        webhook_deliveries::{self, COLUMNS, Delivery},
    },
    string_enum::StringEnum,
};

const TABLES: &str = "webhook_deliveries d JOIN webhooks w ON w.id = d.webhook AND w.deleted_at IS NULL
    LEFT JOIN teams t ON t.id = w.team";

/// A delivery, with the webhook that it belongs to.
#[derive(Clone, Debug)]
pub struct DeliveryRecord {
    /// The delivery.
    pub delivery: Delivery,
    /// ID of the webhook.
    pub webhook: Uuid,
    /// ID of its team; `None` if it is one of the operators.
    pub team: Option<Uuid>,
    /// The last attempts, newest first.
    pub attempts: Vec<Attempt>,
}

/// What the list of deliveries can be filtered by.
#[derive(Clone, Debug, Default)]
pub struct DeliveryFilter {
    /// ID of the webhook.
    pub webhook: Option<Uuid>,
    /// State of the delivery.
    pub status: Option<DeliveryStatus>,
    /// Type of the event.
    pub event_type: Option<EventType>,
}

fn columns() -> String {
    let attempts = webhook_attempts::column();
    format!("{COLUMNS}, w.uuid AS webhook_uuid, t.uuid AS team_uuid, {attempts}")
}

fn read(row: &rusqlite::Row) -> rusqlite::Result<DeliveryRecord> {
    Ok(DeliveryRecord {
        delivery: webhook_deliveries::read(row)?,
        webhook: row.get("webhook_uuid")?,
        team: row.get("team_uuid")?,
        attempts: row::json(row, "attempt_list")?,
    })
}

impl Record for DeliveryRecord {
    type Id = Uuid;
    type Filter = DeliveryFilter;

    const NAME: &'static str = "webhook delivery";

    fn find(reader: &Reader, id: &Uuid) -> Result<Option<DeliveryRecord>> {
        reader.query_first(&format!("SELECT {} FROM {TABLES} WHERE d.uuid = ?1", columns()), [id], read)
    }

    fn page(
        reader: &Reader,
        filter: &DeliveryFilter,
        request: PageRequest,
    ) -> Result<RowPage<DeliveryRecord>> {
        PageQuery::new(&columns(), TABLES, "d.id")
            .refers_to("d.webhook", "webhooks", filter.webhook)
            .filter("d.status = ?", filter.status.map(StringEnum::as_str))
            .filter("d.event_type = ?", filter.event_type.map(StringEnum::as_str))
            .fetch(reader, request, read)
    }
}
