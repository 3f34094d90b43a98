//! The data of events about webhooks. None of them has a secret.

use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use crate::{
    time::Timestamp,
    webhooks::{WebhookDisabledReason, WebhookStatus},
};

/// An endpoint after a change. An endpoint of operators belongs to no team, so only operators see its events.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct WebhookData {
    /// ID of the endpoint.
    pub webhook_id: Uuid,
    /// URL to which events are sent.
    pub url: String,
    /// What its owner says about it.
    pub description: String,
    /// Types of the events that are sent; empty for all types.
    pub event_types: Vec<&'static str>,
    /// Whether events are sent.
    pub status: WebhookStatus,
}

/// An endpoint that was disabled.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct WebhookDisabledData {
    /// ID of the endpoint.
    pub webhook_id: Uuid,
    /// URL to which no events are sent any more.
    pub url: String,
    /// Why it was disabled.
    pub reason: WebhookDisabledReason,
}

/// An endpoint whose secret was replaced.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct WebhookRotatedData {
    /// ID of the endpoint.
    pub webhook_id: Uuid,
    /// Time until which the replaced secret signs, too.
    #[schemars(with = "String")]
    pub previous_secret_ends_at: Timestamp,
}
