//! Columns to values and back: words, times, amounts and JSON.

#![allow(clippy::needless_pass_by_value)] // A column's name or place costs nothing to hand over.

use rusqlite::{Row, RowIndex, types::Type};
use serde::{Serialize, de::DeserializeOwned};

use crate::domain::{money::Cents, time::Timestamp, vocabulary::Vocabulary};

/// Places of columns, for rows that are read in the order in which their statement names the columns. To find each by its
/// name costs more than to read it, which counts where a row has dozens.
#[derive(Debug, Default)]
pub struct Places(usize);

impl Places {
    /// The next column's place.
    pub const fn next(&mut self) -> usize {
        self.0 += 1;
        self.0 - 1
    }
}

/// A column that holds a word of a closed set.
pub fn word<T: Vocabulary>(row: &Row, column: impl RowIndex) -> rusqlite::Result<T> {
    let index = column.idx(row.as_ref())?;
    let text = row.get_ref(index)?.as_str()?;
    T::parse(text).ok_or_else(|| damaged(index, format!("{text:?} is no {}", T::NAME)))
}

/// The same, where it may be null.
pub fn optional_word<T: Vocabulary>(row: &Row, column: impl RowIndex) -> rusqlite::Result<Option<T>> {
    let index = column.idx(row.as_ref())?;
    match row.get_ref(index)?.as_str_or_null()? {
        Some(_) => word(row, index).map(Some),
        None => Ok(None),
    }
}

/// A column that holds JSON.
pub fn json<T: DeserializeOwned>(row: &Row, column: impl RowIndex) -> rusqlite::Result<T> {
    let index = column.idx(row.as_ref())?;
    let text = row.get_ref(index)?.as_str()?;
    serde_json::from_str(text).map_err(|error| damaged(index, error.to_string()))
}

/// The same, where it may be null.
pub fn optional_json<T: DeserializeOwned>(row: &Row, column: impl RowIndex) -> rusqlite::Result<Option<T>> {
    let index = column.idx(row.as_ref())?;
    match row.get_ref(index)?.as_str_or_null()? {
        Some(text) => serde_json::from_str(text).map(Some).map_err(|error| damaged(index, error.to_string())),
        None => Ok(None),
    }
}

/// A column that holds a point in time.
pub fn time(row: &Row, column: impl RowIndex) -> rusqlite::Result<Timestamp> {
    row.get(column).map(Timestamp)
}

/// The same, where it may be null.
pub fn optional_time(row: &Row, column: impl RowIndex) -> rusqlite::Result<Option<Timestamp>> {
    Ok(row.get::<_, Option<i64>>(column)?.map(Timestamp))
}

/// A column that may hold an amount.
pub fn optional_cents(row: &Row, column: impl RowIndex) -> rusqlite::Result<Option<Cents>> {
    Ok(row.get::<_, Option<i64>>(column)?.map(Cents))
}

/// A value as the JSON that a column holds.
pub fn to_json<T: Serialize + ?Sized>(value: &T) -> crate::error::Result<String> {
    serde_json::to_string(value).map_err(crate::error::Error::internal)
}

fn damaged(index: usize, cause: String) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(index, Type::Text, cause.into())
}
