//! Imports of graded traces, and the traces that they add.

use uuid::Uuid;

use super::{
    Reader, Writer,
    row::{self, FromRow},
    uploads,
};
use crate::{
    domain::{
        row_ids::{TaskVersionRowId, TasksetRowId, TraceImportRowId, UploadRowId},
        time::Timestamp,
        trace_imports::{
            ImportCounts, LinePosition, RejectedLine, TraceImportStatus, TraceLine, VersionName,
        },
    },
    error::Result,
};

/// An import of traces.
#[derive(Clone, Debug)]
pub struct TraceImport {
    /// Row ID of the import.
    pub row_id: TraceImportRowId,
    /// ID of the import.
    pub id: Uuid,
    /// Row ID of the taskset.
    pub taskset: TasksetRowId,
    /// ID of the uploaded file; `None` if the import has ended.
    pub upload: Option<Uuid>,
    /// Size of the file in bytes.
    pub size_bytes: u64,
    /// Status of the import.
    pub status: TraceImportStatus,
    /// Time of the request.
    pub requested_at: Timestamp,
    /// Time of the start; `None` if it has not started.
    pub started_at: Option<Timestamp>,
    /// Time at which it ended; `None` if it has not.
    pub finished_at: Option<Timestamp>,
    /// How much of the file was imported.
    pub position: LinePosition,
    /// What was imported so far.
    pub counts: ImportCounts,
    /// The first rejected lines.
    pub problems: Vec<RejectedLine>,
    /// Why the import failed; `None` unless it failed.
    pub error: Option<String>,
}

/// Columns of an import, of [`SOURCES`]. [`read_import`] reads them.
const COLUMNS: &str = "i.id, i.uuid, i.taskset, u.uuid AS upload, i.size_bytes, i.status, i.requested_at,
         i.started_at, i.finished_at, i.next_offset, i.lines_read, i.is_in_long_line, i.lines, i.inserted, i.existing, i.rejected,
         i.problems, i.error";

/// The tables of imports, with their uploads.
const SOURCES: &str = "trace_imports i LEFT JOIN uploads u ON u.id = i.upload";

/// Reads an import from a row.
fn read_import(row: &rusqlite::Row) -> rusqlite::Result<TraceImport> {
    Ok(TraceImport {
        row_id: row.get("id")?,
        id: row.get("uuid")?,
        taskset: row.get("taskset")?,
        upload: row.get("upload")?,
        size_bytes: row.get("size_bytes")?,
        status: row.get("status")?,
        requested_at: row.get("requested_at")?,
        started_at: row.get("started_at")?,
        finished_at: row.get("finished_at")?,
        position: LinePosition {
            offset: row.get("next_offset")?,
            lines_read: row.get("lines_read")?,
            is_in_long_line: row.get("is_in_long_line")?,
        },
        counts: ImportCounts {
            lines: row.get("lines")?,
            inserted: row.get("inserted")?,
            existing: row.get("existing")?,
            rejected: row.get("rejected")?,
        },
        problems: row::json(row, "problems")?,
        error: row.get("error")?,
    })
}

/// Inserts an import that is queued, and returns its row ID.
pub fn insert(
    writer: &Writer,
    id: Uuid,
    taskset: TasksetRowId,
    upload: UploadRowId,
    at: Timestamp,
) -> Result<TraceImportRowId> {
    const SQL: &str = "INSERT INTO trace_imports (uuid, taskset, upload, size_bytes, status, requested_at)
         SELECT ?1, ?2, u.id, u.size_bytes, ?4, ?5 FROM uploads u WHERE u.id = ?3";
    uploads::mark_used(writer, upload)?;
    let status = TraceImportStatus::Queued;
    Ok(TraceImportRowId(writer.insert(SQL, (id, taskset, upload, status, at))?))
}

/// Takes the uploaded file from an import that has ended, and discards it.
pub fn discard_upload(writer: &Writer, import: TraceImportRowId) -> Result<()> {
    const FIND: &str = "SELECT upload FROM trace_imports WHERE id = ?1";
    const DISCARD: &str = "INSERT INTO discarded_uploads (upload, reference, size_bytes)
         SELECT uuid, NULL, size_bytes FROM uploads WHERE id = ?1";
    let upload: Option<UploadRowId> = writer.query_one(FIND, [import], |row| row.get(0))?;
    let Some(upload) = upload else { return Ok(()) };
    writer.execute(DISCARD, [upload])?;
    writer.execute("UPDATE trace_imports SET upload = NULL WHERE id = ?1", [import])?;
    writer.run("DELETE FROM uploads WHERE id = ?1", [upload])
}

