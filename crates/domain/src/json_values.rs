//! Reads JSON without building a tree: decides for each value when it arrives whether to keep it.

use std::{borrow::Cow, fmt};

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

/// Reads one JSON value.
pub trait ReadJson: Sized {
    /// What is kept of the value.
    type Output: Default;

    /// Called before the value is read. An error ends the reading of the whole text.
    fn begin<E: Error>(&mut self) -> Result<(), E> {
        Ok(())
    }

    /// Receives null, a truth value, or a number. The default drops it.
    fn scalar<E: Error>(self, _value: Value) -> Result<Self::Output, E> {
        Ok(Self::Output::default())
    }

    /// Receives a string. The default drops it.
    fn text<E: Error>(self, _text: &str) -> Result<Self::Output, E> {
        Ok(Self::Output::default())
    }

    /// Reads the elements of an array.
    fn array<'de, A: SeqAccess<'de>>(self, items: A) -> Result<Self::Output, A::Error>;

    /// Reads the entries of an object.
    fn object<'de, A: MapAccess<'de>>(self, entries: A) -> Result<Self::Output, A::Error>;
}

/// Passes the next value of a deserializer to a [`ReadJson`].
#[derive(Clone, Copy, Debug)]
pub struct Next<R>(pub R);

impl<'de, R: ReadJson> DeserializeSeed<'de> for Next<R> {
    type Value = R::Output;

    fn deserialize<D: Deserializer<'de>>(mut self, deserializer: D) -> Result<R::Output, D::Error> {
        self.0.begin::<D::Error>()?;
        // Unlike `IgnoredAny`, this validates UTF-8 and the ranges of numbers, and limits nesting.
        deserializer.deserialize_any(self)
    }
}

impl<'de, R: ReadJson> Visitor<'de> for Next<R> {
    type Value = R::Output;

    fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_unit<E: Error>(self) -> Result<R::Output, E> {
        self.0.scalar(Value::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<R::Output, E> {
        self.0.scalar(value.into())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<R::Output, E> {
        self.0.scalar(value.into())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<R::Output, E> {
        self.0.scalar(value.into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<R::Output, E> {
        self.0.scalar(value.into())
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<R::Output, E> {
        self.0.text(text)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<R::Output, A::Error> {
        self.0.array(items)
    }

    fn visit_map<A: MapAccess<'de>>(self, entries: A) -> Result<R::Output, A::Error> {
        self.0.object(entries)
    }
}

/// Drops a value, with the same checks of its syntax as for values that are kept.
pub const SKIP: Next<Skip> = Next(Skip);

/// Reads a value and keeps nothing of it; see [`SKIP`].
#[derive(Debug)]
pub struct Skip;

impl ReadJson for Skip {
    type Output = ();

    fn array<'de, A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        skip_elements(&mut items)
    }

    fn object<'de, A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        skip_entries(&mut entries)
    }
}

/// Drops the remaining entries of an object.
pub fn skip_entries<'de, A: MapAccess<'de>>(entries: &mut A) -> Result<(), A::Error> {
    while entries.next_key_seed(SKIP)?.is_some() {
        entries.next_value_seed(SKIP)?;
    }
    Ok(())
}

/// Drops the remaining elements of an array.
pub fn skip_elements<'de, A: SeqAccess<'de>>(items: &mut A) -> Result<(), A::Error> {
    while items.next_element_seed(SKIP)?.is_some() {}
    Ok(())
}

/// The name of an entry of an object, which is not copied if it has no escapes.
#[derive(Debug, serde::Deserialize)]
#[serde(transparent)]
pub struct Name<'a>(#[serde(borrow)] pub Cow<'a, str>);
