//! Records of a fixture set that are staged before they are written into a market: a temporary database of
//! its own, which SQLite keeps in a file once it is large, and deletes when it is closed.

use rusqlite::{Connection, OptionalExtension};
use uuid::Uuid;

use super::row;
use crate::{
    domain::time::Timestamp,
    error::{Error, Result},
};

/// Page cache of the temporary database in KiB. What exceeds it is in a file.
const CACHE_KIB: i64 = 16_000;

/// Number of steps that are read at a time.
const STEP_BATCH: usize = 256;

const SCHEMA: &str = "
    CREATE TABLE files (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
    CREATE TABLE records (
        id INTEGER PRIMARY KEY,
        collection TEXT NOT NULL,
        key TEXT NOT NULL,
        file INTEGER NOT NULL,
        json TEXT NOT NULL
    );
    CREATE UNIQUE INDEX records_by_key ON records (collection, key);
    CREATE INDEX records_by_collection ON records (collection);
    CREATE TABLE ids (collection TEXT, key TEXT, id BLOB, PRIMARY KEY (collection, key)) WITHOUT ROWID;
    CREATE TABLE steps (
        at INTEGER,
        rank INTEGER,
        record INTEGER,
        part INTEGER,
        step TEXT NOT NULL,
        PRIMARY KEY (at, rank, record, part)
    ) WITHOUT ROWID;
    BEGIN;";

/// The staged records. They are deleted on drop.
#[derive(Debug)]
pub struct StagedRecords(Connection);

/// The row ID of a staged record. It increases in the order in which records were staged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct StagedRowId(i64);

/// The row ID of the file of staged records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StagedFileRowId(i64);

/// When a step is carried out: by time, then by rank, then by the record that it comes from, then by part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct StepPosition {
    /// Time of the step.
    pub at: Timestamp,
    /// Rank among steps of the same time.
    pub rank: u32,
    /// The record that the step comes from.
    pub record: StagedRowId,
    /// Number of the step among those of the record.
    pub part: u32,
}

impl StagedRecords {
    /// Creates an empty temporary database.
    pub fn new() -> Result<StagedRecords> {
        let connection = Connection::open("")?;
        connection.pragma_update(None, "journal_mode", "OFF")?;
        connection.pragma_update(None, "cache_size", -CACHE_KIB)?;
        connection.execute_batch(SCHEMA)?;
        Ok(StagedRecords(connection))
    }

    /// Adds a file.
    pub fn insert_file(&self, name: &str) -> Result<StagedFileRowId> {
        let id = self.0.prepare_cached("INSERT INTO files (name) VALUES (?1)")?.insert([name])?;
        Ok(StagedFileRowId(id))
    }

    /// Adds a record. Returns `false` if the collection already has a record with this key.
    pub fn insert(&self, collection: &str, key: &str, file: StagedFileRowId, json: &str) -> Result<bool> {
        const SQL: &str = "INSERT INTO records (collection, key, file, json) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT DO NOTHING";
        Ok(self.0.prepare_cached(SQL)?.execute((collection, key, file.0, json))? > 0)
    }

    /// Adds the ID that a record states.
    pub fn insert_id(&self, collection: &str, key: &str, id: Uuid) -> Result<()> {
        const SQL: &str = "INSERT OR REPLACE INTO ids (collection, key, id) VALUES (?1, ?2, ?3)";
        self.0.prepare_cached(SQL)?.execute((collection, key, id))?;
        Ok(())
    }

    /// Calls `visit` with the collection, the key, and the ID of each record that states one.
    pub fn for_each_id<E: From<Error>>(
        &self,
        mut visit: impl FnMut(&str, &str, Uuid) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let mut statement = self.prepare("SELECT collection, key, id FROM ids")?;
        let mut rows = statement.query([]).map_err(to_error)?;
        while let Some(row) = rows.next().map_err(to_error)? {
            let (collection, key): (String, String) =
                (row.get(0).map_err(to_error)?, row.get(1).map_err(to_error)?);
            visit(&collection, &key, row.get(2).map_err(to_error)?)?;
        }
        Ok(())
    }

    /// Returns the name of the file that has a record.
    pub fn find_file(&self, collection: &str, key: &str) -> Result<Option<String>> {
        const SQL: &str = "SELECT f.name FROM records r JOIN files f ON f.id = r.file
             WHERE r.collection = ?1 AND r.key = ?2";
        let mut statement = self.0.prepare_cached(SQL)?;
        Ok(statement.query_row((collection, key), |row| row.get(0)).optional()?)
    }

