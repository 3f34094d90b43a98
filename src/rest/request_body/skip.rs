//! Skips JSON values, with the same checks of their syntax as for values that are kept.

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

use crate::json_scalars::ignore_json_scalars;

/// Checks the syntax of a value and drops it.
pub struct Skip;

impl<'de> DeserializeSeed<'de> for Skip {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        // Unlike `IgnoredAny`, this validates UTF-8 and the ranges of numbers, and limits nesting.
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Skip {
    type Value = ();

    ignore_json_scalars!();

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        skip_elements(&mut items)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        skip_entries(&mut entries)
    }
}

/// Checks the syntax of the remaining entries of an object and drops them.
pub fn skip_entries<'de, A: MapAccess<'de>>(entries: &mut A) -> Result<(), A::Error> {
    while entries.next_key_seed(Skip)?.is_some() {
        entries.next_value_seed(Skip)?;
    }
    Ok(())
}

/// Checks the syntax of the remaining elements of an array and drops them.
pub fn skip_elements<'de, A: SeqAccess<'de>>(items: &mut A) -> Result<(), A::Error> {
    while items.next_element_seed(Skip)?.is_some() {}
    Ok(())
}
