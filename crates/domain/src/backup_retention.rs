//! Decides which backups of a market are kept.

use std::{collections::BTreeSet, fmt, str::FromStr};

use time::UtcDateTime;

use crate::{
    filters::variant_strings,
    string_enum::{StringEnum, string_enum},
    time::Timestamp,
};

string_enum! {
    /// A period of the calendar, in UTC. The shortest is the first.
    Period {
        /// An hour.
        Hourly = "hourly",
        /// A day.
        Daily = "daily",
        /// A week, which begins on Monday.
        Weekly = "weekly",
        /// A month.
        Monthly = "monthly",
    }
}

impl Period {
    /// Returns the number of the period that contains this time. A later period has a larger number.
    fn number(self, time: Timestamp) -> i64 {
        let hours = time.seconds().div_euclid(3600);
        let days = hours.div_euclid(24);
        match self {
            Period::Hourly => hours,
            Period::Daily => days,
            // The first of January 1970 was a Thursday.
            Period::Weekly => (days + 3).div_euclid(7),
            Period::Monthly => {
                let at = UtcDateTime::from_unix_timestamp(time.seconds()).unwrap_or(UtcDateTime::UNIX_EPOCH);
                i64::from(at.year()) * 12 + i64::from(u8::from(at.month()))
            }
        }
    }
}

/// For each kind of period, the number of periods for which a backup is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Retention(Vec<(Period, u32)>);

/// Maximum number of periods of one kind.
const MAX_COUNT: u32 = 10_000;

impl FromStr for Retention {
    type Err = String;

    /// Parses a rule such as `daily=7,weekly=4`.
    fn from_str(text: &str) -> Result<Retention, String> {
        let mut counts: Vec<(Period, u32)> = Vec::new();
        for part in text.split(',') {
            let invalid = || {
                let names = variant_strings::<Period>().join(", ");
                format!(
                    "{part:?} is not a number of periods; write for instance `daily=7,weekly=4` (periods: {names})"
                )
            };
            let (name, count) = part.trim().split_once('=').ok_or_else(invalid)?;
            let period = Period::parse(name).ok_or_else(invalid)?;
            let count: u32 = count.parse().map_err(|_| invalid())?;
            if !(1..=MAX_COUNT).contains(&count) {
                return Err(format!("{name} must be between 1 and {MAX_COUNT}, but is {count}"));
            }
            if counts.iter().any(|(other, _)| *other == period) {
                return Err(format!("{name} is stated twice"));
            }
            counts.push((period, count));
        }
        counts.sort_unstable();
        Ok(Retention(counts))
    }
}

impl fmt::Display for Retention {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts: Vec<String> =
            self.0.iter().map(|(period, count)| format!("{}={count}", period.as_str())).collect();
        f.write_str(&parts.join(","))
    }
}

impl Retention {
    /// Returns which of the backups that were made at these times are kept: the newest of all, and, for each kind of
    /// period, the newest of each of the latest periods that have a backup. Periods without a backup do not count, so
    /// nothing is deleted while no backups are made.
    pub fn kept(&self, times: impl IntoIterator<Item = Timestamp>) -> BTreeSet<Timestamp> {
        let times: BTreeSet<Timestamp> = times.into_iter().collect();
        let mut kept: BTreeSet<Timestamp> = times.last().copied().into_iter().collect();
        for (period, count) in &self.0 {
            let mut last = None;
            let newest_of_each = times.iter().rev().filter(|time| {
                let number = Some(period.number(**time));
                std::mem::replace(&mut last, number) != number
            });
            kept.extend(newest_of_each.take(*count as usize));
        }
        kept
    }
}

#[cfg(test)]
mod tests {
    use proptest::{collection::btree_set, prelude::*};

    use super::*;

    fn at(text: &str) -> Timestamp {
        Timestamp::parse(text).unwrap()
    }

    fn kept(rule: &str, times: &[&str]) -> Vec<String> {
        let rule: Retention = rule.parse().unwrap();
        rule.kept(times.iter().map(|time| at(time)))
            .iter()
            .map(|time| time.to_string()[..13].to_owned())
            .collect()
    }

    #[test]
    fn newest_of_each_period_is_kept() {
        let times = [
            "2026-01-31T12:00:00Z", // Saturday
            "2026-02-01T01:00:00Z", // Sunday of the same week
            "2026-02-02T01:00:00Z", // Monday
            "2026-02-02T23:00:00Z",
            "2026-03-03T05:00:00Z",
            "2026-03-03T05:30:00Z",
        ];
        assert_eq!(kept("hourly=1", &times), ["2026-03-03T05"]);
        assert_eq!(kept("daily=3", &times), ["2026-02-01T01", "2026-02-02T23", "2026-03-03T05"]);
        assert_eq!(kept("weekly=3", &times), ["2026-02-01T01", "2026-02-02T23", "2026-03-03T05"]);
        assert_eq!(kept("monthly=9", &times), ["2026-01-31T12", "2026-02-02T23", "2026-03-03T05"]);
        assert_eq!(kept("daily=1,monthly=2", &times), ["2026-02-02T23", "2026-03-03T05"]);
        assert_eq!(kept("daily=1", &[]), [""; 0]);
    }

    #[test]
    fn rules_are_parsed_and_written() {
        for (text, expected) in
            [("daily=7,weekly=4", "daily=7,weekly=4"), ("monthly=1, hourly=2", "hourly=2,monthly=1")]
        {
            assert_eq!(text.parse::<Retention>().unwrap().to_string(), expected);
        }
        for text in
            ["", "daily", "daily=0", "daily=x", "yearly=1", "daily=1,daily=2", "daily=10001", "daily=-1"]
        {
            assert!(text.parse::<Retention>().is_err(), "{text}");
        }
    }

    fn rules() -> impl Strategy<Value = Retention> {
        prop::collection::vec(1..9_u32, 4).prop_flat_map(|counts| {
            prop::sample::subsequence(Period::ALL.to_vec(), 1..=4)
                .prop_map(move |periods| Retention(periods.into_iter().zip(counts.clone()).collect()))
        })
    }

    proptest! {
        /// Backups come one by one, and those that are not kept are deleted each time. The remaining backups are the
        /// same as if all had existed until the end.
        #[test]
        fn deleting_after_each_backup_loses_nothing(
            rule in rules(),
            minutes in btree_set(0..400 * 24 * 60_i64, 0..120),
        ) {
            let times: Vec<Timestamp> =
                minutes.iter().map(|minute| at("2025-11-01T00:00:00Z").plus_seconds(minute * 60)).collect();
            let mut present = BTreeSet::new();
            for time in &times {
                present.insert(*time);
                present = rule.kept(present);
                prop_assert!(present.contains(time), "the newest is kept");
            }
            let at_once = rule.kept(times.iter().copied());
            prop_assert_eq!(&present, &at_once);
            prop_assert_eq!(&rule.kept(at_once.iter().copied()), &at_once, "what is kept stays");
            let most: usize = rule.0.iter().map(|(_, count)| *count as usize).sum();
            prop_assert!(at_once.len() <= most.max(1));
            for (period, count) in &rule.0 {
                let numbers: BTreeSet<i64> = times.iter().map(|time| period.number(*time)).collect();
                for number in numbers.iter().rev().take(*count as usize) {
                    let newest = times.iter().rev().find(|time| period.number(**time) == *number);
                    prop_assert!(at_once.contains(newest.unwrap()), "{:?}", period);
                }
            }
        }
    }
}
