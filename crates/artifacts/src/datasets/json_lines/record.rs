//! The keys and types of a JSON object, parsed without storing its values.

use std::{collections::BTreeMap, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{self, IgnoredAny, MapAccess, SeqAccess, Visitor},
};

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

/// The type of a value, which is empty for null.
struct Kind(&'static str);

impl<'de> Deserialize<'de> for Kind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Kind, D::Error> {
        deserializer.deserialize_any(KindVisitor)
    }
}

struct KindVisitor;

impl<'de> Visitor<'de> for KindVisitor {
    type Value = Kind;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E: de::Error>(self) -> Result<Kind, E> {
        Ok(Kind(""))
    }

    fn visit_bool<E: de::Error>(self, _value: bool) -> Result<Kind, E> {
        Ok(Kind("boolean"))
    }

    fn visit_i64<E: de::Error>(self, _value: i64) -> Result<Kind, E> {
        Ok(Kind("integer"))
    }

    fn visit_u64<E: de::Error>(self, _value: u64) -> Result<Kind, E> {
        Ok(Kind("integer"))
    }

    fn visit_f64<E: de::Error>(self, _value: f64) -> Result<Kind, E> {
        Ok(Kind("number"))
    }

    fn visit_str<E: de::Error>(self, _value: &str) -> Result<Kind, E> {
        Ok(Kind("text"))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Kind, A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Kind("array"))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Kind, A::Error> {
        while fields.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Kind("object"))
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
            && let Some((name, Kind(kind))) = fields.next_entry::<String, Kind>()?
        {
            // Of equal names, the last one counts.
            record.insert(name.chars().take(MAX_COLUMN_NAME_CHARS).collect(), kind);
        }
        while fields.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Record(record))
    }
}
