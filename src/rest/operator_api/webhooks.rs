//! Webhooks of teams and of operators.

use crate::{
    domain::{
        webhook_messages::SigningSecret,
        webhooks::{WebhookDisabledReason, WebhookStatus},
    },
    market::Market,
    operations::webhooks::{self, CheckedUrl, WebhookChange, WebhookInput},
    rest::{
        operator_api::prelude::*,
        shapes::strings::{WebhookDescription, WebhookUrl},
    },
    store::{records::webhooks::WEBHOOKS, webhooks::Webhook},
};

/// An endpoint to which events are sent, as Standard Webhooks (standardwebhooks.com) prescribes, without its secret.
#[derive(Debug, Object, Serialize, Deserialize)]
#[oai(rename = "Webhook")]
pub struct WebhookOut {
    /// ID of the webhook.
    pub id: Uuid,
    /// ID of the team whose events are sent, in the view of that team; null if the events of all teams are sent, for
    /// operators.
    pub team_id: Option<Uuid>,
    /// URL to which events are sent.
    pub url: String,
    /// What its owner says about it; may be empty.
    pub description: String,
    /// Types of the events that are sent; empty for all types.
    pub event_types: Vec<EnumValue<EventType>>,
    /// Whether events are sent. Nothing that occurs while it is disabled is sent later.
    pub status: EnumValue<WebhookStatus>,
    /// Why it is disabled; null if enabled. `requested`: somebody disabled it. `gone`: it responded 410. `failing`: a
    /// delivery failed, and none had succeeded for five days. `team_closed`: its team was closed.
    pub disabled_reason: Option<EnumValue<WebhookDisabledReason>>,
    /// Time from which it is disabled; null if enabled.
    pub disabled_at: Option<UtcTime>,
    /// Time until which the secret before the last rotation signs, too; null if there is none any more.
    pub previous_secret_ends_at: Option<UtcTime>,
    /// Time of the last delivery that succeeded; null if none has.
    pub last_success_at: Option<UtcTime>,
    /// Time of creation.
    pub created_at: UtcTime,
    /// Time of the last change.
    pub updated_at: UtcTime,
}

resource!(WebhookOut: Uuid, WEBHOOKS, "webhook", id, team_id);

page_of! {
    /// A page of webhooks.
    WebhookPage, WebhookOut
}

/// A webhook with a new secret.
#[derive(Debug, Object, Serialize)]
pub struct WebhookWithSecret {
    /// The secret that signs: `whsec_` and 32 bytes in base64. It cannot be shown again.
    pub secret: String,
    /// The webhook without its secret.
    pub webhook: WebhookOut,
}

impl WebhookWithSecret {
    fn find(
        writer: &Writer,
        platform: Platform,
        (webhook, secret): &(Webhook, SigningSecret),
    ) -> Result<Self> {
        let webhook = WebhookOut::find(&writer.check_context(), platform, &webhook.id)?;
        Ok(WebhookWithSecret { secret: secret.reveal(), webhook })
    }
}

subject!(WebhookWithSecret, WebhookOut::KIND, webhook.id, webhook.team_id);

/// What the list of webhooks can be filtered by.
#[derive(Debug, Object, Serialize)]
pub struct WebhookFilters {
    /// ID of the team whose events are sent.
    team_id: Option<Uuid>,
    /// Whether events are sent.
    status: Option<EnumValue<WebhookStatus>>,
    /// Whether it is failing: it was disabled because it did not accept events, or it is enabled, and a rejected event will
    /// be sent again.
    failing: Option<bool>,
}

