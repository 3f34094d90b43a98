//! Also sends the messages to the webhooks of a world to their URLs. Nothing waits for the answers or depends on them.

use std::{sync::Arc, time::Duration};

use tokio::{runtime::Handle, sync::Semaphore};

use super::webhook_inbox::OutgoingMessage;
use crate::{
    clock::Clock,
    domain::webhooks::{MAX_ATTEMPT_SECONDS, MAX_RESPONSE_BYTES, parse_url},
    error::{Error, Result},
    http_client::PostClient,
};

/// Maximum number of messages that are being sent or wait for it. Others are not sent.
const MAX_PENDING: usize = 1_000;

/// Maximum number of messages that are being sent at the same time.
const MAX_CONCURRENT: usize = 8;

/// Sends messages to the URLs of webhooks.
#[derive(Clone)]
pub struct WebhookForwarder {
    client: Arc<PostClient>,
    may_be_private: bool,
    pending: Arc<Semaphore>,
    sending: Arc<Semaphore>,
    runtime: Handle,
}

impl WebhookForwarder {
    /// Creates a forwarder that sends in a runtime. URLs of private networks are used only if `may_be_private`.
    pub fn new(runtime: Handle, may_be_private: bool) -> Result<WebhookForwarder> {
        let client =
            PostClient::new(may_be_private, Duration::from_secs(MAX_ATTEMPT_SECONDS), MAX_RESPONSE_BYTES);
        Ok(WebhookForwarder {
            client: Arc::new(client.map_err(Error::internal)?),
            may_be_private,
            pending: Arc::new(Semaphore::new(MAX_PENDING)),
            sending: Arc::new(Semaphore::new(MAX_CONCURRENT)),
            runtime,
        })
    }

    /// Begins to send a message. It is signed with the time of the machine, which receivers compare with theirs.
    pub fn forward(&self, message: &OutgoingMessage) {
        let Ok(pending) = Arc::clone(&self.pending).try_acquire_owned() else {
            tracing::warn!(url = message.url, "a message to a webhook of a world is not sent: too many wait");
            return;
        };
        let Ok(url) = parse_url(&message.url, self.may_be_private) else { return };
        let headers = message.headers(Clock::System.now().seconds()).to_vec();
        let (client, sending, body) =
            (Arc::clone(&self.client), Arc::clone(&self.sending), message.body.clone().into_bytes());
        self.runtime.spawn(async move {
            let _pending = pending;
            let Ok(_sending) = sending.acquire().await else { return };
            if let Err(error) = client.post(&url, headers, body).await {
                tracing::info!(%url, ?error, "a message to a webhook of a world was not received");
            }
        });
    }
}
