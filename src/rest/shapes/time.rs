//! Times and dates in requests and responses.

use poem_openapi::registry::MetaSchema;

use super::scalars::impl_text_scalar;
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

/// What a point in time in a request looks like.
const EXPECTED: &str = "expected RFC 3339, as in 2026-03-01T09:00:00.000Z";

/// The form of a point in time in a response.
const TIME_PATTERN: &str = r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$";

fn schema(pattern: &str) -> MetaSchema {
    MetaSchema { pattern: Some(pattern.to_owned()), ..MetaSchema::new_with_format("string", "date-time") }
}

impl_text_scalar!(UtcTime, schema(TIME_PATTERN), Timestamp::parse, EXPECTED);

/// A calendar date, `YYYY-MM-DD`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(transparent)]
pub struct CalendarDay(pub Day);

impl_text_scalar!(
    CalendarDay,
    MetaSchema::new_with_format("string", "date"),
    Day::parse,
    "expected a date of the form YYYY-MM-DD"
);

/// The form of a point in time in a request. Some texts that it allows are none, such as those of February 30.
const REQUEST_TIME_PATTERN: &str = r"^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])[Tt]([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)$";

/// A point in time in a request: RFC 3339, with any offset and up to nine decimals of a second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestTime(pub Timestamp);

impl_text_scalar!(RequestTime, schema(REQUEST_TIME_PATTERN), Timestamp::parse, EXPECTED);
