//! Conversions between columns and values: string enums, times, amounts and JSON.

#![allow(clippy::needless_pass_by_value)] // Column names and indexes are cheap to pass by value.

use rusqlite::{Row, RowIndex, types::Type};
use serde::{Serialize, de::DeserializeOwned};

use crate::{
    domain::{money::Cents, time::Timestamp},
    error::{self, BoxedError},
    string_enum::StringEnum,
};

/// Counter of column indexes, for rows that are read in the order of the columns in the statement. Looking up
/// each column by name takes longer than reading it, which matters for rows with dozens of columns.
#[derive(Debug, Default)]
pub struct ColumnIndexes(usize);

impl ColumnIndexes {
    /// Returns the index of the next column.
    pub const fn next(&mut self) -> usize {
        self.0 += 1;
        self.0 - 1
    }
}

/// Reads a column that contains a variant of a string enum.
pub fn string_enum<T: StringEnum>(row: &Row, column: impl RowIndex) -> rusqlite::Result<T> {
    let index = column.idx(row.as_ref())?;
    let text = row.get_ref(index)?.as_str()?;
    T::parse(text).ok_or_else(|| invalid_value(index, format!("{text:?} is not a valid {}", T::NAME)))
}

/// Like [`string_enum`], for a nullable column.
pub fn optional_string_enum<T: StringEnum>(row: &Row, column: impl RowIndex) -> rusqlite::Result<Option<T>> {
    let index = column.idx(row.as_ref())?;
    match row.get_ref(index)?.as_str_or_null()? {
        Some(_) => string_enum(row, index).map(Some),
        None => Ok(None),
    }
}

/// Reads a column that contains JSON.
pub fn json<T: DeserializeOwned>(row: &Row, column: impl RowIndex) -> rusqlite::Result<T> {
    let index = column.idx(row.as_ref())?;
    let text = row.get_ref(index)?.as_str()?;
    serde_json::from_str(text).map_err(|error| invalid_value(index, error))
}

/// Like [`json`], for a nullable column.
pub fn optional_json<T: DeserializeOwned>(row: &Row, column: impl RowIndex) -> rusqlite::Result<Option<T>> {
    let index = column.idx(row.as_ref())?;
    match row.get_ref(index)?.as_str_or_null()? {
        Some(text) => serde_json::from_str(text).map(Some).map_err(|error| invalid_value(index, error)),
        None => Ok(None),
    }
}

/// Reads a column that contains a point in time, in microseconds since 1970.
pub fn time(row: &Row, column: impl RowIndex) -> rusqlite::Result<Timestamp> {
    row.get(column).map(Timestamp)
}

/// Like [`time`], for a nullable column.
pub fn optional_time(row: &Row, column: impl RowIndex) -> rusqlite::Result<Option<Timestamp>> {
    Ok(row.get::<_, Option<i64>>(column)?.map(Timestamp))
}

/// Reads a nullable column that contains an amount in US cents.
pub fn optional_cents(row: &Row, column: impl RowIndex) -> rusqlite::Result<Option<Cents>> {
    Ok(row.get::<_, Option<i64>>(column)?.map(Cents))
}

/// Serializes a value as JSON for a column.
pub fn to_json<T: Serialize + ?Sized>(value: &T) -> error::Result<String> {
    serde_json::to_string(value).map_err(error::Error::internal)
}

fn invalid_value(index: usize, cause: impl Into<BoxedError>) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(index, Type::Text, cause.into())
}
