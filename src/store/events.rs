//! The outbox: events in the order of the commits.

use uuid::Uuid;

use super::{Reader, Writer, row};
use crate::{
    domain::{
        events::{EventData, EventRowId, EventSubject, EventType},
        teams::TeamRowId,
        time::Timestamp,
    },
    error::{Error, Result},
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
}

/// Appends an event.
pub fn insert(writer: &Writer, event: &NewEvent) -> Result<()> {
    const SQL: &str =
        "INSERT INTO events (type, occurred_at, team, subject, data) VALUES (?1, ?2, ?3, ?4, ?5)";
    let data = event.data.to_json().map_err(Error::internal)?;
    let kind = event.data.event_type().as_str();
    writer.execute(SQL, (kind, event.occurred_at.0, event.team, &event.subject.0, data))?;
    Ok(())
}

/// Collects the events of this transaction from now on, so that [`append_collected`] appends them in the order of
/// their times. Without it, events of earlier times are appended in the order in which they are found.
///
/// Until then, a temporary table takes the place of the outbox: its name hides that of the table.
pub fn start_collecting(writer: &Writer) -> Result<()> {
    const SQL: &str = "CREATE TEMP TABLE events (id INTEGER PRIMARY KEY, type TEXT NOT NULL,
             occurred_at INTEGER NOT NULL, team INTEGER, subject TEXT NOT NULL, data TEXT NOT NULL) STRICT";
    writer.execute(SQL, [])?;
    Ok(())
}

/// Appends the collected events to the outbox.
pub fn append_collected(writer: &Writer) -> Result<()> {
    const SQL: &str = "INSERT INTO main.events (type, occurred_at, team, subject, data)
         SELECT type, occurred_at, team, subject, data FROM temp.events ORDER BY occurred_at, id";
    writer.execute(SQL, [])?;
    writer.execute("DROP TABLE temp.events", [])?;
    Ok(())
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
}

/// Returns the first events after one, in their order.
pub fn list_after(reader: &Reader, after: EventRowId, limit: usize) -> Result<Vec<Event>> {
    const SQL: &str = "SELECT e.id, e.type, e.occurred_at, t.uuid, e.subject, e.data
         FROM events e LEFT JOIN teams t ON t.id = e.team WHERE e.id > ?1 ORDER BY e.id LIMIT ?2";
    reader.query_all(SQL, (after, limit as i64), |row| {
        Ok(Event {
            row_id: row.get(0)?,
            event_type: row::string_enum(row, 1)?,
            occurred_at: row::time(row, 2)?,
            team: row.get(3)?,
            subject: EventSubject(row.get(4)?),
            data: row.get(5)?,
        })
    })
}
