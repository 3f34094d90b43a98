//! Deliveries of events to webhooks, with the attempts that were made.

use super::{paths::DELIVERIES, prelude::*};
use crate::{
    console::{
        pages::settings::{webhook::attempts, webhook_forms::event_text},
        resources::yes_or_no,
    },
    domain::{events::EventType, webhooks::DeliveryStatus},
    operations::webhook_deliveries,
    store::records::webhook_deliveries::WEBHOOK_DELIVERIES,
};

/// The resource.
pub struct Deliveries;

/// Returns all types of events with their words, for a filter.
pub fn event_choices() -> Vec<(&'static str, String)> {
    text::choices(event_text)
}

impl Resource for Deliveries {
    const LIST: &'static str = DELIVERIES;
    const TITLE: &'static str = "Deliveries to webhooks";
    const RECORDS: &'static Records = &WEBHOOK_DELIVERIES;
    const TABS: &'static [(&'static str, &'static str)] = WEBHOOK_TABS;
    const EMPTY: &'static str = "What was sent to webhooks appears here.";

    const FIELDS: &'static [RecordField] = &[
        RecordField::listed("event_type", "Event", Plain),
        RecordField::listed("webhook_id", "Webhook", Record(WEBHOOKS)),
        RecordField::listed("team_id", "Team", Record(TEAMS)),
        RecordField::listed("status", "Status", State),
        RecordField::listed("attempt_count", "Attempts", Number),
        RecordField::listed("created_at", "Happened", Moment),
        RecordField::listed("next_attempt_at", "Next attempt", Moment),
        RecordField::detail("ended_at", "Ended", Moment),
        RecordField::detail("id", "ID", Id),
    ];

    const FILTERS: &'static [ListFilter] = &[
        ListFilter::choice("status", "Status", text::word_choices::<DeliveryStatus>),
        ListFilter::choice("failing", "Failed, or failing so far", yes_or_no),
        ListFilter::choice("event_type", "Event", event_choices),
        ListFilter::text("webhook_id", "Webhook, by address or ID"),
    ];

    fn title_of(record: &AnyRecord) -> String {
        let kind = record.text("event_type");
        EventType::parse(kind).map_or_else(|| kind.to_owned(), event_text)
    }

    const STEPS: &'static [Step] = &[Step {
        name: "redeliver",
        label: "Send again",
        question: "The message is sent again now with the same ID, regardless of earlier attempts. The webhook must be enabled.",
        preview: Some(next_attempt),
        operation: "redeliver_webhook_delivery",
        perform: |writer, operator, record, _| {
            webhook_deliveries::redeliver(writer, operator.platform(), id_of(record)?).map(|()| None)
        },
        ..Step::DEFAULT
    }];

    fn below_fields(reader: &Reader, platform: Platform, record: &AnyRecord) -> Result<Option<RenderFn>> {
        let found = webhook_deliveries::list_attempts(reader, platform, id_of(record)?)?;
        let message = text::laid_out_json(record.text("body"));
        let subject = webhook_deliveries::subject_of(record.text("body"));
        Ok(Some(Box::new(move |context: &Context| {
            html! {
                @if let Some(subject) = &subject {
                    p { "It is about the record " a.mono.long href=(context.links.to(&search_for(subject))) { (subject) } "." }
                }
                (tables::section("attempts", "Attempts", &attempts(&found)))
                (tables::section("message", "Message", &html! { pre { code.long { (message) } } }))
            }
        })))
    }
}

/// Explains what happens to the next automatic attempt if a message is sent again.
// Previews can fail.
#[allow(clippy::unnecessary_wraps)]
fn next_attempt(_: &Reader, _: Platform, record: &AnyRecord) -> Result<Previewed> {
    let next = record.time("next_attempt_at");
    Ok(Previewed::new(move |_| {
        html! { @if let Some(next) = next {
            p { "The next automatic attempt is at " (text::moment(next)) ". This one takes its place: if it fails, too, the wait until the \
                 one after it is longer." }
        } }
    }))
}
