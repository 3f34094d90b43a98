//! Forms about webhooks whose address is looked up before the change: adding one, and changing one.

use std::marker::PhantomData;

use super::{prelude::*, webhooks::Webhooks};
use crate::{
    console::{
        navigation::PageRow,
        pages::settings::webhook_forms::{Input, fields_of},
        parts::secrets,
        resources::{RecordPage, RecordStep},
    },
    domain::events::EventType,
    operations::webhooks::{self, WebhookInput},
    store::records::{any_record::RecordKey, webhooks::WEBHOOKS as WEBHOOK_RECORDS},
};

/// The page that adds a webhook.
pub struct NewWebhook;

/// The page that changes a webhook.
pub struct ChangeWebhook;

/// Returns the rows of the table of pages.
pub fn rows() -> Vec<PageRow> {
    vec![
        resources::list_row::<Webhooks>(),
        PageRow::form(NewWebhook),
        PageRow::page(RecordPage::<Webhooks>(PhantomData)),
        PageRow::form(ChangeWebhook),
        PageRow::form(RecordStep::<Webhooks>(PhantomData)),
    ]
}

fn inputs_of(inputs: &Inputs, url: &str, description: &str, chosen: &[EventType]) -> Markup {
    const NOTE: &str = "Choose none to send all events, those of later versions of the market, too.";
    fields_of(inputs, (url, description, chosen), NOTE, |_| true)
}

impl Page<ActingOperator> for NewWebhook {
    const PATH: &'static str = Webhooks::NEW_PATH;
    const TITLE: &'static str = "Add a webhook";
    const OPERATIONS: &'static [&'static str] = &["create_webhook"];

    async fn show(visit: &Visit<ActingOperator>) -> Result<Answer> {
        let hint = html! { "Its ID or its name. The events of this team are sent, as the team sees them. Leave it empty to send the \
        events of all teams, as operators see them." };
        let form = html! {
            (Field::text("team_id", "Team").hint(hint).value(visit.query.get("team_id").unwrap_or_default()).at_most(200).show(&visit.inputs))
            (inputs_of(&visit.inputs, "", "", &[]))
            (fields::buttons(&visit.context, "Add the webhook", ("Leave", WEBHOOKS)))
        };
        let body = fields::form(&visit.context, Self::PATH, &form);
        Ok(Content::new(Self::TITLE, body).narrow().with_parent(Webhooks::TITLE, WEBHOOKS).into())
    }
}

impl FormPage<ActingOperator> for NewWebhook {
    async fn submit(visit: &Visit<ActingOperator>, fields: &Fields) -> Result<Answer> {
        let Input { url, description, event_types } = Input::read(visit, fields).await?;
        let team = fields.get("team_id").map(str::to_owned);
        let change = Change::new(Self::OPERATIONS[0], "webhook", "new");
        let made = changes::perform_revealing_on(visit, fields, change, move |writer, operator, change| {
            let input = WebhookInput {
                team: team.as_deref(),
                url: &url,
                description: &description,
                event_types: &event_types,
            };
            let (webhook, secret) =
                webhooks::create(writer, operator.platform(), &input).map_err(|error| match error {
                    Error::NotFound(_) => invalid("team_id", &error.message()),
                    other => other,
                })?;
            change.subject_id = webhook.id.to_string();
            change.team = webhook.team_id;
            Ok((webhook.id, secret.reveal()))
        });
        let (id, secret) = made.await?;
        let body = html! {
            (secrets::secret("secret", "Signing secret", &secret))
            p { "The receiver of the messages needs it to verify them." }
            div.row { a.button.primary href=(visit.links.to(&path(id))) { "I have copied it" } }
        };
        Ok(Content::new("The webhook was added", body).narrow().with_parent(Webhooks::TITLE, WEBHOOKS).into())
    }
}

fn path(webhook: Uuid) -> String {
    format!("{WEBHOOKS}/{webhook}")
}

impl Page<ActingOperator> for ChangeWebhook {
    const PATH: &'static str = "/operator/webhooks/{id}/change";
    const TITLE: &'static str = "Change a webhook";
    const OPERATIONS: &'static [&'static str] = &["update_webhook"];

    async fn show(visit: &Visit<ActingOperator>) -> Result<Answer> {
        let id = visit.id(0)?;
        let read = visit.read(move |reader, operator| {
            records::find_any(reader.rows, operator.platform(), &WEBHOOK_RECORDS, &RecordKey::Id(id))
        });
        let record: AnyRecord = read.await?;
        let chosen: Vec<EventType> =
            record.texts("event_types").iter().filter_map(|kind| EventType::parse(kind)).collect();
        let form = html! {
            (seen(&record).edited(&visit.inputs))
            (inputs_of(&visit.inputs, record.text("url"), record.text("description"), &chosen))
            (fields::buttons(&visit.context, "Save", ("Leave", &path(id))))
        };
        let body = fields::form(&visit.context, &visit.path, &form);
        let content =
            Content::new("Change the webhook", body).narrow().with_parent(Webhooks::TITLE, WEBHOOKS);
        Ok(content.with_parent(Webhooks::title_of(&record), path(id)).into())
    }
}

/// Identifies what the form shows of a webhook.
fn seen(record: &AnyRecord) -> Seen {
    Seen::of(&["url", "description", "event_types"].map(|name| record.get(name)))
}

impl FormPage<ActingOperator> for ChangeWebhook {
    async fn submit(visit: &Visit<ActingOperator>, fields: &Fields) -> Result<Answer> {
        let (id, sent) = (visit.id(0)?, fields.clone());
        let input = Input::read(visit, fields).await?;
        let change = Change::new(Self::OPERATIONS[0], "webhook", id);
        let perform = changes::perform_on(visit, fields, change, move |writer, operator, change| {
            let (platform, key) = (operator.platform(), RecordKey::Id(id));
            seen(&records::find_any(writer.rows, platform, &WEBHOOK_RECORDS, &key)?).check(&sent)?;
            change.team = webhooks::update(writer, platform, id, &input.change())?.team_id;
            Ok(())
        });
        perform.await?;
        Ok(Answer::done(&path(id), Notice::WebhookChanged))
    }
}
