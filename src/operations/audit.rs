//! The audit of the operator API and of the console: each change has an entry, written in its transaction.

use uuid::Uuid;

use super::access::{ActingProof, AuthenticatedTeam, Platform};
use crate::{
    domain::row_ids::KeyRowId,
    error::Result,
    market::Writer,
    store::{
        self,
        audit::NewEntry,
        records::any_record::{AnyRecord, Value},
    },
};

pub use store::audit::{FieldChange, parse_changes};

/// Maximum number of characters of a text that an entry keeps of a field.
const MAX_TEXT: usize = 300;

/// Maximum number of fields whose changes an entry keeps.
const MAX_FIELDS: usize = 40;

/// Columns that every change affects, or whose values an entry should not keep.
const NOT_KEPT: &[&str] = &["updated_at", "body", "attempts", "postings"];

/// Columns whose changes an entry records without the values, since entries are never deleted.
const SECRET: &[&str] = &["payout_setup"];

/// What an operator or a team has changed.
#[derive(Clone, Debug)]
pub struct AuditedChange<'a> {
    /// ID of the operation in the document of the operator API, or of the form of the console.
    pub operation: &'a str,
    /// Kind of the record that was changed, such as `listing`.
    pub subject_kind: &'a str,
    /// ID or slug of the record.
    pub subject_id: &'a str,
    /// ID of the team that the operator acted for; `None` if none. Not used for changes by a team.
    pub team: Option<Uuid>,
    /// The fields of the record that were changed; empty if they are not known.
    pub fields: &'a [FieldChange],
}

/// Returns the fields that differ between a record before a change and after it, with the values that an entry keeps.
pub fn differences(before: &AnyRecord, after: &AnyRecord) -> Vec<FieldChange> {
    let columns = after.columns().filter(|(name, _)| !NOT_KEPT.contains(name));
    let changed = columns.filter(|(name, value)| before.get(name) != *value);
    let change = |(name, value): (&str, &Value)| {
        let is_secret = SECRET.contains(&name);
        let kept = |value: &Value, other: &Value| if is_secret { Value::Missing } else { kept(value, other) };
        let old = before.get(name);
        FieldChange { field: name.to_owned(), before: kept(old, value), after: kept(value, old) }
    };
    changed.take(MAX_FIELDS).map(change).collect()
}

/// Returns the part of a value that an entry keeps: for a long text, the part with the first difference from the other
/// value.
fn kept(value: &Value, other: &Value) -> Value {
    const SAME: usize = MAX_TEXT / 3;
    let Value::Text(text) = value else { return value.clone() };
    let length = text.chars().count();
    if length <= MAX_TEXT {
        return value.clone();
    }
    let same = match other {
        Value::Text(other) => text.chars().zip(other.chars()).take_while(|(one, other)| one == other).count(),
        _ => 0,
    };
    let start = if same <= MAX_TEXT - SAME { 0 } else { same - SAME };
    let cut = |is_cut: bool| is_cut.then_some('…');
    let part = text.chars().skip(start).take(MAX_TEXT);
    Value::Text(cut(start > 0).into_iter().chain(part).chain(cut(start + MAX_TEXT < length)).collect())
}

/// Records a change that an operator made.
pub fn record(writer: &Writer, operator: &impl ActingProof, change: &AuditedChange) -> Result<()> {
    insert(writer, operator.used_key(), change)
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
    let AuditedChange { operation, subject_kind, subject_id, team, fields } = *change;
    let (occurred_at, request_id) = (writer.now, writer.request_id);
    store::audit::insert(
        writer.rows,
        &NewEntry {
            occurred_at,
            key,
            session,
            operation,
            subject_kind,
            subject_id,
            team,
            request_id,
            fields,
        },
    )
}

/// Records a change that was not made with an operator key of the market. `subject` is the kind and the ID of the changed
/// record.
pub fn record_of_process(writer: &Writer, _: Platform, operation: &str, subject: &str) -> Result<()> {
    let change =
        AuditedChange { operation, subject_kind: subject, subject_id: subject, team: None, fields: &[] };
    insert(writer, (None, None), &change)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// However late two long texts differ, the kept parts differ, too.
    #[test]
    fn kept_texts_differ() {
        let long = |start: usize, change: &str, end: usize| {
            Value::Text(format!("{}{change}{}", "a".repeat(start), "z".repeat(end)))
        };
        for start in [0, 10, 199, 200, 201, 299, 300, 1_000] {
            for (old, new) in [("one", "two"), ("", "added"), ("removed", "")] {
                for end in [0, 5, 1_000] {
                    let (old, new) = (long(start, old, end), long(start, new, end));
                    let texts = [kept(&old, &new), kept(&new, &old)];
                    assert_ne!(texts[0], texts[1], "{start} {old:?} {new:?}");
                    for text in texts {
                        assert!(matches!(text, Value::Text(text) if text.chars().count() <= MAX_TEXT + 2));
                    }
                }
            }
        }
        assert_eq!(kept(&long(0, "short", 0), &Value::Missing), long(0, "short", 0));
        assert_eq!(
            kept(&long(400, "", 0), &Value::Missing),
            Value::Text(format!("{}…", "a".repeat(MAX_TEXT)))
        );
    }
}
