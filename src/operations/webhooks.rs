//! Webhooks: endpoints to which the events of a team, or of all teams, are sent.

use uuid::Uuid;

use super::{access::Platform, quotas, teams};
use crate::{
    config::WebhookSettings,
    domain::{
        collections::Collection,
        events::{EventData, EventType, WebhookData, WebhookDisabledData, WebhookRotatedData},
        teams::TeamRowId,
        texts,
        time::MICROS_PER_HOUR,
        webhook_messages::{Message, SigningSecret},
        webhooks::{self, WebhookDisabledReason, WebhookStatus},
    },
    error::{Error, Problem, Result},
    http_client::{self, AddressError},
    market::{Market, Writer},
    request_problems::check_text,
    store::{
        self,
        webhook_deliveries::NewDelivery,
        webhooks::{NewWebhook, Webhook},
    },
    string_enum::StringEnum,
};

/// A URL to which the server may send: its host was looked up, and has an allowed address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckedUrl(String);

impl CheckedUrl {
    /// Checks a URL for a market: looks up its host, except in a world, where the answer of a resolver would make
    /// two worlds differ. May block like [`CheckedUrl::resolve`].
    pub fn check(market: &Market, url: &str) -> Result<CheckedUrl> {
        let check =
            if market.clock().is_of_world() { CheckedUrl::without_lookup } else { CheckedUrl::resolve };
        check(&market.settings().webhooks, url)
    }

    /// Checks a URL for a market that sends nothing to it, so that the host need not exist.
    pub fn without_lookup(settings: &WebhookSettings, url: &str) -> Result<CheckedUrl> {
        let url = webhooks::parse_url(url, settings.allow_private_addresses).map_err(Error::invalid)?;
        Ok(CheckedUrl(url.into()))
    }

    /// Checks a URL, and looks up its host. Sends nothing to it. Blocks until the resolver of the system has
    /// answered, so it must not be called during a write. Every attempt checks the address again.
    pub fn resolve(settings: &WebhookSettings, url: &str) -> Result<CheckedUrl> {
        let may_be_private = settings.allow_private_addresses;
        let url = webhooks::parse_url(url, may_be_private).map_err(Error::invalid)?;
        let invalid = |kind, message: &str| Err(Error::invalid(Problem::body(&["url"], kind, message)));
        match http_client::resolve(&url, may_be_private) {
            Ok(_) => Ok(CheckedUrl(url.into())),
            Err(AddressError::NotFound) => {
                invalid("host_not_found", "The host of `url` has no address now. Check its name.")
            }
            Err(AddressError::NotPublic) => invalid(
                "private_address",
                "The host of `url` has a private address, to which this server does not send. Use a host on the \
                 public internet, or allow private addresses with the setting `webhooks.allow_private_addresses`.",
            ),
        }
    }
}

/// A webhook to create.
#[derive(Clone, Debug)]
pub struct WebhookInput<'a> {
    /// ID or name of the team whose events are sent; `None` for the events of all teams.
    pub team: Option<&'a str>,
    /// URL to which they are sent.
    pub url: &'a CheckedUrl,
    /// What its owner says about it, up to 500 characters.
    pub description: &'a str,
    /// Types of the events that are sent; empty for all types.
    pub event_types: &'a [EventType],
}

/// What is to change of a webhook. `None` leaves a value as it is.
#[derive(Clone, Debug, Default)]
pub struct WebhookChange<'a> {
    /// The new URL.
    pub url: Option<&'a CheckedUrl>,
    /// The new description.
    pub description: Option<&'a str>,
    /// The new types of events; empty for all types.
    pub event_types: Option<&'a [EventType]>,
    /// Whether events are sent.
    pub status: Option<WebhookStatus>,
}

/// Creates an enabled webhook, which gets the events from now on. Returns it with its secret, which is shown again
/// only when it is replaced.
pub fn create(writer: &mut Writer, _: Platform, input: &WebhookInput) -> Result<(Webhook, SigningSecret)> {
    let team = input.team.map(|team| teams::resolve_open(writer.rows, team)).transpose()?;
    let WebhookInput { url, description, event_types, .. } = *input;
    insert(writer, team.map(|team| team.row_id), url, description, event_types)
}

