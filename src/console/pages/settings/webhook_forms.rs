//! Forms about webhooks of the team: adding, changing, and deleting one, and replacing its secret.

use crate::{
    console::{parts::secrets, prelude::*},
    domain::events::EventType,
    operations::{
        team_webhooks,
        webhooks::{CheckedUrl, WebhookChange},
    },
    store::webhooks::Webhook,
};

/// Resources whose events are those of the market, and of no team.
const OF_THE_MARKET: [&str; 6] = ["asset_type", "domain", "content_tag", "inventory_tag", "outbox", "clock"];

/// The page that adds a webhook.
pub struct NewWebhook;

/// The page that changes a webhook.
pub struct ChangeWebhook;

/// The page that replaces the secret of a webhook.
pub struct ReplaceSecret;

/// The page that deletes a webhook.
pub struct DeleteWebhook;

/// Puts a page below the webhooks.
pub fn below_webhooks(content: Content) -> Content {
    content.with_parent(super::SETTINGS, paths::PROFILE).with_parent("Webhooks", paths::WEBHOOKS)
}

/// Returns the path of a form of a webhook.
pub fn path(webhook: Uuid, verb: &str) -> String {
    format!("{}/{verb}", paths::webhook(webhook))
}

/// Returns a type of events in words, such as `Listing: published`.
pub fn event_text(kind: EventType) -> String {
    let verb = kind.as_str().split_once('.').map_or("", |(_, verb)| verb);
    format!("{}: {}", text::words(kind.resource()), text::phrase(verb))
}

/// The fields of a webhook.
pub struct Input {
    /// Where messages are sent.
    pub url: CheckedUrl,
    /// What it is for.
    pub description: String,
    /// The types of the events that are sent; empty for all.
    pub event_types: Vec<EventType>,
}

impl Input {
    /// Reads the fields, and looks up the host of the address.
    pub async fn read(context: &Context, fields: &Fields) -> Result<Input> {
        let mut problems = Vec::new();
        let kinds: Option<Vec<EventType>> = fields.all("event_types").map(EventType::parse).collect();
        if kinds.is_none() {
            problems.push(problem("event_types", "Choose types of events from the list."));
        }
        let checked = match fields.get("url").map(str::to_owned) {
            Some(url) => context.market().spawn_blocking(move |market| CheckedUrl::check(market, &url)).await,
            None => Err(invalid("url", "Enter an address, for example https://example.com/market.")),
        };
        match (collect(checked, &mut problems)?, kinds) {
            (Some(url), Some(event_types)) => {
                let description = fields.get("description").unwrap_or_default().to_owned();
                Ok(Input { url, description, event_types })
            }
            _ => Err(Error::Invalid(problems)),
        }
    }

    /// Returns the change of a webhook that sets the fields.
    pub fn change(&self) -> WebhookChange<'_> {
        WebhookChange {
            url: Some(&self.url),
            description: Some(&self.description),
            event_types: Some(&self.event_types),
            status: None,
        }
    }
}

fn input_fields(inputs: &Inputs, webhook: Option<&Webhook>) -> Markup {
    const NOTE: &str =
        "Choose none to get all events of your team, those of later versions of the market, too.";
    let (url, description, chosen) = webhook.map_or(("", "", &[][..]), |webhook| {
        (webhook.url.as_str(), webhook.description.as_str(), webhook.event_types.as_slice())
    });
    let is_offered = |kind: EventType| !OF_THE_MARKET.contains(&kind.resource());
    fields_of(inputs, (url, description, chosen), NOTE, is_offered)
}

/// Returns the fields of a webhook: its address, its description, and the types of events that `is_offered` allows. `note`
/// explains the effect of choosing none.
pub fn fields_of(
    inputs: &Inputs,
    (url, description, chosen): (&str, &str, &[EventType]),
    note: &str,
    is_offered: fn(EventType) -> bool,
) -> Markup {
    let hint =
        html! { "The market sends to https addresses on the public internet, and looks the host up now." };
    html! {
        (Field::text("url", "Address").hint(hint).value(url).required().at_most(2_048).show(inputs))
        (Field::text("description", "Description").value(description).at_most(500).show(inputs))
        (event_types(inputs, chosen, note, is_offered))
    }
}

