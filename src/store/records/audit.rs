//! Entries of the audit, as operators see them.

use uuid::Uuid;

use super::{
    Reader, Record,
    pages::{PageQuery, PageRequest, RowPage},
};
use crate::{
    domain::{row_ids::AuditRowId, time::Timestamp},
    error::Result,
    store::row,
};

/// Who changed what.
#[derive(Clone, Debug)]
pub struct AuditRecord {
    /// Row ID of the entry.
    pub row_id: AuditRowId,
    /// Time of the change.
    pub occurred_at: Timestamp,
    /// ID of the operator key; `None` for a command on the data directory.
    pub key: Option<Uuid>,
    /// ID of the operation in the document of the operator API.
    pub operation: String,
    /// Kind of the record that was changed.
    pub subject_kind: String,
    /// ID or slug of the record.
    pub subject_id: String,
    /// ID of the team acted for; `None` if none.
    pub team: Option<Uuid>,
    /// ID of the request.
    pub request_id: Option<String>,
}

/// What the audit can be filtered by.
#[derive(Clone, Debug, Default)]
pub struct AuditFilter {
    /// ID of the operator key.
    pub key: Option<Uuid>,
    /// ID of the operation.
    pub operation: Option<String>,
    /// ID or slug of the record that was changed.
    pub subject: Option<String>,
    /// The team acted for.
    pub team: Option<Uuid>,
}

const COLUMNS: &str = "a.id, a.occurred_at, k.uuid AS key_uuid, a.operation, a.subject_kind, a.subject_id,
    t.uuid AS team_uuid, a.request_id";

const TABLES: &str = "audit a LEFT JOIN keys k ON k.id = a.key LEFT JOIN teams t ON t.id = a.team";

fn read(row: &rusqlite::Row) -> rusqlite::Result<AuditRecord> {
    Ok(AuditRecord {
        row_id: row.get("id")?,
        occurred_at: row::time(row, "occurred_at")?,
        key: row.get("key_uuid")?,
        operation: row.get("operation")?,
        subject_kind: row.get("subject_kind")?,
        subject_id: row.get("subject_id")?,
        team: row.get("team_uuid")?,
        request_id: row.get("request_id")?,
    })
}

impl Record for AuditRecord {
    type Id = AuditRowId;
    type Filter = AuditFilter;

    const NAME: &'static str = "audit entry";

    fn find(reader: &Reader, id: &AuditRowId) -> Result<Option<AuditRecord>> {
        reader.query_first(&format!("SELECT {COLUMNS} FROM {TABLES} WHERE a.id = ?1"), [id], read)
    }

    fn page(reader: &Reader, filter: &AuditFilter, request: PageRequest) -> Result<RowPage<AuditRecord>> {
        PageQuery::new(COLUMNS, TABLES, "a.id")
            .refers_to("a.key", "keys", filter.key)
            .filter("a.operation = ?", filter.operation.as_deref())
            .filter("a.subject_id = ?", filter.subject.as_deref())
            .refers_to("a.team", "teams", filter.team)
            .fetch(reader, request, read)
    }
}
