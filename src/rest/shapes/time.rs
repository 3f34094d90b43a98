//! Points in time as the interface writes them.

use std::borrow::Cow;

use poem_openapi::{
    registry::{MetaSchema, MetaSchemaRef},
    types::{ParseError, ParseFromJSON, ParseResult, ToJSON, Type},
};
use serde_json::Value;

use crate::domain::time::{Day, Timestamp};

/// A point in time: RFC 3339, UTC, three decimals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(transparent)]
pub struct UtcTime(pub Timestamp);

impl From<Timestamp> for UtcTime {
    fn from(at: Timestamp) -> UtcTime {
        UtcTime(at)
    }
}

impl Type for UtcTime {
    const IS_REQUIRED: bool = true;
    type RawValueType = Self;
    type RawElementValueType = Self;

    fn name() -> Cow<'static, str> {
        "string(date-time)".into()
    }

    fn schema_ref() -> MetaSchemaRef {
        MetaSchemaRef::Inline(Box::new(MetaSchema {
            pattern: Some(r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$".to_owned()),
            ..MetaSchema::new_with_format("string", "date-time")
        }))
    }

    fn as_raw_value(&self) -> Option<&Self> {
        Some(self)
    }

    fn raw_element_iter<'a>(&'a self) -> Box<dyn Iterator<Item = &'a Self> + 'a> {
        Box::new(self.as_raw_value().into_iter())
    }
}

impl ParseFromJSON for UtcTime {
    fn parse_from_json(value: Option<Value>) -> ParseResult<Self> {
        let parsed = value.as_ref().and_then(Value::as_str).and_then(Timestamp::parse);
        parsed
            .map(UtcTime)
            .ok_or_else(|| ParseError::custom("a time is RFC 3339, as in 2026-03-01T09:00:00.000Z"))
    }
}

impl ToJSON for UtcTime {
    fn to_json(&self) -> Option<Value> {
        Some(Value::String(self.0.to_string()))
    }
}

/// A day of the calendar, `YYYY-MM-DD`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(transparent)]
pub struct CalendarDay(pub Day);

impl Type for CalendarDay {
    const IS_REQUIRED: bool = true;
    type RawValueType = Self;
    type RawElementValueType = Self;

    fn name() -> Cow<'static, str> {
        "string(date)".into()
    }

    fn schema_ref() -> MetaSchemaRef {
        MetaSchemaRef::Inline(Box::new(MetaSchema::new_with_format("string", "date")))
    }

    fn as_raw_value(&self) -> Option<&Self> {
        Some(self)
    }

    fn raw_element_iter<'a>(&'a self) -> Box<dyn Iterator<Item = &'a Self> + 'a> {
        Box::new(self.as_raw_value().into_iter())
    }
}

impl ParseFromJSON for CalendarDay {
    fn parse_from_json(value: Option<Value>) -> ParseResult<Self> {
        let parsed = value.as_ref().and_then(Value::as_str).and_then(Day::parse);
        parsed.map(CalendarDay).ok_or_else(|| ParseError::custom("a day is written YYYY-MM-DD"))
    }
}

impl ToJSON for CalendarDay {
    fn to_json(&self) -> Option<Value> {
        Some(Value::String(self.0.to_string()))
    }
}
