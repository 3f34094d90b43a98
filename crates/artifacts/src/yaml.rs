//! YAML with limits on what a file may cost. Aliases can make a small file expand to any number of values, and
//! the parser takes quadratic time for deeply nested or directive-heavy text, so both are refused before the
//! file is parsed or expanded.

use std::fmt;

use marketplace_text::encoding;
use serde::de::{self, DeserializeSeed, EnumAccess, MapAccess, SeqAccess, VariantAccess, Visitor};
use serde_yaml_ng::{Deserializer, Value};

/// Maximum size in bytes of a YAML file.
const MAX_BYTES: usize = 1 << 20;

/// Maximum number of characters that can start a value: `[`, `{`, `,`, `:`, `-`, and `?`. The parser creates
/// at most four events for each, and keeps all of them in memory.
const MAX_INDICATORS: usize = 150_000;

/// Maximum product of the number of indicators and of the maximum depth of flow collections, because the
/// parser looks at every open collection after every value.
const MAX_NESTING_WORK: usize = 100_000_000;

/// Maximum number of lines that may be directives. The parser compares each with all earlier ones.
const MAX_DIRECTIVES: usize = 16;

/// Maximum cost of the values after all aliases are expanded: one for each value, and one for each byte of
/// text. As long texts are rare, this is mostly the number of values.
const MAX_EXPANDED_COST: usize = 4 << 20;

/// Maximum number of values after all aliases are expanded.
const MAX_EXPANDED_VALUES: usize = 150_000;

/// Parses one YAML document. Returns `None` if it is invalid or exceeds a limit.
pub fn parse(bytes: &[u8]) -> Option<Value> {
    if bytes.len() > MAX_BYTES {
        return None;
    }
    let text = &*encoding::decode(bytes)?;
    if !is_cheap_to_scan(text.as_bytes()) {
        return None;
    }
    let mut budget = Budget { values: MAX_EXPANDED_VALUES, cost: MAX_EXPANDED_COST };
    Count(&mut budget).deserialize(Deserializer::from_str(text)).ok()?;
    serde_yaml_ng::from_str(text).ok()
}

/// Whether the parser reads a text in linear time and memory, judged by its characters alone.
fn is_cheap_to_scan(bytes: &[u8]) -> bool {
    let (mut indicators, mut directives, mut depth) = (0, 0, 0);
    for line in bytes.split(|byte| matches!(byte, b'\n' | b'\r')) {
        directives += usize::from(line.first() == Some(&b'%'));
        indicators += line.iter().filter(|byte| b"[{,:-?".contains(byte)).count();
        depth += unclosed_brackets(line);
    }
    directives <= MAX_DIRECTIVES
        && indicators <= MAX_INDICATORS
        && indicators.saturating_mul(depth) <= MAX_NESTING_WORK
}

/// Returns an upper bound on the number of flow collections that a line opens and does not close. A bracket
/// closes one only if nothing between the two could make it part of a text, a comment, or a tag.
fn unclosed_brackets(line: &[u8]) -> usize {
    let (mut certain, mut unclosed) = (0_usize, 0_usize);
    for byte in line {
        match byte {
            b'[' | b'{' => certain += 1,
            b']' | b'}' => certain = certain.saturating_sub(1),
            b'"' | b'\'' | b'#' | b'!' | b'<' => unclosed += std::mem::take(&mut certain),
            _ => {}
        }
    }
    unclosed + certain
}

/// What a document may still expand to.
struct Budget {
    values: usize,
    cost: usize,
}

impl Budget {
    fn take<E: de::Error>(&mut self, text_bytes: usize) -> Result<(), E> {
        match (self.values.checked_sub(1), self.cost.checked_sub(1 + text_bytes)) {
            (Some(values), Some(cost)) => {
                *self = Budget { values, cost };
                Ok(())
            }
            _ => Err(E::custom("the aliases expand to too many values")),
        }
    }
}

/// Visits all values of a document, with aliases expanded, and counts them. Keeps nothing.
struct Count<'b>(&'b mut Budget);