    /// Returns the row ID and the JSON of a record.
    pub fn find(&self, collection: &str, key: &str) -> Result<Option<(StagedRowId, String)>> {
        const SQL: &str = "SELECT id, json FROM records WHERE collection = ?1 AND key = ?2";
        let mut statement = self.0.prepare_cached(SQL)?;
        let read = |row: &rusqlite::Row| Ok((StagedRowId(row.get(0)?), row.get(1)?));
        Ok(statement.query_row((collection, key), read).optional()?)
    }

    /// Returns the number of records.
    pub fn count(&self) -> Result<usize> {
        Ok(self.0.query_row("SELECT count(*) FROM records", [], |row| row.get(0))?)
    }

    /// Calls `visit` with each record of a collection, in the order in which they were staged. One record is
    /// in memory at a time.
    pub fn for_each<E: From<Error>>(
        &self,
        collection: &str,
        mut visit: impl FnMut(StagedRowId, &str, &str) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let mut statement =
            self.prepare("SELECT id, key, json FROM records WHERE collection = ?1 ORDER BY id")?;
        let mut rows = statement.query([collection]).map_err(to_error)?;
        while let Some(row) = rows.next().map_err(to_error)? {
            let text = |column| -> Result<&str> { row.get_ref(column)?.as_str().map_err(Error::internal) };
            visit(StagedRowId(row.get(0).map_err(to_error)?), text(1)?, text(2)?)?;
        }
        Ok(())
    }

    /// Calls `visit` with the collection and the key of each record.
    pub fn for_each_record(&self, mut visit: impl FnMut(&str, &str) -> Result<()>) -> Result<()> {
        let mut statement = self.0.prepare_cached("SELECT collection, key FROM records")?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            visit(&row.get::<_, String>(0)?, &row.get::<_, String>(1)?)?;
        }
        Ok(())
    }

    /// Calls `visit` with the key of each record of a collection.
    pub fn for_each_key(&self, collection: &str, mut visit: impl FnMut(&str)) -> Result<()> {
        let mut statement =
            self.0.prepare_cached("SELECT key FROM records WHERE collection = ?1 ORDER BY id")?;
        let mut rows = statement.query([collection])?;
        while let Some(row) = rows.next()? {
            visit(row.get_ref(0)?.as_str().map_err(Error::internal)?);
        }
        Ok(())
    }

    /// Adds a step. It replaces one of the same position.
    pub fn insert_step(&self, position: StepPosition, step: &str) -> Result<()> {
        const SQL: &str =
            "INSERT OR REPLACE INTO steps (at, rank, record, part, step) VALUES (?1, ?2, ?3, ?4, ?5)";
        let StepPosition { at, rank, record, part } = position;
        self.0.prepare_cached(SQL)?.execute((at.0, rank, record.0, part, step))?;
        Ok(())
    }

    /// Returns the first steps after a position, or the first of all.
    pub fn list_steps(&self, after: Option<StepPosition>) -> Result<Vec<(StepPosition, String)>> {
        const SQL: &str = "SELECT at, rank, record, part, step FROM steps
             WHERE (at, rank, record, part) > (?1, ?2, ?3, ?4)
             ORDER BY at, rank, record, part LIMIT ?5";
        let (at, rank, record, part) =
            after.map_or((i64::MIN, 0, 0, 0), |after| (after.at.0, after.rank, after.record.0, after.part));
        let mut statement = self.0.prepare_cached(SQL)?;
        let steps = statement.query_map((at, rank, record, part, STEP_BATCH), |row| {
            let record = StagedRowId(row.get(2)?);
            let position =
                StepPosition { at: row::time(row, 0)?, rank: row.get(1)?, record, part: row.get(3)? };
            Ok((position, row.get(4)?))
        })?;
        Ok(steps.collect::<rusqlite::Result<_>>()?)
    }

    /// Deletes the steps, so that the set can be written into another market.
    pub fn delete_steps(&self) -> Result<()> {
        self.0.execute("DELETE FROM steps", [])?;
        Ok(())
    }

    fn prepare(&self, sql: &str) -> Result<rusqlite::CachedStatement<'_>> {
        Ok(self.0.prepare_cached(sql)?)
    }
}

fn to_error(error: rusqlite::Error) -> Error {
    error.into()
}
