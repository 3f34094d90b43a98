//! Records of any resource: all columns of a row, by their names. Pages that show whatever a resource has read them so.

use std::collections::BTreeMap;

use marketplace_text::equality_key;
use rusqlite::{
    Row, ToSql,
    types::{ToSqlOutput, ValueRef},
};
use uuid::Uuid;

use super::{FromRow, Reader};
use crate::{domain::time::Timestamp, error::Result, store::row};

/// The value of a column.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// It has none.
    Missing,
    /// A number, an amount in cents, a time in microseconds, or a Boolean as 0 or 1.
    Integer(i64),
    /// A number with decimals.
    Real(f64),
    /// A text.
    Text(String),
    /// An ID.
    Id(Uuid),
}

impl Value {
    /// Returns the value as JSON. An ID becomes a text.
    pub fn to_json(&self) -> serde_json::Value {
        match self {
            Value::Missing => serde_json::Value::Null,
            Value::Integer(number) => (*number).into(),
            Value::Real(number) => (*number).into(),
            Value::Text(text) => text.clone().into(),
            Value::Id(id) => id.to_string().into(),
        }
    }

    /// Reads a value that was written as JSON. IDs are read as texts.
    pub fn from_json(value: serde_json::Value) -> Value {
        match value {
            serde_json::Value::Number(number) => number
                .as_i64()
                .map_or_else(|| number.as_f64().map_or(Value::Missing, Value::Real), Value::Integer),
            serde_json::Value::String(text) => Value::Text(text),
            _ => Value::Missing,
        }
    }
}

/// A record: its columns in their order, by name.
#[derive(Clone, Debug, Default)]
pub struct AnyRecord(Vec<(String, Value)>);

impl FromRow for AnyRecord {
    fn from_row(row: &Row) -> rusqlite::Result<AnyRecord> {
        let names: Vec<String> = row.as_ref().column_names().into_iter().map(str::to_owned).collect();
        let read = |(index, name): (usize, String)| {
            let value = match row.get_ref(index)? {
                ValueRef::Null => Value::Missing,
                ValueRef::Integer(number) => Value::Integer(number),
                ValueRef::Real(number) => Value::Real(number),
                ValueRef::Text(text) => Value::Text(String::from_utf8_lossy(text).into_owned()),
                ValueRef::Blob(bytes) => Uuid::from_slice(bytes).map_or(Value::Missing, Value::Id),
            };
            Ok((name, value))
        };
        names.into_iter().enumerate().map(read).collect::<rusqlite::Result<Vec<_>>>().map(AnyRecord)
    }
}

impl AnyRecord {
    /// Returns the value of a column; [`Value::Missing`] if there is no such column.
    pub fn get(&self, name: &str) -> &Value {
        self.0.iter().find(|(column, _)| column == name).map_or(&Value::Missing, |(_, value)| value)
    }

    /// Returns all columns with their values.
    pub fn columns(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// Returns the ID in a column.
    pub fn id(&self, name: &str) -> Option<Uuid> {
        match self.get(name) {
            Value::Id(id) => Some(*id),
            Value::Text(text) => Uuid::try_parse(text).ok(),
            _ => None,
        }
    }

    /// Returns the text in a column; an empty one if it has none.
    pub fn text(&self, name: &str) -> &str {
        match self.get(name) {
            Value::Text(text) => text,
            _ => "",
        }
    }

    /// Returns the texts in a column that has a list of them.
    pub fn texts(&self, name: &str) -> Vec<String> {
        serde_json::from_str(self.text(name)).unwrap_or_default()
    }

    /// Returns the IDs in a column that has a list of them.
    pub fn ids(&self, name: &str) -> Vec<Uuid> {
        self.texts(name).iter().filter_map(|text| Uuid::try_parse(text).ok()).collect()
    }

    /// Sets the value of a column, such as one that follows from others by rules.
    pub fn set(&mut self, name: &str, value: Value) {
        match self.0.iter_mut().find(|(column, _)| column == name) {
            Some((_, old)) => *old = value,
            None => self.0.push((name.to_owned(), value)),
        }
    }

    /// Returns the whole number in a column.
    pub fn integer(&self, name: &str) -> Option<i64> {
        match self.get(name) {
            Value::Integer(number) => Some(*number),
            _ => None,
        }
    }

    /// Whether a column is true.
    pub fn is_true(&self, name: &str) -> bool {
        self.integer(name).is_some_and(|number| number != 0)
    }

    /// Returns the time in a column.
    pub fn time(&self, name: &str) -> Option<Timestamp> {
        self.integer(name).map(Timestamp)
    }
}

/// What identifies a record.
#[derive(Clone, Debug)]
pub enum RecordKey {
    /// Its ID.
    Id(Uuid),
    /// Its name, such as a slug.
    Name(String),
    /// Its number.
    Number(i64),
}

impl ToSql for RecordKey {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        match self {
            RecordKey::Id(id) => id.to_sql(),
            RecordKey::Name(name) => name.to_sql(),
            RecordKey::Number(number) => number.to_sql(),
        }
    }
}

