//! Operations on the outbox for operators: what has happened in the market, in the order of the commits.

use uuid::Uuid;

use super::access::{Operator, Platform};
use crate::{
    domain::{
        events::{EventId, EventRowId, EventType},
        teams::TeamRowId,
    },
    error::{Error, GoneCode, Result},
    market::Reader,
    store::{
        self,
        events::{EventFilter, PageLimits},
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
    /// With what follows an event. It need not match the filters, so these may change from page to page.
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
    /// The team whose view they are; `None` for all events. There are none of an unknown team.
    pub team: Option<Uuid>,
}

/// Finds the place after which a list begins. Fails if events after that place have been removed, or if there is no
/// such place.
pub fn find_start(reader: &Reader, _: Platform, start: Start) -> Result<EventRowId> {
    let newest = store::events::newest(reader.rows)?;
    match start {
        Start::Oldest => store::event_retention::trimmed_through(reader.rows),
        Start::Now => Ok(newest),
        Start::After(EventId(after)) => {
            check_kept(reader, after)?;
            // The market was restored from a backup that lacks the event, or the ID was made up. A list that
            // began there would lack the events that get these IDs.
            if after > newest { Err(Error::InvalidCursor) } else { Ok(after) }
        }
    }
}

/// Fails if events after a place have been removed.
fn check_kept(reader: &Reader, after: EventRowId) -> Result<()> {
    let removed = store::event_retention::trimmed_through(reader.rows)?;
    if after >= removed {
        return Ok(());
    }
    let message = format!(
        "Events up to {} were removed, since events are kept for {} days. Begin without a cursor, with the oldest \
         event that is kept; the data of the event `outbox.trimmed` says what was removed.",
        EventId(removed),
        reader.settings.events.keep_days
    );
    Err(Error::Gone(GoneCode::CursorExpired, message))
}

/// Returns a page of the events after a place, in the order of the commits: at most `limit`. Every event up to the
/// place that the page reaches, and that matches the filters, is in it or before it, so a list that continues there
/// has each event exactly once. Fails if events after the place have been removed.
pub fn list(
    reader: &Reader,
    _: Platform,
    filters: &Filters,
    after: EventRowId,
    limit: usize,
) -> Result<EventPage> {
    check_kept(reader, after)?;
    let filter = match filters.team {
        None => EventFilter { types: filters.types.clone(), team: None },
        Some(id) => match find_team(reader, id)? {
            Some(team) => EventFilter { types: filters.types.clone(), team: Some(team) },
            None => {
                let through = store::events::newest(reader.rows)?.max(after);
                return Ok(EventPage { events: Vec::new(), through, has_more: false });
            }
        },
    };
    let limits = PageLimits { events: limit, bytes: MAX_PAGE_BYTES, scanned: MAX_SCANNED };
    store::events::list_page(reader.rows, &filter, after, limits)
}

fn find_team(reader: &Reader, id: Uuid) -> Result<Option<TeamRowId>> {
    Ok(store::teams::find(reader.rows, id)?.map(|team| team.row_id))
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
    list(reader, operator.platform(), filters, after, limit)
}
