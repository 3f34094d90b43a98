//! Filters of lists: which rows a list has for the values of its query.

use std::collections::BTreeMap;

use serde_json::Value;
use uuid::Uuid;

use super::{Reader, pages::PageQuery};
use crate::{
    domain::time::{Day, MICROS_PER_DAY},
    error::{Error, Result},
};

/// The values of the filters of a list, by their names on the wire. Null means that the list is not filtered.
#[derive(Clone, Debug, Default)]
pub struct Filters(BTreeMap<String, Value>);

impl Filters {
    /// Creates the filters of a query: a JSON object.
    pub fn new(query: Value) -> Filters {
        match query {
            Value::Object(values) => Filters(values.into_iter().collect()),
            _ => Filters::default(),
        }
    }

    /// Adds a filter.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Filters {
        self.0.insert(name.to_owned(), value.into());
        self
    }

    /// Whether the list is filtered by this.
    pub(super) fn is_set(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// Returns the value of a filter; `None` if the list is not filtered by it.
    pub(super) fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name).filter(|value| !value.is_null())
    }

    /// Adds the conditions of these filters to a query, as far as they are set.
    pub(super) fn apply(
        &self,
        reader: &Reader,
        mut query: PageQuery,
        filters: &[(&str, Filter)],
    ) -> Result<PageQuery> {
        for (name, filter) in filters {
            if let Some(value) = self.get(name) {
                query = filter.apply(reader, query, value, self)?;
            }
        }
        Ok(query)
    }

    /// Fails if a name is not that of one of these filters.
    pub(super) fn check_known(&self, filters: &[(&str, Filter)]) -> Result<()> {
        let is_known = |name: &&String| filters.iter().any(|(known, _)| known == name);
        match self.0.keys().find(|name| !is_known(name)) {
            Some(unknown) => Err(Error::internal(format!("the list has no filter {unknown:?}"))),
            None => Ok(()),
        }
    }

    /// Fails unless these are the names of the filters.
    pub(super) fn check_names(&self, filters: &[(&str, Filter)]) -> Result<()> {
        let is_known = |name: &String| filters.iter().any(|(known, _)| known == name);
        let is_there = |(name, filter): &(&str, Filter)| filter.is_of_pages() || self.0.contains_key(*name);
        if filters.iter().all(is_there) && self.0.keys().all(is_known) {
            return Ok(());
        }
        let known: Vec<&str> = filters.iter().map(|(name, _)| *name).collect();
        Err(Error::internal(format!("the query has {:?}, the list is filtered by {known:?}", self.0.keys())))
    }
}