/// Returns checkboxes for types of events, grouped by their subjects.
fn event_types(
    inputs: &Inputs,
    chosen: &[EventType],
    note: &str,
    is_offered: fn(EventType) -> bool,
) -> Markup {
    let is_checked = |kind: &EventType| inputs.is_chosen("event_types", kind.as_str(), chosen.contains(kind));
    let mut groups: Vec<(&str, Vec<EventType>)> = Vec::new();
    for kind in EventType::ALL.iter().filter(|kind| is_offered(**kind)) {
        match groups.iter_mut().find(|(resource, _)| *resource == kind.resource()) {
            Some((_, kinds)) => kinds.push(*kind),
            None => groups.push((kind.resource(), vec![*kind])),
        }
    }
    html! {
        fieldset.stack.tight id="event_types" {
            legend { b { "Events" } }
            p.note { (note) }
            div { @for (resource, kinds) in &groups {
                @let count = kinds.iter().filter(|kind| is_checked(kind)).count();
                details.facet open[count > 0] {
                    summary { (text::words(resource)) @if count > 0 { span { (count) " chosen" } } }
                    ul { @for kind in kinds { li { label {
                        input type="checkbox" name="event_types" value=(kind.as_str()) checked[is_checked(kind)];
                        (event_text(*kind))
                    } } } }
                }
            } }
            @if let Some(problem) = inputs.problem("event_types") { p.problem { (problem) } }
        }
    }
}

/// Returns the page that shows a secret once.
fn reveal(title: &str, webhook: &Webhook, secret: &str, visit: &Visit<Member>) -> Content {
    let guide = visit.links.outside("/guides/webhooks.md");
    let body = html! {
        (secrets::secret("secret", "Signing secret", secret))
        p {
            "Your program verifies with it that a message comes from this market: see the "
            a href=(guide) { "guide to webhooks" } "."
        }
        (tables::facts(&[("Address", html! { span.mono.long { (webhook.url) } })]))
        div.row { a.button.primary href=(visit.links.to(&paths::webhook(webhook.id))) { "I have copied it" } }
    };
    below_webhooks(Content::new(title, body)).narrow()
}

impl Page<Member> for NewWebhook {
    const PATH: &'static str = "/settings/webhooks/new";
    const TITLE: &'static str = "Add a webhook";

    async fn show(visit: &Visit<Member>) -> Result<Answer> {
        let form = html! {
            (input_fields(&visit.inputs, None))
            (fields::buttons(&visit.context, "Add the webhook", ("Leave", paths::WEBHOOKS)))
        };
        let body = fields::form(&visit.context, NewWebhook::PATH, &form);
        Ok(below_webhooks(Content::new(Self::TITLE, body)).narrow().into())
    }
}

impl FormPage<Member> for NewWebhook {
    async fn submit(visit: &Visit<Member>, fields: &Fields) -> Result<Answer> {
        let Input { url, description, event_types } = Input::read(visit, fields).await?;
        let change = Change::new("create_webhook", "team", visit.access.team().id);
        let work = move |writer: &mut Writer, member: &Member| {
            team_webhooks::create(writer, member, &url, &description, &event_types)
        };
        let (webhook, secret) = changes::perform_revealing(visit, fields, change, work).await?;
        Ok(reveal("The webhook was added", &webhook, &secret.reveal(), visit).into())
    }
}

/// Returns the webhook in the path.
async fn find(visit: &Visit<Member>) -> Result<Webhook> {
    let id = visit.id(0)?;
    visit.read(move |reader, member| team_webhooks::find(reader.rows, member, id)).await
}

/// Puts a page below that of a webhook.
pub fn below_webhook(content: Content, webhook: Uuid) -> Content {
    below_webhooks(content).with_parent("Webhook", paths::webhook(webhook)).narrow()
}

impl Page<Member> for ChangeWebhook {
    const PATH: &'static str = "/settings/webhooks/{webhook}/change";
    const TITLE: &'static str = "Change a webhook";