/// A webhook to create.
#[derive(Debug, Object)]
pub struct WebhookIn {
    /// ID of the team whose events are sent, in the view of that team. If null or absent, the events of all teams are
    /// sent, as operators see them.
    team_id: Option<Uuid>,
    /// URL to which events are sent: https, on the public internet, unless the settings allow private addresses. Its
    /// host is looked up, and nothing is sent to it.
    url: MaybeInvalid<WebhookUrl>,
    /// What its owner says about it.
    description: Option<WebhookDescription>,
    /// Types of the events that are sent; all types if empty or absent.
    #[oai(default, validator(max_items = 200))]
    event_types: Vec<MaybeInvalid<EnumValue<EventType>>>,
}

/// Changes to a webhook. Fields that are absent stay as they are.
#[derive(Debug, Object)]
pub struct WebhookPatch {
    /// New URL.
    url: Omittable<WebhookUrl>,
    /// New description.
    description: Omittable<WebhookDescription>,
    /// New types of the events that are sent; all types if empty.
    #[oai(validator(max_items = 200))]
    event_types: Omittable<Vec<EnumValue<EventType>>>,
    /// Whether events are sent. A webhook of a closed team cannot be enabled.
    status: Omittable<EnumValue<WebhookStatus>>,
}

/// Looks up the host of a URL, before the write for which it is needed.
async fn resolve(market: &Market, url: Option<String>) -> Result<Option<Result<CheckedUrl>>> {
    let Some(url) = url else { return Ok(None) };
    market.spawn_blocking(move |market| Ok(CheckedUrl::check(market, &url))).await.map(Some)
}

#[routes(prefix = "/operator/v1", tag = Events)]
impl WebhooksApi {
    /// List webhooks
    ///
    /// Returns the webhooks of teams and of operators, newest first, without their secrets.
    #[get("/webhooks", routes::list(&["status=enabled", "failing=true", "team_id=00000000-0000-0000-0000-000000000000"]))]
    async fn list_webhooks(
        call: Call<Operator>,
        query: Params<ListQuery<WebhookFilters>>,
    ) -> JsonResult<WebhookPage> {
        pages::list(call, query).await
    }

