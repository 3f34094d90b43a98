//! Amounts of money in whole US cents, and fees.

use std::fmt;

use crate::{row_ids, string_enum::string_enum};

/// Maximum amount of a single act of a team or the platform: ten billion dollars.
pub const MAX_AMOUNT: Cents = Cents(1_000_000_000_000);

/// Currency of all amounts.
pub const CURRENCY: &str = "USD";

string_enum! {
    /// The currency of an amount.
    Currency {
        /// US dollars.
        Usd = "USD",
    }
}

/// An amount in US cents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cents(pub i64);

row_ids::column!(Cents);

impl Cents {
    /// Converts a decimal amount of dollars. Returns `None` if it has more than two decimal places, is not
    /// finite, or is too large to be exact.
    pub fn from_dollars(dollars: f64) -> Option<Cents> {
        let cents = (dollars * 100.0).round();
        // Sums of decimals can be a few ULPs away from the number that is nearest to a whole cent.
        let tolerance = 4.0 * f64::EPSILON * dollars.abs();
        (cents.abs() <= 1e15 && (cents / 100.0 - dollars).abs() <= tolerance).then_some(Cents(cents as i64))
    }

    /// Returns the amount in dollars.
    pub fn dollars(self) -> f64 {
        self.0 as f64 / 100.0
    }

    /// Parses a decimal amount of dollars with at most two decimal places, such as `12`, `-3.5`, or `0.99`.
    /// Returns `None` for other texts, and for amounts beyond [`MAX_AMOUNT`].
    pub fn parse(text: &str) -> Option<Cents> {
        let (sign, digits) = text.strip_prefix('-').map_or((1, text), |digits| (-1, digits));
        let (whole, decimals) = digits.split_once('.').unwrap_or((digits, "0"));
        let is_number = |text: &str, max_digits: usize| {
            (1..=max_digits).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
        };
        if !is_number(whole, 12) || !is_number(decimals, 2) {
            return None;
        }
        let scale = if decimals.len() == 1 { 10 } else { 1 };
        let cents = whole.parse::<i64>().ok()? * 100 + decimals.parse::<i64>().ok()? * scale;
        (cents <= MAX_AMOUNT.0).then_some(Cents(sign * cents))
    }

    /// Returns this percentage of the amount, rounded half up to a cent. All fees are rounded here. The
    /// percentage is used with four decimal places; the computation is exact for every amount. Saturates.
    #[must_use]
    pub fn percent(self, percent: f64) -> Cents {
        let millionths = (percent * 1e4).round() as i128; // `as` saturates.
        let doubled =
            i128::from(self.0).saturating_mul(millionths).saturating_mul(2).saturating_add(1_000_000);
        let rounded = doubled.div_euclid(2_000_000);
        Cents(i64::try_from(rounded).unwrap_or(if rounded < 0 { i64::MIN } else { i64::MAX }))
    }

    /// Returns the amount divided by `count`, rounded half up to a cent. Returns `None` if `count` is 0.
    pub fn divided_by(self, count: u64) -> Option<Cents> {
        let count = i64::try_from(count).ok().filter(|count| *count > 0)?;
        Some(Cents((self.0 + count / 2).div_euclid(count)))
    }
}

/// Formats the amount in dollars with two decimal places, as in API fields that represent money as a string.
impl fmt::Display for Cents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        write!(f, "{sign}{}.{:02}", self.0.unsigned_abs() / 100, self.0.unsigned_abs() % 100)
    }
}

/// Converts a bound in dollars to an equivalent bound in whole cents: rounds a minimum up and a maximum down.
/// Tolerates the rounding error of binary floating point (19.99 is not exact).
pub fn bound_in_cents(dollars: f64, is_minimum: bool) -> u64 {
    let cents = dollars * 100.0;
    let nearest = cents.round();
    let rounded = if (cents - nearest).abs() < 1e-6 {
        nearest
    } else if is_minimum {
        cents.ceil()
    } else {
        cents.floor()
    };
    rounded.max(0.0) as u64 // `as` saturates at `u64::MAX`.
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dollars_without_an_exact_cent_value_are_rejected() {
        assert_eq!(Cents::from_dollars(19.99), Some(Cents(1999)));
        assert_eq!(Cents::from_dollars(0.1 + 0.2), Some(Cents(30)));
        assert_eq!(Cents::from_dollars(450_000.0), Some(Cents(45_000_000)));
        for dollars in [0.001, 12.345, 456_006_150.381_943_17, 99_999_999.999, f64::NAN, f64::INFINITY, 1e300]
        {
            assert_eq!(Cents::from_dollars(dollars), None, "{dollars}");
        }
    }

    #[test]
    fn decimal_texts_are_parsed_exactly() {
        for (text, expected) in [
            ("12", Some(1_200)),
            ("12.5", Some(1_250)),
            ("12.05", Some(1_205)),
            ("-0.01", Some(-1)),
            ("0", Some(0)),
            ("007", Some(700)),
            ("10000000000", Some(MAX_AMOUNT.0)),
            ("10000000000.00", Some(MAX_AMOUNT.0)),
            ("10000000000.01", None),
            ("-10000000000.01", None),
            ("9999999999999999999999", None),
            ("", None),
            ("-", None),
            (".5", None),
            ("5.", None),
            ("1.234", None),
            ("1,5", None),
            ("1e3", None),
            ("+1", None),
            ("--1", None),
            (" 1", None),
            ("\u{661}", None),
        ] {
            assert_eq!(Cents::parse(text), expected.map(Cents), "{text:?}");
        }
    }

    #[test]
    fn amounts_have_two_decimal_places() {
        assert_eq!(Cents(5).to_string(), "0.05");
        assert_eq!(Cents(-12_345).to_string(), "-123.45");
        assert_eq!(Cents(0).to_string(), "0.00");
    }

    #[test]
    fn shares_are_rounded_half_up() {
        assert_eq!(Cents(1010).percent(5.0), Cents(51));
        for (cents, percent, expected) in [
            (10, 5.0, 1), // 0.5 cents
            (9, 5.0, 0),
            (1, 100.0, 1),
            (1, 49.9999, 0),
            (1, 50.0, 1),
            (0, 5.0, 0),
            (-10, 5.0, 0), // -0.5 cents
            (-11, 5.0, -1),
            (200, 12.25, 25), // 24.5 cents
            (999_999_999_999_999, 5.0, 50_000_000_000_000),
            (1_000_000_000_000_010, 5.0, 50_000_000_000_001),
            (i64::MAX, 100.0, i64::MAX),
            (i64::MAX, 1e300, i64::MAX),
        ] {
            assert_eq!(Cents(cents).percent(percent), Cents(expected), "{percent} % of {cents}");
        }
        assert_eq!(Cents(1000).divided_by(3), Some(Cents(333)));
        assert_eq!(Cents(500).divided_by(1000), Some(Cents(1)));
        assert_eq!(Cents(1000).divided_by(0), None);
    }

    #[test]
    fn minimum_is_rounded_up_and_maximum_down() {
        assert_eq!(bound_in_cents(19.99, true), 1999);
        assert_eq!(bound_in_cents(19.99, false), 1999);
        assert_eq!(bound_in_cents(0.001, true), 1);
        assert_eq!(bound_in_cents(0.001, false), 0);
        assert_eq!(bound_in_cents(1e300, false), u64::MAX);
    }
}
