//! Statements for rows with many columns, each of which is stated once, with its value.

use rusqlite::{ToSql, types::Value};

use super::Writer;
use crate::error::Result;

/// The name of a column and its value.
pub type Column<'a> = (&'a str, &'a dyn ToSql);

/// Returns columns of values that are owned elsewhere.
pub fn by_reference<'a>(values: &'a [(&'static str, Value)]) -> impl Iterator<Item = Column<'a>> {
    values.iter().map(|(name, value)| (*name, value as &dyn ToSql))
}

/// Inserts a row into a table. Returns its row ID.
pub fn insert(writer: &Writer, table: &str, columns: &[Column]) -> Result<i64> {
    let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
    let placeholders = vec!["?"; names.len()].join(", ");
    let sql = format!("INSERT INTO {table} ({}) VALUES ({placeholders})", names.join(", "));
    writer.insert(&sql, rusqlite::params_from_iter(columns.iter().map(|(_, value)| value)))
}

/// Updates columns of the row of a table with this row ID.
pub fn update(writer: &Writer, table: &str, row_id: &dyn ToSql, columns: &[Column]) -> Result<()> {
    let assignments: Vec<String> = columns.iter().map(|(name, _)| format!("{name} = ?")).collect();
    let sql = format!("UPDATE {table} SET {} WHERE id = ?", assignments.join(", "));
    let values = columns.iter().map(|(_, value)| *value).chain([row_id]);
    writer.run(&sql, rusqlite::params_from_iter(values))
}
