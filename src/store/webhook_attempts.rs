//! Attempts to deliver an event to a webhook, with what the endpoint responded.

use serde::Deserialize;

use super::{Reader, Writer};
use crate::{
    domain::{row_ids::WebhookDeliveryRowId, time::Timestamp, webhooks::AttemptError},
    error::Result,
    string_enum::StringEnum,
};

/// The last 20 attempts of the delivery in `d`, newest first, as JSON.
pub(super) const JSON: &str =
    "(SELECT json_group_array(json_object('number', number, 'attempted_at', attempted_at,
          'milliseconds', milliseconds, 'status', status, 'error', error, 'response', response))
      FROM (SELECT * FROM webhook_attempts WHERE delivery = d.id ORDER BY number DESC LIMIT 20))";

/// An attempt.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Attempt {
    /// Number of the attempt, from 1.
    pub number: u32,
    /// Time at which it began.
    #[serde(deserialize_with = "deserialize_micros")]
    pub attempted_at: Timestamp,
    /// How long it took.
    pub milliseconds: u64,
    /// Status of the response; `None` if there was none.
    pub status: Option<u16>,
    /// Why there was no response; `None` if there was one.
    pub error: Option<AttemptError>,
    /// The first KB of the body of the response.
    pub response: String,
}

fn deserialize_micros<'de, D: serde::Deserializer<'de>>(from: D) -> std::result::Result<Timestamp, D::Error> {
    i64::deserialize(from).map(Timestamp)
}

/// Inserts an attempt.
pub fn insert(writer: &Writer, delivery: WebhookDeliveryRowId, attempt: &Attempt) -> Result<()> {
    const SQL: &str =
        "INSERT INTO webhook_attempts (delivery, number, attempted_at, milliseconds, status, error, response)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    let Attempt { number, attempted_at, milliseconds, status, error, response } = attempt;
    let error = error.map(StringEnum::as_str);
    writer.run(SQL, (delivery, number, attempted_at.0, milliseconds, status, error, response))
}

/// Returns the last 20 attempts of a delivery, newest first.
pub fn list_last(reader: &Reader, delivery: WebhookDeliveryRowId) -> Result<Vec<Attempt>> {
    const SQL: &str = "SELECT number, attempted_at, milliseconds, status, error, response
         FROM webhook_attempts WHERE delivery = ?1 ORDER BY number DESC LIMIT 20";
    reader.query_all(SQL, [delivery], |row| {
        Ok(Attempt {
            number: row.get(0)?,
            attempted_at: row.get(1)?,
            milliseconds: row.get(2)?,
            status: row.get(3)?,
            error: row.get(4)?,
            response: row.get(5)?,
        })
    })
}
