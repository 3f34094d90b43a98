//! Deliveries of events to webhooks, with the attempts that were made.

use serde::Deserializer;

use crate::{
    domain::{
        webhook_messages::message_id,
        webhooks::{AttemptError, DeliveryStatus},
    },
    operations::webhook_deliveries,
    rest::operator_api::prelude::*,
    store::{records::webhook_deliveries::WEBHOOK_DELIVERIES, webhook_attempts::Attempt},
};

/// An event on its way to a webhook.
#[derive(Debug, Object, Serialize, Deserialize)]
#[oai(rename = "WebhookDelivery")]
pub struct DeliveryOut {
    /// ID of the delivery.
    pub id: Uuid,
    /// ID of the message, which the header `webhook-id` has at each attempt.
    #[serde(deserialize_with = "read_message_id")]
    pub message_id: String,
    /// ID of the webhook.
    pub webhook_id: Uuid,
    /// ID of the team whose event it is; null if the webhook is one of the operators.
    pub team_id: Option<Uuid>,
    /// Type of the event.
    pub event_type: EnumValue<EventType>,
    /// What is sent: JSON with `type`, `timestamp`, and `data`.
    pub body: String,
    /// `pending` until an attempt succeeds, or the last one has failed.
    pub status: EnumValue<DeliveryStatus>,
    /// Time of the event.
    pub created_at: UtcTime,
    /// Time of the next attempt; null unless pending.
    pub next_attempt_at: Option<UtcTime>,
    /// Time at which it succeeded or failed; null if pending.
    pub ended_at: Option<UtcTime>,
    /// Number of attempts so far.
    pub attempt_count: u32,
    /// The last 20 attempts, newest first.
    pub attempts: Vec<WebhookAttempt>,
}

/// An attempt to deliver an event.
#[derive(Debug, Object, Serialize, Deserialize)]
#[serde(from = "Attempt")]
pub struct WebhookAttempt {
    /// Number of the attempt, from 1.
    pub number: u32,
    /// Time at which it began.
    pub attempted_at: UtcTime,
    /// How long it took, in milliseconds.
    pub milliseconds: u64,
    /// Status of the response; null if there was none.
    pub status: Option<u16>,
    /// Why there was no response; null if there was one. `invalid_url`: the settings no longer allow the URL.
    /// `not_resolved`: the host has no address. `private_address`: it is in a private network. `timed_out`: no response
    /// within 15 seconds. `unreachable`: no connection, or no valid certificate. `interrupted`: the connection was
    /// closed, or the response is not HTTP.
    pub error: Option<EnumValue<AttemptError>>,
    /// The first 1,024 bytes of the body of the response; empty if there was none.
    pub response: String,
}

impl From<Attempt> for WebhookAttempt {
    fn from(attempt: Attempt) -> WebhookAttempt {
        WebhookAttempt {
            number: attempt.number,
            attempted_at: attempt.attempted_at.into(),
            milliseconds: attempt.milliseconds,
            status: attempt.status,
            error: attempt.error.map(EnumValue),
            response: attempt.response,
        }
    }
}

/// Reads the ID of a delivery.
fn read_message_id<'de, D: Deserializer<'de>>(column: D) -> std::result::Result<String, D::Error> {
    Uuid::deserialize(column).map(message_id)
}

resource!(DeliveryOut: Uuid, WEBHOOK_DELIVERIES, "webhook_delivery", id, team_id);

page_of! {
    /// A page of deliveries.
    WebhookDeliveryPage, DeliveryOut
}

/// What the list of deliveries can be filtered by.
#[derive(Debug, Object, Serialize)]
pub struct DeliveryFilters {
    /// ID of the webhook.
    webhook_id: Option<Uuid>,
    /// State of the delivery.
    status: Option<EnumValue<DeliveryStatus>>,
    /// Type of the event.
    event_type: Option<EnumValue<EventType>>,
}

#[routes(prefix = "/operator/v1", tag = Events)]
impl WebhookDeliveriesApi {
    /// List deliveries to webhooks
    ///
    /// Returns the deliveries to webhooks with their attempts, newest first. They are kept for the days of the setting
    /// `events.keep_days` after they have ended.
    #[get(
        "/webhook-deliveries",
        routes::list(&[
            "status=pending",
            "status=succeeded&event_type=purchase.completed",
            "status=failed",
            "webhook_id=00000000-0000-0000-0000-000000000000",
        ]),
    )]
    async fn list_webhook_deliveries(
        call: Call<Operator>,
        query: Params<ListQuery<DeliveryFilters>>,
    ) -> JsonResult<WebhookDeliveryPage> {
        pages::list(call, query).await
    }

    /// Get a delivery to a webhook
    ///
    /// Returns a delivery with its attempts.
    #[get("/webhook-deliveries/{delivery_id}", routes::get("webhook_deliveries"))]
    async fn get_webhook_delivery(call: Call<Operator>, delivery_id: Path<Uuid>) -> JsonResult<DeliveryOut> {
        resources::get(call, delivery_id.0).await
    }

    /// Redeliver to a webhook
    ///
    /// Delivers an event again, with the same message ID, whatever came of it so far. A pending delivery is tried now, and
    /// any other begins a new series of attempts. The webhook must be enabled.
    #[post(
        "/webhook-deliveries/{delivery_id}/redeliver",
        routes::change("webhook_deliveries", Actor::Platform, &[]),
    )]
    async fn redeliver_webhook_delivery(change: Change, delivery_id: Path<Uuid>) -> JsonResult<DeliveryOut> {
        changes::transition(change, delivery_id, |writer, platform, _, id| {
            webhook_deliveries::redeliver(writer, platform, id)
        })
        .await
    }
}
