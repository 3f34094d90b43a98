//! Sends events to webhooks: an async task of a market that a process serves. It waits for a commit that enqueues a
//! delivery, for the end of an attempt, or for the time of the next one. Without pending deliveries, there is no
//! timer, and no connection is kept.
//!
//! Attempts in progress are known only here. A delivery that was being sent when the process ended is sent again, with the same
//! ID.

use std::{
    collections::{HashMap, VecDeque},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use tokio::{
    runtime::Handle,
    task::{Id, JoinError, JoinHandle, JoinSet},
};

use super::{
    webhook_deliveries::{self, EndedAttempt},
    webhook_slots::{MAX_PER_WEBHOOK, Slots},
};
use crate::{
    clock::{Clock, Stopwatch},
    domain::{
        time::Timestamp,
        webhook_messages::{SigningSecret, message_id, signature_header},
        webhooks::{
            AttemptError, AttemptResult, MAX_ATTEMPT_SECONDS, MAX_RESPONSE_BYTES, MAX_WAIT_MICROS,
            parse_retry_after, parse_url,
        },
    },
    error::{Error, ErrorChain, Result},
    http_client::{PostClient, PostError},
    market::{BackgroundSignal, Market, Reader, Requester, milliseconds},
    store::{
        self,
        webhook_deliveries::{DueDelivery, Waiting},
    },
};

/// Delay before deliveries are looked for, or attempts are recorded, again if that failed.
const RETRY_DELAY: Duration = Duration::from_secs(1);

/// Handle on the task that sends the events of a market. Dropping it interrupts the attempts in progress; they are
/// made again after the next start.
#[derive(Debug)]
pub struct WebhookSender {
    shared: Arc<Shared>,
    task: JoinHandle<()>,
}

/// What the task shares with its handle.
#[derive(Debug)]
struct Shared {
    /// `None` as soon as the handle was dropped, so that a task that waits does not keep the market open.
    market: Mutex<Option<Market>>,
    signal: Arc<BackgroundSignal>,
    is_stopped: AtomicBool,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Option<Market>> {
        self.market.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn stop(&self) {
        self.is_stopped.store(true, Ordering::SeqCst);
        self.signal.notify();
    }
}

impl WebhookSender {
    /// Starts to send the events of a market that this process serves, once for each market. Does nothing if the
    /// settings say so.
    pub fn start(market: &Market, runtime: &Handle) -> Result<WebhookSender> {
        // Usually nothing is pending, and then no thread looks for it.
        let is_any_pending =
            market.read_blocking(|reader| store::webhook_deliveries::is_any_pending(reader.rows))?;
        let shared = Arc::new(Shared {
            market: Mutex::new(Some(market.clone())),
            signal: Arc::clone(market.webhook_signal()),
            is_stopped: AtomicBool::new(!market.settings().webhooks.enabled),
        });
        let settings = &market.settings().webhooks;
        let client = PostClient::new(
            settings.allow_private_addresses,
            Duration::from_secs(MAX_ATTEMPT_SECONDS),
            MAX_RESPONSE_BYTES,
        );
        let sending = Sending {
            slots: Slots::new(settings.concurrent_attempts),
            client: Arc::new(client.map_err(Error::internal)?),
            attempts: JoinSet::new(),
            begun: HashMap::new(),
            ended: Vec::new(),
        };
        let task = runtime.spawn(sending.run(Arc::clone(&shared), is_any_pending));
        Ok(WebhookSender { shared, task })
    }

    /// Starts no new attempts. Attempts in progress go on until the handle is dropped.
    pub fn stop(&self) {
        self.shared.stop();
    }
}

impl Drop for WebhookSender {
    fn drop(&mut self) {
        self.shared.stop();
        *self.shared.lock() = None;
        self.task.abort();
    }
}

/// A delivery whose turn it is.
#[derive(Debug)]
struct Chosen {
    waiting: Waiting,
    delivery: DueDelivery,
    secrets: Vec<SigningSecret>,
}

/// The state of the task.
struct Sending {
    slots: Slots,
    client: Arc<PostClient>,
    attempts: JoinSet<EndedAttempt>,
    /// The attempts in progress by task, in the form that is recorded if the task panics.
    begun: HashMap<Id, EndedAttempt>,
    /// Attempts that have ended and are not recorded yet. They occupy their slots.
    ended: Vec<EndedAttempt>,
}

impl Sending {
    async fn run(mut self, shared: Arc<Shared>, is_any_pending: bool) {
        if !is_any_pending {
            self.wait(&shared, None).await;
        }
        loop {
            match self.advance(&shared).await {
                Ok(Some(Due { next })) => self.wait(&shared, next).await,
                Ok(None) => break,
                Err(cause) => {
                    tracing::error!(cause = %ErrorChain(&cause), "sending to webhooks failed, retrying");
                    tokio::time::sleep(RETRY_DELAY).await;
                }
            }
        }
    }

    /// Records ended attempts, and starts due ones. Returns `None` if the task was stopped and no attempt is in
    /// progress.
    async fn advance(&mut self, shared: &Shared) -> Result<Option<Due>> {
        let Some(market) = shared.lock().clone() else { return Ok(None) };
        self.record_ended(&market).await?;
        if shared.is_stopped.load(Ordering::SeqCst) {
            return Ok((!self.attempts.is_empty()).then_some(Due { next: None }));
        }
        let slots = self.slots.clone();
        let (chosen, waiting) =
            market.read(Requester::process(), move |reader| choose_due(reader, slots)).await?;
        self.slots.retain_owners(&waiting);
        // The first one is the earliest of its webhook: others were scheduled before or after the clock was set back.
        let latest = market.clock().now().plus_micros(MAX_WAIT_MICROS);
        if waiting.iter().any(|webhook| webhook.first_at > latest) {
            tracing::warn!(
                "the clock was set back; deliveries to webhooks that were scheduled before are due now"
            );
            let bring_forward = |writer: &mut crate::market::Writer| {
                store::webhook_deliveries::bring_forward(writer.rows, writer.now)
            };
            market.write_freeing(Requester::process(), bring_forward).await?;
            return Ok(Some(Due { next: Some(market.clock().now()) }));
        }
        for delivery in chosen {
            self.start(&market, delivery);
        }
        Ok(Some(Due { next: waiting.iter().filter_map(|webhook| webhook.next_at).min() }))
    }

    /// Waits until there may be something to do.
    async fn wait(&mut self, shared: &Shared, next: Option<Timestamp>) {
        tokio::select! {
            () = shared.signal.wait(next) => {}
            Some(ended) = self.attempts.join_next_with_id() => self.collect(ended),
        }
        while let Some(ended) = self.attempts.try_join_next_with_id() {
            self.collect(ended);
        }
    }

    fn collect(&mut self, ended: std::result::Result<(Id, EndedAttempt), JoinError>) {
        match ended {
            Ok((task, attempt)) => {
                self.begun.remove(&task);
                self.ended.push(attempt);
            }
            Err(cause) => {
                tracing::error!(%cause, "an attempt to send to a webhook panicked");
                self.ended.extend(self.begun.remove(&cause.id()));
            }
        }
    }

    /// Records the attempts that have ended, in one transaction. Uses the reserve of the disk if needed, since
    /// otherwise the slots would stay occupied.
    async fn record_ended(&mut self, market: &Market) -> Result<()> {
        if self.ended.is_empty() {
            return Ok(());
        }
        let ended = self.ended.clone();
        let record = move |writer: &mut crate::market::Writer| {
            ended.iter().try_for_each(|attempt| webhook_deliveries::record(writer, attempt))
        };
        market.write_freeing(Requester::process(), record).await?;
        for attempt in self.ended.drain(..) {
            market.attempts().count_webhook(&attempt.result);
            self.slots.end(attempt.delivery);
        }
        Ok(())
    }

    fn start(&mut self, market: &Market, chosen: Chosen) {
        let client = Arc::clone(&self.client);
        let begun = EndedAttempt {
            delivery: chosen.delivery.row_id,
            url: chosen.delivery.url.clone(),
            enabled_at: chosen.delivery.enabled_at,
            attempted_at: market.clock().now(),
            milliseconds: 0,
            result: failed(AttemptError::Interrupted),
        };
        self.slots.start(begun.delivery, &chosen.waiting);
        let may_be_private = market.settings().webhooks.allow_private_addresses;
        let (clock, ended) = (Arc::clone(market.clock()), begun.clone());
        let task = self.attempts.spawn(async move {
            let stopwatch = Stopwatch::start(clock);
            let result = attempt(&client, may_be_private, chosen).await;
            let milliseconds = milliseconds(stopwatch.elapsed()) as u64;
            EndedAttempt { milliseconds, result, ..ended }
        });
        self.begun.insert(task.id(), begun);
    }
}

/// When to look for deliveries, unless a signal comes earlier.
struct Due {
    next: Option<Timestamp>,
}

/// Returns the deliveries whose turn it is, and all webhooks that have pending ones.
fn choose_due(reader: &Reader, mut slots: Slots) -> Result<(Vec<Chosen>, Vec<Waiting>)> {
    struct Queue {
        waiting: Waiting,
        /// Looked up when it is the webhook's turn.
        due: Option<(VecDeque<DueDelivery>, Vec<SigningSecret>)>,
    }
    let all = store::webhook_deliveries::list_waiting(reader.rows, reader.now)?;
    let due = all.iter().filter(|webhook| webhook.first_at <= reader.now);
    let mut queues: Vec<Queue> = due.map(|waiting| Queue { waiting: *waiting, due: None }).collect();
    let mut chosen = Vec::new();
    while let Some(index) = slots.choose(queues.iter().map(|queue| &queue.waiting)) {
        let Queue { waiting, due } = &mut queues[index];
        if due.is_none() {
            let (webhook, limit) = (waiting.webhook, MAX_PER_WEBHOOK as u32);
            let mut found = store::webhook_deliveries::list_due(reader.rows, webhook, reader.now, limit)?;
            found.retain(|delivery| !slots.is_running(delivery.row_id));
            let secrets = store::webhooks::list_secrets(reader.rows, webhook, reader.now)?;
            *due = Some((found.into(), secrets));
        }
        let next = due.as_mut().and_then(|(found, secrets)| Some((found.pop_front()?, secrets.clone())));
        match next {
            Some((delivery, secrets)) => {
                slots.start(delivery.row_id, waiting);
                chosen.push(Chosen { waiting: *waiting, delivery, secrets });
            }
            None => {
                queues.swap_remove(index);
            }
        }
    }
    Ok((chosen, all))
}

const fn failed(error: AttemptError) -> AttemptResult {
    AttemptResult { outcome: Err(error), retry_after: None, response: String::new() }
}

async fn attempt(client: &PostClient, may_be_private: bool, chosen: Chosen) -> AttemptResult {
    let Chosen { delivery, secrets, .. } = chosen;
    // The settings may have changed since it was saved.
    let Ok(url) = parse_url(&delivery.url, may_be_private) else { return failed(AttemptError::InvalidUrl) };
    // Receivers compare the time with that of their system, so it is not that of the market's clock.
    let timestamp = Clock::System.now().seconds();
    let id = message_id(delivery.id);
    let headers = vec![
        ("webhook-signature", signature_header(&secrets, &id, timestamp, &delivery.body)),
        ("webhook-timestamp", timestamp.to_string()),
        ("webhook-id", id),
    ];
    match client.post(&url, headers, delivery.body.into_bytes()).await {
        Ok(posted) => {
            let now = Clock::System.now();
            AttemptResult {
                outcome: Ok(posted.status),
                retry_after: posted.retry_after.and_then(|value| parse_retry_after(&value, now)),
                response: String::from_utf8_lossy(&posted.excerpt).into_owned(),
            }
        }
        Err(error) => failed(match error {
            PostError::NotResolved => AttemptError::NotResolved,
            PostError::NotPublic => AttemptError::PrivateAddress,
            PostError::TimedOut => AttemptError::TimedOut,
            PostError::Unreachable => AttemptError::Unreachable,
            PostError::Interrupted => AttemptError::Interrupted,
        }),
    }
}