impl<'de> DeserializeSeed<'de> for Count<'_> {
    type Value = ();

    fn deserialize<D: de::Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Count<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_bool<E: de::Error>(self, _value: bool) -> Result<(), E> {
        self.0.take(0)
    }

    fn visit_i64<E: de::Error>(self, _value: i64) -> Result<(), E> {
        self.0.take(0)
    }

    fn visit_i128<E: de::Error>(self, _value: i128) -> Result<(), E> {
        self.0.take(0)
    }

    fn visit_u64<E: de::Error>(self, _value: u64) -> Result<(), E> {
        self.0.take(0)
    }

    fn visit_u128<E: de::Error>(self, _value: u128) -> Result<(), E> {
        self.0.take(0)
    }

    fn visit_f64<E: de::Error>(self, _value: f64) -> Result<(), E> {
        self.0.take(0)
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<(), E> {
        self.0.take(value.len())
    }

    fn visit_unit<E: de::Error>(self) -> Result<(), E> {
        self.0.take(0)
    }

    fn visit_none<E: de::Error>(self) -> Result<(), E> {
        self.0.take(0)
    }

    fn visit_some<D: de::Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_newtype_struct<D: de::Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        self.0.take(0)?;
        while items.next_element_seed(Count(self.0))?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        self.0.take(0)?;
        while entries.next_key_seed(Count(self.0))?.is_some() {
            entries.next_value_seed(Count(self.0))?;
        }
        Ok(())
    }

    fn visit_enum<A: EnumAccess<'de>>(self, tagged: A) -> Result<(), A::Error> {
        let ((), contents) = tagged.variant_seed(Count(self.0))?;
        contents.newtype_variant_seed(Count(self.0))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns the number of values of a document and the cost of their texts, as `parse` counts them.
    fn expanded_values(text: &str, values: usize) -> Option<usize> {
        let mut budget = Budget { values, cost: usize::MAX };
        Count(&mut budget).deserialize(Deserializer::from_str(text)).ok()?;
        Some(values - budget.values)
    }

    #[test]
    fn aliases_are_counted_as_what_they_expand_to() {
        assert_eq!(expanded_values("[a, {b: !c d}]", 100), Some(6));
        assert_eq!(expanded_values("a: &x [1, 2]\nb: [*x, *x]\n", 100), Some(1 + 2 + 3 + 1 + 6));
        let bomb = format!("a: &x [{}]\nb: [{}]\n", "1,".repeat(30_000), "*x,".repeat(30_000));
        assert_eq!(parse(bomb.as_bytes()), None);
        let nested = (1..10).fold("a0: &a0 [1,1,1,1,1,1,1,1]\n".to_owned(), |text, level| {
            let aliases = format!("*a{},", level - 1).repeat(8);
            format!("{text}a{level}: &a{level} [{aliases}]\n")
        });
        assert_eq!(parse(nested.as_bytes()), None);
        let long_text = format!("a: &x {}\nb: [{}]\n", "t".repeat(100_000), "*x,".repeat(1_000));
        assert_eq!(parse(long_text.as_bytes()), None);
        let key = format!("? &x [{}]\n: 1\nb: [{}]\n", "1,".repeat(30_000), "*x,".repeat(30_000));
        assert_eq!(parse(key.as_bytes()), None);
    }

    #[test]
    fn texts_that_the_parser_reads_slowly_are_refused() {
        let directives = "%TAG !e! t\n".repeat(100);
        for text in [
            format!("{{a: {}", "[".repeat(100_000)),
            format!("[{}", "?[".repeat(70_000)),
            "[ \"]\n".repeat(20_000),
            "[ !<]> \n".repeat(20_000),
            "- ".repeat(200_000),
            format!("{directives}---\na: 1\n"),
            "#".repeat(MAX_BYTES + 1),
        ] {
            assert!(text.len() > MAX_BYTES || !is_cheap_to_scan(text.as_bytes()), "{}", &text[..20]);
            assert_eq!(parse(text.as_bytes()), None);
        }
    }

    #[test]
    fn ordinary_files_are_cheap() {
        let step = "      - uses: a/b@v4\n        if: ${{ contains(github.ref, 'x') }}\n        with: { a: [1, 2] }\n";
        let workflow = format!("on: [push, pull_request]\njobs:\n  a:\n    steps:\n{}", step.repeat(1_500));
        assert!(parse(workflow.as_bytes()).is_some());
        let anchors = "base: &base { image: x, tags: [a, b] }\njob: { <<: *base, script: make }\n";
        assert_eq!(parse(anchors.as_bytes()), serde_yaml_ng::from_str(anchors).ok());
    }

    /// Returns a document of sequences that refer to earlier ones, and the number of values that each has.
    fn document_with_aliases(sequences: &[Vec<usize>]) -> (String, Vec<usize>) {
        let (mut text, mut sizes) = (String::new(), Vec::<usize>::new());
        for (index, items) in sequences.iter().enumerate() {
            let targets: Vec<Option<usize>> = items.iter().map(|item| item.checked_rem(index)).collect();
            let words: Vec<String> = targets
                .iter()
                .map(|target| target.map_or("1".to_owned(), |target| format!("*s{target}")))
                .collect();
            text = format!("{text}- &s{index} [{}]\n", words.join(", "));
            let size = |target: &Option<usize>| target.map_or(1, |target| sizes[target]);
            sizes.push(targets.iter().map(size).fold(1, usize::saturating_add));
        }
        (text, sizes)
    }

    proptest! {
        /// However aliases refer to each other, a document is refused exactly if it expands to more than the
        /// limit, and then no more values are visited than the limit.
        #[test]
        fn random_aliases_stay_within_the_budget(
            sequences in proptest::collection::vec(proptest::collection::vec(0..1_000_usize, 1..6), 1..24),
        ) {
            let (text, sizes) = document_with_aliases(&sequences);
            let total = sizes.iter().copied().fold(1, usize::saturating_add);
            let limit = 5_000;
            let expected = (total <= limit).then_some(total);
            let counted = expanded_values(&text, limit);
            // The library refuses some documents itself.
            prop_assert!(counted == expected || counted.is_none(), "{counted:?} {expected:?} {text}");
        }

        #[test]
        fn arbitrary_text_is_parsed_as_by_the_library(text in "([a-c*&\\[\\]{}:,?!\"'# -]|\n){0,40}") {
            if let Some(value) = parse(text.as_bytes()) {
                prop_assert_eq!(Some(value), serde_yaml_ng::from_str(&text).ok());
            } else {
                prop_assert!(serde_yaml_ng::from_str::<Value>(&text).is_err(), "{}", text);
            }
        }
    }
}
