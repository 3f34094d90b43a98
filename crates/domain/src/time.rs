//! Points in time, calendar days, and durations, with their text formats.

use std::fmt;

use time::{OffsetDateTime, UtcDateTime, format_description::well_known::Rfc3339};

use super::row_ids;

/// Number of microseconds in a second.
pub const MICROS_PER_SECOND: i64 = 1_000_000;

/// Number of microseconds in an hour.
pub const MICROS_PER_HOUR: i64 = 3_600 * MICROS_PER_SECOND;

/// Number of microseconds in a day.
pub const MICROS_PER_DAY: i64 = 24 * MICROS_PER_HOUR;

/// A point in time in UTC, as microseconds since the Unix epoch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(pub i64);

row_ids::column!(Timestamp);

impl Timestamp {
    /// The last time that has a text: its year has four digits.
    pub const LAST: Timestamp = Timestamp(253_402_300_799_999_999);

    /// Returns the time `micros` microseconds later, or earlier if negative, but at most [`Timestamp::LAST`].
    #[must_use]
    pub const fn plus_micros(self, micros: i64) -> Timestamp {
        let sum = self.0.saturating_add(micros);
        if sum > Timestamp::LAST.0 { Timestamp::LAST } else { Timestamp(sum) }
    }

    /// Returns the time `seconds` seconds later, or earlier if negative.
    #[must_use]
    pub const fn plus_seconds(self, seconds: i64) -> Timestamp {
        self.plus_micros(seconds.saturating_mul(MICROS_PER_SECOND))
    }

    /// Returns the time `days` days later, or earlier if negative.
    #[must_use]
    pub const fn plus_days(self, days: i64) -> Timestamp {
        self.plus_seconds(days.saturating_mul(86_400))
    }

    /// Returns the seconds since the Unix epoch, rounded down.
    pub const fn seconds(self) -> i64 {
        self.0.div_euclid(MICROS_PER_SECOND)
    }

    /// Returns this time without the fraction of its second.
    #[must_use]
    pub const fn full_second(self) -> Timestamp {
        Timestamp(self.seconds() * MICROS_PER_SECOND)
    }

    /// Returns this time if it is a full second, otherwise the next full second.
    #[must_use]
    pub const fn next_full_second(self) -> Timestamp {
        self.plus_micros(MICROS_PER_SECOND - 1).full_second()
    }

    /// Returns the day in UTC.
    pub fn day(self) -> Day {
        Day(UtcDateTime::from_unix_timestamp(self.seconds()).unwrap_or(UtcDateTime::UNIX_EPOCH).date())
    }

    /// Parses an RFC 3339 timestamp with any offset. In UTC, its year must have four digits, too.
    pub fn parse(text: &str) -> Option<Timestamp> {
        let at = OffsetDateTime::parse(text, &Rfc3339).ok()?.checked_to_utc()?;
        if !(1..=9999).contains(&at.year()) {
            return None;
        }
        i64::try_from(at.unix_timestamp_nanos() / 1000).ok().map(Timestamp)
    }
}

/// Formats the time as RFC 3339 in UTC with milliseconds, the format of all API responses.
impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = UtcDateTime::from_unix_timestamp(self.seconds()).unwrap_or(UtcDateTime::UNIX_EPOCH);
        let millis = self.0.rem_euclid(MICROS_PER_SECOND) / 1000;
        write!(
            f,
            "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{millis:03}Z",
            at.year(),
            u8::from(at.month()),
            at.day(),
            at.hour(),
            at.minute(),
            at.second(),
        )
    }
}

/// A calendar day, written as `YYYY-MM-DD`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Day(time::Date);

impl Day {
    /// Parses a day in the format `YYYY-MM-DD`.
    pub fn parse(text: &str) -> Option<Day> {
        let format = time::macros::format_description!("[year]-[month]-[day]");
        let day = (text.len() == 10).then(|| time::Date::parse(text, format).ok()).flatten();
        // Many languages have no year 0.
        day.filter(|day| day.year() > 0).map(Day)
    }

    /// Returns the time at which the day begins in UTC.
    pub fn start(self) -> Timestamp {
        Timestamp(self.0.midnight().assume_utc().unix_timestamp() * MICROS_PER_SECOND)
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.0.year(), u8::from(self.0.month()), self.0.day())
    }
}

