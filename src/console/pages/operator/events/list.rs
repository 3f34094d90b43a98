//! What has happened, newest first.

use super::{AskedFilters, EVENTS, NamedEvents, filters, row, tabs, with_request};
use crate::{
    console::{
        csv::{self, Part},
        pages::operator::prelude::*,
    },
    domain::events::EventId,
    operations::events::{self, EarlierEvents, Event},
};

/// Name of the field of the query with the event before which a page begins.
const BEFORE: &str = "before";

/// Number of events on a page.
const EVENTS_PER_PAGE: usize = 50;

/// Number of events that are read at once for a file.
const EVENTS_PER_PART: usize = 500;

/// The page.
pub struct Events;

impl Page<Operator> for Events {
    const PATH: &'static str = EVENTS;
    const TITLE: &'static str = "Events";
    const OPERATIONS: &'static [&'static str] = &["list_events"];
    const NAVIGATION: Option<NavigationItem> = Some(Section::System.link("Events"));

    async fn show(visit: &Visit<Operator>) -> Result<Answer> {
        let asked = AskedFilters::of(&visit.query);
        if csv::is_asked(&visit.query) {
            return file(visit, asked).await;
        }
        let before = visit.query.get(BEFORE).and_then(EventId::parse);
        let wanted = asked.clone();
        let read = visit.read(move |reader, operator| {
            let found = load(reader, operator, &wanted, before, EVENTS_PER_PAGE)?;
            let events = NamedEvents::find(reader, operator.platform(), found.events)?;
            Ok((events, found.next))
        });
        let (found, next) = read.await?;
        let context = &visit.context;
        let next = next.map(|id| context.here(&asked.query().with(BEFORE, &id.to_string())));
        let first = before.is_some().then(|| context.here(&asked.query()));
        let note = html! {
            (text::counted(found.events.len() as u64, "event", "events")) " on this page, newest first · "
            (csv::link(&context.here(&csv::query(&asked.query()))))
        };
        let body = html! {
            (tabs(context, &asked))
            (filters(context, &asked))
            @if found.events.is_empty() && next.is_some() { p { "Nothing among the last 10,000 events. Earlier ones can match." } }
            @else if found.events.is_empty() { (tables::empty("Nothing here", "No event that is kept matches.", None)) }
            @else { (tables::of(Self::TITLE, &found.events, |event| row(context, event, &found.names))) }
            (tables::pager(&note, first.as_deref(), next.as_deref()))
        };
        Ok(with_request(Content::new(Self::TITLE, body), &asked, "").into())
    }
}

/// Returns the last events that match, before an event.
pub(super) fn load(
    reader: &Reader,
    operator: &Operator,
    asked: &AskedFilters,
    before: Option<EventId>,
    limit: usize,
) -> Result<EarlierEvents> {
    match asked.resolve(reader)? {
        Some(filters) => events::list_latest(reader, operator.platform(), &filters, before, limit),
        None => Ok(EarlierEvents { events: Vec::new(), next: None }),
    }
}

/// Answers with a file of all events that match.
async fn file(visit: &Visit<Operator>, asked: AskedFilters) -> Result<Answer> {
    let heads = ["ID", "Event", "ID of the team", "ID of the record", "ID of the request", "Time", "Data"];
    let heads = heads.map(str::to_owned).to_vec();
    csv::in_parts(visit, "events", heads, None, move |reader, operator, before: Option<EventId>| {
        let found = load(reader, operator, &asked, before, EVENTS_PER_PART)?;
        let row = |event: &Event| {
            vec![
                EventId(event.row_id).to_string(),
                event.event_type.as_str().to_owned(),
                event.team.map(|id| id.to_string()).unwrap_or_default(),
                event.subject.0.clone(),
                event.request_id.clone().unwrap_or_default(),
                event.occurred_at.to_string(),
                event.data.clone(),
            ]
        };
        Ok(Part { rows: found.events.iter().map(row).collect(), next: found.next.map(Some) })
    })
    .await
}
