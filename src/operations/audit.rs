//! The audit of the operator API and of the console: each change has an entry, written in its transaction.

use uuid::Uuid;

use super::access::{ActingOperator, AuthenticatedTeam, Platform};
use crate::{
    domain::row_ids::KeyRowId,
    error::Result,
    market::Writer,
    store::{self, audit::NewEntry},
};

/// What an operator or a team has changed.
#[derive(Clone, Debug)]
pub struct AuditedChange<'a> {
    /// ID of the operation in the document of the operator API, or of the form of the console.
    pub operation: &'a str,
    /// Kind of the record that was changed, such as `listing`.
    pub subject_kind: &'a str,
    /// ID or slug of the record.
    pub subject_id: &'a str,
    /// ID of the team that the operator acted for; `None` if none. Without meaning for what a team changes.
    pub team: Option<Uuid>,
}

/// Records a change that an operator made.
pub fn record(writer: &Writer, operator: &ActingOperator, change: &AuditedChange) -> Result<()> {
    insert(writer, (operator.key(), operator.session()), change)
}

/// Records a change that a team made in the console.
pub fn record_of_team(writer: &Writer, team: &AuthenticatedTeam, change: &AuditedChange) -> Result<()> {
    let change = AuditedChange { team: Some(team.team().id), ..*change };
    insert(writer, (team.key_row_id(), team.session()), &change)
}

fn insert(
    writer: &Writer,
    (key, session): (Option<KeyRowId>, Option<Uuid>),
    change: &AuditedChange,
) -> Result<()> {
    let AuditedChange { operation, subject_kind, subject_id, team } = *change;
    let (occurred_at, request_id) = (writer.now, writer.request_id);
    store::audit::insert(
        writer.rows,
        &NewEntry { occurred_at, key, session, operation, subject_kind, subject_id, team, request_id },
    )
}

/// Records a change that no operator key of the market made. `subject` is both the kind and the ID of what was changed.
pub fn record_of_process(writer: &Writer, _: Platform, operation: &str, subject: &str) -> Result<()> {
    let change = AuditedChange { operation, subject_kind: subject, subject_id: subject, team: None };
    insert(writer, (None, None), &change)
}
