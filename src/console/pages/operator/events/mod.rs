//! Events of the market: the list, and the live view.

pub mod detail;
pub mod list;
pub mod live;

use crate::{
    console::{
        pages::{operator::prelude::*, settings::webhook_forms::event_text},
        parts::tabs::{self, Tab},
    },
    domain::events::{EventId, EventType},
    operations::{
        events::{Event, Filters},
        teams,
    },
    store::records::any_record::Names,
};

/// The kind of events in the search.
pub const EVENT: &str = "event";

/// Path of the list.
pub const EVENTS: &str = paths::OPERATOR_EVENTS;

/// Path of what happens now.
pub const LIVE: &str = "/operator/events/live";

/// Filters of the lists of events: names of query fields.
const TYPE: &str = "types";
const TEAM: &str = "team";
const SUBJECT: &str = "subject";

/// The filters in a query. A team is named by its ID or its name.
#[derive(Clone, Debug)]
pub struct AskedFilters {
    event_type: Option<EventType>,
    team: Option<String>,
    subject: Option<String>,
}

impl AskedFilters {
    /// Reads the filters of a query.
    pub fn of(query: &Query) -> AskedFilters {
        let event_type = query.get(TYPE).and_then(EventType::parse);
        let text = |name: &str| query.get(name).map(str::to_owned);
        AskedFilters { event_type, team: text(TEAM), subject: text(SUBJECT) }
    }

    /// Returns the query that states them.
    pub fn query(&self) -> Query {
        let event_type = self.event_type.map_or("", StringEnum::as_str);
        Query::default()
            .with(TYPE, event_type)
            .with(TEAM, self.team.as_deref().unwrap_or_default())
            .with(SUBJECT, self.subject.as_deref().unwrap_or_default())
    }

    /// Returns the filters; `None` if there is no such team, so that nothing matches.
    pub fn resolve(&self, reader: &Reader) -> Result<Option<Filters>> {
        let types = self.event_type.into_iter().collect();
        let team = match &self.team {
            None => None,
            Some(name) => match teams::resolve(reader.rows, name) {
                Ok(team) => Some(team.id),
                Err(Error::NotFound(_) | Error::Conflict(_)) => return Ok(None),
                Err(error) => return Err(error),
            },
        };
        Ok(Some(Filters { types, team, subject: self.subject.clone() }))
    }
}

/// An event in a list, with the names of teams.
#[derive(Debug, Default)]
pub struct NamedEvents {
    /// The events.
    pub events: Vec<Event>,
    /// Names of teams.
    pub names: Names,
}

impl NamedEvents {
    /// Finds the names of the teams of events.
    pub fn find(reader: &Reader, platform: Platform, events: Vec<Event>) -> Result<NamedEvents> {
        let ids: Vec<_> = events.iter().filter_map(|event| event.team).collect();
        let names = records::names(reader.rows, platform, &ids)?;
        Ok(NamedEvents { events, names })
    }
}

/// Returns the row of an event.
pub fn row(context: &Context, event: &Event, names: &Names) -> [Cell; 5] {
    let page = format!("{EVENTS}/{}", EventId(event.row_id));
    let request = event.request_id.as_deref().unwrap_or(text::MISSING);
    [
        Head::text("Event")
            .cell(html! { a.long href=(context.links.to(&page)) { (event_text(event.event_type)) } }),
        Head::text("Seen by").cell(team(context, event, names)),
        Head::text("Record").cell(html! { span.mono.long { (event.subject.0) } }),
        Head::text("Request").cell(html! { span.mono.long { (request) } }),
        Head::text("Time").cell(text::moment(event.occurred_at)),
    ]
}

/// Returns the team whose view an event is.
pub fn team(context: &Context, event: &Event, names: &Names) -> Markup {
    html! { @match event.team {
        Some(id) => {
            a.long href=(context.links.to(&format!("{TEAMS}/{id}"))) {
                bdi { (names.get(&id).cloned().unwrap_or_else(|| id.to_string())) }
            }
        }
        None => "Operators",
    } }
}

/// Adds the request of the operator API for the events from a cursor on, except for the events of one record, since the
/// API has no such filter.
pub fn with_request(content: Content, asked: &AskedFilters, cursor: &str) -> Content {
    if asked.subject.is_some() {
        return content;
    }
    content.with_request(asked.query().with("cursor", cursor).at("/operator/v1/events"))
}

/// Returns the form with the filters.
pub fn filters(context: &Context, asked: &AskedFilters) -> Markup {
    let inputs = Inputs::default();
    let all = [("", "All".to_owned())].into_iter().chain(super::deliveries::event_choices());
    html! {
        form.row action=(context.links.to(&context.path)) aria-label="Filters" {
            (fields::select(&inputs, TYPE, "Event", all, asked.event_type.map_or("", StringEnum::as_str)))
            (Field::text(TEAM, "Team").value(asked.team.as_deref().unwrap_or_default()).at_most(200).show(&inputs))
            (Field::text(SUBJECT, "ID of the record").value(asked.subject.as_deref().unwrap_or_default()).at_most(200).show(&inputs))
            button { "Filter" }
        }
    }
}

/// Returns the links between the list and the live view.
pub fn tabs(context: &Context, asked: &AskedFilters) -> Markup {
    let tab = |label, path: &str| Tab {
        label,
        address: asked.query().at(&context.links.to(path)),
        is_current: context.path == path,
    };
    tabs::tabs("Events", &[tab("What has happened", EVENTS), tab("What happens now", LIVE)])
}
