//! Numbers as people write them, with commas between the thousands. A comma is never taken for the decimal point.

use super::money::Cents;

/// Parses an amount in US dollars, such as `27000`, `27,000.50`, and `$27,000`.
pub fn parse_amount(text: &str) -> Option<Cents> {
    Cents::parse(&plain_number(text)?).filter(|amount| amount.0 >= 0)
}

/// Returns a number without a dollar sign and without the commas between its thousands. `None` if commas are elsewhere.
pub fn plain_number(text: &str) -> Option<String> {
    let text = text.strip_prefix('$').unwrap_or(text).trim();
    let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
    let whole = without_commas(whole)?;
    Some(if decimals.is_empty() { whole } else { format!("{whole}.{decimals}") })
}

/// Parses a whole number, such as `182000` and `182,000`.
pub fn parse_whole_number(text: &str) -> Option<i64> {
    without_commas(text)?.parse().ok()
}

/// Returns a number without the commas between its thousands. `None` if commas are elsewhere.
fn without_commas(text: &str) -> Option<String> {
    let mut groups = text.split(',');
    let first = groups.next().unwrap_or_default();
    let rest: Vec<&str> = groups.collect();
    // A number with thousands separators must not begin with `0,`: in some countries, `0,500` means a half.
    let digits = first.trim_start_matches('-');
    let begins = (1..=3).contains(&digits.len()) && !digits.starts_with('0');
    let is_grouped = rest.is_empty() || begins && rest.iter().all(|group| group.len() == 3);
    is_grouped.then(|| format!("{first}{}", rest.concat()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_read_as_people_write_them() {
        for (text, expected) in [
            ("27000", Some(2_700_000)),
            ("$1,450.50", Some(145_050)),
            ("$ 1,234,567", Some(123_456_700)),
            ("0", Some(0)),
            ("0.5", Some(50)),
            ("1,50", None),
            ("0,500", None),
            ("00,500", None),
            (",500", None),
            ("0,500.25", None),
            ("27.000,00", None),
            ("12345,678", None),
            ("", None),
            ("-1", None),
            ("1.234", None),
            ("x", None),
        ] {
            assert_eq!(parse_amount(text).map(|amount| amount.0), expected, "{text}");
        }
    }

    #[test]
    fn whole_numbers_are_read_as_people_write_them() {
        for (text, expected) in [
            ("182000", Some(182_000)),
            ("182,000", Some(182_000)),
            ("1,234,567", Some(1_234_567)),
            ("-3", Some(-3)),
            ("-3,000", Some(-3_000)),
            ("-0,500", None),
            ("0,500", None),
            ("1,5", None),
            ("182.000", None),
            ("9 120", None),
            ("", None),
            ("many", None),
        ] {
            assert_eq!(parse_whole_number(text), expected, "{text}");
        }
    }
}
