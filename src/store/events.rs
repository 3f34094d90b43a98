//! The outbox: events in the order of the commits.

use uuid::Uuid;

use super::{
    Reader, Writer,
    row::{self, FromRow},
};
use crate::{
    domain::{
        events::{EventData, EventRowId, EventSubject, EventType},
        teams::TeamRowId,
        time::Timestamp,
    },
    error::Result,
};

/// A copy of the database that continues the market skips all IDs of events up to a multiple of this number. Otherwise, each ID is
/// the previous one plus one.
pub const SKIPPED_ID_UNIT: i64 = 1_000_000;

/// Returns the last ID of events that a copy skips. `last` is the last ID that is in use or skipped. The result is the number of
/// microseconds since 1970 at the beginning of the current second, so neither the original nor an earlier copy has used the IDs
/// that follow. If `last` is not before that time, the result is the next multiple of [`SKIPPED_ID_UNIT`].
pub fn last_skipped_id(last: i64, now: Timestamp) -> i64 {
    (last / SKIPPED_ID_UNIT + 1).max(now.0 / SKIPPED_ID_UNIT) * SKIPPED_ID_UNIT
}

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
    let kind = event.data.event_type();
    append(writer, (kind, event.occurred_at, event.team, event.subject, data, event.request_id))
}

/// Appends an event, given as the values of its columns: type, time, team, subject, data, and request ID. Returns its
/// row ID.
pub(super) fn append(writer: &Writer, columns: impl rusqlite::Params) -> Result<EventRowId> {
    const SQL: &str = "INSERT INTO events (type, occurred_at, team, subject, data, request_id)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    Ok(EventRowId(writer.insert(SQL, columns)?))
}

/// An event that is stored.
#[derive(Clone, Debug, FromRow)]
#[row(by_position)]
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

const SELECT: &str = "SELECT e.id, e.type, e.occurred_at, t.uuid, e.subject, e.data, e.request_id
     FROM events e LEFT JOIN teams t ON t.id = e.team";

/// Returns the first events after one, in their order.
pub fn list_after(reader: &Reader, after: EventRowId, limit: usize) -> Result<Vec<Event>> {
    let sql = format!("{SELECT} WHERE e.id > ?1 ORDER BY e.id LIMIT ?2");
    reader.query_all(&sql, (after, limit as i64), Event::from_row)
}

/// Returns the event with this row ID.
pub fn find(reader: &Reader, id: EventRowId) -> Result<Option<Event>> {
    reader.query_first(&format!("{SELECT} WHERE e.id = ?1"), [id], Event::from_row)
}

/// Returns the last events before a place that match a filter, newest first, and the place down to which the outbox was read: the
/// events before it are not among them. `through` is the place after which events are kept.
pub fn list_before(
    reader: &Reader,
    filter: &EventFilter,
    (through, before): (EventRowId, EventRowId),
    limits: PageLimits,
) -> Result<(Vec<Event>, EventRowId)> {
    let lowest = EventRowId(scan_start(reader, filter, before, limits.scanned)?.0.max(through.0));
    let sql = filter.select("e.id < ?2", "e.id DESC");
    let types = filter.types_json()?;
    let parameters = (lowest, before, filter.team, types, &filter.subject, limits.events as i64);
    let found: Vec<Event> = reader.query_all(&sql, parameters, Event::from_row)?;
    let is_full = found.len() >= limits.events;
    let end = found.last().filter(|_| is_full).map_or(EventRowId(lowest.0 + 1), |last| last.row_id);
    Ok((found, end))
}

/// Returns the place down to which a page of the last events compares events with the filter.
fn scan_start(reader: &Reader, filter: &EventFilter, before: EventRowId, scanned: u32) -> Result<EventRowId> {
    const OF_TEAM: &str =
        "SELECT id - 1 FROM events WHERE team = ?1 AND id < ?2 ORDER BY id DESC LIMIT 1 OFFSET ?3";
    if filter.is_indexed() {
        return Ok(EventRowId(0));
    }
    match filter.team {
        None => {
            const LAST: &str = "SELECT id FROM events WHERE id < ?1 ORDER BY id DESC LIMIT 1";
            let last = reader.query_first(LAST, [before], |row| row.get(0))?.unwrap_or(EventRowId(0));
            Ok(EventRowId(last.0.saturating_sub(scanned.into())))
        }
        // An index has the events of a team.
        Some(team) => {
            let last = scanned.saturating_sub(1);
            let start = reader.query_first(OF_TEAM, (team, before, last), |row| row.get(0))?;
            Ok(start.unwrap_or(EventRowId(0)))
        }
    }
}

/// Which events a list contains.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventFilter {
    /// Their types; empty for all.
    pub types: Vec<EventType>,
    /// The team whose view they are; `None` for all events.
    pub team: Option<TeamRowId>,
    /// ID or slug of the record that they are about; `None` for all.
    pub subject: Option<String>,
}

impl EventFilter {
    /// Whether every event that is read matches: an index has the events of each team.
    const fn is_indexed(&self) -> bool {
        self.types.is_empty() && self.subject.is_none()
    }

