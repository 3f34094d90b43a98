//! Deliveries of events to webhooks, and the attempts that were made. The module `webhook_sender` makes them.

use uuid::Uuid;

use super::{access::Platform, retention::in_batches, webhooks};
use crate::{
    domain::{
        row_ids::{WebhookDeliveryRowId, WebhookRowId},
        time::Timestamp,
        webhooks::{AfterAttempt, AttemptResult, DeliveryStatus, WebhookDisabledReason, is_failing},
    },
    error::{Error, Result},
    market::{Market, Reader, Writer},
    store::{self, webhook_attempts::Attempt, webhook_deliveries::Delivery, webhooks::Webhook},
};

/// Maximum number of deliveries that one transaction of a cleanup deletes.
const MAX_DELETED_PER_BATCH: u32 = 1_000;

/// Delivers an event again, with the same ID, in any state of the delivery. The delivery is due now. A pending delivery
/// continues its series of attempts; any other begins a new series. Fails if the webhook is disabled.
pub fn redeliver(writer: &mut Writer, _: Platform, id: Uuid) -> Result<()> {
    let (delivery, webhook) = find(writer.rows, id)?;
    redeliver_found(writer, delivery, &webhook)
}

/// Returns the last attempts of a delivery, newest first.
pub fn list_attempts(reader: &Reader, _: Platform, id: Uuid) -> Result<Vec<Attempt>> {
    let (delivery, _) = find(reader.rows, id)?;
    store::webhook_attempts::list_last(reader.rows, delivery.row_id)
}

/// Returns the ID of the record that a message is about.
pub fn subject_of(body: &str) -> Option<String> {
    let message: serde_json::Value = serde_json::from_str(body).ok()?;
    message["data"]["subject"]["id"].as_str().map(str::to_owned)
}

/// Returns a delivery with its webhook.
pub(super) fn find(rows: &store::Reader, id: Uuid) -> Result<(Delivery, Webhook)> {
    let absent = || Error::not_found("webhook delivery");
    let delivery = store::webhook_deliveries::find(rows, id)?.ok_or_else(absent)?;
    let webhook = store::webhooks::find_by_row_id(rows, delivery.webhook)?.ok_or_else(absent)?;
    Ok((delivery, webhook))
}

/// Like [`redeliver`], for a delivery that was found with its webhook.
pub(super) fn redeliver_found(writer: &Writer, mut delivery: Delivery, webhook: &Webhook) -> Result<()> {
    if webhook.disabled.is_some() {
        return Err(webhooks::disabled_error());
    }
    if delivery.status != DeliveryStatus::Pending {
        delivery.failures = 0;
        delivery.ended_at = None;
        delivery.status = DeliveryStatus::Pending;
    }
    delivery.next_attempt_at = Some(writer.now);
    store::webhook_deliveries::update(writer.rows, &delivery)?;
    writer.wake_webhooks();
    Ok(())
}

/// An attempt that has ended.
#[derive(Clone, Debug)]
pub struct EndedAttempt {
    /// Row ID of the delivery.
    pub delivery: WebhookDeliveryRowId,
    /// URL to which it was sent.
    pub url: String,
    /// The value of `enabled_at` of the webhook when the attempt began.
    pub enabled_at: Timestamp,
    /// Time at which the attempt began.
    pub attempted_at: Timestamp,
    /// How long it took.
    pub milliseconds: u64,
    /// What came of it.
    pub result: AttemptResult,
}

