//! The audit: who changed what through the operator API, the console, or a command.

use uuid::Uuid;

use super::Writer;
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
}

/// Appends an entry.
pub fn insert(writer: &Writer, entry: &NewEntry) -> Result<()> {
    const SQL: &str =
        "INSERT INTO audit (occurred_at, key, operation, subject_kind, subject_id, team, request_id, session)
         VALUES (?1, ?2, ?3, ?4, ?5, (SELECT id FROM teams WHERE uuid = ?6), ?7, ?8)";
    let NewEntry { occurred_at, key, session, operation, subject_kind, subject_id, team, request_id } = entry;
    let values = (occurred_at.0, key, operation, subject_kind, subject_id, team, request_id, session);
    writer.execute(SQL, values)?;
    Ok(())
}
