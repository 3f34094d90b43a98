//! Count, sum, minimum, maximum, and median of a number of many records, by up to two groups.

use std::collections::HashMap;

use rustc_hash::FxHashMap;

use super::time::Timestamp;
use crate::string_enum::string_enum;

/// Maximum number of groups that an aggregation forms.
pub const MAX_GROUPS: usize = 10_000;

/// Maximum number of times that an aggregation puts a record into a group. It needs 8 bytes for each.
pub const MAX_MEMBERSHIPS: usize = 4_000_000;

/// Maximum number of properties that an aggregation groups by.
pub const MAX_DIMENSIONS: usize = 2;

string_enum! {
    /// The unit of an aggregated number.
    Unit {
        /// Amounts of money, which records store in cents.
        UsDollars = "US dollars",
        /// Numbers of something.
        Count = "count",
        /// Sizes in bytes.
        Bytes = "bytes",
    }
}

impl Unit {
    /// Converts a number of a record to the unit.
    pub fn from_stored(self, number: f64) -> f64 {
        if self == Unit::UsDollars { number / 100.0 } else { number }
    }
}

/// The aggregation would need too much memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLarge;

/// A value of a property, as the aggregation numbers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GroupKey(u32);

impl GroupKey {
    /// The key of records without a value.
    pub const NONE: GroupKey = GroupKey(u32::MAX);
}

/// An aggregation of records that are added one by one.
#[derive(Debug, Default)]
pub struct Aggregation {
    keys: HashMap<Box<str>, GroupKey>,
    /// The groups, by the keys of both properties in one number, which is faster to find than a pair.
    groups: FxHashMap<u64, Group>,
    records: u64,
    memberships: usize,
}

#[derive(Debug, Default)]
struct Group {
    records: u64,
    numbers: Vec<i64>,
}

/// A group of records: their common values, and the statistics of their numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupStatistics {
    /// Values of the properties that the records are grouped by; `None` for records without a value.
    pub keys: Vec<Option<String>>,
    /// Number of records.
    pub records: u64,
    /// Statistics of the numbers of the records that have one; `None` if none has one.
    pub numbers: Option<Statistics>,
}

/// Statistics of numbers as records store them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Statistics {
    /// How many numbers there are.
    pub count: u64,
    /// Their sum.
    pub sum: i128,
    /// Their minimum.
    pub min: i64,
    /// Their maximum.
    pub max: i64,
    /// Their median: the mean of the two in the middle if their number is even.
    pub median: f64,
}

impl Aggregation {
    /// Returns the key of a value of a property.
    pub fn key(&mut self, value: &str) -> Result<GroupKey, TooLarge> {
        if let Some(key) = self.keys.get(value) {
            return Ok(*key);
        }
        if self.keys.len() == MAX_DIMENSIONS * MAX_GROUPS {
            return Err(TooLarge);
        }
        let key = GroupKey(self.keys.len() as u32);
        self.keys.insert(value.into(), key);
        Ok(key)
    }

    /// Adds a record, given by its values of each property that the aggregation groups by. A record with several values belongs
    /// to several groups; a record without a value belongs to the group [`GroupKey::NONE`].
    pub fn add(
        &mut self,
        properties: &[Vec<GroupKey>; MAX_DIMENSIONS],
        number: Option<i64>,
    ) -> Result<(), TooLarge> {
        let [first, second] = properties.each_ref().map(|values| match &values[..] {
            [] => &[GroupKey::NONE][..],
            values => values,
        });
        self.memberships = self.memberships.saturating_add(first.len().saturating_mul(second.len()));
        if self.memberships > MAX_MEMBERSHIPS {
            return Err(TooLarge);
        }
        self.records += 1;
        for first in first {
            for second in second {
                let keys = u64::from(first.0) << 32 | u64::from(second.0);
                let group = self.groups.entry(keys).or_default();
                group.records += 1;
                group.numbers.extend(number);
            }
        }
        if self.groups.len() > MAX_GROUPS { Err(TooLarge) } else { Ok(()) }
    }