/// Returns the import with this ID.
pub fn find(reader: &Reader, id: Uuid) -> Result<Option<TraceImport>> {
    reader.query_first(&format!("SELECT {COLUMNS} FROM {SOURCES} WHERE i.uuid = ?1"), [id], read_import)
}

/// Returns the import with this row ID.
pub fn find_by_row_id(reader: &Reader, row_id: TraceImportRowId) -> Result<Option<TraceImport>> {
    reader.query_first(&format!("SELECT {COLUMNS} FROM {SOURCES} WHERE i.id = ?1"), [row_id], read_import)
}

/// Returns the newest imports of a taskset, newest first.
pub fn list_newest(reader: &Reader, taskset: TasksetRowId, limit: usize) -> Result<Vec<TraceImport>> {
    let sql = format!("SELECT {COLUMNS} FROM {SOURCES} WHERE i.taskset = ?1 ORDER BY i.id DESC LIMIT ?2");
    reader.query_all(&sql, (taskset, limit as i64), read_import)
}

/// Stores the progress of an import.
pub fn update(writer: &Writer, import: &TraceImport) -> Result<()> {
    const SQL: &str = "UPDATE trace_imports
         SET status = ?2, started_at = ?3, finished_at = ?4, next_offset = ?5, lines_read = ?6, lines = ?7,
             inserted = ?8, existing = ?9, rejected = ?10, problems = ?11, error = ?12, is_in_long_line = ?13
         WHERE id = ?1";
    let ImportCounts { lines, inserted, existing, rejected } = import.counts;
    let LinePosition { offset, lines_read, is_in_long_line } = import.position;
    writer.run(
        SQL,
        (
            import.row_id,
            import.status,
            import.started_at,
            import.finished_at,
            offset as i64,
            lines_read as i64,
            lines as i64,
            inserted as i64,
            existing as i64,
            rejected as i64,
            row::to_json(&import.problems)?,
            &import.error,
            is_in_long_line,
        ),
    )
}

/// The properties of a task version that its traces must match.
#[derive(Clone, Copy, Debug, FromRow)]
#[row(by_position)]
pub struct TracedVersion {
    /// Row ID of the version.
    pub row_id: TaskVersionRowId,
    /// Whether every reward is either 0 or 1.
    pub binarized: bool,
    /// Number of the latest build; 0 if there is none.
    pub latest_build: u32,
    /// Number of traces of the version.
    pub traces: u64,
}

/// Returns the version that a line names, if its task belongs to the taskset and is not deleted. If several tasks have the
/// identifier, the newest one is used.
pub fn find_version(
    reader: &Reader,
    taskset: TasksetRowId,
    name: &VersionName,
) -> Result<Option<TracedVersion>> {
    const SELECT: &str = "SELECT v.id, k.binarized,
             coalesce((SELECT max(b.build) FROM task_builds b WHERE b.task_version = v.id), 0), v.traces";
    match name {
        VersionName::Id(id) => {
            let sql = format!(
                "{SELECT} FROM task_versions v JOIN tasks k ON k.id = v.task
                 WHERE v.uuid = ?1 AND k.taskset = ?2 AND k.deleted_at IS NULL"
            );
            reader.query_first(&sql, (id, taskset), TracedVersion::from_row)
        }
        VersionName::External(task, version) => {
            let sql = format!(
                "{SELECT} FROM tasks k JOIN task_versions v ON v.task = k.id AND v.version = ?3
                 WHERE k.taskset = ?1 AND k.external_id = ?2 AND k.deleted_at IS NULL
                 ORDER BY k.id DESC LIMIT 1"
            );
            reader.query_first(&sql, (taskset, task, version), TracedVersion::from_row)
        }
    }
}

/// Inserts a trace of a version. Fails if there is one with the same ID.
pub fn insert_trace(writer: &Writer, version: TaskVersionRowId, trace: &TraceLine) -> Result<()> {
    const SQL: &str = "INSERT INTO task_traces (uuid, task_version, model, reward, graded_at, build, qa)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    let (reward, graded_at) = trace.graded.map(|(reward, at)| (reward, at.0)).unzip();
    let qa = row::to_json(&trace.qa)?;
    let values = (trace.id, version, &trace.model, reward, graded_at, trace.build, qa);
    writer.run(SQL, values)
}

/// Returns the version of the trace with this ID.
pub fn find_version_of_trace(reader: &Reader, trace: Uuid) -> Result<Option<TaskVersionRowId>> {
    reader.query_first("SELECT task_version FROM task_traces WHERE uuid = ?1", [trace], |row| row.get(0))
}
