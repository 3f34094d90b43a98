//! The steps that become due, by time.

use uuid::Uuid;

use super::{Reader, Writer};
use crate::{
    domain::{
        due_steps::{DueStep, StepKind, StepSubject},
        time::Timestamp,
    },
    error::Result,
};

/// Schedules a step. A step of the same kind and subject is replaced.
pub fn schedule(writer: &Writer, kind: StepKind, subject: StepSubject, at: Timestamp) -> Result<()> {
    const SQL: &str = "INSERT INTO due_steps (kind, subject, due_at) VALUES (?1, ?2, ?3)
         ON CONFLICT (kind, subject) DO UPDATE SET due_at = ?3, is_migrated = 0, is_quiet = 0, error = NULL";
    writer.run(SQL, (kind, subject.0, at))
}

/// Deletes a step, if it is scheduled.
pub fn unschedule(writer: &Writer, kind: StepKind, subject: StepSubject) -> Result<()> {
    const SQL: &str = "DELETE FROM due_steps WHERE kind = ?1 AND subject = ?2";
    writer.run(SQL, (kind, subject.0))
}

/// Returns the first step that is due at `until`: by time, then by kind, then by row.
pub fn find_due(reader: &Reader, until: Timestamp) -> Result<Option<DueStep>> {
    const SQL: &str = "SELECT due_at, kind, subject, is_quiet FROM due_steps
         WHERE error IS NULL AND due_at <= ?1 ORDER BY due_at, kind, subject LIMIT 1";
    reader.query_first(SQL, [until], |row| {
        Ok(DueStep { due_at: row.get(0)?, kind: row.get(1)?, subject: row.get(2)?, is_quiet: row.get(3)? })
    })
}

/// Returns the time of the next step; `None` if none is scheduled.
pub fn next_due_at(reader: &Reader) -> Result<Option<Timestamp>> {
    const SQL: &str = "SELECT min(due_at) FROM due_steps WHERE error IS NULL";
    reader.query_one(SQL, [], |row| row.get(0))
}

/// Returns the ID or the slug of the record that a step changes; `None` if it does not exist.
pub fn subject_id(reader: &Reader, step: &DueStep) -> Result<Option<String>> {
    let table = match step.kind {
        StepKind::AssetTypeRetires => {
            const SQL: &str = "SELECT slug FROM asset_types WHERE position = ?1";
            return reader.query_first(SQL, [step.subject.0], |row| row.get(0));
        }
        StepKind::DeadlinePasses => "opportunities",
        StepKind::GrantExpires => "upload_grants",
        StepKind::HoldEnds => "ledger_entries",
        StepKind::KeyExpires => "keys",
        StepKind::OfferExpires => "offers",
        StepKind::PurchaseExpires => "purchases",
    };
    let sql = format!("SELECT uuid FROM {table} WHERE id = ?1");
    let id = reader.query_first(&sql, [step.subject.0], |row| row.get::<_, Uuid>(0))?;
    Ok(id.map(|id| id.to_string()))
}

/// Records that a step failed, so that it does not keep others from being carried out.
pub fn fail(writer: &Writer, step: &DueStep, error: &str) -> Result<()> {
    const SQL: &str = "UPDATE due_steps SET error = ?3 WHERE kind = ?1 AND subject = ?2";
    writer.run(SQL, (step.kind, step.subject.0, error))
}

/// Whether steps failed, or were scheduled by a migration.
pub fn has_unprepared(reader: &Reader) -> Result<bool> {
    const SQL: &str = "SELECT EXISTS (SELECT 1 FROM due_steps WHERE error IS NOT NULL OR is_migrated)";
    reader.query_one(SQL, [], |row| row.get(0))
}

/// Makes failed steps due again, and mutes notifications of steps that were overdue at a migration.
pub fn prepare(writer: &Writer, now: Timestamp) -> Result<()> {
    const SQL: &str = "UPDATE due_steps
         SET error = NULL, is_quiet = is_quiet OR (is_migrated AND due_at <= ?1), is_migrated = 0
         WHERE error IS NOT NULL OR is_migrated";
    writer.run(SQL, [now])
}

/// Returns the failed steps with their errors.
pub fn list_failed(reader: &Reader) -> Result<Vec<(StepKind, StepSubject, String)>> {
    const SQL: &str =
        "SELECT kind, subject, error FROM due_steps WHERE error IS NOT NULL ORDER BY due_at, kind, subject";
    reader.query_all(SQL, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
}
