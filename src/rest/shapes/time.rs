//! Times and dates in requests and responses.

use poem_openapi::registry::MetaSchema;
use serde_json::Value;

use super::scalars::{Scalar, impl_scalar};
use crate::domain::time::{Day, Timestamp};

/// A point in time: RFC 3339, UTC, with three decimals of a second. Columns have it in microseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(from = "i64")]
pub struct UtcTime(pub Timestamp);

impl From<i64> for UtcTime {
    fn from(micros: i64) -> UtcTime {
        UtcTime(Timestamp(micros))
    }
}

impl From<Timestamp> for UtcTime {
    fn from(at: Timestamp) -> UtcTime {
        UtcTime(at)
    }
}

impl Scalar for UtcTime {
    fn schema() -> MetaSchema {
        MetaSchema {
            pattern: Some(r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$".to_owned()),
            ..MetaSchema::new_with_format("string", "date-time")
        }
    }

    fn parse_value(value: &Value) -> Result<Self, String> {
        let parsed = value.as_str().and_then(Timestamp::parse);
        parsed.map(UtcTime).ok_or_else(|| "expected RFC 3339, as in 2026-03-01T09:00:00.000Z".to_owned())
    }

    fn to_value(&self) -> Value {
        Value::String(self.0.to_string())
    }
}

impl_scalar!(UtcTime);

/// A calendar date, `YYYY-MM-DD`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(transparent)]
pub struct CalendarDay(pub Day);

impl Scalar for CalendarDay {
    fn schema() -> MetaSchema {
        MetaSchema::new_with_format("string", "date")
    }

    fn parse_value(value: &Value) -> Result<Self, String> {
        let parsed = value.as_str().and_then(Day::parse);
        parsed.map(CalendarDay).ok_or_else(|| "expected a date of the form YYYY-MM-DD".to_owned())
    }

    fn to_value(&self) -> Value {
        Value::String(self.0.to_string())
    }
}

impl_scalar!(CalendarDay);

/// The form of a point in time in a request. Some texts that it allows are none, such as those of February 30.
const REQUEST_TIME_PATTERN: &str = r"^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])[Tt]([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)$";

/// A point in time in a request: RFC 3339, with any offset and up to nine decimals of a second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestTime(pub Timestamp);

impl Scalar for RequestTime {
    fn schema() -> MetaSchema {
        MetaSchema {
            pattern: Some(REQUEST_TIME_PATTERN.to_owned()),
            ..MetaSchema::new_with_format("string", "date-time")
        }
    }

    fn parse_value(value: &Value) -> Result<Self, String> {
        let parsed = value.as_str().and_then(Timestamp::parse);
        parsed.map(RequestTime).ok_or_else(|| "expected RFC 3339, as in 2026-03-01T09:00:00.000Z".to_owned())
    }

    fn to_value(&self) -> Value {
        Value::String(self.0.to_string())
    }
}

impl_scalar!(RequestTime);