/// Serializes a type as its text.
macro_rules! serialized_as_text {
    ($name:ident, $expected:literal) => {
        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = <std::borrow::Cow<str>>::deserialize(deserializer)?;
                $name::parse(&text).ok_or_else(|| serde::de::Error::custom($expected))
            }
        }
    };
}

serialized_as_text!(Day, "expected a date as YYYY-MM-DD");
serialized_as_text!(Timestamp, "expected an RFC 3339 timestamp");

/// Parses a signed ISO 8601 duration of weeks, days, hours, minutes, and seconds (`-P3DT4H`) as microseconds.
/// Rejects years and months, because their length depends on the start date.
pub fn parse_duration(text: &str) -> Option<i64> {
    let (sign, rest) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text),
    };
    let rest = rest.strip_prefix('P')?;
    let (days, clock) = rest.split_once('T').map_or((rest, None), |(days, clock)| (days, Some(clock)));
    if days.is_empty() && clock.is_none_or(str::is_empty) || clock.is_some_and(str::is_empty) {
        return None;
    }
    let days = parse_components(days, &[('W', 7 * 86_400), ('D', 86_400)])?;
    let clock = parse_components(clock.unwrap_or(""), &[('H', 3600), ('M', 60), ('S', 1)])?;
    days.checked_add(clock)?.checked_mul(sign * MICROS_PER_SECOND)
}

/// Sums components such as `3D4H` in seconds. Each unit can occur at most once, in the given order.
fn parse_components(mut text: &str, units: &[(char, i64)]) -> Option<i64> {
    let mut total = 0i64;
    for (unit, seconds) in units {
        if let Some((number, rest)) = text.split_once(*unit)
            && number.bytes().all(|byte| byte.is_ascii_digit())
        {
            total = total.checked_add(number.parse::<i64>().ok()?.checked_mul(*seconds)?)?;
            text = rest;
        }
    }
    text.is_empty().then_some(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_are_formatted_with_milliseconds() {
        let at = Timestamp::parse("2026-03-01T10:00:00.5+01:00").unwrap();
        assert_eq!(at.to_string(), "2026-03-01T09:00:00.500Z");
        assert_eq!(Timestamp(-1).to_string(), "1969-12-31T23:59:59.999Z");
        assert_eq!(serde_json::from_str::<Timestamp>("\"2026-03-01T09:00:00.500Z\"").unwrap(), at);
        assert!(serde_json::from_str::<Timestamp>("\"2026-03-01\"").is_err());
        let last = Timestamp::parse("9999-12-31T23:59:59.999999Z").unwrap();
        assert_eq!((last, last.plus_days(1)), (Timestamp::LAST, Timestamp::LAST), "later times have no text");
        for text in ["9999-12-31T23:59:59-01:00", "0000-12-31T23:59:59Z", "2026-02-30T00:00:00Z"] {
            assert_eq!(Timestamp::parse(text), None, "{text}");
        }
    }

    #[test]
    fn days_parse_only_as_yyyy_mm_dd() {
        for (text, is_day) in [
            ("2024-02-29", true),
            ("0001-01-01", true),
            ("2023-02-29", false),
            ("2024-2-29", false),
            ("+2024-02-29", false),
            ("-024-02-29", false),
            ("2024-02-29 ", false),
            ("", false),
        ] {
            assert_eq!(
                Day::parse(text).map(|day| day.to_string()),
                is_day.then(|| text.to_owned()),
                "{text}"
            );
        }
        assert_eq!(Timestamp::parse("2026-03-01T00:30:00+01:00").unwrap().day().to_string(), "2026-02-28");
    }

    #[test]
    fn durations_parse_as_microseconds() {
        let hour = 3600 * MICROS_PER_SECOND;
        for (text, expected) in [
            ("P1D", Some(24 * hour)),
            ("-P3DT4H", Some(-76 * hour)),
            ("P2W", Some(14 * 24 * hour)),
            ("PT90M", Some(90 * 60 * MICROS_PER_SECOND)),
            ("-PT0S", Some(0)),
            ("P", None),
            ("PT", None),
            ("P1DT", None),
            ("P1Y", None),
            ("P1M", None),
            ("PD", None),
            ("3D", None),
            ("P1.5D", None),
            ("PT5S5M", None),
            ("P99999999999999999999D", None),
        ] {
            assert_eq!(parse_duration(text), expected, "{text}");
        }
    }
}