    /// Returns the statement for the events after the place `?1` that match, at most `?6`. `end` is a condition on the place
    /// `?2`; the other parameters are the team, the types as JSON, and the subject.
    fn select(&self, end: &str, order: &str) -> String {
        let team = if self.team.is_some() { "e.team = ?3" } else { "?3 IS NULL" };
        let types =
            if self.types.is_empty() { "?4 IS NULL" } else { "e.type IN (SELECT value FROM json_each(?4))" };
        let subject = if self.subject.is_some() { "e.subject = ?5" } else { "?5 IS NULL" };
        format!(
            "{SELECT} WHERE e.id > ?1 AND {end} AND {team} AND {types} AND {subject} ORDER BY {order} LIMIT ?6"
        )
    }

    /// Returns the types as JSON; `None` for all.
    fn types_json(&self) -> Result<Option<String>> {
        if self.types.is_empty() { Ok(None) } else { row::to_json(&self.types).map(Some) }
    }
}

/// How much of the outbox a page may read and contain.
#[derive(Clone, Copy, Debug)]
pub struct PageLimits {
    /// Maximum number of events.
    pub events: usize,
    /// Number of bytes of data with which a page ends.
    pub bytes: usize,
    /// Maximum number of events that are compared with the filter.
    pub scanned: u32,
}

/// Some of the events after a place in the outbox, in their order.
#[derive(Clone, Debug)]
pub struct EventPage {
    /// The events that match the filter.
    pub events: Vec<Event>,
    /// The place that the page reaches: it contains all events up to there that match.
    pub through: EventRowId,
    /// Whether the outbox has events after that place.
    pub has_more: bool,
}

/// Returns the ID of the first event after a place; `None` if there is none.
pub fn find_next(reader: &Reader, after: EventRowId) -> Result<Option<EventRowId>> {
    const SQL: &str = "SELECT id FROM events WHERE id > ?1 ORDER BY id LIMIT 1";
    reader.query_first(SQL, [after], |row| row.get(0))
}

/// The places between which the outbox has events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromRow)]
#[row(by_position)]
pub struct Bounds {
    /// The last event that was removed, even if its row still exists; 0 if none was.
    pub removed: EventRowId,
    /// The latest event that was committed. SQLite has one writer, and IDs are never used again, so no later commit
    /// adds an event before this place.
    pub newest: EventRowId,
    /// The last ID that is in use or skipped. Later commits add only events with higher IDs.
    pub last_id: EventRowId,
}

/// Returns the places between which the outbox has events.
pub fn find_bounds(reader: &Reader) -> Result<Bounds> {
    const SQL: &str = "SELECT through, coalesce((SELECT max(id) FROM events), through),
             coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'events'), through)
         FROM trimmed_events";
    reader.query_one(SQL, [], Bounds::from_row)
}

/// Returns a page of the events after a place, up to the newest one, that match a filter. It ends early, with fewer events, when it has
/// read as much as the limits allow.
pub fn list_page(
    reader: &Reader,
    filter: &EventFilter,
    after: EventRowId,
    newest: EventRowId,
    limits: PageLimits,
) -> Result<EventPage> {
    let scanned_through = scan_end(reader, filter, after, limits.scanned)?.min(newest);
    let mut statement = reader.prepare(&filter.select("e.id <= ?2", "e.id"))?;
    let types = filter.types_json()?;
    let parameters = (after, scanned_through, filter.team, types, &filter.subject, limits.events as i64);
    let mut rows = statement.query(parameters)?;
    let (mut events, mut bytes) = (Vec::new(), 0);
    while bytes < limits.bytes
        && let Some(row) = rows.next()?
    {
        let event = Event::from_row(row)?;
        bytes += event.data.len();
        events.push(event);
    }
    let is_full = events.len() >= limits.events || bytes >= limits.bytes;
    let through = match events.last() {
        Some(last) if is_full => last.row_id,
        _ => scanned_through.max(after),
    };
    Ok(EventPage { events, through, has_more: through < newest })
}

/// Returns the place up to which a page compares events with the filter.
fn scan_end(reader: &Reader, filter: &EventFilter, after: EventRowId, scanned: u32) -> Result<EventRowId> {
    const OF_TEAM: &str = "SELECT id FROM events WHERE team = ?1 AND id > ?2 ORDER BY id LIMIT 1 OFFSET ?3";
    if filter.is_indexed() {
        return Ok(EventRowId(i64::MAX));
    }
    match filter.team {
        None => {
            let next = find_next(reader, after)?;
            Ok(next
                .map_or(EventRowId(i64::MAX), |next| EventRowId((next.0 - 1).saturating_add(scanned.into()))))
        }
        Some(team) => {
            let last = scanned.saturating_sub(1);
            Ok(reader
                .query_first(OF_TEAM, (team, after, last), |row| row.get(0))?
                .unwrap_or(EventRowId(i64::MAX)))
        }
    }
}

#[cfg(test)]
mod tests;
