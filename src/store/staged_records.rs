//! Records of a fixture set that are staged before they are written into a market: a temporary database of
//! its own, which SQLite keeps in a file once it is large, and deletes when it is closed.

use std::cell::{Cell, RefCell};

use rusqlite::{Connection, OptionalExtension};
use serde::{Serialize, de::DeserializeOwned};
use uuid::Uuid;

use super::row;
use crate::{
    domain::time::Timestamp,
    error::{Error, Result},
};

/// Page cache of the temporary database in KiB. The rest is in a file.
const CACHE_KIB: i64 = 16_000;

/// Number of steps that are read at a time.
const STEP_BATCH: usize = 256;

const SCHEMA: &str = "
    CREATE TABLE files (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
    CREATE TABLE records (
        id INTEGER PRIMARY KEY, -- begins with the number of the collection, so each has its own range
        collection INTEGER NOT NULL,
        key TEXT NOT NULL,
        file INTEGER NOT NULL,
        json TEXT NOT NULL
    );
    CREATE UNIQUE INDEX records_by_key ON records (collection, key);
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

/// Number of bits of a row ID that number the records of a collection. The bits before them are the number of
/// the collection.
const RECORD_BITS: u32 = 40;

/// The staged records. They are deleted on drop.
#[derive(Debug)]
pub struct StagedRecords {
    connection: Connection,
    /// The names of the collections, in the order of their numbers.
    collections: RefCell<Vec<String>>,
    /// Number of records.
    count: Cell<i64>,
}

/// The row ID of a staged record. In a collection, it increases in the order in which records were staged.
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
        Ok(StagedRecords { connection, collections: RefCell::default(), count: Cell::new(0) })
    }

    /// Returns the number of a collection, and gives it one if it has none.
    fn collection_number(&self, collection: &str) -> i64 {
        let mut names = self.collections.borrow_mut();
        let number = names.iter().position(|name| name == collection).unwrap_or_else(|| {
            names.push(collection.to_owned());
            names.len() - 1
        });
        number as i64
    }

    /// Adds a file.
    pub fn insert_file(&self, name: &str) -> Result<StagedFileRowId> {
        let id = self.prepare("INSERT INTO files (name) VALUES (?1)")?.insert([name])?;
        Ok(StagedFileRowId(id))
    }

    /// Adds a record. Returns `false` if the collection already has a record with this key.
    pub fn insert(&self, collection: &str, key: &str, file: StagedFileRowId, json: &str) -> Result<bool> {
        const SQL: &str = "INSERT INTO records (id, collection, key, file, json) VALUES (?1, ?2, ?3, ?4, ?5)
             ON CONFLICT (collection, key) DO NOTHING";
        let (collection, count) = (self.collection_number(collection), self.count.get());
        let id = (collection << RECORD_BITS) + count;
        let is_new = self.prepare(SQL)?.execute((id, collection, key, file.0, json))? > 0;
        self.count.set(count + i64::from(is_new));
        Ok(is_new)
    }

    /// Adds the ID that a record states.
    pub fn insert_id(&self, collection: &str, key: &str, id: Uuid) -> Result<()> {
        const SQL: &str = "INSERT OR REPLACE INTO ids (collection, key, id) VALUES (?1, ?2, ?3)";
        self.prepare(SQL)?.execute((collection, key, id))?;
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
        let mut statement = self.prepare(SQL)?;
        let collection = self.collection_number(collection);
        Ok(statement.query_row((collection, key), |row| row.get(0)).optional()?)
    }

    /// Returns the key of a record.
    pub fn find_key(&self, record: StagedRowId) -> Result<String> {
        let mut statement = self.prepare("SELECT key FROM records WHERE id = ?1")?;
        Ok(statement.query_row([record.0], |row| row.get(0))?)
    }

    /// Returns the key and the JSON of a record.
    pub fn find(&self, record: StagedRowId) -> Result<(String, String)> {
        let mut statement = self.prepare("SELECT key, json FROM records WHERE id = ?1")?;
        Ok(statement.query_row([record.0], |row| Ok((row.get(0)?, row.get(1)?)))?)
    }

    /// Returns the number of records.
    pub const fn count(&self) -> usize {
        self.count.get() as usize
    }

    /// Whether a collection has records.
    pub fn has_any(&self, collection: &str) -> Result<bool> {
        let mut statement =
            self.prepare("SELECT EXISTS (SELECT 1 FROM records WHERE id >= ?1 AND id < ?2)")?;
        Ok(statement.query_row(self.row_ids(collection), |row| row.get(0))?)
    }

    /// Calls `visit` with each record of a collection, in the order in which they were staged. One record is
    /// in memory at a time.
    pub fn for_each<E: From<Error>>(
        &self,
        collection: &str,
        mut visit: impl FnMut(StagedRowId, &str, &str) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let mut statement =
            self.prepare("SELECT id, key, json FROM records WHERE id >= ?1 AND id < ?2 ORDER BY id")?;
        let mut rows = statement.query(self.row_ids(collection)).map_err(to_error)?;
        while let Some(row) = rows.next().map_err(to_error)? {
            let text = |column| -> Result<&str> { row.get_ref(column)?.as_str().map_err(Error::internal) };
            visit(StagedRowId(row.get(0).map_err(to_error)?), text(1)?, text(2)?)?;
        }
        Ok(())
    }

    /// Calls `visit` with the key of each record of a collection.
    pub fn for_each_key(&self, collection: &str, mut visit: impl FnMut(&str)) -> Result<()> {
        let mut statement = self.prepare("SELECT key FROM records WHERE id >= ?1 AND id < ?2 ORDER BY id")?;
        let mut rows = statement.query(self.row_ids(collection))?;
        while let Some(row) = rows.next()? {
            visit(row.get_ref(0)?.as_str().map_err(Error::internal)?);
        }
        Ok(())
    }

    /// Returns the first row ID of a collection, and that after its last.
    fn row_ids(&self, collection: &str) -> (i64, i64) {
        let number = self.collection_number(collection);
        (number << RECORD_BITS, (number + 1) << RECORD_BITS)
    }

    /// Adds a step. Its position must be its own.
    pub fn insert_step(&self, position: StepPosition, step: &impl Serialize) -> Result<()> {
        const SQL: &str = "INSERT INTO steps (at, rank, record, part, step) VALUES (?1, ?2, ?3, ?4, ?5)";
        let StepPosition { at, rank, record, part } = position;
        self.prepare(SQL)?.execute((at.0, rank, record.0, part, row::to_json(step)?))?;
        Ok(())
    }

    /// Returns the first steps after a position, or the first of all.
    pub fn list_steps<S: DeserializeOwned>(
        &self,
        after: Option<StepPosition>,
    ) -> Result<Vec<(StepPosition, S)>> {
        const SQL: &str = "SELECT at, rank, record, part, step FROM steps
             WHERE (at, rank, record, part) > (?1, ?2, ?3, ?4)
             ORDER BY at, rank, record, part LIMIT ?5";
        let (at, rank, record, part) =
            after.map_or((i64::MIN, 0, 0, 0), |after| (after.at.0, after.rank, after.record.0, after.part));
        let mut statement = self.prepare(SQL)?;
        let steps = statement.query_map((at, rank, record, part, STEP_BATCH), |row| {
            let record = StagedRowId(row.get(2)?);
            let position = StepPosition { at: row.get(0)?, rank: row.get(1)?, record, part: row.get(3)? };
            Ok((position, row::json(row, 4)?))
        })?;
        Ok(steps.collect::<rusqlite::Result<_>>()?)
    }

    /// Deletes the steps, so that the set can be written into another market.
    pub fn delete_steps(&self) -> Result<()> {
        self.connection.execute("DELETE FROM steps", [])?;
        Ok(())
    }

    fn prepare(&self, sql: &str) -> Result<rusqlite::CachedStatement<'_>> {
        Ok(self.connection.prepare_cached(sql)?)
    }
}

