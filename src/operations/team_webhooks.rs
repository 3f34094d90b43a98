//! The webhooks that a team manages itself. Each gets the events of the team only, and those of other teams and of
//! the operators do not exist for it.

use uuid::Uuid;

use super::{
    access::Member,
    webhook_deliveries,
    webhooks::{self, CheckedUrl, WebhookChange},
};
use crate::{
    domain::{events::EventType, webhook_messages::SigningSecret},
    error::{Error, Result},
    market::{Reader, Writer},
    store::{self, webhook_attempts::Attempt, webhook_deliveries::Delivery, webhooks::Webhook},
};

/// Returns the webhooks of the team, oldest first; at most `webhooks.max_endpoints`.
pub fn list(reader: &Reader, member: &Member) -> Result<Vec<Webhook>> {
    store::webhooks::list(reader.rows, member.team_row_id())
}

/// Returns a webhook of the team.
pub fn find(rows: &store::Reader, member: &Member, id: Uuid) -> Result<Webhook> {
    let found = store::webhooks::find(rows, id)?;
    let own = found.filter(|webhook| webhook.team == Some(member.team_row_id()));
    own.ok_or_else(|| Error::not_found(format!("webhook {id}")))
}

/// Creates an enabled webhook, which gets the events of the team from now on: those of these types, or all of them if
/// there are none. Returns it with its secret, which is shown again only when it is replaced.
pub fn create(
    writer: &mut Writer,
    member: &Member,
    url: &CheckedUrl,
    description: &str,
    event_types: &[EventType],
) -> Result<(Webhook, SigningSecret)> {
    webhooks::insert(writer, Some(member.team_row_id()), url, description, event_types)
}

/// Changes a webhook of the team. See [`webhooks::update`].
pub fn update(writer: &mut Writer, member: &Member, id: Uuid, change: &WebhookChange) -> Result<Webhook> {
    let webhook = find(writer.rows, member, id)?;
    webhooks::update_found(writer, webhook, change)
}

/// Replaces the secret of a webhook of the team. See [`webhooks::rotate`].
pub fn rotate(writer: &mut Writer, member: &Member, id: Uuid) -> Result<(Webhook, SigningSecret)> {
    let webhook = find(writer.rows, member, id)?;
    webhooks::rotate_found(writer, &webhook)
}

/// Deletes a webhook of the team. Pending deliveries are not sent.
pub fn delete(writer: &mut Writer, member: &Member, id: Uuid) -> Result<()> {
    let webhook = find(writer.rows, member, id)?;
    webhooks::delete_found(writer, &webhook)
}

/// Sends a test message to an enabled webhook of the team. See [`webhooks::test()`].
pub fn test(writer: &mut Writer, member: &Member, id: Uuid) -> Result<()> {
    let webhook = find(writer.rows, member, id)?;
    webhooks::test_found(writer, &webhook)
}

/// Returns a delivery to a webhook of the team, with its last attempts, newest first.
pub fn find_delivery(
    reader: &Reader,
    member: &Member,
    id: Uuid,
) -> Result<(Delivery, Webhook, Vec<Attempt>)> {
    let (delivery, webhook) = find_own_delivery(reader.rows, member, id)?;
    let attempts = store::webhook_attempts::list_last(reader.rows, delivery.row_id)?;
    Ok((delivery, webhook, attempts))
}

/// Returns a page of the deliveries to a webhook of the team, newest first, without their attempts: those that are
/// older than the delivery `before` if that is given, at most `limit`.
pub fn list_deliveries(
    reader: &Reader,
    member: &Member,
    webhook: Uuid,
    before: Option<Uuid>,
    limit: u32,
) -> Result<Vec<Delivery>> {
    let webhook = find(reader.rows, member, webhook)?;
    let before = match before {
        None => None,
        Some(id) => Some(find_own_delivery(reader.rows, member, id)?.0.row_id),
    };
    store::webhook_deliveries::list_newest(reader.rows, webhook.row_id, before, limit)
}

/// Delivers an event to a webhook of the team again. See [`webhook_deliveries::redeliver`].
pub fn redeliver(writer: &mut Writer, member: &Member, delivery: Uuid) -> Result<()> {
    let (delivery, webhook) = find_own_delivery(writer.rows, member, delivery)?;
    webhook_deliveries::redeliver_found(writer, delivery, &webhook)
}

fn find_own_delivery(rows: &store::Reader, member: &Member, id: Uuid) -> Result<(Delivery, Webhook)> {
    let (delivery, webhook) = webhook_deliveries::find(rows, id)?;
    if webhook.team == Some(member.team_row_id()) {
        return Ok((delivery, webhook));
    }
    Err(Error::not_found("webhook delivery"))
}
