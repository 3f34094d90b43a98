//! The audit: who changed what through the operator API, the console, or a command.

use uuid::Uuid;

use super::{Writer, records::any_record::Value, row};
use crate::{
    domain::{row_ids::KeyRowId, time::Timestamp},
    error::Result,
};

/// An entry to append.
#[derive(Debug)]
pub struct NewEntry<'a> {
    /// Time of the change.
    pub occurred_at: Timestamp,
    /// The key of the operator or of the team; `None` for a command on the data directory.
    pub key: Option<KeyRowId>,
    /// ID of the session in which it was made; `None` if in none.
    pub session: Option<Uuid>,
    /// ID of the operation in the document of the operator API, or of the form of the console.
    pub operation: &'a str,
    /// Kind of the record that was changed.
    pub subject_kind: &'a str,
    /// ID or slug of the record.
    pub subject_id: &'a str,
    /// ID of the team that acted, or was acted for; `None` if none.
    pub team: Option<Uuid>,
    /// ID of the request.
    pub request_id: Option<&'a str>,
    /// The fields that were changed; empty if they are not known.
    pub fields: &'a [FieldChange],
}

/// A field of a record that was changed.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldChange {
    /// Name of the field.
    pub field: String,
    /// Its value before.
    pub before: Value,
    /// Its value after.
    pub after: Value,
}

/// A stored field change: the name of the field, and its values before and after.
type StoredChange = (String, serde_json::Value, serde_json::Value);

/// Returns the text that stores changed fields; `None` if there are none.
fn text_of(fields: &[FieldChange]) -> Result<Option<String>> {
    if fields.is_empty() {
        return Ok(None);
    }
    let stored =
        |change: &FieldChange| (change.field.clone(), change.before.to_json(), change.after.to_json());
    row::to_json(&fields.iter().map(stored).collect::<Vec<StoredChange>>()).map(Some)
}

/// Reads changed fields from the text that stores them. Returns none for an unknown text.
pub fn parse_changes(text: &str) -> Vec<FieldChange> {
    let stored: Vec<StoredChange> = serde_json::from_str(text).unwrap_or_default();
    let change = |(field, before, after): StoredChange| FieldChange {
        field,
        before: Value::from_json(before),
        after: Value::from_json(after),
    };
    stored.into_iter().map(change).collect()
}

/// Appends an entry.
pub fn insert(writer: &Writer, entry: &NewEntry) -> Result<()> {
    const SQL: &str =
        "INSERT INTO audit (occurred_at, key, operation, subject_kind, subject_id, team, request_id, session, changes)
         VALUES (?1, ?2, ?3, ?4, ?5, (SELECT id FROM teams WHERE uuid = ?6), ?7, ?8, ?9)";
    let NewEntry { occurred_at, key, session, operation, subject_kind, subject_id, team, request_id, fields } =
        entry;
    let changes = text_of(fields)?;
    let values =
        (occurred_at.0, key, operation, subject_kind, subject_id, team, request_id, session, changes);
    writer.run(SQL, values)
}
