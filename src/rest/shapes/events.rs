//! Events, as operators see them.

use serde::Serialize;
use serde_json::value::RawValue;
use uuid::Uuid;

use super::time::UtcTime;
use crate::{
    domain::events::{EventId, EventType},
    operations::events::Event,
};

/// The record that an event is about.
#[derive(Debug, Serialize)]
struct Subject<'a> {
    kind: &'static str,
    id: &'a str,
}

/// An event, in the order in which its fields are sent.
#[derive(Debug, Serialize)]
struct RenderedEvent<'a> {
    id: EventId,
    #[serde(rename = "type")]
    event_type: EventType,
    occurred_at: UtcTime,
    team_id: Option<Uuid>,
    subject: Subject<'a>,
    data: &'a RawValue,
}

/// Returns the JSON of an event, on one line.
pub fn render(event: &Event) -> String {
    let Event { row_id, event_type, occurred_at, team, subject, data } = event;
    let data: &RawValue =
        serde_json::from_str(data).expect("the database has JSON, which a constraint checks");
    let subject = Subject { kind: event_type.resource(), id: &subject.0 };
    let rendered = RenderedEvent {
        id: EventId(*row_id),
        event_type: *event_type,
        occurred_at: (*occurred_at).into(),
        team_id: *team,
        subject,
        data,
    };
    serde_json::to_string(&rendered).expect("an event serializes")
}