/// Names of teams, keys, tasksets, and tasks, titles of listings, assets, and opportunities, and addresses of webhooks, by their
/// IDs.
pub type Names = BTreeMap<Uuid, String>;

/// Returns the names of the records with these IDs. IDs of records of other kinds have none.
pub fn names(reader: &Reader, ids: &[Uuid]) -> Result<Names> {
    const SQL: &str = "WITH wanted (uuid) AS (SELECT unhex(replace(value, '-', '')) FROM json_each(?1))
         SELECT t.uuid, t.name FROM wanted w JOIN teams t ON t.uuid = w.uuid
         UNION ALL SELECT l.uuid, l.title FROM wanted w JOIN listings l ON l.uuid = w.uuid
         UNION ALL SELECT k.uuid, k.name FROM wanted w JOIN keys k ON k.uuid = w.uuid
         UNION ALL SELECT h.uuid, h.url FROM wanted w JOIN webhooks h ON h.uuid = w.uuid
         UNION ALL SELECT o.uuid, o.title FROM wanted w JOIN opportunities o ON o.uuid = w.uuid
         UNION ALL SELECT s.uuid, s.name FROM wanted w JOIN tasksets s ON s.uuid = w.uuid
         UNION ALL SELECT k.uuid, k.name FROM wanted w JOIN tasks k ON k.uuid = w.uuid
         UNION ALL SELECT a.uuid, a.title FROM wanted w JOIN assets a ON a.uuid = w.uuid WHERE a.title <> ''";
    if ids.is_empty() {
        return Ok(Names::new());
    }
    let found = reader.query_all(SQL, [row::to_json(&ids)?], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(found.into_iter().collect())
}

/// Number of records of each kind, the newest ones, whose names are compared with words.
pub const MAX_COMPARED: u32 = 10_000;

/// Maximum number of records that a part of a name selects.
const MAX_NAMED: u32 = 200;

/// What filters refer to that records can be named by: the names of filters, the tables, and the columns of the names.
const NAMED: &[(&[&str], &str, &str)] = &[
    (&["team_id", "vendor_team_id", "buyer_id"], "teams", "name"),
    (&["listing_id"], "listings", "title"),
    (&["asset_id"], "assets", "title"),
    (&["opportunity_id"], "opportunities", "title"),
    (&["taskset_id"], "tasksets", "name"),
    (&["task_id"], "tasks", "name"),
    (&["operator_key_id"], "keys", "name"),
    (&["webhook_id"], "webhooks", "url"),
];

/// Whether a filter refers to records that have names.
pub fn is_named(filter: &str) -> bool {
    NAMED.iter().any(|(filters, _, _)| filters.contains(&filter))
}

/// Returns the IDs of the records that a filter refers to and whose names contain all words of a text, or are the text if there are
/// such. Compares the names of the newest [`MAX_COMPARED`]. There are none for a filter that refers to nothing with a name.
pub fn ids_named(reader: &Reader, filter: &str, text: &str) -> Result<Vec<Uuid>> {
    let Some((_, table, column)) = NAMED.iter().find(|(filters, _, _)| filters.contains(&filter)) else {
        return Ok(Vec::new());
    };
    let sql = format!(
        "SELECT uuid, name FROM (SELECT id, uuid, {column} AS name FROM {table} ORDER BY id DESC LIMIT {MAX_COMPARED})
         WHERE contains_words(name, ?1) ORDER BY id DESC LIMIT {MAX_NAMED}"
    );
    let found: Vec<(Uuid, String)> = reader.query_all(&sql, [text], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let key = equality_key(text.trim());
    let exact: Vec<Uuid> =
        found.iter().filter(|(_, name)| equality_key(name) == key).map(|(id, _)| *id).collect();
    Ok(if exact.is_empty() { found.into_iter().map(|(id, _)| id).collect() } else { exact })
}
