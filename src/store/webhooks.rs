//! Webhooks: endpoints of teams and of operators. A deleted one stays until its deliveries are deleted.

use uuid::Uuid;

use super::{
    Reader, Writer,
    row::{self, FromRow},
};
use crate::{
    domain::{
        events::EventType,
        row_ids::WebhookRowId,
        teams::TeamRowId,
        time::Timestamp,
        webhook_messages::SigningSecret,
        webhooks::{WebhookDisabledReason, WebhookStatus},
    },
    error::{Error, Result},
};

/// A webhook, without its secrets.
#[derive(Clone, Debug, FromRow)]
pub struct Webhook {
    /// Row ID, which increases with the time of creation.
    pub row_id: WebhookRowId,
    /// ID of the webhook.
    pub id: Uuid,
    /// Row ID of the team whose events are sent; `None` for those of all teams, which operators get.
    pub team: Option<TeamRowId>,
    /// ID of that team.
    pub team_id: Option<Uuid>,
    /// URL to which events are sent.
    pub url: String,
    /// What its owner says about it; may be empty.
    pub description: String,
    /// Types of the events that are sent, sorted; empty for all types.
    #[row(json)]
    pub event_types: Vec<EventType>,
    /// Time until which the replaced secret signs, too; `None` if no replaced secret is in use.
    pub previous_secret_ends_at: Option<Timestamp>,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Time of the last change.
    pub updated_at: Timestamp,
    /// Time at which it was created, was last enabled, or got its URL.
    pub enabled_at: Timestamp,
    /// Time of the last delivery that succeeded; `None` if none has.
    pub last_success_at: Option<Timestamp>,
    /// Since when it is disabled, and why; `None` if enabled.
    #[row(pair("disabled_at", "disabled_reason"))]
    pub disabled: Option<(Timestamp, WebhookDisabledReason)>,
}

impl Webhook {
    /// Returns whether events are sent.
    pub const fn status(&self) -> WebhookStatus {
        if self.disabled.is_some() { WebhookStatus::Disabled } else { WebhookStatus::Enabled }
    }
}

/// The condition that a webhook `w` is failing: it was disabled because it did not accept events, or it is enabled, and a rejected
/// event will be sent again.
pub(super) const IS_FAILING: &str =
    "(w.disabled_reason IN ('gone', 'failing') OR w.disabled_at IS NULL AND EXISTS (
         SELECT 1 FROM webhook_deliveries d
         WHERE d.webhook = w.id AND d.next_attempt_at IS NOT NULL AND d.failures > 0))";

/// The columns of a [`Webhook`], from [`TABLES`].
pub(super) const COLUMNS: &str =
    "w.id AS row_id, w.uuid AS id, w.team, t.uuid AS team_id, w.url, w.description, w.event_types, w.previous_secret_ends_at,
    w.created_at, w.updated_at, w.enabled_at, w.last_success_at, w.disabled_at, w.disabled_reason";

/// The tables of webhooks with the teams that own them.
pub(super) const TABLES: &str = "webhooks w LEFT JOIN teams t ON t.id = w.team";

/// Returns the webhook with this ID, of a team or of the operators.
pub fn find(reader: &Reader, id: Uuid) -> Result<Option<Webhook>> {
    let sql = format!("SELECT {COLUMNS} FROM {TABLES} WHERE w.uuid = ?1 AND w.deleted_at IS NULL");
    reader.query_first(&sql, [id], Webhook::from_row)
}

/// Returns the webhook with this row ID, unless it was deleted.
pub fn find_by_row_id(reader: &Reader, row_id: WebhookRowId) -> Result<Option<Webhook>> {
    let sql = format!("SELECT {COLUMNS} FROM {TABLES} WHERE w.id = ?1 AND w.deleted_at IS NULL");
    reader.query_first(&sql, [row_id], Webhook::from_row)
}

/// Returns the enabled webhooks of a team, oldest first.
pub fn list_enabled(reader: &Reader, team: TeamRowId) -> Result<Vec<Webhook>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM {TABLES} WHERE w.team = ?1 AND w.deleted_at IS NULL AND w.disabled_at IS NULL ORDER BY w.id"
    );
    reader.query_all(&sql, [team], Webhook::from_row)
}

/// Returns the webhooks of a team, oldest first.
pub fn list(reader: &Reader, team: TeamRowId) -> Result<Vec<Webhook>> {
    let sql =
        format!("SELECT {COLUMNS} FROM {TABLES} WHERE w.team = ?1 AND w.deleted_at IS NULL ORDER BY w.id");
    reader.query_all(&sql, [team], Webhook::from_row)
}

/// Returns the number of webhooks of a team, or of the operators.
pub fn count(reader: &Reader, team: Option<TeamRowId>) -> Result<u64> {
    const SQL: &str = "SELECT count(*) FROM webhooks WHERE team IS ?1 AND deleted_at IS NULL";
    reader.query_one(SQL, [team], |row| row.get(0))
}

/// Whether any webhook is enabled.
pub fn is_any_enabled(reader: &Reader) -> Result<bool> {
    const SQL: &str =
        "SELECT EXISTS (SELECT 1 FROM webhooks WHERE deleted_at IS NULL AND disabled_at IS NULL)";
    reader.query_one(SQL, [], |row| row.get(0))
}

/// A webhook to insert.
#[derive(Debug)]
pub struct NewWebhook<'a> {
    /// ID of the webhook.
    pub id: Uuid,
    /// Row ID of the team whose events are sent; `None` for those of all teams.
    pub team: Option<TeamRowId>,
    /// URL to which events are sent.
    pub url: &'a str,
    /// What its owner says about it.
    pub description: &'a str,
    /// Types of the events that are sent; empty for all types.
    pub event_types: &'a [EventType],
    /// Secret that signs.
    pub secret: SigningSecret,
    /// Secret from which the IDs of messages are derived.
    pub id_secret: [u8; 32],
    /// Time of creation.
    pub created_at: Timestamp,
}

