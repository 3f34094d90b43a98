//! Counts the values of a JSON text without building them, so that a reply of many small values is refused before
//! it uses memory.

use std::cell::Cell;

use marketplace_domain::json_values::{Next, ReadJson};
use serde::de::{DeserializeSeed, Error, MapAccess, SeqAccess};

/// Fails if a JSON text has more than `max_values` values, counting names, or more than `max_depth` levels, or if
/// it is invalid.
pub(super) fn count_values(json: &[u8], max_values: usize, max_depth: usize) -> Result<(), String> {
    let remaining = Cell::new(max_values);
    let mut deserializer = serde_json::Deserializer::from_slice(json);
    let counter = Counter { remaining: &remaining, remaining_depth: max_depth };
    Next(counter).deserialize(&mut deserializer).map_err(|error| error.to_string())?;
    deserializer.end().map_err(|error| error.to_string())
}

/// Counts one value and the values in it.
#[derive(Clone, Copy)]
struct Counter<'c> {
    remaining: &'c Cell<usize>,
    remaining_depth: usize,
}

impl Counter<'_> {
    fn nested<E: Error>(self) -> Result<Next<Self>, E> {
        let remaining_depth =
            self.remaining_depth.checked_sub(1).ok_or_else(|| E::custom("there are too many levels"))?;
        Ok(Next(Counter { remaining_depth, ..self }))
    }
}

impl ReadJson for Counter<'_> {
    type Output = ();

    fn begin<E: Error>(&mut self) -> Result<(), E> {
        let remaining = self.remaining.get().checked_sub(1);
        self.remaining.set(remaining.ok_or_else(|| E::custom("there are too many values"))?);
        Ok(())
    }

    fn array<'de, A: SeqAccess<'de>>(self, mut elements: A) -> Result<(), A::Error> {
        let nested = self.nested()?;
        while elements.next_element_seed(nested)?.is_some() {}
        Ok(())
    }

    fn object<'de, A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        let nested = self.nested()?;
        while entries.next_key_seed(nested)?.is_some() {
            entries.next_value_seed(nested)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_names_and_levels_are_counted() {
        let json = br#"{"a": [1, -1, 1.5, "x", null, true], "b": {}}"#;
        assert_eq!(count_values(json, 11, 2), Ok(()));
        assert!(count_values(json, 10, 2).unwrap_err().contains("too many values"));
        assert!(count_values(json, 11, 1).unwrap_err().contains("too many levels"));
        assert!(count_values(b"{} {}", 9, 9).is_err());
        assert!(count_values(b"{", 9, 9).is_err());
    }
}
