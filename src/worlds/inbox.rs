//! What the webhooks of a world got, kept for tests.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::watch;
use uuid::Uuid;

use crate::{
    domain::{events::EventType, time::Timestamp},
    operations::webhook_inbox::OutgoingMessage,
};

/// Maximum number of messages that an inbox keeps. The oldest are dropped first.
const MAX_MESSAGES: usize = 1_000;

/// Maximum size in bytes of the bodies that an inbox keeps.
const MAX_BYTES: usize = 4 << 20;

/// A message to a webhook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InboxMessage {
    /// Number of the message in the inbox, counted from 1.
    pub number: u64,
    /// ID of the delivery.
    pub delivery: Uuid,
    /// URL of the webhook.
    pub url: String,
    /// Type of the event.
    pub event_type: EventType,
    /// Number of the attempt, counted from 1.
    pub attempt: u32,
    /// Time of the world at which it was sent.
    pub sent_at: Timestamp,
    /// The headers that identify and sign it.
    pub headers: [(&'static str, String); 3],
    /// The body.
    pub body: String,
}

/// The messages to the webhooks of a world.
#[derive(Debug, Default)]
pub struct Inbox {
    state: Mutex<State>,
    /// Number of the last message.
    last: watch::Sender<u64>,
}

#[derive(Debug, Default)]
struct State {
    messages: VecDeque<Arc<InboxMessage>>,
    bytes: usize,
    last: u64,
}

impl Inbox {
    /// Adds a message. Old ones are dropped if there are too many.
    pub fn add(&self, message: &OutgoingMessage) {
        let mut state = self.lock();
        state.last += 1;
        let message = InboxMessage {
            number: state.last,
            delivery: message.delivery,
            url: message.url.clone(),
            event_type: message.event_type,
            attempt: message.earlier_attempts + 1,
            sent_at: message.due_at,
            headers: message.headers(message.timestamp),
            body: message.body.clone(),
        };
        state.bytes += message.body.len();
        state.messages.push_back(Arc::new(message));
        while state.messages.len() > MAX_MESSAGES || state.bytes > MAX_BYTES {
            let Some(dropped) = state.messages.pop_front() else { break };
            state.bytes -= dropped.body.len();
        }
        let last = state.last;
        drop(state);
        self.last.send_replace(last);
    }

    /// Returns the messages after the one with this number that `is_listed` accepts, at most `limit`, oldest first, and
    /// the number of the last message of all.
    pub fn list(
        &self,
        after: u64,
        limit: usize,
        is_listed: impl Fn(&InboxMessage) -> bool,
    ) -> (Vec<Arc<InboxMessage>>, u64) {
        let state = self.lock();
        let later = state.messages.iter().filter(|message| message.number > after && is_listed(message));
        (later.take(limit).cloned().collect(), state.last)
    }

    /// Returns a receiver that is notified of each new message.
    pub fn subscribe(&self) -> watch::Receiver<u64> {
        self.last.subscribe()
    }

    /// Deletes all messages, and begins to count from 1.
    pub(super) fn clear(&self) {
        *self.lock() = State::default();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