/// Inserts an enabled webhook.
pub fn insert(writer: &Writer, webhook: &NewWebhook) -> Result<()> {
    const SQL: &str = "INSERT INTO webhooks
             (uuid, team, url, description, event_types, secret, id_secret, created_at, updated_at, enabled_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?8, ?8)";
    writer.run(
        SQL,
        (
            webhook.id,
            webhook.team,
            webhook.url,
            webhook.description,
            row::to_json(webhook.event_types)?,
            webhook.secret.0,
            webhook.id_secret,
            webhook.created_at,
        ),
    )
}

/// Updates the changeable columns of a webhook, except for its secrets and its last success.
pub fn update(writer: &Writer, webhook: &Webhook) -> Result<()> {
    const SQL: &str = "UPDATE webhooks SET url = ?2, description = ?3, event_types = ?4, updated_at = ?5,
             enabled_at = ?6, disabled_at = ?7, disabled_reason = ?8 WHERE id = ?1";
    writer.run(
        SQL,
        (
            webhook.row_id,
            &webhook.url,
            &webhook.description,
            row::to_json(&webhook.event_types)?,
            webhook.updated_at,
            webhook.enabled_at,
            webhook.disabled.map(|(at, _)| at),
            webhook.disabled.map(|(_, reason)| reason),
        ),
    )
}

/// Replaces the secret of a webhook. The replaced one signs until `ends_at`, too.
pub fn rotate(
    writer: &Writer,
    row_id: WebhookRowId,
    secret: SigningSecret,
    ends_at: Timestamp,
    now: Timestamp,
) -> Result<()> {
    const SQL: &str =
        "UPDATE webhooks SET previous_secret = secret, previous_secret_ends_at = ?3, secret = ?2,
             updated_at = ?4 WHERE id = ?1";
    writer.run(SQL, (row_id, secret.0, ends_at, now))
}

/// Returns the secrets that sign for a webhook at the time `now`: the current one, and then the replaced one if it
/// has not ended.
pub fn list_secrets(reader: &Reader, row_id: WebhookRowId, now: Timestamp) -> Result<Vec<SigningSecret>> {
    const SQL: &str = "SELECT secret, previous_secret, previous_secret_ends_at FROM webhooks
         WHERE id = ?1 AND deleted_at IS NULL";
    let secrets = reader.query_first(SQL, [row_id], |row| {
        let previous: Option<[u8; 32]> = row.get(1)?;
        let signs = row.get::<_, Option<_>>(2)?.is_some_and(|ends_at| now < ends_at);
        let secrets = [Some(row.get(0)?), previous.filter(|_| signs)];
        Ok(secrets.into_iter().flatten().map(SigningSecret).collect())
    })?;
    secrets.ok_or_else(|| Error::not_found("webhook"))
}

/// Records that a delivery has succeeded.
pub fn record_success(writer: &Writer, row_id: WebhookRowId, at: Timestamp) -> Result<()> {
    writer.run("UPDATE webhooks SET last_success_at = ?2 WHERE id = ?1", (row_id, at))
}

/// Marks a webhook as deleted, and forgets its secrets.
pub fn delete(writer: &Writer, row_id: WebhookRowId, now: Timestamp) -> Result<()> {
    const SQL: &str = "UPDATE webhooks SET deleted_at = ?2, secret = x'', previous_secret = NULL,
             previous_secret_ends_at = NULL WHERE id = ?1";
    writer.run(SQL, (row_id, now))
}

/// Returns when the first of the replaced secrets ends.
pub fn first_secret_ends_at(reader: &Reader) -> Result<Option<Timestamp>> {
    reader.query_one("SELECT min(previous_secret_ends_at) FROM webhooks", [], |row| row.get(0))
}

/// Deletes replaced secrets that no longer sign.
pub fn delete_ended_secrets(writer: &Writer, now: Timestamp) -> Result<()> {
    const SQL: &str = "UPDATE webhooks SET previous_secret = NULL, previous_secret_ends_at = NULL
         WHERE previous_secret_ends_at <= ?1";
    writer.run(SQL, [now])
}

/// An enabled webhook to which an event is sent.
#[derive(Debug, FromRow)]
#[row(by_position)]
pub struct Subscriber {
    /// Row ID of the webhook.
    pub row_id: WebhookRowId,
    /// Whether it is one of the operators.
    pub is_of_operators: bool,
    /// Secret from which the IDs of messages are derived.
    pub id_secret: [u8; 32],
}

/// Returns the enabled webhooks that get an event of a type in the view of a team, except one.
pub fn list_subscribers(
    reader: &Reader,
    team: Option<TeamRowId>,
    event_type: EventType,
    except: Option<Uuid>,
) -> Result<Vec<Subscriber>> {
    const SQL: &str = "SELECT id, 0, id_secret FROM webhooks
         WHERE deleted_at IS NULL AND disabled_at IS NULL AND team = ?1 AND uuid IS NOT ?3
             AND (event_types = '[]' OR EXISTS (SELECT 1 FROM json_each(event_types) WHERE value = ?2))
         UNION ALL
         SELECT id, 1, id_secret FROM webhooks
         WHERE deleted_at IS NULL AND disabled_at IS NULL AND team IS NULL AND uuid IS NOT ?3
             AND (event_types = '[]' OR EXISTS (SELECT 1 FROM json_each(event_types) WHERE value = ?2))";
    reader.query_all(SQL, (team, event_type, except), Subscriber::from_row)
}
