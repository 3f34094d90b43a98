//! Removes data that is older than `events.keep_days`: the oldest events, and rows of other tables.

use super::access::Platform;
use crate::{
    domain::{
        events::{EventData, EventId, EventRowId, EventType, OutboxTrimmedData},
        time::Timestamp,
    },
    error::Result,
    market::{Market, Reader, Writer},
    store::{
        self,
        event_retention::{DATED_TABLES, EventPlace, Found},
    },
};

/// Maximum number of rows that one transaction deletes. Other writes wait for it.
const MAX_DELETED_PER_BATCH: u32 = 1_000;

/// Maximum number of events that one read looks at.
const MAX_READ_PER_BATCH: u32 = 10_000;

/// The subject of the event that reports a removal.
const OUTBOX: &str = "outbox";

/// What was removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Removed {
    /// Number of events.
    pub events: u64,
    /// Number of rows of other tables.
    pub other_rows: u64,
}

/// Removes what is older than `events.keep_days`, in transactions of bounded size.
///
/// Events are removed from the oldest one on, up to the first that is not old. One transaction removes them, and
/// appends an event that says so; from then on, no request returns them. Their rows are deleted afterwards. If that
/// is interrupted, the next call continues.
pub fn remove_old(market: &Market, platform: Platform) -> Result<Removed> {
    let mut removed = Removed::default();
    let keep_days = market.settings().events.keep_days;
    if keep_days > 0 {
        let since = market.clock().now().plus_days(-i64::from(keep_days));
        if let Some(old) = find_old(market, since)? {
            removed.events = market.write_blocking(|writer| trim_outbox(writer, platform, old))?;
        }
        for table in DATED_TABLES {
            removed.other_rows += in_batches(market, 1, |writer| {
                store::event_retention::delete_older(writer.rows, *table, since, MAX_DELETED_PER_BATCH)
            })?;
        }
    }
    in_batches(market, 1, |writer| {
        store::event_retention::delete_trimmed(writer.rows, MAX_DELETED_PER_BATCH)
    })?;
    Ok(removed)
}

/// Returns when [`remove_old`] will find something, given that it has removed everything until now; `None` for never. May be
/// early.
pub fn next_removal_at(reader: &Reader) -> Result<Option<Timestamp>> {
    let keep_days = i64::from(reader.settings.events.keep_days);
    if keep_days == 0 {
        return Ok(None);
    }
    let mut first = store::event_retention::next_reason(reader.rows)?;
    for table in DATED_TABLES {
        let time = store::event_retention::first_time(reader.rows, *table)?;
        first = first.into_iter().chain(time).min();
    }
    Ok(first.map(|at| at.plus_days(keep_days)))
}

/// Repeats a deletion, each time in a transaction of its own, until it deletes fewer rows than `batch`. Returns the number of
/// deleted rows.
pub(super) fn in_batches(
    market: &Market,
    batch: usize,
    delete: impl Fn(&Writer) -> Result<usize>,
) -> Result<u64> {
    let mut count = 0;
    loop {
        let deleted = market.write_blocking(|writer| delete(writer))?;
        count += deleted as u64;
        if deleted < batch {
            return Ok(count);
        }
    }
}

/// Events to remove together.
#[derive(Clone, Copy, Debug)]
struct OldEvents {
    first: EventRowId,
    last: EventRowId,
    count: u64,
}

/// Returns the events to remove; `None` if there are none.
fn find_old(market: &Market, since: Timestamp) -> Result<Option<OldEvents>> {
    let Some(first) = market.read_blocking(|reader| store::event_retention::first_kept(reader.rows))? else {
        return Ok(None);
    };
    let mut after = EventRowId(first.row_id.0 - 1);
    loop {
        let find = |reader: &Reader| {
            store::event_retention::find_newer(reader.rows, after, since, MAX_READ_PER_BATCH)
        };
        let last = match market.read_blocking(find)? {
            Found::OlderThrough(place) => {
                after = place;
                continue;
            }
            Found::Newer(newer) => EventRowId(newer.0 - 1),
            Found::AllOlder(last) => last,
        };
        let removable = market
            .read_blocking(|reader| store::event_retention::find_removable(reader.rows, last))?
            // The report of the last removal stays until there is more to remove.
            .filter(|(first, last)| {
                last.row_id != first.row_id || first.event_type != EventType::OutboxTrimmed
            });
        let Some((_, last)) = removable else { return Ok(None) };
        let count = count_through(market, first.row_id, last.row_id)?;
        return Ok(Some(OldEvents { first: first.row_id, last: last.row_id, count }));
    }
}

/// Counts the events from `first` through `last`. The number does not change while they exist.
fn count_through(market: &Market, first: EventRowId, last: EventRowId) -> Result<u64> {
    let (mut count, mut after) = (0, EventRowId(first.0 - 1));
    loop {
        let read = |reader: &Reader| {
            store::event_retention::count_after(reader.rows, after, last, MAX_READ_PER_BATCH)
        };
        let (found, place) = market.read_blocking(read)?;
        count += u64::from(found);
        match place {
            Some(place) if place < last => after = place,
            _ => return Ok(count),
        }
    }
}

/// Removes events, and appends an event that reports it. Returns the number of removed events.
fn trim_outbox(writer: &Writer, _: Platform, old: OldEvents) -> Result<u64> {
    let first = store::event_retention::first_kept(writer.rows)?;
    let last = store::event_retention::find(writer.rows, old.last)?;
    let (Some(first), Some(last)) = (first, last) else { return Ok(0) };
    if first.row_id != old.first {
        // Another process has removed some of them.
        return Ok(0);
    }
    let data = describe(writer, first, last, old.count)?;
    store::event_retention::set_trimmed_through(writer.rows, last.row_id)?;
    writer.emit(None, OUTBOX, &EventData::OutboxTrimmed(data))?;
    Ok(old.count)
}

fn describe(writer: &Writer, first: EventPlace, last: EventPlace, removed: u64) -> Result<OutboxTrimmedData> {
    Ok(OutboxTrimmedData {
        keep_days: writer.settings.events.keep_days,
        removed,
        first_id: EventId(first.row_id),
        first_occurred_at: first.occurred_at,
        last_id: EventId(last.row_id),
        last_occurred_at: last.occurred_at,
        records: store::event_retention::count_records(writer.rows)?,
    })
}