    /// Returns the number of records, and the groups by the first `dimensions` properties, in descending order of their numbers
    /// of records.
    pub fn finish(self, dimensions: usize) -> (u64, Vec<GroupStatistics>) {
        let mut names = vec![""; self.keys.len()];
        for (name, key) in &self.keys {
            names[key.0 as usize] = name;
        }
        let name = |key: &u64| names.get(*key as usize).map(|name| (*name).to_owned());
        let statistics = |(keys, group): (u64, Group)| GroupStatistics {
            keys: [keys >> 32, keys & u64::from(u32::MAX)][..dimensions].iter().map(name).collect(),
            records: group.records,
            numbers: Statistics::of(group.numbers),
        };
        let mut groups: Vec<GroupStatistics> = self.groups.into_iter().map(statistics).collect();
        groups.sort_by(|a, b| b.records.cmp(&a.records).then_with(|| a.keys.cmp(&b.keys)));
        (self.records, groups)
    }
}

impl Statistics {
    /// Returns the statistics of numbers; `None` if there are none.
    pub fn of(mut numbers: Vec<i64>) -> Option<Statistics> {
        let first = *numbers.first()?;
        let (mut min, mut max, mut sum) = (first, first, 0);
        for number in &numbers {
            (min, max, sum) = (min.min(*number), max.max(*number), sum + i128::from(*number));
        }
        let middle = numbers.len() / 2;
        let is_odd = numbers.len() % 2 == 1;
        let (below, upper, _) = numbers.select_nth_unstable(middle);
        let upper = *upper;
        let lower = if is_odd { upper } else { below.iter().copied().max().unwrap_or(upper) };
        let median = f64::midpoint(lower as f64, upper as f64);
        Some(Statistics { count: numbers.len() as u64, sum, min, max, median })
    }
}

/// Returns the month of a time in UTC, as in `2026-03`.
pub fn month(at: Timestamp) -> String {
    at.to_string().chars().take(7).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sorted_statistics(mut numbers: Vec<i64>) -> Statistics {
        numbers.sort_unstable();
        let (low, high) = (numbers[(numbers.len() - 1) / 2], numbers[numbers.len() / 2]);
        Statistics {
            count: numbers.len() as u64,
            sum: numbers.iter().map(|number| i128::from(*number)).sum(),
            min: numbers[0],
            max: numbers[numbers.len() - 1],
            median: f64::midpoint(low as f64, high as f64),
        }
    }

    proptest! {
        #[test]
        fn statistics_are_those_of_the_sorted_numbers(numbers in prop::collection::vec(-50_i64..50, 1..30)) {
            prop_assert_eq!(Statistics::of(numbers.clone()), Some(sorted_statistics(numbers)));
        }
    }

    #[test]
    fn records_with_several_values_are_in_several_groups() {
        let mut aggregation = Aggregation::default();
        let [java, sql, one] = ["java", "sql", "1"].map(|value| aggregation.key(value).unwrap());
        aggregation.add(&[vec![java, sql], vec![one]], Some(10)).unwrap();
        aggregation.add(&[vec![java], vec![]], Some(20)).unwrap();
        aggregation.add(&[vec![], vec![one]], None).unwrap();
        let (records, groups) = aggregation.finish(2);
        assert_eq!(records, 3);
        let groups: Vec<_> = groups
            .iter()
            .map(|group| {
                let keys: Vec<&str> = group.keys.iter().map(|key| key.as_deref().unwrap_or("-")).collect();
                (keys.join(" "), group.records, group.numbers.map(|numbers| numbers.sum))
            })
            .collect();
        assert_eq!(
            groups,
            [
                ("- 1".to_owned(), 1, None),
                ("java -".to_owned(), 1, Some(20)),
                ("java 1".to_owned(), 1, Some(10)),
                ("sql 1".to_owned(), 1, Some(10)),
            ]
        );
    }

    #[test]
    fn memory_of_an_aggregation_is_bounded() {
        let mut aggregation = Aggregation::default();
        let many: Vec<GroupKey> =
            (0..=MAX_GROUPS).map(|value| aggregation.key(&value.to_string()).unwrap()).collect();
        assert_eq!(aggregation.add(&[many.clone(), many.clone()], None), Err(TooLarge), "100 million groups");
        let mut aggregation = Aggregation::default();
        assert_eq!(aggregation.add(&[many, Vec::new()], None), Err(TooLarge));
        let mut aggregation = Aggregation::default();
        let keys = (0..=MAX_DIMENSIONS * MAX_GROUPS).map(|value| aggregation.key(&value.to_string()));
        assert!(keys.last().unwrap().is_err());
    }
}
