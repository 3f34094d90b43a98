//! A webhook of the team, its deliveries, and its buttons.

use super::{
    webhook_forms::{below_webhook, below_webhooks, event_text, path},
    webhooks::{events_text, state},
};
use crate::{
    console::{
        csv::{self, Part},
        prelude::*,
    },
    domain::webhooks::{DeliveryStatus, WebhookStatus},
    operations::{team_webhooks, webhooks::WebhookChange},
    store::{webhook_attempts::Attempt, webhook_deliveries::Delivery, webhooks::Webhook},
};

/// Number of deliveries on a page.
const DELIVERIES: u32 = 25;

/// Number of deliveries that are read at once for a file.
const DELIVERIES_PER_PART: u32 = 500;

/// Name of the field of the query with the delivery before which a page begins.
const BEFORE: &str = "before";

/// The page of a webhook.
pub struct WebhookPage;

/// The page of a delivery.
pub struct DeliveryPage;

/// The button that sends a test message.
pub struct TestWebhook;

/// The button that pauses or resumes a webhook.
pub struct SwitchWebhook;

/// The button that sends a delivery again.
pub struct Redeliver;

impl Page<Member> for WebhookPage {
    const PATH: &'static str = "/settings/webhooks/{webhook}";
    const TITLE: &'static str = "Webhook";

    async fn show(visit: &Visit<Member>) -> Result<Answer> {
        let id = visit.id(0)?;
        if csv::is_asked(&visit.query) {
            return file(visit, id).await;
        }
        let before = visit.query.get(BEFORE).and_then(|id| Uuid::try_parse(id).ok());
        let found = visit.read(move |reader, member| {
            let webhook = team_webhooks::find(reader.rows, member, id)?;
            let deliveries = team_webhooks::list_deliveries(reader, member, id, before, DELIVERIES + 1)?;
            Ok((webhook, deliveries))
        });
        let (webhook, deliveries) = found.await?;
        let body = html! {
            (facts(&webhook))
            (tables::section("deliveries", "Deliveries", &self::deliveries(&visit.context, &webhook, &deliveries, before.is_some())))
            (tables::section("more", "Secret and deletion", &more(&visit.context, &webhook)))
        };
        let content =
            below_webhooks(Content::new(Self::TITLE, body)).with_actions(actions(&visit.context, &webhook));
        Ok(content.into())
    }
}

fn actions(context: &Context, webhook: &Webhook) -> Markup {
    let (label, target) = match webhook.status() {
        WebhookStatus::Enabled => ("Pause", WebhookStatus::Disabled),
        WebhookStatus::Disabled => ("Resume", WebhookStatus::Enabled),
    };
    html! {
        (fields::form_with_class(context, &path(webhook.id, "status"), "row", &html! {
            input type="hidden" name="status" value=(target.as_str());
            button { (label) }
        }))
        a.button href=(context.links.to(&path(webhook.id, "change"))) { "Change" }
        @if webhook.status() == WebhookStatus::Enabled {
            (fields::button(context, &path(webhook.id, "test"), "Send a test message", "primary"))
        }
    }
}

fn facts(webhook: &Webhook) -> Markup {
    let mut facts = vec![
        ("Address", html! { span.mono.long { (webhook.url) } }),
        (
            "Status",
            html! {
                (state(webhook))
                @if let Some((since, _)) = webhook.disabled { " since " (text::moment(since)) }
            },
        ),
        (
            "Description",
            html! { @if is_blank(&webhook.description) { (text::MISSING) } @else { span.long { bdi { (webhook.description) } } } },
        ),
        (
            "Events",
            html! {
                @if webhook.event_types.is_empty() { (events_text(webhook)) }
                @else { details {
                    summary { (events_text(webhook)) }
                    ul { @for kind in &webhook.event_types { li { (event_text(*kind)) } } }
                } }
            },
        ),
        ("Created", text::moment(webhook.created_at)),
        (
            "Last success",
            html! { @match webhook.last_success_at { Some(at) => (text::moment(at)), None => "None yet" } },
        ),
    ];
    facts.extend(
        webhook
            .previous_secret_ends_at
            .map(|at| ("Replaced secret", html! { "signs, too, until " (text::moment(at)) })),
    );
    html! {
        @if webhook.disabled.is_some() {
            (badges::warning("Nothing is sent now. What happens meanwhile is not sent later."))
        }
        (tables::facts(&facts))
    }
}

