//! JSON objects that are assembled from values that are serialized already.
//!
//! Stored JSON is split into fields by their names, never by their positions, and the values are copied
//! without parsing them.

use std::{borrow::Cow, fmt};

use serde::{
    Deserialize, Deserializer, Serialize,
    de::{MapAccess, Visitor},
};
use serde_json::value::RawValue;

use crate::{
    error::{Error, Result},
    json_values::Name,
};

/// The fields of a JSON object, in their order, with unparsed values.
#[derive(Debug)]
pub struct RawObject<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'a> RawObject<'a> {
    /// Splits a serialized object into its fields.
    pub fn parse(json: &'a [u8]) -> Result<RawObject<'a>> {
        serde_json::from_slice(json).map_err(Error::internal)
    }

    /// Returns the JSON of the field with this name.
    pub fn get(&self, name: &str) -> Option<&'a [u8]> {
        let mut fields = self.0.iter();
        fields.find(|(field, _)| field == name).map(|(_, value)| value.get().as_bytes())
    }

    /// Whether the object has no fields.
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the JSON of the object with another value, given as JSON, in place of that of a field.
    pub fn with(&self, name: &str, json: &[u8]) -> Vec<u8> {
        let mut object = ObjectWriter::with_capacity(json.len() + 256);
        for (field, value) in &self.0 {
            object.raw_field(field, if field == name { json } else { value.get().as_bytes() });
        }
        object.finish()
    }

    /// Keeps only the fields with some names.
    #[must_use]
    pub fn only(mut self, is_kept: impl Fn(&str) -> bool) -> RawObject<'a> {
        self.0.retain(|(field, _)| is_kept(field));
        self
    }

    /// Removes the field with this name, if there is one.
    #[must_use]
    pub fn without(self, name: &str) -> RawObject<'a> {
        self.only(|field| field != name)
    }
}

impl<'de> Deserialize<'de> for RawObject<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct Fields;

        impl<'de> Visitor<'de> for Fields {
            type Value = RawObject<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
                formatter.write_str("a JSON object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Self::Value, A::Error> {
                let mut fields = Vec::with_capacity(32);
                while let Some((Name(name), value)) = map.next_entry()? {
                    fields.push((name, value));
                }
                Ok(RawObject(fields))
            }
        }

        deserializer.deserialize_map(Fields)
    }
}

/// Writes a JSON object field by field.
#[derive(Debug)]
pub struct ObjectWriter(Vec<u8>);

impl ObjectWriter {
    /// Creates a writer with capacity for this number of bytes.
    pub fn with_capacity(bytes: usize) -> ObjectWriter {
        let mut json = Vec::with_capacity(bytes);
        json.push(b'{');
        ObjectWriter(json)
    }

    fn name(&mut self, name: &str) {
        if self.0.len() > 1 {
            self.0.push(b',');
        }
        self.value(name);
        self.0.push(b':');
    }

    fn value(&mut self, value: &(impl Serialize + ?Sized)) {
        serde_json::to_writer(&mut self.0, value).expect("a response serializes");
    }

    /// Writes a field with a value to serialize.
    pub fn field(&mut self, name: &str, value: &(impl Serialize + ?Sized)) {
        self.name(name);
        self.value(value);
    }

    /// Writes a field with a value that is serialized already.
    pub fn raw_field(&mut self, name: &str, json: &[u8]) {
        self.name(name);
        self.0.extend_from_slice(json);
    }

    /// Writes a field with an array, given as serialized values separated by commas.
    pub fn array_field(&mut self, name: &str, items: &[u8]) {
        self.name(name);
        self.0.push(b'[');
        self.0.extend_from_slice(items);
        self.0.push(b']');
    }

    /// Writes all fields of an object.
    pub fn fields(&mut self, object: &RawObject) {
        for (name, value) in &object.0 {
            self.raw_field(name, value.get().as_bytes());
        }
    }

    /// Returns the JSON of the object.
    pub fn finish(mut self) -> Vec<u8> {
        self.0.push(b'}');
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OBJECT: &str = r#"{"a":"},\"b\":1","b":{"b":[1,2.50]},"c\"":null}"#;

    #[test]
    fn fields_are_found_by_name_and_copied_unchanged() {
        let object = RawObject::parse(OBJECT.as_bytes()).unwrap();
        assert_eq!(object.get("b"), Some(&br#"{"b":[1,2.50]}"#[..]));
        assert_eq!((object.get("d"), object.is_empty()), (None, false));
        let mut copy = ObjectWriter::with_capacity(0);
        copy.fields(&object);
        assert_eq!(copy.finish(), OBJECT.as_bytes());
        let mut rest = ObjectWriter::with_capacity(0);
        rest.fields(&object.without("b"));
        rest.field("d", &Some(1));
        rest.array_field("e", b"1,2");
        assert_eq!(rest.finish(), br#"{"a":"},\"b\":1","c\"":null,"d":1,"e":[1,2]}"#);
    }

    #[test]
    fn empty_object_has_no_fields_and_other_values_are_rejected() {
        assert!(RawObject::parse(b"{}").unwrap().is_empty());
        assert_eq!(ObjectWriter::with_capacity(0).finish(), b"{}");
        for invalid in ["[]", "1", r#"{"a":1"#, r#"{"a":1}}"#] {
            assert!(RawObject::parse(invalid.as_bytes()).is_err(), "{invalid}");
        }
    }
}
