//! Deliveries of events to webhooks are enqueued in the transaction of the event.

use std::cell::Cell;

use uuid::Uuid;

use super::Writer;
use crate::{
    domain::{
        events::{EventRowId, EventType},
        webhook_messages::{self, Message},
    },
    error::{Error, Result},
    store::{self, events::NewEvent, webhook_deliveries::NewDelivery},
};

/// The resource of events about webhooks.
const RESOURCE: &str = "webhook";

/// What a write knows about webhooks.
#[derive(Debug, Default)]
pub(super) struct WebhookQueue {
    /// Whether any webhook is enabled; `None` if that is not known yet. Most markets have none, so that their events
    /// cost one statement for each transaction.
    is_any_enabled: Cell<Option<bool>>,
    /// Whether the write has made a delivery due.
    pub(super) has_enqueued: Cell<bool>,
}

impl WebhookQueue {
    /// Forgets whether any webhook is enabled.
    pub(super) fn forget(&self) {
        self.is_any_enabled.set(None);
    }
}

impl Writer<'_> {
    /// Wakes the task that sends to webhooks with the commit of this transaction: a webhook was created, enabled,
    /// or changed, or a delivery is due.
    pub fn wake_webhooks(&self) {
        self.webhooks.forget();
        self.webhooks.has_enqueued.set(true);
    }

    /// Enqueues an event for all enabled webhooks that get it. A webhook gets no events about itself. `data` is the
    /// data of the event as JSON.
    pub(super) fn enqueue_deliveries(&self, event: &NewEvent, row_id: EventRowId, data: &str) -> Result<()> {
        if !self.settings.webhooks.enabled || !self.is_any_webhook_enabled()? {
            return Ok(());
        }
        let event_type = event.data.event_type();
        let itself =
            if event_type.resource() == RESOURCE { Uuid::try_parse(&event.subject.0).ok() } else { None };
        let subscribers = store::webhooks::list_subscribers(self.rows, event.team, event_type, itself)?;
        if subscribers.is_empty() {
            return Ok(());
        }
        // How often the clock was advanced shifts no later ID.
        let reports = if event_type == EventType::ClockAdvanced { 0 } else { self.report_count };
        let number = EventRowId(row_id.0 - i64::try_from(reports).unwrap_or_default());
        let message = Message { event_type, occurred_at: event.occurred_at, subject: event.subject, data };
        let (of_operators, of_team): (Vec<_>, Vec<_>) =
            subscribers.into_iter().partition(|subscriber| subscriber.is_of_operators);
        let team_body = if of_team.is_empty() {
            String::new()
        } else {
            message.body_for_team().map_err(Error::internal)?
        };
        let operator_body = if of_operators.is_empty() {
            String::new()
        } else {
            let team = event.team.map(|team| store::teams::find_id(self.rows, team)).transpose()?;
            message.body_for_operators(team).map_err(Error::internal)?
        };
        let with_bodies = (of_team.iter().map(|subscriber| (subscriber, &team_body)))
            .chain(of_operators.iter().map(|subscriber| (subscriber, &operator_body)));
        for (subscriber, body) in with_bodies {
            let delivery = NewDelivery {
                id: webhook_messages::delivery_id(&subscriber.id_secret, event_type, number),
                webhook: subscriber.row_id,
                event_type,
                body,
                created_at: event.occurred_at,
            };
            store::webhook_deliveries::insert(self.rows, &delivery)?;
        }
        self.webhooks.has_enqueued.set(true);
        Ok(())
    }

    fn is_any_webhook_enabled(&self) -> Result<bool> {
        if let Some(is_any) = self.webhooks.is_any_enabled.get() {
            return Ok(is_any);
        }
        let is_any = store::webhooks::is_any_enabled(self.rows)?;
        self.webhooks.is_any_enabled.set(Some(is_any));
        Ok(is_any)
    }
}
