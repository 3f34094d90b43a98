//! Durations as text: numbers with units, such as `90d` or `1h30m`.

/// The units, the longest first, with their microseconds.
const UNITS: [(&str, i64); 5] =
    [("d", 86_400_000_000), ("h", 3_600_000_000), ("m", 60_000_000), ("s", 1_000_000), ("ms", 1_000)];

/// Parses a duration, and returns it in microseconds. Each unit occurs at most once, the longest first. `None` if the text
/// is not a duration.
pub fn parse(text: &str) -> Option<i64> {
    let mut rest = text;
    let mut units = UNITS.iter();
    let mut total = 0_i64;
    while !rest.is_empty() {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let number: i64 = rest[..digits].parse().ok()?;
        rest = &rest[digits..];
        let letters = rest.bytes().take_while(u8::is_ascii_alphabetic).count();
        let (_, micros) = units.find(|(unit, _)| *unit == &rest[..letters])?;
        rest = &rest[letters..];
        total = total.checked_add(number.checked_mul(*micros)?)?;
    }
    (!text.is_empty()).then_some(total)
}

#[cfg(test)]
mod tests {
    use regex::Regex;

    use super::*;
    use crate::patterns::DURATION_PATTERN;

    /// Documents state the pattern, so it must match exactly what is parsed, up to nine digits.
    #[test]
    fn duration_is_a_sum_of_units() {
        let pattern = Regex::new(DURATION_PATTERN).unwrap();
        for (text, expected) in [
            ("90d", Some(90 * 86_400_000_000)),
            ("1d12h", Some(36 * 3_600_000_000)),
            ("1h30m", Some(90 * 60_000_000)),
            ("5s", Some(5_000_000)),
            ("250ms", Some(250_000)),
            ("1m1ms", Some(60_001_000)),
            ("0s", Some(0)),
            ("", None),
            ("5", None),
            ("d", None),
            ("5x", None),
            ("-5s", None),
            ("1.5h", None),
            ("30m1h", None),
            ("1h1h", None),
            ("5 s", None),
            ("99999999999999999999d", None),
            ("999999999999999d", None),
            ("٥s", None),
        ] {
            assert_eq!(parse(text), expected, "{text}");
            assert_eq!(!text.is_empty() && pattern.is_match(text), expected.is_some(), "{text}");
        }
    }
}
