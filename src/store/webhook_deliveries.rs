//! Deliveries: each is an event on its way to a webhook.

use uuid::Uuid;

use super::{Reader, Writer, row::FromRow};
use crate::{
    domain::{
        events::EventType,
        row_ids::{WebhookDeliveryRowId, WebhookRowId},
        teams::TeamRowId,
        time::Timestamp,
        webhooks::{DeliveryStatus, MAX_WAIT_MICROS},
    },
    error::Result,
};

/// A delivery.
#[derive(Clone, Debug, FromRow)]
pub struct Delivery {
    /// Row ID, which increases with the time of creation.
    pub row_id: WebhookDeliveryRowId,
    /// ID of the delivery, from which that of its message is made.
    pub id: Uuid,
    /// Row ID of the webhook.
    pub webhook: WebhookRowId,
    /// Type of the event.
    pub event_type: EventType,
    /// What is sent.
    pub body: String,
    /// State of the delivery.
    pub status: DeliveryStatus,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Time of the next attempt; `None` unless pending.
    pub next_attempt_at: Option<Timestamp>,
    /// Number of attempts so far.
    pub attempts: u32,
    /// Number of attempts that failed since the event occurred, or since it was redelivered.
    pub failures: u32,
    /// Time at which it succeeded or failed; `None` if pending.
    pub ended_at: Option<Timestamp>,
}

/// The columns of a [`Delivery`], from the table `webhook_deliveries d`.
pub(super) const COLUMNS: &str =
    "d.id AS row_id, d.uuid AS id, d.webhook, d.event_type, d.body, d.status, d.created_at,
    d.next_attempt_at, d.attempts, d.failures, d.ended_at";

/// Returns the delivery with this ID.
pub fn find(reader: &Reader, id: Uuid) -> Result<Option<Delivery>> {
    let sql = format!("SELECT {COLUMNS} FROM webhook_deliveries d WHERE d.uuid = ?1");
    reader.query_first(&sql, [id], Delivery::from_row)
}

/// Returns the delivery with this row ID.
pub fn find_by_row_id(reader: &Reader, row_id: WebhookDeliveryRowId) -> Result<Option<Delivery>> {
    let sql = format!("SELECT {COLUMNS} FROM webhook_deliveries d WHERE d.id = ?1");
    reader.query_first(&sql, [row_id], Delivery::from_row)
}

/// Returns the newest deliveries to a webhook, newest first: those before a row ID if that is given.
pub fn list_newest(
    reader: &Reader,
    webhook: WebhookRowId,
    before: Option<WebhookDeliveryRowId>,
    limit: u32,
) -> Result<Vec<Delivery>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM webhook_deliveries d WHERE d.webhook = ?1 AND d.id < ?2 ORDER BY d.id DESC LIMIT ?3"
    );
    let before = before.unwrap_or(WebhookDeliveryRowId(i64::MAX));
    reader.query_all(&sql, (webhook, before, limit), Delivery::from_row)
}

/// A delivery to insert.
#[derive(Debug)]
pub struct NewDelivery<'a> {
    /// ID of the delivery.
    pub id: Uuid,
    /// Row ID of the webhook.
    pub webhook: WebhookRowId,
    /// Type of the event.
    pub event_type: EventType,
    /// What is sent.
    pub body: &'a str,
    /// Time of creation, and of the first attempt.
    pub created_at: Timestamp,
}

/// Inserts a delivery that is due at once. Returns its row ID.
pub fn insert(writer: &Writer, delivery: &NewDelivery) -> Result<WebhookDeliveryRowId> {
    const SQL: &str =
        "INSERT INTO webhook_deliveries (uuid, webhook, event_type, body, created_at, next_attempt_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?5)";
    let NewDelivery { id, webhook, event_type, body, created_at } = delivery;
    let row_id = writer.insert(SQL, (id, webhook, event_type, body, created_at))?;
    Ok(WebhookDeliveryRowId(row_id))
}

/// Replaces the state of a delivery: its status, its times, and its numbers of attempts.
pub fn update(writer: &Writer, delivery: &Delivery) -> Result<()> {
    const SQL: &str =
        "UPDATE webhook_deliveries SET status = ?2, next_attempt_at = ?3, attempts = ?4, failures = ?5,
             ended_at = ?6 WHERE id = ?1";
    let Delivery { row_id, status, next_attempt_at, attempts, failures, ended_at, .. } = delivery;
    writer.run(SQL, (row_id, status, next_attempt_at, attempts, failures, ended_at))
}

/// An enabled webhook with pending deliveries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromRow)]
#[row(by_position)]
pub struct Waiting {
    /// Row ID of the webhook.
    pub webhook: WebhookRowId,
    /// Row ID of its team; `None` if it is one of the operators.
    pub team: Option<TeamRowId>,
    /// Time of its next attempt, which may be in the past.
    pub first_at: Timestamp,
    /// Time of its first attempt in the future; `None` if there is none.
    pub next_at: Option<Timestamp>,
}

/// Whether any delivery is pending, to an enabled webhook or not.
pub fn is_any_pending(reader: &Reader) -> Result<bool> {
    const SQL: &str = "SELECT EXISTS (SELECT 1 FROM webhook_deliveries WHERE next_attempt_at IS NOT NULL)";
    reader.query_one(SQL, [], |row| row.get(0))
}