    async fn show(visit: &Visit<Member>) -> Result<Answer> {
        let webhook = find(visit).await?;
        let form = html! {
            (seen(&webhook).edited(&visit.inputs))
            (input_fields(&visit.inputs, Some(&webhook)))
            (fields::buttons(&visit.context, "Save", ("Leave", &paths::webhook(webhook.id))))
        };
        let body = html! {
            (fields::form(&visit.context, &path(webhook.id, "change"), &form))
        };
        Ok(below_webhook(Content::new("Change the webhook", body), webhook.id).into())
    }
}

/// Identifies what the form shows of a webhook.
fn seen(webhook: &Webhook) -> Seen {
    Seen::of(&(&webhook.url, &webhook.description, &webhook.event_types))
}

impl FormPage<Member> for ChangeWebhook {
    async fn submit(visit: &Visit<Member>, fields: &Fields) -> Result<Answer> {
        let (id, sent) = (visit.id(0)?, fields.clone());
        let input = Input::read(visit, fields).await?;
        let work = move |writer: &mut Writer, member: &Member| {
            seen(&team_webhooks::find(writer.rows, member, id)?).check(&sent)?;
            team_webhooks::update(writer, member, id, &input.change()).map(drop)
        };
        changes::perform(visit, fields, Change::new("update_webhook", "webhook", id), work).await?;
        Ok(Answer::done(&paths::webhook(id), Notice::WebhookChanged))
    }
}

impl Page<Member> for ReplaceSecret {
    const PATH: &'static str = "/settings/webhooks/{webhook}/replace-secret";
    const TITLE: &'static str = "Replace the secret of a webhook";

    async fn show(visit: &Visit<Member>) -> Result<Answer> {
        let webhook = find(visit).await?;
        let hours = visit.market().settings().keys.rotation_overlap_hours;
        let body = html! {
            p { "You get a new secret, which signs from now on." }
            @if hours > 0 { p {
                "For " (text::counted(hours.into(), "hour", "hours")) ", messages have a signature of the replaced secret, too, so that \
                 your program can change over. A secret that was replaced before no longer signs."
            } }
            @else { p { "The replaced secret no longer signs: your program refuses messages until it has the new one." } }
            (fields::form(&visit.context, &path(webhook.id, "replace-secret"), &html! {
                (fields::buttons(&visit.context, "Replace the secret", ("Keep it", &paths::webhook(webhook.id))))
            }))
        };
        Ok(below_webhook(Content::new("Replace the secret?", body), webhook.id).into())
    }
}

impl FormPage<Member> for ReplaceSecret {
    async fn submit(visit: &Visit<Member>, fields: &Fields) -> Result<Answer> {
        let id = visit.id(0)?;
        let work = move |writer: &mut Writer, member: &Member| team_webhooks::rotate(writer, member, id);
        let change = Change::new("rotate_webhook_secret", "webhook", id);
        let (webhook, secret) = changes::perform_revealing(visit, fields, change, work).await?;
        Ok(reveal("The secret was replaced", &webhook, &secret.reveal(), visit).into())
    }
}

impl ConfirmationPage<Member, Webhook> for DeleteWebhook {
    const QUESTION: Question<Member, Webhook> = Question {
        path: "/settings/webhooks/{webhook}/delete",
        title: "Delete a webhook",
        change: ("delete_webhook", "webhook"),
        notice: Notice::WebhookDeleted,
        find: |context, member, id| team_webhooks::find(context.rows, member, id),
        ask: |_, webhook| {
            let lost = html! {
                p { "Nothing is sent to " span.mono.long { (webhook.url) } " any more. What is on its way is not sent, and the list of \
                     its deliveries is lost." }
                p { "To stop it for a while, pause it instead." }
            };
            Confirmation {
                page: below_webhook(Content::new("Delete this webhook?", Markup::default()), webhook.id),
                prompt: Ok((lost, "danger primary", "Delete the webhook".to_owned())),
                leave: ("Back to the webhook", paths::webhook(webhook.id)),
            }
        },
        perform: team_webhooks::delete,
        next: |_| paths::WEBHOOKS.to_owned(),
    };
}
