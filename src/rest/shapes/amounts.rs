//! Amounts of money as decimal strings: in requests, where documents state their pattern, and in responses.

use poem_openapi::registry::MetaSchema;
use serde::{Deserialize, Serialize, Serializer};

use super::scalars::impl_text_scalar;
use crate::domain::{
    money::Cents,
    patterns::{AMOUNT_PATTERN, SIGNED_AMOUNT_PATTERN},
};

/// An amount in a request: a decimal string with exactly two decimals, and at most 12 digits before the point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Amount(pub Cents);

/// Like [`Amount`], but possibly negative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SignedAmount(pub Cents);

/// An amount in a response: a decimal string with two decimals, negative if it is taken. Columns have it in cents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(from = "i64")]
pub struct Money(pub Cents);

impl From<i64> for Money {
    fn from(cents: i64) -> Money {
        Money(Cents(cents))
    }
}

fn schema(pattern: &str) -> MetaSchema {
    MetaSchema { pattern: Some(pattern.to_owned()), ..MetaSchema::new("string") }
}

/// What an amount in a request looks like.
const EXPECTED: &str = "expected an amount with exactly two decimals, as in 12.50";

/// Parses an amount that matches its pattern. 14 digits of cents are always in range.
fn parse(text: &str, may_be_negative: bool) -> Option<Cents> {
    let (sign, digits) = text.strip_prefix('-').map_or((1, text), |digits| (-1, digits));
    let (dollars, cents) = digits.split_once('.')?;
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let is_valid = (1..=12).contains(&dollars.len())
        && cents.len() == 2
        && is_number(dollars)
        && is_number(cents)
        && (may_be_negative || sign == 1);
    let cents: i64 = format!("{dollars}{cents}").parse().ok().filter(|_| is_valid)?;
    Some(Cents(sign * cents))
}

impl_text_scalar!(Amount, schema(AMOUNT_PATTERN), |text| parse(text, false), EXPECTED);
impl_text_scalar!(SignedAmount, schema(SIGNED_AMOUNT_PATTERN), |text| parse(text, true), EXPECTED);
impl_text_scalar!(Money, schema(r"^-?\d+\.\d{2}$"), |text| parse(text, true), EXPECTED);

impl Serialize for Money {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use regex::Regex;
    use serde_json::json;

    use super::*;
    use crate::rest::shapes::scalars::Scalar;

    /// A text is parsed exactly if the pattern in the documents matches it.
    #[test]
    fn amounts_are_parsed_as_documented() {
        let [unsigned, signed] =
            [AMOUNT_PATTERN, SIGNED_AMOUNT_PATTERN].map(|text| Regex::new(text).unwrap());
        for (text, cents) in [
            ("12.50", Some(1_250)),
            ("0.01", Some(1)),
            ("-0.01", Some(-1)),
            ("007.00", Some(700)),
            ("999999999999.99", Some(99_999_999_999_999)),
            ("-999999999999.99", Some(-99_999_999_999_999)),
            ("1000000000000.00", None),
            ("12", None),
            ("12.5", None),
            ("12.500", None),
            (".50", None),
            ("", None),
            ("-", None),
            ("+1.00", None),
            ("--1.00", None),
            ("1e2.00", None),
            (" 1.00", None),
            ("1.-1", None),
        ] {
            let is_signed = text.starts_with('-');
            let parsed = Amount::parse_value(&json!(text)).ok().map(|amount| amount.0.0);
            assert_eq!(parsed, cents.filter(|_| !is_signed), "{text:?}");
            assert_eq!(unsigned.is_match(text), parsed.is_some(), "{text:?}");
            let parsed = SignedAmount::parse_value(&json!(text)).ok().map(|amount| amount.0.0);
            assert_eq!(parsed, cents, "{text:?}");
            assert_eq!(signed.is_match(text), parsed.is_some(), "{text:?}");
        }
        for value in [json!(12.5), json!(null), json!(["1.00"])] {
            assert!(Amount::parse_value(&value).is_err(), "{value}");
        }
        assert_eq!(json!(Money(Cents(-1_250))), json!("-12.50"));
        assert_eq!(Money(Cents(5)).to_value(), json!("0.05"));
    }
}