/// Returns the enabled webhooks that have pending deliveries. Reads two rows for each of them, for any number of
/// pending deliveries.
pub fn list_waiting(reader: &Reader, now: Timestamp) -> Result<Vec<Waiting>> {
    const SQL: &str = "WITH RECURSIVE waiting (webhook) AS (
             SELECT min(webhook) FROM webhook_deliveries WHERE next_attempt_at IS NOT NULL
             UNION ALL
             SELECT (SELECT min(webhook) FROM webhook_deliveries
                 WHERE next_attempt_at IS NOT NULL AND webhook > waiting.webhook)
             FROM waiting WHERE webhook IS NOT NULL
         )
         SELECT w.id, w.team,
             (SELECT min(next_attempt_at) FROM webhook_deliveries
                 WHERE webhook = w.id AND next_attempt_at IS NOT NULL),
             (SELECT min(next_attempt_at) FROM webhook_deliveries WHERE webhook = w.id AND next_attempt_at > ?1)
         FROM waiting JOIN webhooks w ON w.id = waiting.webhook
         WHERE w.disabled_at IS NULL AND w.deleted_at IS NULL";
    reader.query_all(SQL, [now], Waiting::from_row)
}

/// Makes pending deliveries with an impossible due time due now; see [`MAX_WAIT_MICROS`].
pub fn bring_forward(writer: &Writer, now: Timestamp) -> Result<()> {
    const SQL: &str = "UPDATE webhook_deliveries SET next_attempt_at = ?2 WHERE next_attempt_at > ?1";
    writer.run(SQL, (now.plus_micros(MAX_WAIT_MICROS).0, now))
}

/// A delivery that is due, with what its next attempt needs.
#[derive(Clone, Debug, FromRow)]
#[row(by_position)]
pub struct DueDelivery {
    /// Row ID of the delivery.
    pub row_id: WebhookDeliveryRowId,
    /// ID of the delivery.
    pub id: Uuid,
    /// URL of the webhook.
    pub url: String,
    /// When the webhook was created, was last enabled, or got this URL.
    pub enabled_at: Timestamp,
    /// What is sent.
    pub body: String,
}

/// Returns the deliveries to a webhook that are due, in the order of their times.
pub fn list_due(
    reader: &Reader,
    webhook: WebhookRowId,
    now: Timestamp,
    limit: u32,
) -> Result<Vec<DueDelivery>> {
    const SQL: &str = "SELECT d.id, d.uuid, w.url, w.enabled_at, d.body
         FROM webhook_deliveries d JOIN webhooks w ON w.id = d.webhook
         WHERE d.webhook = ?1 AND d.next_attempt_at <= ?2 ORDER BY d.next_attempt_at, d.id LIMIT ?3";
    reader.query_all(SQL, (webhook, now, limit), DueDelivery::from_row)
}

/// Returns when the first of the deliveries ended that [`delete_ended`] deletes at some time.
pub fn first_ended_at(reader: &Reader) -> Result<Option<Timestamp>> {
    const SQL: &str = "SELECT min(at) FROM (
             SELECT min(ended_at) AS at FROM webhook_deliveries
             UNION ALL SELECT min(w.disabled_at) FROM webhooks w
                 JOIN webhook_deliveries d ON d.webhook = w.id AND d.next_attempt_at IS NOT NULL)";
    reader.query_one(SQL, [], |row| row.get(0))
}

/// Deletes at most `limit` deliveries with their attempts: deliveries that ended before a time, and pending
/// deliveries of webhooks that were disabled before it. Returns their number.
pub fn delete_ended(writer: &Writer, before: Timestamp, limit: u32) -> Result<u32> {
    const ENDED: &str = "DELETE FROM webhook_deliveries WHERE id IN
         (SELECT id FROM webhook_deliveries WHERE ended_at < ?1 ORDER BY ended_at LIMIT ?2)";
    const DISABLED: &str = "DELETE FROM webhook_deliveries WHERE id IN
         (SELECT d.id FROM webhooks w JOIN webhook_deliveries d ON d.webhook = w.id
          WHERE w.disabled_at < ?1 AND d.next_attempt_at IS NOT NULL LIMIT ?2)";
    let ended = writer.execute(ENDED, (before, limit))? as u32;
    Ok(ended + writer.execute(DISABLED, (before, limit.saturating_sub(ended)))? as u32)
}

/// Deletes at most `limit` deliveries of deleted webhooks, with their attempts, and the webhooks that then have
/// none. Returns the number of deliveries.
pub fn delete_of_deleted_webhooks(writer: &Writer, limit: u32) -> Result<u32> {
    const DELIVERIES: &str = "DELETE FROM webhook_deliveries WHERE id IN
         (SELECT d.id FROM webhooks w JOIN webhook_deliveries d ON d.webhook = w.id
          WHERE w.deleted_at IS NOT NULL LIMIT ?1)";
    const WEBHOOKS: &str = "DELETE FROM webhooks WHERE deleted_at IS NOT NULL
         AND NOT EXISTS (SELECT 1 FROM webhook_deliveries d WHERE d.webhook = webhooks.id)";
    let deleted = writer.execute(DELIVERIES, [limit])? as u32;
    writer.execute(WEBHOOKS, [])?;
    Ok(deleted)
}
