//! Tasksets, and the imports of traces of their tasks.

use uuid::Uuid;

use super::{
    Reader, Record, check_exists,
    pages::{PageQuery, PageRequest, RowPage},
};
use crate::{
    domain::{tasks::Column, time::Timestamp, trace_imports::TraceImportStatus},
    error::Result,
    store::{
        row,
        trace_imports::{COLUMNS as IMPORT_COLUMNS, SOURCES as IMPORT_SOURCES, TraceImport, read_import},
    },
    string_enum::StringEnum,
};

/// A taskset.
#[derive(Clone, Debug)]
pub struct TasksetRecord {
    /// ID of the taskset.
    pub id: Uuid,
    /// ID of the team that created it.
    pub team: Uuid,
    /// Name for people.
    pub name: String,
    /// Columns of its table of tasks, in order.
    pub columns: Vec<Column>,
    /// Number of its tasks that are not deleted.
    pub tasks: u64,
    /// Time of creation.
    pub created_at: Timestamp,
}

/// What the list of tasksets can be filtered by.
#[derive(Clone, Debug, Default)]
pub struct TasksetFilter {
    /// ID of the team.
    pub team: Option<Uuid>,
    /// Name of the taskset.
    pub name: Option<String>,
}

const COLUMNS: &str = "s.uuid, t.uuid AS team_uuid, s.name, s.columns, s.tasks, s.created_at";

const SOURCES: &str = "tasksets s LEFT JOIN teams t ON t.id = s.team";

fn read(row: &rusqlite::Row) -> rusqlite::Result<TasksetRecord> {
    Ok(TasksetRecord {
        id: row.get("uuid")?,
        team: row.get("team_uuid")?,
        name: row.get("name")?,
        columns: row::json(row, "columns")?,
        tasks: row.get("tasks")?,
        created_at: row::time(row, "created_at")?,
    })
}

impl Record for TasksetRecord {
    type Id = Uuid;
    type Filter = TasksetFilter;

    const NAME: &'static str = "taskset";

    fn find(reader: &Reader, id: &Uuid) -> Result<Option<TasksetRecord>> {
        reader.query_first(&format!("SELECT {COLUMNS} FROM {SOURCES} WHERE s.uuid = ?1"), [id], read)
    }

    fn page(reader: &Reader, filter: &TasksetFilter, request: PageRequest) -> Result<RowPage<TasksetRecord>> {
        PageQuery::new(COLUMNS, SOURCES, "s.id")
            .refers_to("s.team", "teams", filter.team)
            .filter("s.name = ?", filter.name.as_deref())
            .fetch(reader, request, read)
    }
}

/// An import of traces, with what it belongs to.
#[derive(Clone, Debug)]
pub struct TraceImportRecord {
    /// The import.
    pub import: TraceImport,
    /// ID of the taskset.
    pub taskset: Uuid,
    /// ID of the team of the taskset.
    pub team: Uuid,
}

/// What the list of the imports of a taskset can be filtered by.
#[derive(Clone, Debug)]
pub struct TraceImportFilter {
    /// ID of the taskset.
    pub taskset: Uuid,
    /// Status of the import.
    pub status: Option<TraceImportStatus>,
}

fn import_columns() -> String {
    format!("{IMPORT_COLUMNS}, s.uuid AS taskset_uuid, t.uuid AS team_uuid")
}

fn import_sources() -> String {
    format!("{IMPORT_SOURCES} JOIN tasksets s ON s.id = i.taskset JOIN teams t ON t.id = s.team")
}

fn read_record(row: &rusqlite::Row) -> rusqlite::Result<TraceImportRecord> {
    Ok(TraceImportRecord {
        import: read_import(row)?,
        taskset: row.get("taskset_uuid")?,
        team: row.get("team_uuid")?,
    })
}

impl Record for TraceImportRecord {
    type Id = Uuid;
    type Filter = TraceImportFilter;

    const NAME: &'static str = "import of traces";

    fn find(reader: &Reader, id: &Uuid) -> Result<Option<TraceImportRecord>> {
        let sql = format!("SELECT {} FROM {} WHERE i.uuid = ?1", import_columns(), import_sources());
        reader.query_first(&sql, [id], read_record)
    }

    fn page(
        reader: &Reader,
        filter: &TraceImportFilter,
        request: PageRequest,
    ) -> Result<RowPage<TraceImportRecord>> {
        check_exists::<TasksetRecord>(reader, "tasksets", filter.taskset)?;
        PageQuery::new(&import_columns(), &import_sources(), "i.id")
            .refers_to("i.taskset", "tasksets", Some(filter.taskset))
            .filter("i.status = ?", filter.status.map(StringEnum::as_str))
            .fetch(reader, request, read_record)
    }
}
