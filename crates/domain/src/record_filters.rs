//! Filters of lists of a team's purchases, offers, sales, and earnings.

use uuid::Uuid;

use super::time::{Day, Timestamp};

/// A filter of a list of records. A record has to meet every condition that is set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordFilter {
    /// Its status is one of these; empty for any.
    pub statuses: Vec<String>,
    /// Its kind is one of these; empty for any.
    pub kinds: Vec<String>,
    /// The name of the vendor of its listing, in any case.
    pub vendor: Option<String>,
    /// ID of its listing.
    pub listing: Option<Uuid>,
    /// ID of its opportunity.
    pub opportunity: Option<Uuid>,
    /// When it happened.
    pub period: Period,
}

/// A period, of which either end may be open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Period {
    /// The first moment.
    pub since: Option<Timestamp>,
    /// The first moment after the end.
    pub end: Option<Timestamp>,
}

impl Period {
    /// Whether a time is in the period.
    pub fn contains(&self, at: Timestamp) -> bool {
        self.since.is_none_or(|since| at >= since) && self.end.is_none_or(|end| at < end)
    }

    /// Creates a period from two texts, each a day or an RFC 3339 time. It includes the last day. Returns the name of the
    /// text that is neither.
    pub fn parse(since: Option<&str>, until: Option<&str>) -> Result<Period, &'static str> {
        let parse_start = |text: &str| Timestamp::parse(text).or_else(|| Some(Day::parse(text)?.start()));
        let parse_end = |text: &str| match Day::parse(text) {
            Some(day) => Some(day.start().plus_days(1)),
            None => Timestamp::parse(text).map(|at| Timestamp(at.0.saturating_add(1))),
        };
        let since = since.map(|text| parse_start(text).ok_or("since")).transpose()?;
        let end = until.map(|text| parse_end(text).ok_or("until")).transpose()?;
        Ok(Period { since, end })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn period_includes_its_last_day() {
        let at = |text: &str| Timestamp::parse(text);
        for (since, until, expected) in [
            (
                Some("2026-05-01"),
                Some("2026-05-31"),
                (at("2026-05-01T00:00:00Z"), at("2026-06-01T00:00:00Z")),
            ),
            (Some("2026-05-01T12:00:00+02:00"), None, (at("2026-05-01T10:00:00Z"), None)),
            (None, Some("2026-12-31"), (None, at("2027-01-01T00:00:00Z"))),
        ] {
            let (since, end) =
                (Period::parse(since, until)).map(|period| (period.since, period.end)).unwrap();
            assert_eq!((since, end), expected);
        }
        assert_eq!(Period::parse(Some("May"), None), Err("since"));
        assert_eq!(Period::parse(None, Some("2026-13-01")), Err("until"));
    }
}
