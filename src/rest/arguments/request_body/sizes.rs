//! Bounds on the size of a JSON body, derived from its rule.

use crate::rest::arguments::request_body::rules::Rule;

/// Bytes that every body may have in addition to its values, such as for indentation.
const BASE_BYTES: u64 = 65_536;

/// Bytes for the indentation, commas, and line breaks around a value.
const SPACE_BYTES: u64 = 256;

/// Bytes for a number, a truth value, an ID, or a date.
const SCALAR_BYTES: u64 = 256;

/// Maximum number of bytes of one character: a surrogate pair of two escapes, such as `\ud83d\ude00`.
const CHARACTER_BYTES: u64 = 12;

/// Bytes for an object with arbitrary names and values: six times (the escapes of a byte) the 65,536 bytes
/// that vendor-defined columns may have.
const FREE_FORM_BYTES: u64 = 6 * 65_536;

/// Bytes for a string without a maximum length, such as a filter entry.
const LONG_TEXT_BYTES: u64 = 65_536;

/// Returns the maximum number of bytes of a body that satisfies a rule.
pub fn max_body_bytes(rule: &Rule) -> u64 {
    max_value_bytes(rule).saturating_add(BASE_BYTES)
}

fn max_value_bytes(rule: &Rule) -> u64 {
    let value = match rule {
        Rule::Any => FREE_FORM_BYTES,
        Rule::Map(values, _) if matches!(**values, Rule::Any) => FREE_FORM_BYTES,
        Rule::Map(values, max) => {
            (*max as u64).saturating_mul(LONG_TEXT_BYTES.saturating_add(max_value_bytes(values)))
        }
        Rule::Array(items, _, max) => (*max as u64).saturating_mul(max_value_bytes(items)),
        Rule::Object(fields) => fields.iter().fold(0, |sum: u64, field| {
            let name = field.name.len() as u64 * CHARACTER_BYTES;
            sum.saturating_add(name).saturating_add(max_value_bytes(&field.rule))
        }),
        Rule::Text(_, usize::MAX, _) => LONG_TEXT_BYTES,
        Rule::Text(_, max, _) => (*max as u64).saturating_mul(CHARACTER_BYTES),
        Rule::OneOf(values) => {
            let longest = values.iter().map(String::len).max().unwrap_or(0);
            longest as u64 * CHARACTER_BYTES
        }
        Rule::Integer(..) | Rule::Number(..) | Rule::Boolean | Rule::Uuid | Rule::Day | Rule::Time(_) => {
            SCALAR_BYTES
        }
    };
    value.saturating_add(SPACE_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bound_follows_from_the_rule() {
        let title = Rule::Text(1, 200, None);
        assert_eq!(max_body_bytes(&title), BASE_BYTES + SPACE_BYTES + 2_400);
        let titles = Rule::Array(Box::new(title), 0, 1_000);
        assert_eq!(max_body_bytes(&titles), BASE_BYTES + SPACE_BYTES + 1_000 * (SPACE_BYTES + 2_400));
        assert_eq!(max_body_bytes(&Rule::Array(Box::new(Rule::Any), 0, usize::MAX)), u64::MAX);
        assert!(max_body_bytes(&Rule::Map(Box::new(Rule::Any), 50)) < 500_000);
    }
}
