//! What the webhooks of a world got.

use std::sync::Arc;

use super::place::{below_world, find, path};
use crate::{
    console::pages::{operator::prelude::*, settings::webhook_forms::event_text},
    worlds::InboxMessage,
};

/// Number of messages that are shown.
const SHOWN: usize = 100;

/// The page.
pub struct InboxPage;

impl Page<Operator> for InboxPage {
    const PATH: &'static str = "/operator/worlds/{world}/inbox";
    const TITLE: &'static str = "Messages to webhooks";
    const OPERATIONS: &'static [&'static str] = &["list_world_webhooks"];

    async fn show(visit: &Visit<Operator>) -> Result<Answer> {
        let world = find(&visit.context)?;
        let (_, last) = world.inbox().list(u64::MAX, 0, |_| true);
        let (mut messages, _) = world.inbox().list(last.saturating_sub(SHOWN as u64), SHOWN, |_| true);
        messages.reverse();
        let here = visit.links.to(&path(world.name(), "/inbox"));
        let body = html! {
            // With scripts, the list updates itself.
            div hx-get=(here) hx-trigger="every 3s" hx-target="#inbox" hx-select="#inbox" hx-swap="outerMorph" {}
            div #inbox {
                p.note { (text::counted(last, "message", "messages")) " so far; the newest 100 are here. " a href=(here) { "Look again" } }
                (table(&messages))
            }
        };
        let request = format!("/sandbox/v1/worlds/{}/webhooks", world.name());
        Ok(below_world(Content::new(Self::TITLE, body), &world).with_request(request).into())
    }
}

fn table(messages: &[Arc<InboxMessage>]) -> Markup {
    if messages.is_empty() {
        let advice = "Messages to the webhooks of the world are kept here, and are not sent unless the world was created so.";
        return tables::empty("Nothing yet", advice, None);
    }
    let row = |message: &Arc<InboxMessage>| {
        [
            Head::text("Number").cell(message.number),
            Head::text("Event").cell(event_text(message.event_type)),
            Head::text("Address").cell(html! { span.mono.long { (message.url) } }),
            Head::number("Attempt").cell(message.attempt),
            Head::text("Sent").cell(text::moment(message.sent_at)),
            Head::text("Message").cell(html! { details id={ "message-" (message.number) } {
                summary { "Headers and body" }
                pre { code.long {
                    @for (name, value) in &message.headers { (name) ": " (value) "\n" }
                    "\n" (message.body)
                } }
            } }),
        ]
    };
    tables::of("Messages", messages, row)
}