    /// Create a webhook
    ///
    /// Creates an endpoint to which the events of a team, or those of all teams, are sent from now on. Only this response
    /// and those to rotations contain its secret.
    ///
    /// Each request is signed as Standard Webhooks prescribes (`webhook-id`, `webhook-timestamp`, `webhook-signature`),
    /// and its body is `{"type", "timestamp", "data"}`. A response with a status from 200 to 299 within 15 seconds is
    /// success. Otherwise it is sent again after 5 seconds, 5 minutes, 30 minutes, and 2, 5, 10, 14, 20, and 24 hours.
    /// The order of events is not kept: sort them by `timestamp`, and ignore a `webhook-id` that you have seen.
    #[post("/webhooks", routes::create(Actor::Platform, &[EventType::WebhookCreated]))]
    async fn create_webhook(
        change: Change,
        #[example(json!({
                    "team_id": DEMO_TEAM, "url": "http://127.0.0.1:4010/orders", "description": "Order system",
                    "event_types": ["purchase.completed", "purchase.refunded"],
                }))]
        body: Body<WebhookIn>,
    ) -> JsonResult<WebhookWithSecret, 201> {
        let url = body.value.url.0.as_ref().map(|url| url.0.clone());
        let url = resolve(change.call.served.market(), url).await?;
        changes::post_body_with(change, body, move |writer, platform, body: WebhookIn| {
            let WebhookIn { team_id, description, event_types, .. } = body;
            let team = team_id.map(|id| references::team(writer.rows, "team_id", id)).transpose()?;
            let team = team.map(|team| team.id.to_string());
            let event_types = MaybeInvalid::all(event_types, |kind| kind.0)?;
            let event_types = references::distinct("event_types", event_types)?;
            let input = WebhookInput {
                team: team.as_deref(),
                url: &MaybeInvalid(url).into_valid()??,
                description: &description.map_or_else(String::new, String::from),
                event_types: &event_types,
            };
            let created = webhooks::create(writer, platform, &input)?;
            WebhookWithSecret::find(writer, platform, &created)
        })
        .await
    }

    /// Get a webhook
    ///
    /// Returns a webhook, without its secret.
    #[get("/webhooks/{webhook_id}", routes::get("webhooks"))]
    async fn get_webhook(call: Call<Operator>, webhook_id: Path<Uuid>) -> JsonResult<WebhookOut> {
        resources::get(call, webhook_id.0).await
    }

    /// Update a webhook
    ///
    /// Changes a webhook, or disables or enables it. What was pending when it was disabled is sent when it is enabled
    /// again.
    #[patch(
        "/webhooks/{webhook_id}",
        routes::change("webhooks", Actor::Platform, &[EventType::WebhookUpdated, EventType::WebhookDisabled]),
    )]
    async fn update_webhook(
        call: Call<ActingOperator>,
        if_match: IfMatch,
        webhook_id: Path<Uuid>,
        #[example(json!({"description": "Order system, second region"}))] body: Body<WebhookPatch>,
    ) -> JsonResult<WebhookOut> {
        let url = body.value.url.0.as_ref().map(|url| url.0.clone());
        let url = resolve(call.served.market(), url).await?;
        let change = move |writer: &mut Writer, platform, id: &Uuid, patch: WebhookPatch| {
            let url = url.transpose()?;
            let event_types = patch.event_types.0;
            let event_types: Option<Vec<EventType>> =
                event_types.map(|types| types.into_iter().map(|kind| kind.0).collect());
            let event_types =
                event_types.map(|types| references::distinct("event_types", types)).transpose()?;
            let change = WebhookChange {
                url: url.as_ref(),
                description: patch.description.0.as_ref().map(|description| description.0.as_str()),
                event_types: event_types.as_deref(),
                status: patch.status.0.map(|status| status.0),
            };
            webhooks::update(writer, platform, *id, &change).map(drop)
        };
        changes::patch(call, if_match, webhook_id.0, body, change).await
    }

    /// Rotate the secret of a webhook
    ///
    /// Replaces the secret of a webhook. Each request is signed with both secrets for a day, so that receivers can be
    /// changed meanwhile. Only this response contains the new secret.
    #[post(
        "/webhooks/{webhook_id}/rotate",
        routes::change("webhooks", Actor::Platform, &[EventType::WebhookRotated]),
    )]
    async fn rotate_webhook(change: Change, webhook_id: Path<Uuid>) -> JsonResult<WebhookWithSecret, 201> {
        changes::post_with(change, move |writer, platform| {
            let rotated = webhooks::rotate(writer, platform, webhook_id.0)?;
            WebhookWithSecret::find(writer, platform, &rotated)
        })
        .await
    }

    /// Test a webhook
    ///
    /// Sends the event `webhook.tested` to an enabled webhook, whatever types of events it gets. Its deliveries show what came
    /// of it.
    #[post(
        "/webhooks/{webhook_id}/test",
        routes::change("webhooks", Actor::Platform, &[EventType::WebhookTested]),
    )]
    async fn test_webhook(change: Change, webhook_id: Path<Uuid>) -> JsonResult<WebhookOut> {
        changes::transition(change, webhook_id, |writer, platform, _, id| {
            webhooks::test(writer, platform, id)
        })
        .await
    }

    /// Delete a webhook
    ///
    /// Deletes a webhook with its deliveries. What is pending is not sent.
    #[delete(
        "/webhooks/{webhook_id}",
        routes::change("webhooks", Actor::Platform, &[EventType::WebhookDeleted]),
    )]
    async fn delete_webhook(
        call: Call<ActingOperator>,
        webhook_id: Path<Uuid>,
    ) -> std::result::Result<NoContent, ApiError> {
        changes::delete(call, move |writer, platform| {
            let webhook = WebhookOut::find(&writer.check_context(), platform, &webhook_id.0)?;
            webhooks::delete(writer, platform, webhook_id.0).map(|_| webhook)
        })
        .await
    }
}
