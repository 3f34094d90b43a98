//! Events, as operators see them.

use poem_openapi::Object;
use serde::Serialize;
use serde_json::Value;
use uuid::Uuid;

use super::time::UtcTime;
use crate::{
    domain::events::{EventId, EventType},
    error::{Error, Result},
    operations::events,
    web::enum_value::EnumValue,
};

/// Something that has happened, as a team may know it. The documents have a schema of its data for each type; see
/// `openapi::event_schemas`.
#[derive(Debug, Object, Serialize)]
#[oai(rename = "MarketEvent")]
pub struct Event {
    /// ID of the event: its place in the order of commits, and a cursor.
    #[oai(validator(pattern = "^evt_[0-9]{16}$"))]
    pub id: String,
    /// Type of the event: the resource and what happened to it.
    #[oai(rename = "type")]
    #[serde(rename = "type")]
    pub event_type: EnumValue<EventType>,
    /// Time at which it happened.
    pub occurred_at: UtcTime,
    /// ID of the team whose view the event is; null if it affects no team, or all. What affects several teams has an
    /// event for each.
    pub team_id: Option<Uuid>,
    /// The record that the event is about.
    pub subject: EventSubject,
    /// What happened, by type.
    pub data: Value,
    /// ID of the request that caused it; null if no request did. The events of one operation share it.
    pub request_id: Option<String>,
}

/// The record that an event is about.
#[derive(Debug, Object, Serialize)]
pub struct EventSubject {
    /// Kind of the record: the part of the type before the period.
    pub kind: String,
    /// ID or slug of the record.
    pub id: String,
}

impl Event {
    /// Converts an event of the outbox.
    pub fn new(event: events::Event) -> Result<Event> {
        Ok(Event {
            id: EventId(event.row_id).to_string(),
            event_type: EnumValue(event.event_type),
            occurred_at: event.occurred_at.into(),
            team_id: event.team,
            subject: EventSubject { kind: event.event_type.resource().to_owned(), id: event.subject.0 },
            data: serde_json::from_str(&event.data).map_err(Error::internal)?,
            request_id: event.request_id,
        })
    }
}
