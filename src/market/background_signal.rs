//! Wakes the background work of a market, or what sends its events, when there may be something to do.

use std::sync::Arc;

use tokio::sync::Notify;

use crate::{clock::Clock, domain::time::Timestamp};

/// A signal for the one task that starts the background work of a market, or that sends its events to webhooks. It is
/// independent of the market, so a task that waits does not keep the market open.
#[derive(Debug)]
pub struct BackgroundSignal {
    notify: Notify,
    clock: Arc<Clock>,
}

impl BackgroundSignal {
    pub(super) fn new(clock: Arc<Clock>) -> BackgroundSignal {
        BackgroundSignal { notify: Notify::new(), clock }
    }

    /// Ends the current wait, or else the next one. Calls while nobody waits count as one.
    pub fn notify(&self) {
        self.notify.notify_one();
    }

    /// Waits for a notification, and at most until a time of the market's clock. Only one task may wait.
    pub async fn wait(&self, until: Option<Timestamp>) {
        let Some(until) = until else { return self.notify.notified().await };
        tokio::select! {
            () = self.notify.notified() => {}
            () = self.clock.sleep_until(until) => {}
        }
    }
}
