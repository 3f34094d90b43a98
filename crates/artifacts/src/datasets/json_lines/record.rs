//! The keys and types of a JSON object, parsed without storing its values.

use std::{collections::BTreeMap, fmt};

use marketplace_domain::json_values::{Name, Next, ReadJson};
use serde::{
    Deserialize, Deserializer,
    de::{Error, IgnoredAny, MapAccess, SeqAccess, Visitor},
};
use serde_json::Value;

use crate::datasets::MAX_COLUMN_NAME_CHARS;

/// Maximum number of fields of a record that are inspected. Further fields are only validated.
const MAX_FIELDS: usize = 10_000;

/// Names and types of the fields of a record, ordered by name. Names are truncated. Empty if the value is not
/// an object.
pub(super) struct Record(pub(super) BTreeMap<String, &'static str>);

impl<'de> Deserialize<'de> for Record {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Record, D::Error> {
        deserializer.deserialize_any(RecordVisitor)
    }
}

/// Reads the type of a value, which is empty for null.
struct Kind;

impl ReadJson for Kind {
    type Output = &'static str;

    fn scalar<E: Error>(self, value: Value) -> Result<&'static str, E> {
        Ok(match value {
            Value::Bool(_) => "boolean",
            Value::Number(number) if number.is_f64() => "number",
            Value::Number(_) => "integer",
            _ => "",
        })
    }

    fn text<E: Error>(self, _text: &str) -> Result<&'static str, E> {
        Ok("text")
    }

    fn array<'de, A: SeqAccess<'de>>(self, mut items: A) -> Result<&'static str, A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok("array")
    }

    fn object<'de, A: MapAccess<'de>>(self, mut fields: A) -> Result<&'static str, A::Error> {
        while fields.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok("object")
    }
}

struct RecordVisitor;

impl<'de> Visitor<'de> for RecordVisitor {
    type Value = Record;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Record, A::Error> {
        let mut record = BTreeMap::new();
        while record.len() < MAX_FIELDS
            && let Some(Name(name)) = fields.next_key()?
        {
            let name = name.chars().take(MAX_COLUMN_NAME_CHARS).collect();
            // Of equal names, the last one counts.
            record.insert(name, fields.next_value_seed(Next(Kind))?);
        }
        while fields.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Record(record))
    }
}