fn deliveries(context: &Context, webhook: &Webhook, found: &[Delivery], is_later: bool) -> Markup {
    let shown = &found[..found.len().min(DELIVERIES as usize)];
    if shown.is_empty() {
        return html! { p { "Nothing was sent yet. A test message shows whether the address answers." } };
    }
    let row = |delivery: &Delivery| {
        let page = paths::webhook_delivery(webhook.id, delivery.id);
        [
            Head::text("Event")
                .cell(html! { a href=(context.links.to(&page)) { (event_text(delivery.event_type)) } }),
            Head::text("Status").cell(badges::of(state_words(delivery))),
            Head::text("Time").cell(text::moment(delivery.created_at)),
            Head::number("Attempts").cell(delivery.attempts),
            Head::text("Again").cell(
                html! { @if webhook.disabled.is_none() && delivery.status != DeliveryStatus::Pending {
                    @let of = html! { (event_text(delivery.event_type)) ", " (text::moment(delivery.created_at)) };
                    (fields::row_button(context, &format!("{page}/redeliver"), "Send again", of, ""))
                } },
            ),
        ]
    };
    let last = shown.last().filter(|_| found.len() > shown.len());
    let next = last.map(|last| context.here(&context.query.with(BEFORE, &last.id.to_string())));
    let first = is_later.then(|| context.links.to(&paths::webhook(webhook.id)));
    let file = context.here(&csv::query(&Query::default()));
    let note = html! { "The newest are first · " (csv::link(&file)) };
    html! {
        (tables::of("Deliveries", shown, row))
        (tables::pager(&note, first.as_deref(), next.as_deref()))
    }
}

/// Answers with a file of all deliveries.
async fn file(visit: &Visit<Member>, webhook: Uuid) -> Result<Answer> {
    let heads = ["Event", "Status", "Time", "Attempts", "ID"].map(str::to_owned).to_vec();
    csv::in_parts(visit, "deliveries", heads, None, move |reader, member, before: Option<Uuid>| {
        let found = team_webhooks::list_deliveries(reader, member, webhook, before, DELIVERIES_PER_PART)?;
        let row = |delivery: &Delivery| {
            let (event, (_, state)) = (event_text(delivery.event_type), state_words(delivery));
            let (time, attempts) = (delivery.created_at.to_string(), delivery.attempts.to_string());
            vec![event, state.to_owned(), time, attempts, delivery.id.to_string()]
        };
        let last = found.last().filter(|_| found.len() == DELIVERIES_PER_PART as usize);
        Ok(Part { next: last.map(|last| Some(last.id)), rows: found.iter().map(row).collect() })
    })
    .await
}

const fn state_words(delivery: &Delivery) -> (Tone, &'static str) {
    match delivery.status {
        DeliveryStatus::Succeeded => (Tone::Good, "Delivered"),
        DeliveryStatus::Failed => (Tone::Bad, "Failed"),
        DeliveryStatus::Pending if delivery.failures > 0 => (Tone::Warning, "Failed, is tried again"),
        DeliveryStatus::Pending => (Tone::Waiting, "On its way"),
    }
}

fn more(context: &Context, webhook: &Webhook) -> Markup {
    html! {
        p { "Each message is signed with the webhook's secret, which was shown when the webhook was made." }
        div.row {
            a.button href=(context.links.to(&path(webhook.id, "replace-secret"))) { "Replace the secret…" }
            a.button.danger href=(context.links.to(&path(webhook.id, "delete"))) { "Delete the webhook…" }
        }
    }
}

impl Page<Member> for DeliveryPage {
    const PATH: &'static str = "/settings/webhooks/{webhook}/deliveries/{delivery}";
    const TITLE: &'static str = "Delivery";

