//! Counts the values of a document without building them, so that a few bytes that stand for many values are
//! refused before they use memory.

use std::{cell::Cell, fmt};

use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error, MapAccess, SeqAccess, VariantAccess, Visitor,
};

/// How much a document may have.
#[derive(Clone, Copy, Debug)]
pub struct ValueLimits {
    /// Maximum number of values, counting names.
    pub values: usize,
    /// Maximum number of bytes of all texts.
    pub text_bytes: usize,
    /// Maximum number of levels of nesting.
    pub depth: usize,
}

/// Fails if a document is invalid, or has more than the limits. Values that are referred to count each time.
pub fn count_values<'de, D: Deserializer<'de>>(deserializer: D, limits: ValueLimits) -> Result<(), D::Error> {
    Counter { remaining: &Cell::new(limits), remaining_depth: limits.depth }.deserialize(deserializer)
}

/// Counts one value and the values in it.
#[derive(Clone, Copy)]
struct Counter<'c> {
    /// The values and texts that may still follow.
    remaining: &'c Cell<ValueLimits>,
    remaining_depth: usize,
}

impl Counter<'_> {
    fn nested<E: Error>(self) -> Result<Self, E> {
        let remaining_depth =
            self.remaining_depth.checked_sub(1).ok_or_else(|| E::custom("there are too many levels"))?;
        Ok(Counter { remaining_depth, ..self })
    }

    fn take<E: Error>(self, values: usize, text_bytes: usize) -> Result<(), E> {
        let remaining = self.remaining.get();
        let left = (remaining.values.checked_sub(values), remaining.text_bytes.checked_sub(text_bytes));
        let (Some(values), Some(text_bytes)) = left else {
            return Err(E::custom("there are too many values"));
        };
        self.remaining.set(ValueLimits { values, text_bytes, ..remaining });
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for Counter<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        self.take(1, 0)?;
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Counter<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_i128<E>(self, _: i128) -> Result<(), E> {
        Ok(())
    }

    fn visit_u128<E>(self, _: u128) -> Result<(), E> {
        Ok(())
    }

    fn visit_none<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        self.take(0, text.len())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<(), A::Error> {
        let nested = self.nested()?;
        while elements.next_element_seed(nested)?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        let nested = self.nested()?;
        while entries.next_key_seed(nested)?.is_some() {
            entries.next_value_seed(nested)?;
        }
        Ok(())
    }

    /// A value of YAML with a tag, which counts as a name.
    fn visit_enum<A: EnumAccess<'de>>(self, tagged: A) -> Result<(), A::Error> {
        let (tag, contents) = tagged.variant::<String>()?;
        self.take(0, tag.len())?;
        contents.newtype_variant_seed(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_names_texts_and_levels_are_counted() {
        let count = |values, text_bytes, depth| {
            let json = br#"{"a": [1, -1, 1.5, "xy", null, true], "b": {}}"#;
            let mut deserializer = serde_json::Deserializer::from_slice(json);
            let counted = count_values(&mut deserializer, ValueLimits { values, text_bytes, depth });
            counted.map_err(|error| error.to_string())
        };
        assert_eq!(count(11, 4, 2), Ok(()));
        assert!(count(10, 4, 2).unwrap_err().contains("too many values"));
        assert!(count(11, 3, 2).unwrap_err().contains("too many values"));
        assert!(count(11, 4, 1).unwrap_err().contains("too many levels"));
        let mut invalid = serde_json::Deserializer::from_slice(b"{");
        assert!(count_values(&mut invalid, ValueLimits { values: 9, text_bytes: 9, depth: 9 }).is_err());
    }
}
