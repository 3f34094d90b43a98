//! The audit of the operator API: each change has an entry, written in its transaction.

use uuid::Uuid;

use super::access::{ActingOperator, Platform};
use crate::{
    error::Result,
    market::Writer,
    store::{self, audit::NewEntry},
};

/// What an operator has changed.
#[derive(Clone, Debug)]
pub struct AuditedChange<'a> {
    /// ID of the operation in the document of the operator API.
    pub operation: &'a str,
    /// Kind of the record that was changed, such as `listing`.
    pub subject_kind: &'a str,
    /// ID or slug of the record.
    pub subject_id: &'a str,
    /// ID of the team that the operator acted for; `None` if none.
    pub team: Option<Uuid>,
}

/// Records a change.
pub fn record(writer: &Writer, operator: &ActingOperator, change: &AuditedChange) -> Result<()> {
    let AuditedChange { operation, subject_kind, subject_id, team } = *change;
    let (occurred_at, key, request_id) = (writer.now, operator.key(), writer.request_id);
    store::audit::insert(
        writer.rows,
        &NewEntry { occurred_at, key, operation, subject_kind, subject_id, team, request_id },
    )
}

/// Records a change that no operator key of the market made. `subject` is both the kind and the ID of what was changed.
pub fn record_of_process(writer: &Writer, _: Platform, operation: &str, subject: &str) -> Result<()> {
    let entry = NewEntry {
        occurred_at: writer.now,
        key: None,
        operation,
        subject_kind: subject,
        subject_id: subject,
        team: None,
        request_id: writer.request_id,
    };
    store::audit::insert(writer.rows, &entry)
}