    async fn show(visit: &Visit<Member>) -> Result<Answer> {
        let (webhook, id) = (visit.id(0)?, visit.id(1)?);
        let found =
            visit.read(move |reader, member| team_webhooks::find_delivery(reader, member, id)).await?;
        let (delivery, found_webhook, attempts) = found;
        if found_webhook.id != webhook {
            return Err(Error::not_found("webhook delivery"));
        }
        let facts = [
            ("Event", html! { (event_text(delivery.event_type)) }),
            ("Status", badges::of(state_words(&delivery))),
            ("Happened", text::moment(delivery.created_at)),
            (
                "Next attempt",
                html! { @match delivery.next_attempt_at { Some(at) => (text::moment(at)), None => (text::MISSING) } },
            ),
            ("Address", html! { span.mono.long { (found_webhook.url) } }),
        ];
        let body = html! {
            (tables::facts(&facts))
            (tables::section("attempts", "Attempts", &self::attempts(&attempts)))
            (tables::section("message", "Message", &html! { pre { code.long { (delivery.body) } } }))
        };
        let content = below_webhook(Content::new(Self::TITLE, body), webhook);
        let again = format!("{}/redeliver", paths::webhook_delivery(webhook, delivery.id));
        Ok(match found_webhook.disabled {
            None => content.with_actions(fields::button(&visit.context, &again, "Send again", "")).into(),
            Some(_) => content.into(),
        })
    }
}

/// Returns the attempts of a delivery.
pub fn attempts(attempts: &[Attempt]) -> Markup {
    if attempts.is_empty() {
        return html! { p { "None yet." } };
    }
    let row = |attempt: &Attempt| {
        let answer = html! {
            @match (attempt.status, attempt.error) {
                (Some(status), _) => { "Status " (status) }
                (None, Some(error)) => { (text::words(error.as_str())) }
                (None, None) => (text::MISSING),
            }
            @if !attempt.response.is_empty() { details { summary { "What it said" } pre { code.long { (attempt.response) } } } }
        };
        [
            Head::text("Attempt").cell(attempt.number),
            Head::text("Time").cell(text::moment(attempt.attempted_at)),
            Head::text("Answer").cell(answer),
            Head::number("Took, ms").cell(text::grouped(attempt.milliseconds)),
        ]
    };
    tables::of("Attempts", attempts, row)
}

impl Action<Member> for TestWebhook {
    const PATH: &'static str = "/settings/webhooks/{webhook}/test";
    const TITLE: &'static str = "Send a test message";

    async fn submit(visit: &Visit<Member>, fields: &Fields) -> Result<Answer> {
        let id = visit.id(0)?;
        let change = Change::new("test_webhook", "webhook", id);
        changes::perform(visit, fields, change, move |writer, member| {
            team_webhooks::test(writer, member, id)
        })
        .await?;
        Ok(Answer::done(&paths::webhook(id), Notice::TestSent))
    }
}

impl Action<Member> for SwitchWebhook {
    const PATH: &'static str = "/settings/webhooks/{webhook}/status";
    const TITLE: &'static str = "Pause or resume a webhook";

    async fn submit(visit: &Visit<Member>, fields: &Fields) -> Result<Answer> {
        let id = visit.id(0)?;
        let status = fields.get("status").and_then(WebhookStatus::parse);
        let status = status.ok_or_else(|| invalid("status", "Pause or resume the webhook."))?;
        let change = Change::new("update_webhook", "webhook", id);
        let work = move |writer: &mut Writer, member: &Member| {
            let change = WebhookChange { status: Some(status), ..WebhookChange::default() };
            team_webhooks::update(writer, member, id, &change).map(drop)
        };
        changes::perform(visit, fields, change, work).await?;
        Ok(Answer::done(&paths::webhook(id), Notice::WebhookChanged))
    }
}

impl Action<Member> for Redeliver {
    const PATH: &'static str = "/settings/webhooks/{webhook}/deliveries/{delivery}/redeliver";
    const TITLE: &'static str = "Send a message again";

    async fn submit(visit: &Visit<Member>, fields: &Fields) -> Result<Answer> {
        let (webhook, id) = (visit.id(0)?, visit.id(1)?);
        let change = Change::new("redeliver_webhook_delivery", "webhook_delivery", id);
        let work = move |writer: &mut Writer, member: &Member| team_webhooks::redeliver(writer, member, id);
        changes::perform(visit, fields, change, work).await?;
        Ok(Answer::done(&paths::webhook(webhook), Notice::Redelivered))
    }
}
