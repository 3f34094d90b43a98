//! Ranges of time that figures are about, and the steps that divide them: days, weeks, or months in UTC.

use std::fmt;

use super::{
    record_filters::Period,
    time::{Day, MICROS_PER_DAY, Timestamp},
};
use crate::string_enum::string_enum;

/// Maximum number of days that are shown day by day.
const MAX_DAYS: i64 = 31;

/// Maximum number of days that are shown week by week.
const MAX_DAYS_OF_WEEKS: i64 = 92;

/// Maximum number of steps of a range that also shows steps without records.
const MAX_STEPS: usize = 400;

string_enum! {
    /// A range that ends now.
    Preset {
        /// Today and the 29 days before.
        Days30 = "30-days",
        /// Today and the 89 days before.
        Days90 = "90-days",
        /// This month and the 11 months before.
        Months12 = "12-months",
        /// Everything.
        All = "all",
    }
}

string_enum! {
    /// What a range is divided into.
    Step {
        /// Days, such as `2026-03-01`.
        Day = "day",
        /// Weeks from Monday, which names them, such as `2026-02-23`.
        Week = "week",
        /// Months, such as `2026-03`.
        Month = "month",
    }
}

/// A calendar month in UTC, written as `YYYY-MM`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Month(i32);

impl Month {
    /// Returns the month of a time.
    pub fn of(at: Timestamp) -> Month {
        let day = at.day().to_string();
        let mut numbers = day.split('-').map(|number| number.parse::<i32>().unwrap_or(1));
        Month(numbers.next().unwrap_or(1) * 12 + numbers.next().unwrap_or(1) - 1)
    }

    /// Parses a month in the format `YYYY-MM`.
    pub fn parse(text: &str) -> Option<Month> {
        Timestamp::parse(&format!("{text}-01T00:00:00Z")).filter(|_| text.len() == 7).map(Month::of)
    }

    /// Returns the month that is `months` months later, or earlier if negative.
    #[must_use]
    pub const fn plus(self, months: i32) -> Month {
        Month(self.0.saturating_add(months))
    }

    /// Returns the year.
    pub const fn year(self) -> i32 {
        self.0.div_euclid(12)
    }

    /// Returns the number of the month in its year, from 1 to 12.
    pub const fn number(self) -> u8 {
        (self.0.rem_euclid(12) + 1) as u8
    }

    /// Returns its first moment; the largest timestamp for a month after the year 9999.
    pub fn start(self) -> Timestamp {
        Timestamp::parse(&format!("{self}-01T00:00:00Z")).unwrap_or(Timestamp(i64::MAX))
    }
}

impl fmt::Display for Month {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}", self.year(), self.number())
    }
}

impl Step {
    /// Returns the name of the step that a time belongs to. The names are in the order of the steps.
    pub fn name_of(self, at: Timestamp) -> String {
        match self {
            Step::Day => at.day().to_string(),
            Step::Week => {
                // 1 January 1970 was a Thursday.
                let weekday = (at.0.div_euclid(MICROS_PER_DAY) + 3).rem_euclid(7);
                at.plus_days(-weekday).day().to_string()
            }
            Step::Month => Month::of(at).to_string(),
        }
    }

    /// Returns the first moment of a step; `None` if no step has the name.
    pub fn start(self, name: &str) -> Option<Timestamp> {
        match self {
            Step::Month => Month::parse(name).map(Month::start),
            Step::Day | Step::Week => Day::parse(name).map(Day::start),
        }
    }

    fn after(self, name: &str) -> Option<String> {
        let start = self.start(name)?;
        let next = match self {
            Step::Day => start.plus_days(1),
            Step::Week => start.plus_days(7),
            Step::Month => Month::of(start).plus(1).start(),
        };
        Some(self.name_of(next))
    }
}

/// A range of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// The time.
    pub period: Period,
    /// What it is divided into.
    pub step: Step,
    now: Timestamp,
}

impl Range {
    fn new(period: Period, now: Timestamp) -> Range {
        let end = period.end.unwrap_or(now);
        let days = period.since.map_or(i64::MAX, |since| end.0.saturating_sub(since.0) / MICROS_PER_DAY);
        let step = match days {
            days if days <= MAX_DAYS => Step::Day,
            days if days <= MAX_DAYS_OF_WEEKS => Step::Week,
            _ => Step::Month,
        };
        Range { period, step, now }
    }

