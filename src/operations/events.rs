//! Operations on the outbox for operators: what has happened in the market, in the order of the commits.

use uuid::Uuid;

use super::access::{Operator, Platform};
use crate::{
    domain::{
        events::{EventId, EventRowId, EventType},
        written,
    },
    error::{Error, GoneCode, Result},
    market::Reader,
    store::{
        self,
        events::{Bounds, EventFilter, PageLimits},
    },
};

pub use store::events::{Event, EventPage};

/// Maximum number of events that a request compares with its filters. If few of them match, its page has fewer
/// events than the limit, and the next one continues.
const MAX_SCANNED: u32 = 10_000;

/// Number of bytes of data with which a page ends, whatever its limit.
const MAX_PAGE_BYTES: usize = 256 * 1024;

/// The cursor of what happens from now on.
pub const NOW: &str = "now";

/// Where a list of events begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// With the oldest event that is kept.
    Oldest,
    /// With the next event that happens.
    Now,
    /// After the event with this ID. It need not match the filters, so the filters may change from page to page.
    After(EventId),
}

impl Start {
    /// Parses a cursor: the ID of an event, or `now`. Without one, a list begins with the oldest event.
    pub fn parse(cursor: Option<&str>) -> Result<Start> {
        match cursor {
            None => Ok(Start::Oldest),
            Some(NOW) => Ok(Start::Now),
            Some(text) => EventId::parse(text).map(Start::After).ok_or(Error::InvalidCursor),
        }
    }
}

/// Which events a list contains.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filters {
    /// Their types; empty for all.
    pub types: Vec<EventType>,
    /// The team in whose view the events are; `None` for all events. An unknown team has no events.
    pub team: Option<Uuid>,
    /// ID or slug of the record that they are about; `None` for all.
    pub subject: Option<String>,
}

/// Finds the place after which a list begins. Fails if events after that place have been removed, or if there is no
/// such place.
pub fn find_start(reader: &Reader, _: Platform, start: Start) -> Result<EventRowId> {
    resolve(reader, store::events::find_bounds(reader.rows)?, start)
}

fn resolve(reader: &Reader, Bounds { removed, newest, last_id }: Bounds, start: Start) -> Result<EventRowId> {
    match start {
        Start::Oldest => Ok(removed),
        Start::Now => Ok(newest),
        Start::After(EventId(after)) if after < removed => {
            let message = format!(
                "Events up to {} were removed, since events are kept for {}. Begin without a cursor and `Last-Event-ID`, with \
                 the oldest event that is kept; the event `outbox.trimmed` says what was removed.",
                EventId(removed),
                written::counted(reader.settings.events.keep_days.into(), "day", "days")
            );
            Err(Error::Gone(GoneCode::CursorExpired, message))
        }
        // No event has this ID. A list that begins there would miss the events that get the IDs up to it.
        Start::After(EventId(after)) if after > last_id => Err(Error::InvalidCursor),
        // This may be the ID of an event that this copy of the market lacks. It is not used again, so all new events follow it.
        Start::After(EventId(after)) => Ok(after),
    }
}

/// Returns a page of events in the order of the commits: at most `limit`. Every event up to the place that the page
/// reaches, and that matches the filters, is in it or before it, so a list that continues there has each event exactly
/// once. Fails if events after the place at which it begins have been removed.
pub fn list(
    reader: &Reader,
    _: Platform,
    filters: &Filters,
    start: Start,
    limit: usize,
) -> Result<EventPage> {
    let bounds = store::events::find_bounds(reader.rows)?;
    let after = resolve(reader, bounds, start)?;
    let team = match filters.team {
        None => None,
        Some(id) => match store::teams::find(reader.rows, id)? {
            Some(team) => Some(team.row_id),
            None => {
                let through = bounds.newest.max(after);
                return Ok(EventPage { events: Vec::new(), through, has_more: false });
            }
        },
    };
    let filter = EventFilter { types: filters.types.clone(), team, subject: filters.subject.clone() };
    let limits = PageLimits { events: limit, bytes: MAX_PAGE_BYTES, scanned: MAX_SCANNED };
    store::events::list_page(reader.rows, &filter, after, bounds.newest, limits)
}

/// Some of the events before a place, newest first.
#[derive(Clone, Debug)]
pub struct EarlierEvents {
    /// The events that match the filters.
    pub events: Vec<Event>,
    /// The event before which the next page begins; `None` if no earlier events are kept.
    pub next: Option<EventId>,
}

/// Returns the last events that match the filters, newest first: those before an event, or the newest ones. The number of
/// compared events is limited, so the result may have fewer than `limit` events although there are more.
pub fn list_latest(
    reader: &Reader,
    _: Platform,
    filters: &Filters,
    before: Option<EventId>,
    limit: usize,
) -> Result<EarlierEvents> {
    let Bounds { removed, newest, .. } = store::events::find_bounds(reader.rows)?;
    let team = match filters.team {
        None => None,
        Some(id) => match store::teams::find(reader.rows, id)? {
            Some(team) => Some(team.row_id),
            None => return Ok(EarlierEvents { events: Vec::new(), next: None }),
        },
    };
    let filter = EventFilter { types: filters.types.clone(), team, subject: filters.subject.clone() };
    let limits = PageLimits { events: limit, bytes: MAX_PAGE_BYTES, scanned: MAX_SCANNED };
    let before = before.map_or(EventRowId(newest.0.saturating_add(1)), |EventId(id)| id);
    let (events, end) = store::events::list_before(reader.rows, &filter, (removed, before), limits)?;
    Ok(EarlierEvents { events, next: (end.0 > removed.0 + 1).then_some(EventId(end)) })
}

/// Returns an event that is kept.
pub fn find(reader: &Reader, _: Platform, EventId(id): EventId) -> Result<Event> {
    let Bounds { removed, .. } = store::events::find_bounds(reader.rows)?;
    let found = if id > removed { store::events::find(reader.rows, id)? } else { None };
    found.ok_or_else(|| Error::not_found("event"))
}

/// Like [`list`], for a stream that an operator follows. Fails if the operator's key is no longer valid.
pub fn follow(
    reader: &Reader,
    operator: &Operator,
    filters: &Filters,
    after: EventRowId,
    limit: usize,
) -> Result<EventPage> {
    operator.check_still_valid(reader)?;
    list(reader, operator.platform(), filters, Start::After(EventId(after)), limit)
}
