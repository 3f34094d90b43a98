//! An event, with its data.

use super::{EVENTS, NamedEvents, team};
use crate::{
    console::pages::{
        operator::{field_changes::FieldChanges, prelude::*},
        settings::webhook_forms::event_text,
    },
    domain::events::EventId,
    operations::events,
};

/// The page.
pub struct EventPage;

impl Page<Operator> for EventPage {
    const PATH: &'static str = "/operator/events/{id}";
    const TITLE: &'static str = "Event";

    async fn show(visit: &Visit<Operator>) -> Result<Answer> {
        let id = EventId::parse(visit.parameter(0)).ok_or_else(|| Error::not_found("page"))?;
        let read = visit.read(move |reader, operator| {
            let platform = operator.platform();
            let event = events::find(reader, platform, id)?;
            let request = event.request_id.as_deref().map(|request| (event.subject.0.as_str(), request));
            let changes = request
                .map(|request| FieldChanges::of_request(reader, platform, request))
                .transpose()?
                .flatten();
            Ok((NamedEvents::find(reader, platform, vec![event])?, changes))
        });
        let (NamedEvents { events, names }, changes) = read.await?;
        let event = events.first().ok_or_else(|| Error::not_found("event"))?;
        let context = &visit.context;
        let audit = format!("/operator/audit?subject_id={}", event.subject.0);
        let facts = [
            ("Type", html! { span.mono.long { (event.event_type.as_str()) } }),
            ("ID", html! { span.mono.long { (id) } }),
            ("Seen by", team(context, event, &names)),
            (
                "Record",
                html! {
                    a.mono.long href=(context.links.to(&search_for(&event.subject.0))) { (event.subject.0) }
                    " " a href=(context.links.to(&audit)) { "Who changed it" }
                },
            ),
            (
                "ID of the request",
                html! { @match &event.request_id {
                    Some(id) => a.mono.long href=(context.links.to(&search_for(id))) { (id) },
                    None => (text::MISSING),
                } },
            ),
            ("Time", text::moment(event.occurred_at)),
        ];
        let body = html! {
            (tables::facts(&facts))
            @if let Some(changes) = &changes { (changes.show(context)) }
            (tables::section("data", "Data", &html! { pre { code.long { (text::laid_out_json(&event.data)) } } }))
        };
        Ok(Content::new(event_text(event.event_type), body).with_parent("Events", EVENTS).into())
    }
}
