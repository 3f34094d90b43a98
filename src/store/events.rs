//! The outbox: events in the order of the commits.

use uuid::Uuid;

use super::{Reader, Writer, row};
use crate::{
    domain::{
        events::{EventData, EventRowId, EventSubject, EventType},
        teams::TeamRowId,
        time::Timestamp,
    },
    error::Result,
    string_enum::StringEnum,
};

/// An event to insert.
#[derive(Debug)]
pub struct NewEvent<'a> {
    /// Whose view the event is; `None` if it affects no team.
    pub team: Option<TeamRowId>,
    /// The record that the event is about.
    pub subject: &'a EventSubject,
    /// Time of the event.
    pub occurred_at: Timestamp,
    /// What happened.
    pub data: &'a EventData,
    /// ID of the request that caused the event; `None` if no request did.
    pub request_id: Option<&'a str>,
}

/// Appends an event. `data` is its data as JSON. Returns its row ID.
pub fn insert(writer: &Writer, event: &NewEvent, data: &str) -> Result<EventRowId> {
    let kind = event.data.event_type().as_str();
    append(writer, (kind, event.occurred_at.0, event.team, &event.subject.0, data, event.request_id))
}

/// Appends an event, given as the values of its columns: type, time, team, subject, data, and request ID. Returns its
/// row ID.
pub(super) fn append(writer: &Writer, columns: impl rusqlite::Params) -> Result<EventRowId> {
    const SQL: &str = "INSERT INTO events (type, occurred_at, team, subject, data, request_id)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    Ok(EventRowId(writer.insert(SQL, columns)?))
}

/// An event that is stored.
#[derive(Clone, Debug)]
pub struct Event {
    /// Row ID, which increases with the commits.
    pub row_id: EventRowId,
    /// Type of the event.
    pub event_type: EventType,
    /// Time of the event.
    pub occurred_at: Timestamp,
    /// ID of the team whose view the event is.
    pub team: Option<Uuid>,
    /// The record that the event is about.
    pub subject: EventSubject,
    /// The data of the type, as a JSON object.
    pub data: String,
    /// ID of the request that caused the event; `None` if no request did.
    pub request_id: Option<String>,
}

/// Returns the first events after one, in their order.
pub fn list_after(reader: &Reader, after: EventRowId, limit: usize) -> Result<Vec<Event>> {
    const SQL: &str = "SELECT e.id, e.type, e.occurred_at, t.uuid, e.subject, e.data, e.request_id
         FROM events e LEFT JOIN teams t ON t.id = e.team WHERE e.id > ?1 ORDER BY e.id LIMIT ?2";
    reader.query_all(SQL, (after, limit as i64), |row| {
        Ok(Event {
            row_id: row.get(0)?,
            event_type: row::string_enum(row, 1)?,
            occurred_at: row::time(row, 2)?,
            team: row.get(3)?,
            subject: EventSubject(row.get(4)?),
            data: row.get(5)?,
            request_id: row.get(6)?,
        })
    })
}
