//! Records of any resource: all columns of a row, by their names. Used by pages that show all fields of a resource.

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

    /// Sets the value of a column, such as one that is derived from others.
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

/// Number of the newest records of each kind whose names are compared with words.
pub const MAX_COMPARED: u32 = 10_000;

/// Maximum number of records that a name, or a part of one, selects.
pub const MAX_NAMED: u32 = 200;

/// A kind of record that filters refer to and that has names.
struct Nameable {
    /// The names of the filters.
    filters: &'static [&'static str],
    /// The table.
    table: &'static str,
    /// The column of the name.
    column: &'static str,
    /// Selects the newest records with a name: the parameter is its key if `has_key`, else the name, whose ASCII letters can be in
    /// either case.
    exact: &'static str,
    /// Whether the table has keys of its names.
    has_key: bool,
}

const NAMEABLE: &[Nameable] = &[
    Nameable {
        filters: &["team_id", "vendor_team_id", "buyer_id"],
        table: "teams",
        column: "name",
        exact: "SELECT uuid FROM teams WHERE name_key = ?1 ORDER BY id DESC LIMIT ?2",
        has_key: true,
    },
    Nameable {
        filters: &["listing_id"],
        table: "listings",
        column: "title",
        exact: "SELECT uuid FROM listings WHERE title COLLATE NOCASE = ?1 ORDER BY id DESC LIMIT ?2",
        has_key: false,
    },
    Nameable {
        filters: &["asset_id"],
        table: "assets",
        column: "title",
        exact: "SELECT a.uuid FROM inventory i JOIN assets a ON a.id = i.asset WHERE i.name_key = ?1 ORDER BY i.asset DESC LIMIT ?2",
        has_key: true,
    },
    Nameable {
        filters: &["opportunity_id"],
        table: "opportunities",
        column: "title",
        exact: "SELECT uuid FROM opportunities WHERE title COLLATE NOCASE = ?1 ORDER BY id DESC LIMIT ?2",
        has_key: false,
    },
    Nameable {
        filters: &["taskset_id"],
        table: "tasksets",
        column: "name",
        exact: "SELECT uuid FROM tasksets WHERE name COLLATE NOCASE = ?1 ORDER BY id DESC LIMIT ?2",
        has_key: false,
    },
    Nameable {
        filters: &["task_id"],
        table: "tasks",
        column: "name",
        exact: "SELECT uuid FROM tasks WHERE name COLLATE NOCASE = ?1 AND deleted_at IS NULL ORDER BY id DESC LIMIT ?2",
        has_key: false,
    },
    Nameable {
        filters: &["operator_key_id"],
        table: "keys",
        column: "name",
        exact: "SELECT uuid FROM keys WHERE name COLLATE NOCASE = ?1 ORDER BY id DESC LIMIT ?2",
        has_key: false,
    },
    Nameable {
        filters: &["webhook_id"],
        table: "webhooks",
        column: "url",
        exact: "SELECT uuid FROM webhooks WHERE url COLLATE NOCASE = ?1 AND deleted_at IS NULL ORDER BY id DESC LIMIT ?2",
        has_key: false,
    },
];

/// Returns the kind of record with names that a filter refers to.
fn nameable(filter: &str) -> Option<&'static Nameable> {
    NAMEABLE.iter().find(|nameable| nameable.filters.contains(&filter))
}

/// Whether a filter refers to records that have names.
pub fn is_named(filter: &str) -> bool {
    nameable(filter).is_some()
}

/// The records that a text names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NamedIds {
    /// Their IDs, newest first.
    pub ids: Vec<Uuid>,
    /// Whether there are more than [`MAX_NAMED`]; these are the newest.
    pub is_cut: bool,
}

/// Returns the records that a filter refers to and whose name is the text. If there are none, returns those whose names
/// contain all of its words, among the newest [`MAX_COMPARED`]. Returns none for a filter that refers to records
/// without names.
pub fn ids_named(reader: &Reader, filter: &str, text: &str) -> Result<NamedIds> {
    let Some(Nameable { table, column, exact, has_key, .. }) = nameable(filter) else {
        return Ok(NamedIds::default());
    };
    let (text, key) = (text.trim(), equality_key(text.trim()));
    if key.is_empty() {
        return Ok(NamedIds::default());
    }
    // Reads one record more than it returns, to know whether there are more.
    let limit = MAX_NAMED + 1;
    let name = if *has_key { key.as_str() } else { text };
    let mut ids: Vec<Uuid> = reader.query_all(exact, (name, limit), |row| row.get(0))?;
    if ids.is_empty() {
        let sql = format!(
            "SELECT uuid, name FROM (SELECT id, uuid, {column} AS name FROM {table} ORDER BY id DESC LIMIT {MAX_COMPARED})
             WHERE contains_words(name, ?1) ORDER BY id DESC LIMIT ?2"
        );
        let found: Vec<(Uuid, String)> =
            reader.query_all(&sql, (text, limit), |row| Ok((row.get(0)?, row.get(1)?)))?;
        // Non-ASCII letters can differ in case.
        let is_exact = |(_, name): &&(Uuid, String)| equality_key(name) == key;
        ids = found.iter().filter(is_exact).map(|(id, _)| *id).collect();
        if ids.is_empty() {
            ids = found.into_iter().map(|(id, _)| id).collect();
        }
    }
    let is_cut = ids.len() > MAX_NAMED as usize;
    ids.truncate(MAX_NAMED as usize);
    Ok(NamedIds { ids, is_cut })
}
