//! The webhooks of the team.

use super::{below_settings, tabs, webhook_forms};
use crate::{
    console::prelude::*, domain::webhooks::WebhookDisabledReason, operations::team_webhooks,
    store::webhooks::Webhook,
};

/// The page.
pub struct Webhooks;

impl Page<Member> for Webhooks {
    const PATH: &'static str = paths::WEBHOOKS;
    const TITLE: &'static str = "Webhooks";

    async fn show(visit: &Visit<Member>) -> Result<Answer> {
        let webhooks = visit.read(team_webhooks::list).await?;
        let new = visit.links.to(webhook_forms::NewWebhook::PATH);
        let body = html! {
            (tabs(&visit.context))
            @if webhooks.is_empty() {
                (tables::empty(
                    "Your team has no webhooks",
                    "A webhook is an address of yours to which the market sends what happens to your team: a sale, a bid, a decision.",
                    Some(("Add a webhook", &new)),
                ))
            } @else {
                (list(&visit.context, &webhooks))
            }
            p.note {
                "How messages look, and how to verify them: " a href=(visit.links.outside("/guides/webhooks.md")) { "guide to webhooks" } "."
            }
        };
        let content = Content::new(Self::TITLE, body);
        let content = if webhooks.is_empty() {
            content
        } else {
            content.with_actions(html! { a.button.primary href=(new) { "Add a webhook" } })
        };
        Ok(below_settings(&visit.context, content).into())
    }
}

fn list(context: &Context, webhooks: &[Webhook]) -> Markup {
    let row = |webhook: &Webhook| {
        let address = html! {
            a.long href=(context.links.to(&paths::webhook(webhook.id))) { (webhook.url) }
            @if !is_blank(&webhook.description) { br; span.note.long { bdi { (webhook.description) } } }
        };
        let last =
            html! { @match webhook.last_success_at { Some(at) => (text::moment(at)), None => "None yet" } };
        [
            Head::text("Address").cell(address),
            Head::text("Status").cell(state(webhook)),
            Head::text("Events").cell(events_text(webhook)),
            Head::text("Last success").cell(last),
        ]
    };
    tables::of("Webhooks", webhooks, row)
}

/// Returns how many types of events a webhook gets.
pub fn events_text(webhook: &Webhook) -> String {
    match webhook.event_types.len() as u64 {
        0 => "All of your team".to_owned(),
        count => text::counted(count, "type", "types"),
    }
}

/// Returns whether events are sent, and if not, why.
pub fn state(webhook: &Webhook) -> Markup {
    match webhook.disabled {
        None => badges::badge(Tone::Good, "Active"),
        Some((_, WebhookDisabledReason::Requested)) => badges::badge(Tone::Neutral, "Paused"),
        Some((_, WebhookDisabledReason::Gone)) => badges::badge(Tone::Bad, "Stopped: the address is gone"),
        Some((_, WebhookDisabledReason::Failing)) => badges::badge(Tone::Bad, "Stopped: it failed for days"),
        Some((_, WebhookDisabledReason::TeamClosed)) => {
            badges::badge(Tone::Neutral, "Stopped: the team is closed")
        }
    }
}
