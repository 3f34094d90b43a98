//! The rows of all tables as text: a JSON object for each row, with the values by the names of their columns. Null is left
//! out. Blobs of 16 bytes are written as UUIDs, and others in hexadecimal.

use std::{collections::BTreeMap, fmt::Write};

use data_encoding::HEXLOWER;
use rusqlite::types::ValueRef;
use uuid::Uuid;

use super::{Reader, table_schema};
use crate::error::{Error, Result};

pub use super::table_schema::Table;

/// Returns the version of the schema: the number of its last migration.
pub fn schema_version(reader: &Reader) -> Result<u32> {
    reader.query_one("SELECT user_version FROM pragma_user_version", [], |row| row.get(0))
}

/// Returns the largest number that each table without reuse of numbers has given to a row, by the name of the table.
pub fn sequences(reader: &Reader) -> Result<BTreeMap<String, i64>> {
    const SQL: &str = "SELECT name, seq FROM sqlite_sequence";
    Ok(reader.query_all(SQL, [], |row| Ok((row.get(0)?, row.get(1)?)))?.into_iter().collect())
}

/// Returns all tables, by name.
pub fn tables(reader: &Reader) -> Result<Vec<Table>> {
    Ok(table_schema::list(reader.connection)?)
}

/// Calls `visit` with each row of a table, in an order that is the same for the same rows.
pub fn for_each_row(reader: &Reader, table: &Table, mut visit: impl FnMut(&str) -> Result<()>) -> Result<()> {
    let mut text = String::new();
    reader.for_each_row(&table.select(), [], |row| {
        text.clear();
        for (index, column) in table.columns.iter().enumerate() {
            let value = row.get_ref(index)?;
            if value != ValueRef::Null {
                text.push_str(if text.is_empty() { "{" } else { ", " });
                write_json(&mut text, &column.name)?;
                text.push_str(": ");
                write_value(&mut text, value)?;
            }
        }
        text.push_str(if text.is_empty() { "{}" } else { "}" });
        visit(&text)
    })
}

fn write_value(text: &mut String, value: ValueRef) -> Result<()> {
    match value {
        ValueRef::Null => text.push_str("null"),
        ValueRef::Integer(number) => write!(text, "{number}").map_err(Error::internal)?,
        ValueRef::Real(number) => text.push_str(&serde_json::to_string(&number).map_err(Error::internal)?),
        ValueRef::Text(bytes) => write_json(text, std::str::from_utf8(bytes).map_err(Error::internal)?)?,
        ValueRef::Blob(bytes) => match <[u8; 16]>::try_from(bytes) {
            Ok(id) => write!(text, "\"{}\"", Uuid::from_bytes(id)).map_err(Error::internal)?,
            Err(_) => write!(text, "\"{}\"", HEXLOWER.encode(bytes)).map_err(Error::internal)?,
        },
    }
    Ok(())
}

fn write_json(text: &mut String, value: &str) -> Result<()> {
    text.push_str(&serde_json::to_string(value).map_err(Error::internal)?);
    Ok(())
}
