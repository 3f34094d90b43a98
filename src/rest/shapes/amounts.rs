//! Amounts of money in the operator API: decimal strings, with the currency beside them.

use poem_openapi::registry::MetaSchema;
use serde_json::Value;

use super::scalars::{Scalar, impl_scalar};
use crate::{domain::money::Cents, rest::patterns::AMOUNT_PATTERN};

/// An amount in US dollars from 0 to 9,999,999,999.99, as a decimal string. Requests may leave out decimal places;
/// responses have two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Amount(pub Cents);

impl Scalar for Amount {
    fn schema() -> MetaSchema {
        MetaSchema {
            min_length: Some(1),
            max_length: Some(13),
            pattern: Some(AMOUNT_PATTERN.to_owned()),
            ..MetaSchema::new_with_format("string", "decimal")
        }
    }

    fn parse_value(value: &Value) -> Result<Self, String> {
        let cents = value.as_str().filter(|text| !text.starts_with('-')).and_then(Cents::parse);
        cents.map(Amount).ok_or_else(|| "expected an amount in US dollars, such as \"120.50\"".to_owned())
    }

    fn to_value(&self) -> Value {
        Value::String(self.0.to_string())
    }
}

impl_scalar!(Amount);

impl serde::Serialize for Amount {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}