/// Creates an enabled webhook of a team, or of the operators.
pub(super) fn insert(
    writer: &Writer,
    team: Option<TeamRowId>,
    url: &CheckedUrl,
    description: &str,
    event_types: &[EventType],
) -> Result<(Webhook, SigningSecret)> {
    check_description(description)?;
    check_quota(writer, team)?;
    let secret = SigningSecret(writer.entropy.random_secret());
    let new = NewWebhook {
        id: writer.new_id(Collection::Webhooks),
        team,
        url: &url.0,
        description,
        event_types: &sorted(event_types),
        secret,
        id_secret: writer.entropy.random_secret(),
        created_at: writer.now,
    };
    store::webhooks::insert(writer.rows, &new)?;
    writer.wake_webhooks();
    let webhook = find(writer.rows, new.id)?;
    writer.emit(team, webhook.id, &EventData::WebhookCreated(data_of(&webhook)))?;
    Ok((webhook, secret))
}

fn check_description(description: &str) -> Result<()> {
    check_text(&["description"], description, texts::WEBHOOK_DESCRIPTION)
}

fn check_quota(writer: &Writer, team: Option<TeamRowId>) -> Result<()> {
    let limit = u64::from(writer.settings.webhooks.max_endpoints);
    let used = store::webhooks::count(writer.rows, team)?;
    let holder = if team.is_some() { "team" } else { "group of operators" };
    quotas::check_one_more(holder, ("webhooks", limit), used)
}

/// Returns the types in the order of the documents, each once.
fn sorted(event_types: &[EventType]) -> Vec<EventType> {
    let mut sorted = event_types.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    sorted
}

fn data_of(webhook: &Webhook) -> WebhookData {
    WebhookData {
        webhook_id: webhook.id,
        url: webhook.url.clone(),
        description: webhook.description.clone(),
        event_types: webhook.event_types.iter().map(|kind| kind.as_str()).collect(),
        status: webhook.status(),
    }
}

/// Returns the webhook with this ID, of a team or of the operators.
fn find(rows: &store::Reader, id: Uuid) -> Result<Webhook> {
    store::webhooks::find(rows, id)?.ok_or_else(|| Error::not_found(format!("webhook {id}")))
}

/// Changes a webhook. Events that occur while it is disabled are never sent; deliveries that were pending before are sent when
/// it is enabled again. Fails when enabling a webhook of a closed team.
pub fn update(writer: &mut Writer, _: Platform, id: Uuid, change: &WebhookChange) -> Result<Webhook> {
    let webhook = find(writer.rows, id)?;
    update_found(writer, webhook, change)
}

/// Like [`update`], for a webhook that was found.
pub(super) fn update_found(writer: &Writer, mut webhook: Webhook, change: &WebhookChange) -> Result<Webhook> {
    let before = data_of(&webhook);
    if let Some(url) = change.url {
        webhook.url.clone_from(&url.0);
    }
    if let Some(description) = change.description {
        check_description(description)?;
        description.clone_into(&mut webhook.description);
    }
    if let Some(event_types) = change.event_types {
        webhook.event_types = sorted(event_types);
    }
    let after = data_of(&webhook);
    let has_new_url = before.url != after.url;
    if has_new_url {
        // Failures at the previous URL do not count.
        webhook.enabled_at = writer.now;
    }
    let is_changed =
        has_new_url || before.description != after.description || before.event_types != after.event_types;
    let is_enabled = change.status == Some(WebhookStatus::Enabled) && webhook.disabled.is_some();
    if is_enabled {
        if let Some(team) = webhook.team_id {
            teams::resolve_open(writer.rows, &team.to_string())?;
        }
        webhook.disabled = None;
        webhook.enabled_at = writer.now;
    }
    if is_changed || is_enabled {
        webhook.updated_at = writer.now;
        store::webhooks::update(writer.rows, &webhook)?;
        writer.wake_webhooks();
        writer.emit(webhook.team, webhook.id, &EventData::WebhookUpdated(data_of(&webhook)))?;
    }
    if change.status == Some(WebhookStatus::Disabled) {
        disable(writer, &mut webhook, WebhookDisabledReason::Requested)?;
    }
    Ok(webhook)
}

/// Disables a webhook, if it is enabled.
pub(super) fn disable(writer: &Writer, webhook: &mut Webhook, reason: WebhookDisabledReason) -> Result<()> {
    if webhook.disabled.is_some() {
        return Ok(());
    }
    webhook.disabled = Some((writer.now, reason));
    webhook.updated_at = writer.now;
    store::webhooks::update(writer.rows, webhook)?;
    let data = WebhookDisabledData { webhook_id: webhook.id, url: webhook.url.clone(), reason };
    writer.emit(webhook.team, webhook.id, &EventData::WebhookDisabled(data))
}

