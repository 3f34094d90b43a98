//! Rows that are read as structs, and columns with JSON.

#![allow(clippy::needless_pass_by_value)] // Column names and indexes are cheap to pass by value.

use rusqlite::{Row, RowIndex, types::Type};
use serde::{Serialize, de::DeserializeOwned};
use uuid::Uuid;

use crate::error;

pub use marketplace_macros::FromRow;

/// A value that a row is read as. Every struct that serde deserializes is one; other types derive it, or read the columns themselves.
pub trait FromRow: Sized {
    /// Reads a row.
    fn from_row(row: &Row) -> rusqlite::Result<Self>;
}

/// A value that consecutive columns are read as.
pub trait FromColumns: Sized {
    /// Reads the next columns of a row.
    fn from_columns(row: &Row, columns: &mut ColumnIndexes) -> rusqlite::Result<Self>;
}

/// Counter of column indexes, for rows that are read in the order of the columns in the statement. Looking up
/// each column by name takes longer than reading it, which matters for rows with dozens of columns.
#[derive(Debug, Default)]
pub struct ColumnIndexes(pub usize);

impl ColumnIndexes {
    /// Returns the index of the next column.
    pub const fn next(&mut self) -> usize {
        self.0 += 1;
        self.0 - 1
    }
}

/// Reads a column that contains JSON. NULL is the same as `null`.
pub fn json<T: DeserializeOwned>(row: &Row, column: impl RowIndex) -> rusqlite::Result<T> {
    let index = column.idx(row.as_ref())?;
    let text = row.get_ref(index)?.as_str_or_null()?.unwrap_or("null");
    serde_json::from_str(text)
        .map_err(|error| rusqlite::Error::FromSqlConversionFailure(index, Type::Text, error.into()))
}

/// Serializes a value as JSON for a column.
pub fn to_json<T: Serialize + ?Sized>(value: &T) -> error::Result<String> {
    serde_json::to_string(value).map_err(error::Error::internal)
}

/// Serializes IDs as a JSON array of their hexadecimal digits, from which statements read them with `json_each` and `unhex`.
pub fn ids_to_json<'i>(ids: impl IntoIterator<Item = &'i Uuid>) -> error::Result<String> {
    to_json(&ids.into_iter().map(hex_digits).collect::<Vec<_>>())
}

/// Returns the hexadecimal digits of an ID, from which statements read it with `unhex`.
pub fn hex_digits(id: &Uuid) -> String {
    id.simple().to_string()
}
