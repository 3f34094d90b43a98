//! Live events: the newest events, which the page requests again every three seconds.

use super::{AskedFilters, LIVE, NamedEvents, filters, list, row, tabs, with_request};
use crate::console::pages::operator::prelude::*;

/// Number of events that the page shows.
const SHOWN: usize = 30;

/// The page.
pub struct LiveEvents;

impl Page<Operator> for LiveEvents {
    const PATH: &'static str = LIVE;
    const TITLE: &'static str = "What happens now";

    async fn show(visit: &Visit<Operator>) -> Result<Answer> {
        let asked = AskedFilters::of(&visit.query);
        let wanted = asked.clone();
        let read = visit.read(move |reader, operator| {
            let found = list::load(reader, operator, &wanted, None, SHOWN)?;
            NamedEvents::find(reader, operator.platform(), found.events)
        });
        let found = read.await?;
        let context = &visit.context;
        let here = context.here(&asked.query());
        let body = html! {
            (tabs(context, &asked))
            (filters(context, &asked))
            // With scripts, the list updates itself.
            div hx-get=(here) hx-trigger="every 3s" hx-target="#live" hx-select="#live" hx-swap="outerMorph" {}
            div #live {
                p.note {
                    "The newest events, looked up every three seconds. Market clock: " (text::moment(context.now())) ". "
                    a href=(here) { "Look again" }
                }
                @if found.events.is_empty() { p { "Nothing that matches has happened lately." } }
                @else { (tables::of(Self::TITLE, &found.events, |event| row(context, event, &found.names))) }
            }
        };
        let content = Content::new(Self::TITLE, body).with_parent("Events", super::EVENTS);
        Ok(with_request(content, &asked, "now").into())
    }
}
