//! What the webhooks of a world got.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use poem::Request;
use tokio::time::{Instant, sleep_until};

use super::{access::WorldReader, worlds::read_with};
use crate::{
    domain::{durations, events::EventType},
    error::{Problem, Result},
    rest::{prelude::*, shapes::strings::DurationText},
    web::shares::capacity::Slot,
    worlds::{InboxMessage, World},
};

/// Maximum time that a request waits for a message, in microseconds: 60 seconds.
const MAX_WAIT: i64 = 60_000_000;

/// A message to a webhook.
#[derive(Debug, Object, Serialize)]
#[oai(rename = "InboxMessage")]
pub struct InboxMessageOut {
    /// Number of the message in the world, counted from 1.
    pub number: u64,
    /// ID of the delivery.
    pub delivery_id: Uuid,
    /// URL of the webhook.
    pub url: String,
    /// Type of the event.
    pub event_type: EnumValue<EventType>,
    /// Number of the attempt, counted from 1.
    pub attempt: u32,
    /// Time of the world at which it was sent.
    pub sent_at: UtcTime,
    /// Headers of the request, by name: `webhook-id`, `webhook-timestamp`, and `webhook-signature`.
    pub headers: BTreeMap<String, String>,
    /// Body of the request, as it is signed.
    pub body: String,
}

/// Messages to the webhooks of a world.
#[derive(Debug, Object, Serialize)]
pub struct InboxPage {
    /// The messages, oldest first.
    pub items: Vec<InboxMessageOut>,
    /// Number of the last message of the world; 0 if there is none.
    pub last: u64,
}

/// Which messages are returned.
#[derive(Debug, Object)]
pub struct InboxQuery {
    /// Returns only messages with a greater number.
    #[oai(default, validator(minimum(value = "0")))]
    after: i64,
    /// Maximum number of messages.
    #[oai(default = "default_limit", validator(minimum(value = "1"), maximum(value = "100")))]
    limit: u32,
    /// Returns only messages about events of this type.
    event_type: Option<EnumValue<EventType>>,
    /// How long to wait for a message if there is none, in the time of the machine, such as `5s`. At most `60s`.
    wait: Option<DurationText>,
}

const fn default_limit() -> u32 {
    100
}

impl InboxMessageOut {
    fn new(message: &InboxMessage) -> InboxMessageOut {
        let headers = message.headers.iter();
        InboxMessageOut {
            number: message.number,
            delivery_id: message.delivery,
            url: message.url.clone(),
            event_type: EnumValue(message.event_type),
            attempt: message.attempt,
            sent_at: message.sent_at.into(),
            headers: headers.map(|(name, value)| ((*name).to_owned(), value.clone())).collect(),
            body: message.body.clone(),
        }
    }
}

impl InboxQuery {
    /// Returns the messages that the inbox has.
    fn list(&self, world: &World) -> InboxPage {
        let is_listed = |message: &InboxMessage| {
            self.event_type.as_ref().is_none_or(|event_type| event_type.0 == message.event_type)
        };
        let (messages, last) = world.inbox().list(self.after.unsigned_abs(), self.limit as usize, is_listed);
        InboxPage { items: messages.iter().map(|message| InboxMessageOut::new(message)).collect(), last }
    }

    /// Returns how long to wait for a message.
    fn wait(&self) -> Result<Duration> {
        let Some(text) = &self.wait else { return Ok(Duration::ZERO) };
        let micros = durations::parse(&text.0).filter(|micros| *micros <= MAX_WAIT);
        micros.map(|micros| Duration::from_micros(micros.unsigned_abs())).ok_or_else(|| {
            let message = "`wait` must be a duration of at most 60s, as in 5s or 500ms.";
            Error::invalid(Problem::query("wait", "value_error", message))
        })
    }
}

/// Waits until the inbox has a message that is asked for, or the time is over. The world first sends what is due, and
/// again after each change. Fails if the world ends meanwhile.
async fn wait_for_messages(world: &Arc<World>, query: &InboxQuery, until: Instant) -> Result<InboxPage> {
    let mut end = world.subscribe_to_end();
    loop {
        let (mut arrivals, mut commits) = (world.inbox().subscribe(), world.market().commits());
        drop(world.admit().await?);
        let page = query.list(world);
        if !page.items.is_empty() || Instant::now() >= until {
            return Ok(page);
        }
        // Commits and messages of the admission itself are noticed here again, which costs one repetition.
        let is_changed = tokio::select! {
            result = arrivals.changed() => result.is_ok(),
            result = commits.changed() => result.is_ok(),
            () = sleep_until(until) => false,
            _ = end.wait_for(|has_ended| *has_ended) => return Err(Error::WorldNotFound(world.name().to_owned())),
        };
        if !is_changed {
            return Ok(query.list(world));
        }
    }
}

#[routes(prefix = "/sandbox/v1", tag = Worlds)]
impl WorldWebhooksApi {
    /// List what webhooks got
    ///
    /// Returns the messages to the webhooks of the world, oldest first, which are not sent unless the world was created so.
    /// Each was answered with status 200, unless a fault says otherwise. The newest 1,000 are kept. With `wait`, a request
    /// without results waits for one.
    #[get(
        "/worlds/{world}/webhooks",
        read_with(
            Contract::new(Target::World)
                .with_queries(&["after=0", "limit=1", "event_type=team.created", "wait=1ms"])
                .with_misspelled("limi=1", "limit"),
        )
        .without_deadline(),
    )]
    async fn list_world_webhooks(
        call: Call<WorldReader>,
        request: &Request,
        /// Name of the world.
        world: Path<String>,
        query: Params<InboxQuery>,
    ) -> JsonResult<InboxPage> {
        let (query, until) = (&query.0, Instant::now() + query.0.wait()?);
        let world = call.served.require_sandbox()?.worlds().require(&world.0)?;
        let _place = match query.wait {
            Some(_) => {
                Some(call.served.held_requests().try_acquire(world.market().id(), call.access.principal())?)
            }
            None => None,
        };
        let page = Slot::release_during(request, wait_for_messages(&world, query, until)).await??;
        Ok(Json::from_small(&page))
    }
}
