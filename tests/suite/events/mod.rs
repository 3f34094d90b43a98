//! The outbox: pages of events for operators, and how long events are kept.

mod pages;
mod retention;
mod streams;

use marketplace::{
    domain::events::{EventData, EventId, EventRowId, LabelData},
    error::Result,
    market::{Market, Reader, Writer},
    operations::{
        access::Platform,
        events::{self, Event, EventPage, Filters, Start},
    },
    rest, store,
};

use crate::harness::{TestMarket, documents::operator_document};

/// Microseconds per day.
const DAY: i64 = 86_400_000_000;

fn platform() -> Platform {
    Platform::of_process()
}

/// Returns the page that begins at a cursor.
fn page(market: &TestMarket, cursor: Option<&str>, filters: &Filters, limit: usize) -> Result<EventPage> {
    let start = Start::parse(cursor)?;
    market.read(|reader| events::list(reader, platform(), filters, start, limit))
}

/// Returns the events of all pages from a cursor on.
fn walk(market: &TestMarket, cursor: Option<&str>, filters: &Filters, limit: usize) -> Vec<Event> {
    let (mut found, mut cursor) = (Vec::new(), cursor.map(str::to_owned));
    loop {
        let page = page(market, cursor.as_deref(), filters, limit).unwrap();
        found.extend(page.events);
        if !page.has_more {
            return found;
        }
        cursor = Some(EventId(page.through).to_string());
    }
}

fn all(market: &TestMarket) -> Vec<Event> {
    walk(market, None, &Filters::default(), 100)
}

/// Asserts that all events of a market match the schemas of their types in the document of the operator API.
pub fn assert_events_match_document(market: &Market) {
    let list = |reader: &Reader| store::events::list_after(reader.rows, EventRowId(0), 1_000_000);
    for event in market.read_blocking(list).unwrap() {
        let event = rest::shapes::events::Event::new(event).unwrap();
        operator_document().assert_matches("MarketEvent", &serde_json::to_value(event).unwrap());
    }
}

fn row_ids(events: &[Event]) -> Vec<EventRowId> {
    events.iter().map(|event| event.row_id).collect()
}

/// Appends this many events in one transaction.
fn append(market: &TestMarket, count: usize) {
    let label = LabelData { slug: "maps".to_owned(), label: "Maps".to_owned() };
    let data = EventData::DomainUpdated(label);
    let append = |writer: &mut Writer| (0..count).try_for_each(|_| writer.emit(None, "maps", &data));
    market.write(append).unwrap();
}