    /// Returns a range that ends now.
    pub fn last(preset: Preset, now: Timestamp) -> Range {
        let today = now.day().start();
        let since = match preset {
            Preset::Days30 => Some(today.plus_days(-29)),
            Preset::Days90 => Some(today.plus_days(-89)),
            Preset::Months12 => Some(Month::of(now).plus(-11).start()),
            Preset::All => None,
        };
        Range::new(Period { since, end: None }, now)
    }

    /// Returns the range of all months from one to another, both included.
    pub fn of_months(from: Option<Month>, to: Option<Month>, now: Timestamp) -> Range {
        let end = to.map(|month| month.plus(1).start());
        Range::new(Period { since: from.map(Month::start), end }, now)
    }

    /// Returns the names of all steps of the range, given the first and the last step with records. Leaves out steps before the
    /// first record if the range has no start, and future steps without records. Returns `None` if there are too many steps.
    pub fn steps(&self, first: &str, last: &str) -> Option<Vec<String>> {
        let begin = self.period.since.map_or_else(|| first.to_owned(), |since| self.step.name_of(since));
        let end = self.period.end.map_or(self.now, |end| end.plus_micros(-1).min(self.now));
        let end = self.step.name_of(end).max(last.to_owned());
        let mut steps = vec![begin];
        while let Some(step) = steps.last().filter(|step| **step < end) {
            if steps.len() == MAX_STEPS {
                return None;
            }
            let next = self.step.after(step)?;
            steps.push(next);
        }
        Some(steps)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        Timestamp::parse(text).unwrap()
    }

    #[test]
    fn months_cross_the_year() {
        let month = Month::parse("2026-01").unwrap();
        assert_eq!(month.plus(-2).to_string(), "2025-11");
        assert_eq!((month.year(), month.number(), month.start()), (2026, 1, at("2026-01-01T00:00:00Z")));
        assert_eq!(Month::of(at("2026-01-31T23:59:59Z")), month);
        for text in ["2026-13", "2026-1", "", "x", "2026-01-01"] {
            assert_eq!(Month::parse(text), None, "{text}");
        }
        assert_eq!(Month::parse("9999-12").unwrap().plus(1).start(), Timestamp(i64::MAX));
    }

    #[test]
    fn times_belong_to_steps() {
        for (time, week) in [
            ("2026-03-01T23:59:59Z", "2026-02-23"),
            ("2026-03-02T00:00:00Z", "2026-03-02"),
            ("1969-12-31T12:00:00Z", "1969-12-29"),
        ] {
            assert_eq!(Step::Week.name_of(at(time)), week, "{time}");
        }
        assert_eq!(Step::Day.name_of(at("2026-03-01T23:59:59Z")), "2026-03-01");
        assert_eq!(Step::Month.name_of(at("2026-03-01T23:59:59Z")), "2026-03");
    }

    #[test]
    fn ranges_are_divided_by_their_length() {
        let now = at("2026-03-15T12:00:00Z");
        for (preset, step, since, number) in [
            (Preset::Days30, Step::Day, Some("2026-02-14T00:00:00Z"), 30),
            (Preset::Days90, Step::Week, Some("2025-12-16T00:00:00Z"), 13),
            (Preset::Months12, Step::Month, Some("2025-04-01T00:00:00Z"), 12),
            (Preset::All, Step::Month, None, 2),
        ] {
            let range = Range::last(preset, now);
            assert_eq!((range.step, range.period.since), (step, since.map(at)), "{preset:?}");
            let first = step.name_of(at("2026-02-20T00:00:00Z"));
            assert_eq!(range.steps(&first, &first).unwrap().len(), number, "{preset:?}");
        }
    }

    #[test]
    fn months_of_a_range_are_included() {
        let now = at("2026-03-15T12:00:00Z");
        let month = Month::parse;
        let range = Range::of_months(month("2025-11"), month("2026-02"), now);
        assert_eq!(range.period.end, Some(at("2026-03-01T00:00:00Z")));
        let steps = range.steps("2025-12", "2025-12").unwrap();
        assert_eq!(steps, ["2025-11", "2025-12", "2026-01", "2026-02"]);
        let one = Range::of_months(month("2026-03"), month("2026-03"), now);
        assert_eq!((one.step, one.steps("2026-03-02", "2026-03-20").unwrap().len()), (Step::Day, 20));
        let long = Range::of_months(month("0001-01"), None, now);
        assert_eq!(long.steps("2025-12", "2025-12"), None);
    }
}
