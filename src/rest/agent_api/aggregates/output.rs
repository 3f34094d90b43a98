//! The output of aggregations.

use poem_openapi::Object;
use serde::Serialize;

use crate::{
    domain::{
        aggregation::{GroupStatistics, Statistics, Unit},
        time::Timestamp,
        written::counted,
    },
    operations::aggregates::Aggregates,
    string_enum::StringEnum,
};

/// The records of a group.
#[derive(Debug, Object, Serialize)]
pub struct AggregateGroup {
    /// Values of the properties in `group_by`; null for records without a value.
    pub group: Vec<Option<String>>,
    /// Number of records.
    pub records: u64,
    /// How many of them have the number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub with_value: Option<u64>,
    /// Sum of the numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sum: Option<f64>,
    /// Minimum of the numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min: Option<f64>,
    /// Maximum of the numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<f64>,
    /// The number in the middle, or the mean of the two in the middle.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub median: Option<f64>,
}

/// The aggregated records of a list.
#[derive(Debug, Object, Serialize)]
pub struct AggregatesOut {
    /// The groups, those with the most records first.
    pub groups: Vec<AggregateGroup>,
    /// Number of groups.
    pub total: u64,
    /// Number of records that match, in all groups.
    pub matches: u64,
    /// Unit of the numbers; null if records are only counted.
    pub unit: Option<String>,
    /// The basis of the numbers, as a sentence to cite.
    pub evidence: String,
}

impl AggregatesOut {
    /// Creates the JSON of aggregated records.
    pub fn new(aggregates: Aggregates, now: Timestamp) -> AggregatesOut {
        let Aggregates { records, unit, groups } = aggregates;
        AggregatesOut {
            total: groups.len() as u64,
            groups: groups.into_iter().map(|group| AggregateGroup::new(group, unit)).collect(),
            matches: records,
            unit: unit.map(|unit| unit.as_str().to_owned()),
            evidence: format!(
                "Computed over all {} at {now}.",
                counted(records, "matching record", "matching records")
            ),
        }
    }
}

impl AggregateGroup {
    fn new(group: GroupStatistics, unit: Option<Unit>) -> AggregateGroup {
        let numbers = group.numbers.zip(unit);
        let number =
            |read: fn(&Statistics) -> f64| numbers.map(|(numbers, unit)| unit.from_stored(read(&numbers)));
        AggregateGroup {
            group: group.keys,
            records: group.records,
            with_value: unit.map(|_| group.numbers.map_or(0, |numbers| numbers.count)),
            sum: number(|numbers| numbers.sum as f64),
            min: number(|numbers| numbers.min as f64),
            max: number(|numbers| numbers.max as f64),
            median: number(|numbers| numbers.median),
        }
    }
}
