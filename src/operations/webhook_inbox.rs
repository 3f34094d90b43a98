//! Deliveries of events in a market that sends nothing: the caller that carries out its work receives the messages, and decides
//! how the webhook answers.

use uuid::Uuid;

use super::webhook_deliveries::{self, EndedAttempt};
use crate::{
    domain::{
        events::EventType,
        row_ids::WebhookDeliveryRowId,
        time::Timestamp,
        webhook_messages::{SigningSecret, message_id, signature_header},
        webhooks::{AttemptResult, DeliveryStatus},
    },
    error::{Error, Result},
    market::{DerivedIds, Market, Reader, Writer},
    store::{self, webhook_deliveries::DueDelivery},
};

/// Maximum number of deliveries of a webhook that one transaction records.
const MAX_PER_BATCH: u32 = 100;

/// A request that would have been sent to a webhook.
#[derive(Clone, Debug)]
pub struct OutgoingMessage {
    /// ID of the delivery.
    pub delivery: Uuid,
    /// URL of the webhook.
    pub url: String,
    /// Type of the event.
    pub event_type: EventType,
    /// Number of earlier attempts.
    pub earlier_attempts: u32,
    /// Time at which the attempt was due.
    pub due_at: Timestamp,
    /// The header `webhook-id`.
    pub id: String,
    /// The header `webhook-timestamp`: the time of the market, in seconds since 1970.
    pub timestamp: i64,
    /// The body.
    pub body: String,
    secrets: Vec<SigningSecret>,
    row_id: WebhookDeliveryRowId,
}

impl OutgoingMessage {
    /// Returns the headers that identify and sign the message, if it is sent at this time, in seconds since 1970.
    pub fn headers(&self, timestamp: i64) -> [(&'static str, String); 3] {
        [
            ("webhook-id", self.id.clone()),
            ("webhook-timestamp", timestamp.to_string()),
            ("webhook-signature", signature_header(&self.secrets, &self.id, timestamp, &self.body)),
        ]
    }
}

/// Returns how a webhook answers a message.
pub type Receive<'a> = &'a dyn Fn(&OutgoingMessage) -> AttemptResult;

/// The answer of a webhook that accepts everything.
pub const fn accept() -> AttemptResult {
    AttemptResult { outcome: Ok(200), retry_after: None, response: String::new() }
}

/// An attempt that was made.
#[derive(Clone, Debug)]
pub struct Delivered {
    /// What was sent.
    pub message: OutgoingMessage,
    /// Status of the delivery after the attempt.
    pub status: DeliveryStatus,
}

/// Makes one attempt of each delivery that is due, in the order of the events. Returns none if none is due.
pub fn deliver_due(market: &Market, receive: Receive) -> Result<Vec<Delivered>> {
    let messages = market.read_blocking(list_due)?;
    if messages.is_empty() {
        return Ok(Vec::new());
    }
    market.write_blocking(|writer| {
        let attempt = |message| deliver(writer, message, receive);
        messages.into_iter().filter_map(|message| attempt(message).transpose()).collect()
    })
}

/// Returns when the next attempt is due that is not due yet.
pub fn next_due_at(reader: &Reader) -> Result<Option<Timestamp>> {
    let waiting = store::webhook_deliveries::list_waiting(reader.rows, reader.now)?;
    Ok(waiting.iter().filter_map(|webhook| webhook.next_at).min())
}

fn list_due(reader: &Reader) -> Result<Vec<OutgoingMessage>> {
    let mut messages = Vec::new();
    for waiting in store::webhook_deliveries::list_waiting(reader.rows, reader.now)? {
        if waiting.first_at > reader.now {
            continue;
        }
        let secrets = store::webhooks::list_secrets(reader.rows, waiting.webhook, reader.now)?;
        let due =
            store::webhook_deliveries::list_due(reader.rows, waiting.webhook, reader.now, MAX_PER_BATCH)?;
        for delivery in due {
            messages.push(message(reader, &secrets, delivery)?);
        }
    }
    messages.sort_by_key(|message| message.row_id);
    Ok(messages)
}

fn message(reader: &Reader, secrets: &[SigningSecret], due: DueDelivery) -> Result<OutgoingMessage> {
    let (id, timestamp) = (message_id(due.id), reader.now.seconds());
    let delivery = store::webhook_deliveries::find_by_row_id(reader.rows, due.row_id)?
        .ok_or_else(|| Error::internal("a delivery that is due does not exist"))?;
    Ok(OutgoingMessage {
        delivery: due.id,
        event_type: delivery.event_type,
        earlier_attempts: delivery.attempts,
        due_at: delivery.next_attempt_at.unwrap_or(reader.now),
        secrets: secrets.to_vec(),
        id,
        timestamp,
        url: due.url,
        body: due.body,
        row_id: due.row_id,
    })
}

/// Makes an attempt, unless an earlier one has disabled the webhook.
fn deliver(writer: &Writer, message: OutgoingMessage, receive: Receive) -> Result<Option<Delivered>> {
    let find = || store::webhook_deliveries::find_by_row_id(writer.rows, message.row_id);
    let Some(delivery) = find()? else { return Ok(None) };
    let webhook = store::webhooks::find_by_row_id(writer.rows, delivery.webhook)?;
    let Some(webhook) = webhook.filter(|webhook| webhook.disabled.is_none()) else { return Ok(None) };
    let ids = DerivedIds::new(format!("delivery/{}/{}", message.delivery, delivery.attempts));
    let ended = EndedAttempt {
        delivery: message.row_id,
        url: message.url.clone(),
        enabled_at: webhook.enabled_at,
        attempted_at: writer.now,
        milliseconds: 0,
        result: receive(&message),
    };
    webhook_deliveries::record(&writer.with_derived_ids(&ids), &ended)?;
    let status = find()?.map_or(DeliveryStatus::Failed, |delivery| delivery.status);
    Ok(Some(Delivered { message, status }))
}