fn to_error(error: rusqlite::Error) -> Error {
    error.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A step is never dropped in favor of another.
    #[test]
    fn second_step_of_a_position_is_an_error() {
        let staged = StagedRecords::new().unwrap();
        let position = StepPosition { at: Timestamp(5), rank: 0, record: StagedRowId(1), part: 0 };
        staged.insert_step(position, &"first").unwrap();
        staged.insert_step(position, &"second").unwrap_err();
        assert_eq!(staged.list_steps::<String>(None).unwrap(), [(position, "first".to_owned())]);
    }

    /// Records are visited in the order in which they were staged, also if collections alternate.
    #[test]
    fn records_of_a_collection_are_visited_in_their_order() {
        let staged = StagedRecords::new().unwrap();
        let file = staged.insert_file("a.json").unwrap();
        for (collection, key) in
            [("teams", "z"), ("keys", "k"), ("teams", "a"), ("keys", "z"), ("teams", "m")]
        {
            assert!(staged.insert(collection, key, file, "{}").unwrap());
            assert!(!staged.insert(collection, key, file, "{}").unwrap());
        }
        for (collection, expected) in
            [("teams", vec!["z", "a", "m"]), ("keys", vec!["k", "z"]), ("offers", vec![])]
        {
            let mut keys = Vec::new();
            staged.for_each_key(collection, |key| keys.push(key.to_owned())).unwrap();
            assert_eq!(keys, expected);
        }
        assert_eq!(staged.count(), 5);
    }
}