/// Disables all webhooks of a team that is closed. Returns their number.
pub(super) fn disable_all(writer: &Writer, team: TeamRowId) -> Result<u64> {
    let mut webhooks = store::webhooks::list_enabled(writer.rows, team)?;
    for webhook in &mut webhooks {
        disable(writer, webhook, WebhookDisabledReason::TeamClosed)?;
    }
    Ok(webhooks.len() as u64)
}

/// Replaces the secret of a webhook. For `keys.rotation_overlap_hours`, the replaced secret also signs. Secrets that were
/// replaced earlier no longer sign. Returns the webhook with its new secret.
pub fn rotate(writer: &mut Writer, _: Platform, id: Uuid) -> Result<(Webhook, SigningSecret)> {
    let webhook = find(writer.rows, id)?;
    rotate_found(writer, &webhook)
}

/// Like [`rotate`], for a webhook that was found.
pub(super) fn rotate_found(writer: &Writer, webhook: &Webhook) -> Result<(Webhook, SigningSecret)> {
    let (id, secret) = (webhook.id, SigningSecret(writer.entropy.random_secret()));
    let overlap = i64::from(writer.settings.keys.rotation_overlap_hours) * MICROS_PER_HOUR;
    let ends_at = writer.now.plus_micros(overlap);
    store::webhooks::rotate(writer.rows, webhook.row_id, secret, ends_at, writer.now)?;
    let data = WebhookRotatedData { webhook_id: id, previous_secret_ends_at: ends_at };
    writer.emit(webhook.team, id, &EventData::WebhookRotated(data))?;
    Ok((find(writer.rows, id)?, secret))
}

/// Deletes a webhook. Pending deliveries are not sent. Cleanups delete its deliveries.
pub fn delete(writer: &mut Writer, _: Platform, id: Uuid) -> Result<Webhook> {
    let webhook = find(writer.rows, id)?;
    delete_found(writer, &webhook)?;
    Ok(webhook)
}

/// Like [`delete`], for a webhook that was found.
pub(super) fn delete_found(writer: &Writer, webhook: &Webhook) -> Result<()> {
    store::webhooks::delete(writer.rows, webhook.row_id, writer.now)?;
    writer.emit(webhook.team, webhook.id, &EventData::WebhookDeleted(data_of(webhook)))
}

/// Sends a test event to an enabled webhook, even if it is limited to other types of events.
pub fn test(writer: &mut Writer, _: Platform, id: Uuid) -> Result<()> {
    let webhook = find(writer.rows, id)?;
    test_found(writer, &webhook)
}

/// Like [`test()`], for a webhook that was found.
pub(super) fn test_found(writer: &Writer, webhook: &Webhook) -> Result<()> {
    if webhook.disabled.is_some() {
        return Err(disabled_error());
    }
    let event = EventData::WebhookTested(data_of(webhook));
    // The event itself is not sent to the webhook that it is about.
    writer.emit(webhook.team, webhook.id, &event)?;
    let (event_type, occurred_at) = (event.event_type(), writer.now);
    let (subject, data) = (webhook.id.into(), event.to_json().map_err(Error::internal)?);
    let message = Message { event_type, occurred_at, subject: &subject, data: &data };
    let body = match webhook.team {
        Some(_) => message.body_for_team(),
        None => message.body_for_operators(None),
    };
    let delivery = NewDelivery {
        id: random_id(writer),
        webhook: webhook.row_id,
        event_type,
        body: &body.map_err(Error::internal)?,
        created_at: occurred_at,
    };
    store::webhook_deliveries::insert(writer.rows, &delivery)?;
    writer.wake_webhooks();
    Ok(())
}

/// Returns an ID from which nothing can be learned.
fn random_id(writer: &Writer) -> Uuid {
    let (mut bytes, secret) = ([0; 16], writer.entropy.random_secret());
    bytes.copy_from_slice(&secret[..16]);
    uuid::Builder::from_random_bytes(bytes).into_uuid()
}

/// Returns the error for what is to be sent to a disabled webhook.
pub(super) fn disabled_error() -> Error {
    Error::Conflict("The webhook is disabled, so nothing is sent to it. Enable it first.".to_owned())
}