/// Records an attempt and its consequences: whether the delivery is tried again, and whether the webhook is disabled. Does nothing
/// if the delivery was deleted or has ended meanwhile. If the webhook was changed meanwhile, a failed delivery is due again at
/// once.
pub fn record(writer: &Writer, ended: &EndedAttempt) -> Result<()> {
    let found = store::webhook_deliveries::find_by_row_id(writer.rows, ended.delivery)?;
    let Some(mut delivery) = found.filter(|delivery| delivery.status == DeliveryStatus::Pending) else {
        return Ok(());
    };
    let EndedAttempt { attempted_at, milliseconds, ref result, .. } = *ended;
    delivery.attempts += 1;
    let attempt = Attempt {
        number: delivery.attempts,
        attempted_at,
        milliseconds,
        status: result.outcome.ok(),
        error: result.outcome.err(),
        response: result.response.clone(),
    };
    store::webhook_attempts::insert(writer.rows, delivery.row_id, &attempt)?;
    let mut after = result.decide(delivery.failures, writer.now);
    if after != AfterAttempt::Succeeded {
        if is_outdated(writer.rows, delivery.webhook, ended)? {
            after = AfterAttempt::RetryAt(writer.now);
        } else {
            delivery.failures += 1;
        }
    }
    (delivery.status, delivery.next_attempt_at) = match after {
        AfterAttempt::Succeeded => (DeliveryStatus::Succeeded, None),
        AfterAttempt::RetryAt(at) => (DeliveryStatus::Pending, Some(at)),
        AfterAttempt::Failed { .. } => (DeliveryStatus::Failed, None),
    };
    delivery.ended_at = (delivery.status != DeliveryStatus::Pending).then_some(writer.now);
    store::webhook_deliveries::update(writer.rows, &delivery)?;
    match after {
        AfterAttempt::Succeeded => store::webhooks::record_success(writer.rows, delivery.webhook, writer.now),
        AfterAttempt::RetryAt(_) => Ok(()),
        AfterAttempt::Failed { is_gone } => disable_if_failing(writer, &delivery, is_gone),
    }
}

/// Whether the webhook was changed during an attempt, so that a failure does not count for its current state.
fn is_outdated(rows: &store::Reader, webhook: WebhookRowId, ended: &EndedAttempt) -> Result<bool> {
    let found = store::webhooks::find_by_row_id(rows, webhook)?;
    Ok(found.is_some_and(|webhook| {
        webhook.disabled.is_some() || webhook.enabled_at != ended.enabled_at || webhook.url != ended.url
    }))
}

/// Disables the webhook of a failed delivery if the receiver asks for no more events, or if no delivery has succeeded for a
/// long time.
fn disable_if_failing(writer: &Writer, delivery: &Delivery, is_gone: bool) -> Result<()> {
    let found = store::webhooks::find_by_row_id(writer.rows, delivery.webhook)?;
    let Some(mut webhook) = found else { return Ok(()) };
    let since = webhook.last_success_at.map_or(webhook.enabled_at, |at| at.max(webhook.enabled_at));
    if is_gone {
        webhooks::disable(writer, &mut webhook, WebhookDisabledReason::Gone)
    } else if is_failing(since, writer.now) {
        webhooks::disable(writer, &mut webhook, WebhookDisabledReason::Failing)
    } else {
        Ok(())
    }
}

/// Returns when [`delete_old`] will find something, given that it has deleted everything until now; `None` for never. May be
/// early.
pub fn next_deletion_at(reader: &Reader) -> Result<Option<Timestamp>> {
    let secret = store::webhooks::first_secret_ends_at(reader.rows)?;
    let ended = match reader.settings.events.keep_days {
        0 => None,
        days => {
            store::webhook_deliveries::first_ended_at(reader.rows)?.map(|at| at.plus_days(i64::from(days)))
        }
    };
    Ok(secret.into_iter().chain(ended).min())
}

/// Deletes, in transactions of bounded size, deliveries that ended more than `events.keep_days` ago (none if that is 0),
/// deliveries of deleted webhooks, and replaced secrets. Returns the number of deliveries.
pub fn delete_old(market: &Market) -> Result<u64> {
    in_batches(market, MAX_DELETED_PER_BATCH as usize, |writer| {
        store::webhooks::delete_ended_secrets(writer.rows, writer.now)?;
        let ended = match writer.settings.events.keep_days {
            0 => 0,
            days => {
                let before = writer.now.plus_days(-i64::from(days));
                store::webhook_deliveries::delete_ended(writer.rows, before, MAX_DELETED_PER_BATCH)?
            }
        };
        let limit = MAX_DELETED_PER_BATCH - ended;
        let orphaned = store::webhook_deliveries::delete_of_deleted_webhooks(writer.rows, limit)?;
        Ok((ended + orphaned) as usize)
    })
}
