//! The request and the result of an aggregation.

use crate::{
    domain::aggregation::{Aggregation, GroupStatistics, Unit},
    error::{Error, Problem, Result},
};

/// Names of the properties by which records can be grouped, and of their numbers.
pub type Names = [Vec<&'static str>; 2];

/// What to aggregate of a list, by name.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// Names of the properties to group by, at most [`MAX_DIMENSIONS`](crate::domain::aggregation::MAX_DIMENSIONS).
    pub group_by: Vec<String>,
    /// Name of the number; `None` to count records only.
    pub measure: Option<String>,
}

/// The aggregated records of a list.
#[derive(Clone, Debug)]
pub struct Aggregates {
    /// Number of records.
    pub records: u64,
    /// Unit of the numbers; `None` if records were only counted.
    pub unit: Option<Unit>,
    /// The groups, in descending order of their numbers of records. A single group without keys if no property is given.
    pub groups: Vec<GroupStatistics>,
}

/// Returns what has a name. Fails with the known names.
pub(super) fn find<'t, T>(
    known: &'t [T],
    name_of: fn(&T) -> &&'static str,
    parameter: &str,
    name: &str,
) -> Result<&'t T> {
    known.iter().find(|one| *name_of(one) == name).ok_or_else(|| {
        let names: Vec<&str> = known.iter().map(|one| *name_of(one)).collect();
        let message = if names.is_empty() {
            format!("This list has no `{parameter}`; leave it out.")
        } else {
            let names = names.join(", ");
            let shown = crate::error::excerpt(name);
            format!("`{parameter}` of this list can be one of {names}, not {shown:?}.")
        };
        Error::invalid(Problem::query(parameter, "value_error", message))
    })
}

/// Returns the groups of an aggregation by its first `dimensions` properties.
pub(super) fn finish(aggregation: Aggregation, dimensions: usize, unit: Option<Unit>) -> Aggregates {
    let (records, groups) = aggregation.finish(dimensions);
    Aggregates { records, unit, groups }
}
