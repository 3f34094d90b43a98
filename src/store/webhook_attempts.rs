//! Attempts to deliver an event to a webhook, with what the endpoint responded.

use super::{Reader, Writer, row};
use crate::{
    domain::{row_ids::WebhookDeliveryRowId, time::Timestamp, webhooks::AttemptError},
    error::Result,
    string_enum::StringEnum,
};

/// An attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// Number of the attempt, from 1.
    pub number: u32,
    /// Time at which it began.
    pub attempted_at: Timestamp,
    /// How long it took.
    pub milliseconds: u64,
    /// Status of the response, or why there was none.
    pub outcome: std::result::Result<u16, AttemptError>,
    /// The first KB of the body of the response.
    pub response: String,
}

/// Inserts an attempt.
pub fn insert(writer: &Writer, delivery: WebhookDeliveryRowId, attempt: &Attempt) -> Result<()> {
    const SQL: &str =
        "INSERT INTO webhook_attempts (delivery, number, attempted_at, milliseconds, status, error, response)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    let Attempt { number, attempted_at, milliseconds, outcome, response } = attempt;
    let (status, error) = (outcome.ok(), outcome.err().map(StringEnum::as_str));
    writer.execute(SQL, (delivery, number, attempted_at.0, milliseconds, status, error, response))?;
    Ok(())
}

/// Returns the last attempts of a delivery, newest first.
pub fn list_newest(reader: &Reader, delivery: WebhookDeliveryRowId, limit: u32) -> Result<Vec<Attempt>> {
    const SQL: &str =
        "SELECT number, attempted_at, milliseconds, status, error, response FROM webhook_attempts
         WHERE delivery = ?1 ORDER BY number DESC LIMIT ?2";
    reader.query_all(SQL, (delivery, limit), |row| {
        let outcome = match row.get::<_, Option<u16>>("status")? {
            Some(status) => Ok(status),
            None => Err(row::string_enum(row, "error")?),
        };
        Ok(Attempt {
            number: row.get("number")?,
            attempted_at: row::time(row, "attempted_at")?,
            milliseconds: row.get("milliseconds")?,
            outcome,
            response: row.get("response")?,
        })
    })
}
