//! Reads a row as a struct that serde deserializes: each field is the column that has its name on the wire.

use std::slice;

use rusqlite::{
    Row,
    types::{Type, ValueRef},
};
use serde::{
    de::{
        DeserializeOwned, DeserializeSeed, Deserializer, Error as _, IntoDeserializer, MapAccess, Visitor,
        value::Error,
    },
    forward_to_deserialize_any,
};

use crate::store::row::FromRow;

impl<T: DeserializeOwned> FromRow for T {
    fn from_row(row: &Row) -> rusqlite::Result<T> {
        let read = T::deserialize(RowDeserializer(row));
        read.map_err(|error| rusqlite::Error::FromSqlConversionFailure(0, Type::Null, error.into()))
    }
}

/// Deserializes a row as a struct. A field without a column is an error, and so is an absent optional field.
struct RowDeserializer<'r>(&'r Row<'r>);

impl<'de> Deserializer<'de> for RowDeserializer<'de> {
    type Error = Error;

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_map(Fields { row: self.0, names: fields.iter(), name: "" })
    }

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Error> {
        Err(Error::custom("a row is read as a struct"))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

/// The fields of a struct, with the columns that have their names.
struct Fields<'r> {
    row: &'r Row<'r>,
    names: slice::Iter<'static, &'static str>,
    /// Name of the field whose value is read next.
    name: &'static str,
}

impl<'de> MapAccess<'de> for Fields<'de> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Error> {
        let Some(name) = self.names.next() else { return Ok(None) };
        self.name = name;
        seed.deserialize(self.name.into_deserializer()).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Error> {
        let value = self.row.get_ref(self.name).map_err(Error::custom);
        let read = value.and_then(|value| seed.deserialize(ColumnDeserializer(value)));
        read.map_err(|error| Error::custom(format!("column `{}`: {error}", self.name)))
    }
}

/// Deserializes a column: an ID from its 16 bytes, a Boolean from 0 or 1, an array or object from JSON, and anything else from the
/// same type.
struct ColumnDeserializer<'r>(ValueRef<'r>);

impl<'de> Deserializer<'de> for ColumnDeserializer<'de> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            ValueRef::Null => visitor.visit_unit(),
            ValueRef::Integer(number) => visitor.visit_i64(number),
            ValueRef::Real(number) => visitor.visit_f64(number),
            ValueRef::Text(_) => visitor.visit_borrowed_str(self.0.as_str().map_err(Error::custom)?),
            ValueRef::Blob(bytes) => visitor.visit_borrowed_bytes(bytes),
        }
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_bool(self.0.as_i64().map_err(Error::custom)? != 0)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        if self.0 == ValueRef::Null { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let text = self.0.as_str().map_err(Error::custom)?;
        let mut json = serde_json::Deserializer::from_str(text);
        let value = json.deserialize_any(visitor).map_err(Error::custom)?;
        json.end().map_err(Error::custom)?;
        Ok(value)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_seq(visitor)
    }

    fn is_human_readable(&self) -> bool {
        false
    }

    forward_to_deserialize_any! {
        i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf unit unit_struct tuple tuple_struct enum
        identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;
    use serde::Deserialize;
    use uuid::Uuid;

    use super::*;

    #[derive(Debug, PartialEq, Deserialize)]
    struct Example {
        id: Uuid,
        #[serde(rename = "type")]
        kind: String,
        is_read: bool,
        tier: u8,
        note: Option<String>,
        owners: Vec<Owner>,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    struct Owner {
        id: Uuid,
    }

    const ID: &str = "x'd16976a09c515248afa17e0552589e1a' AS id";
    const OTHERS: &str = "'sale' AS type, 1 AS is_read, 3 AS tier, NULL AS note";
    const OWNERS: &str = r#"'[{"id": "D16976A09C515248AFA17E0552589E1A"}]' AS owners"#;

    fn read(columns: &[&str]) -> rusqlite::Result<Example> {
        let sql = format!("SELECT {}", columns.join(", "));
        Connection::open_in_memory().unwrap().query_row(&sql, [], Example::from_row)
    }

    #[test]
    fn fields_are_the_columns_of_their_names() {
        let id: Uuid = "d16976a0-9c51-5248-afa1-7e0552589e1a".parse().unwrap();
        let (kind, owners) = ("sale".to_owned(), vec![Owner { id }]);
        let expected = Example { id, kind, is_read: true, tier: 3, note: None, owners };
        assert_eq!(read(&["0 AS page_id", OTHERS, OWNERS, ID]).unwrap(), expected);
    }

    #[test]
    fn missing_or_invalid_column_is_an_error() {
        let without_note = "'sale' AS type, 1 AS is_read, 3 AS tier";
        let large = "'sale' AS type, 1 AS is_read, 300 AS tier, NULL AS note";
        for (columns, name) in [
            ([OTHERS, OWNERS, "0 AS other"], "id"),
            ([without_note, OWNERS, ID], "note"),
            ([large, OWNERS, ID], "tier"),
            ([OTHERS, "'[{}]' AS owners", ID], "owners"),
            ([OTHERS, "'[] x' AS owners", ID], "owners"),
        ] {
            let error = read(&columns).unwrap_err().to_string();
            assert!(error.contains(&format!("column `{name}`")), "{error}");
        }
    }
}
