//! YAML with limits on the cost of a file. Aliases can make a small file expand to any number of values, and the parser takes
//! quadratic time for deeply nested or directive-heavy text, so both are refused before the file is parsed or expanded. The
//! limits are needed even in child processes: a kilobyte could use all of a child's memory or minutes of its time, and a
//! crashed child delays other work.

use marketplace_text::encoding;
use serde_yaml_ng::{Deserializer, Value};

use super::value_count::{ValueLimits, count_values};

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

/// Limits of a document after all aliases are expanded. The parser itself limits the depth.
const EXPANDED_LIMITS: ValueLimits = ValueLimits { values: 150_000, text_bytes: 4 << 20, depth: usize::MAX };

/// Parses one YAML document. Returns `None` if it is invalid or exceeds a limit.
pub fn parse(bytes: &[u8]) -> Option<Value> {
    if bytes.len() > MAX_BYTES {
        return None;
    }
    let text = &*encoding::decode(bytes)?;
    if !is_cheap_to_scan(text.as_bytes()) {
        return None;
    }
    count_values(Deserializer::from_str(text), EXPANDED_LIMITS).ok()?;
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Whether a document is valid and expands to at most this number of values.
    fn expands_to_at_most(text: &str, values: usize) -> bool {
        let limits = ValueLimits { values, text_bytes: usize::MAX, ..EXPANDED_LIMITS };
        count_values(Deserializer::from_str(text), limits).is_ok()
    }

    #[test]
    fn aliases_are_counted_as_what_they_expand_to() {
        for (text, values) in [("[a, {b: !c d}]", 6), ("a: &x [1, 2]\nb: [*x, *x]\n", 1 + 2 + 3 + 1 + 6)] {
            assert!(expands_to_at_most(text, values) && !expands_to_at_most(text, values - 1), "{text}");
        }
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
        /// limit.
        #[test]
        fn random_aliases_stay_within_the_budget(
            sequences in proptest::collection::vec(proptest::collection::vec(0..1_000_usize, 1..6), 1..24),
        ) {
            let (text, sizes) = document_with_aliases(&sequences);
            let total = sizes.iter().copied().fold(1, usize::saturating_add);
            let limit = 5_000;
            // The library refuses some documents itself.
            prop_assert!(!expands_to_at_most(&text, limit) || total <= limit, "{total} {text}");
            prop_assert!(!expands_to_at_most(&text, total.min(limit) - 1), "{total} {text}");
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
