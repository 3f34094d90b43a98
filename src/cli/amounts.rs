//! Amounts of money on the command line.

use serde_json::Value;

use crate::domain::money::{Cents, MAX_AMOUNT};

/// Parses an amount of US dollars, such as `12` or `0.99`.
pub fn parse_amount(text: &str) -> Result<Cents, String> {
    Cents::parse(text).ok_or_else(|| {
        format!("must be an amount of US dollars such as 12 or 0.99, and at most {MAX_AMOUNT}")
    })
}

/// Returns an amount in a body: a string with two decimals, or null.
pub fn amount(cents: Option<Cents>) -> Value {
    cents.map_or(Value::Null, |cents| cents.to_string().into())
}