/// A filter of a list: the condition that its value states.
pub enum Filter {
    /// The column, or the expression, has the value.
    Equals(&'static str),
    /// The column, or the expression, has the value, or one of the values of an array.
    OneOf(&'static str),
    /// The column contains the text, however it is written; see [`sql_functions`](crate::store::sql_functions).
    Contains(&'static str),
    /// The column has a value, or none if the value is `false`.
    HasValue(&'static str),
    /// The condition, whose parameter `?` is the value.
    Matches(&'static str),
    /// The condition, which compares a row ID with `= (SELECT … uuid = ?)`, where the value is the ID, or an array of them.
    MatchesId(&'static str),
    /// The column is the row ID of the record with this ID in a table, or with one of the IDs of an array. An unknown ID matches
    /// nothing.
    RefersTo(&'static str, &'static str),
    /// Like [`Filter::RefersTo`], but fails if there is no such record. The error contains the name. So the list is not empty
    /// just because the ID is wrong.
    BelongsTo(&'static str, &'static str, &'static str),
    /// Whatever the function adds to the query for the value.
    Custom(fn(PageQuery, &Value, &Filters) -> PageQuery),
    /// The condition, or its opposite if the value is `false`: a filter that only pages of the console have.
    OfPages(&'static str),
    /// The time in the column is on this day (UTC) or later: a filter that only pages of the console have.
    FromDay(&'static str),
    /// The time in the column is on this day (UTC) or earlier: a filter that only pages of the console have.
    UntilDay(&'static str),
}

impl Filter {
    /// Whether only pages of the console have the filter, and the operator API does not.
    const fn is_of_pages(&self) -> bool {
        matches!(self, Filter::OfPages(_) | Filter::FromDay(_) | Filter::UntilDay(_))
    }

    /// Adds the condition for a value to a query.
    pub(super) fn apply(
        &self,
        reader: &Reader,
        query: PageQuery,
        value: &Value,
        filters: &Filters,
    ) -> Result<PageQuery> {
        Ok(match *self {
            Filter::OneOf(column) if value.is_array() => {
                query.filter(&format!("{column} IN (SELECT value FROM json_each(?))"), value.to_string())
            }
            Filter::Equals(column) | Filter::OneOf(column) => {
                query.filter(&format!("{column} = ?"), parameter(value))
            }
            Filter::Contains(column) => {
                query.filter(&format!("contains_text({column}, ?)"), parameter(value))
            }
            Filter::HasValue(column) if value.as_bool() == Some(true) => {
                query.when(&format!("{column} IS NOT NULL"))
            }
            Filter::HasValue(column) => query.when(&format!("{column} IS NULL")),
            Filter::Matches(condition) => query.filter(condition, parameter(value)),
            Filter::MatchesId(condition) if value.is_array() => {
                let is_one = condition.replace("= (SELECT", "IN (SELECT");
                query.filter(&is_one.replace("uuid = ?", &format!("uuid IN ({IDS})")), value.to_string())
            }
            Filter::MatchesId(condition) => query.filter(condition, id(value)),
            Filter::RefersTo(column, table) if value.is_array() => {
                let refers = format!("{column} IN (SELECT id FROM {table} WHERE uuid IN ({IDS}))");
                query.filter(&refers, value.to_string())
            }
            Filter::RefersTo(column, table) => {
                query.filter(&format!("{column} = (SELECT id FROM {table} WHERE uuid = ?)"), id(value))
            }
            Filter::BelongsTo(column, table, _) if value.is_array() => {
                Filter::RefersTo(column, table).apply(reader, query, value, filters)?
            }
            Filter::BelongsTo(column, table, name) => {
                let sql = format!("SELECT EXISTS (SELECT 1 FROM {table} WHERE uuid = ?1)");
                let exists: bool = reader.query_one(&sql, [id(value)], |row| row.get(0))?;
                if !exists {
                    return Err(Error::not_found(name));
                }
                Filter::RefersTo(column, table).apply(reader, query, value, filters)?
            }
            Filter::Custom(add) => add(query, value, filters),
            Filter::OfPages(condition) if value.as_bool() == Some(false) => {
                query.when(&format!("NOT ({condition})"))
            }
            Filter::OfPages(condition) => query.when(&format!("({condition})")),
            Filter::FromDay(column) => query.filter(&format!("{column} >= ?"), start_of_day(value)),
            Filter::UntilDay(column) => {
                let end = start_of_day(value).map(|start| start + MICROS_PER_DAY);
                query.filter(&format!("{column} < ?"), end)
            }
        })
    }
}

/// The IDs of a JSON array, as they are stored.
const IDS: &str = "SELECT unhex(replace(value, '-', '')) FROM json_each(?)";

/// Returns the time at which a day begins, in microseconds. A text that is not a day matches nothing.
fn start_of_day(value: &Value) -> Option<i64> {
    Some(Day::parse(value.as_str()?)?.start().0)
}

/// Returns the parameter for a value that is stored as it is.
pub(super) fn parameter(value: &Value) -> rusqlite::types::Value {
    match value {
        Value::String(text) => text.clone().into(),
        Value::Bool(is_true) => (*is_true).into(),
        Value::Number(number) => number.as_i64().into(),
        _ => rusqlite::types::Value::Null,
    }
}

/// Returns the ID in a value. Anything else identifies no record.
pub(super) fn id(value: &Value) -> Option<Uuid> {
    value.as_str().and_then(|text| text.parse().ok())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_must_be_those_of_the_list() {
        let list = [("team_id", Filter::RefersTo("w.team", "teams")), ("status", Filter::Equals("w.status"))];
        for (query, is_valid) in [
            (json!({"team_id": null, "status": "paid"}), true),
            (json!({"team_id": null}), false),
            (json!({"team_id": null, "state": "paid"}), false),
            (json!({"team_id": null, "status": null, "other": null}), false),
        ] {
            assert_eq!(Filters::new(query.clone()).check_names(&list).is_ok(), is_valid, "{query}");
        }
    }
}
