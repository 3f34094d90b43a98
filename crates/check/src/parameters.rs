//! Query parameters: refused and accepted values, and results of filters.

use serde_json::Value;
use uuid::Uuid;

use super::{
    access::UNKNOWN,
    client::{Caller, Exchange, Stop},
    documents::{Operation, Parameter},
    rows, rules,
    session::Session,
};

/// Maximum number of documented values of a parameter that are tried.
const MAX_VALUES: usize = 24;

/// Parameters that are not filters, although rows may have fields with their names.
const NO_FILTERS: [&str; 6] = ["limit", "offset", "cursor", "sort", "sort_direction", "query"];

/// Lists that are in the order of time without a parameter, newest first, with the field that has the time.
const NEWEST_FIRST: [(&str, &str); 5] = [
    ("/v2/listings", "created_at"),
    ("/v2/listings/{listing_id}/history", "occurred_at"),
    ("/v2/vendor/notifications", "created_at"),
    ("/v2/codebases", "created_at"),
    ("/v2/raw-data", "created_at"),
];

/// Checks the query parameters of an operation.
pub fn check(session: &mut Session, operation: &Operation, path: &str, key: usize) -> Result<(), Stop> {
    let mut checker = Checker { session, operation, path, caller: Caller::Key(key) };
    if operation.query().any(|parameter| parameter.is_required) {
        return Ok(());
    }
    checker.check_unknown()?;
    for parameter in operation.query() {
        checker.check_invalid(parameter)?;
        checker.check_valid(parameter)?;
        checker.check_repeated(parameter)?;
    }
    checker.check_filters()?;
    checker.check_order()
}

struct Checker<'a> {
    session: &'a mut Session,
    operation: &'a Operation,
    path: &'a str,
    caller: Caller,
}

/// The type of a parameter, or of the elements of a list.
fn element(parameter: &Parameter) -> &Value {
    if parameter.schema["type"] == "array" { &parameter.schema["items"] } else { &parameter.schema }
}

/// Returns a value that a parameter does not allow; `None` if it takes any text.
fn invalid_value(parameter: &Parameter) -> Option<&'static str> {
    let schema = element(parameter);
    let has = |name: &str| schema.get(name).is_some();
    match schema["type"].as_str() {
        Some("integer" | "number" | "boolean") => Some("no-such-value"),
        Some("string") if has("enum") || schema["format"] == "uuid" => Some("no-such-value"),
        Some("string") if has("pattern") && parameter.name == "filter" => Some("no_such_field:is:x"),
        _ => None,
    }
}

impl Checker<'_> {
    fn get(&mut self, query: &[(&str, &str)]) -> Result<Option<Exchange>, Stop> {
        self.session.call(self.operation, self.path, query, self.caller)
    }

    fn check_unknown(&mut self) -> Result<(), Stop> {
        if let Some(exchange) = self.get(&[UNKNOWN])? {
            let place = ["query", UNKNOWN.0];
            self.session.expect_problem(&rules::UNKNOWN_PARAMETER, &self.operation.id, &exchange, &place);
        }
        Ok(())
    }

    fn check_invalid(&mut self, parameter: &Parameter) -> Result<(), Stop> {
        let place = ["query", parameter.name.as_str()];
        if parameter.name == "cursor" {
            let Some(exchange) = self.get(&[("cursor", "no-such-cursor")])? else { return Ok(()) };
            self.session.expect(&rules::CURSOR, &self.operation.id, &exchange, 400, "invalid_cursor");
            return Ok(());
        }
        let bound = |name: &str, difference: f64| {
            let schema = element(parameter);
            let number = schema[name].as_f64().filter(|_| schema["type"] == "integer")? + difference;
            Some(format!("{number}"))
        };
        let values =
            [invalid_value(parameter).map(str::to_owned), bound("minimum", -1.0), bound("maximum", 1.0)];
        for value in values.into_iter().flatten() {
            let Some(exchange) = self.get(&[(&parameter.name, &value)])? else { continue };
            self.session.expect_problem(&rules::QUERY_VALUE, &self.operation.id, &exchange, &place);
        }
        Ok(())
    }

    fn check_valid(&mut self, parameter: &Parameter) -> Result<(), Stop> {
        let schema = element(parameter);
        let values: Vec<String> = match schema["type"].as_str() {
            Some("boolean") => vec!["true".to_owned(), "false".to_owned()],
            Some("string") if schema["format"] == "uuid" => vec![Uuid::new_v4().to_string()],
            _ => {
                let values = schema["enum"].as_array().into_iter().flatten();
                values.filter_map(Value::as_str).map(str::to_owned).take(MAX_VALUES).collect()
            }
        };
        for value in values {
            let query = [(parameter.name.as_str(), value.as_str())];
            let rule = &rules::QUERY_VALID;
            let response = self.session.call_ok(rule, self.operation, self.path, &query, self.caller)?;
            // Other IDs identify related records, such as the listing that assets can be attached to.
            let is_of_row = schema["format"] == "uuid" && parameter.name.ends_with("_id");
            let Some(exchange) = response.filter(|_| is_of_row) else { continue };
            self.session.report.count(&rules::FILTER);
            if let Some([row, ..]) = rows::of(exchange.json()) {
                let (expected, got) = ("no row, since nothing has this ID", rows::identity(row));
                self.session.report.add(&rules::FILTER, &self.operation.id, &exchange, expected, got);
            }
        }
        Ok(())
    }

    fn check_repeated(&mut self, parameter: &Parameter) -> Result<(), Stop> {
        let is_scalar = parameter.schema["type"] != "array";
        if !is_scalar || !matches!(parameter.name.as_str(), "limit" | "sort" | "stage" | "status") {
            return Ok(());
        }
        let value = element(parameter)["enum"][0].as_str().unwrap_or("1");
        let name = parameter.name.as_str();
        if let Some(exchange) = self.get(&[(name, value), (name, value)])? {
            self.session.expect_problem(&rules::REPEATED, &self.operation.id, &exchange, &["query", name]);
        }
        Ok(())
    }

    /// Filters by values of the first row that has any: by each parameter that is a field of rows.
    fn check_filters(&mut self) -> Result<(), Stop> {
        let Some(exchange) = self.get(&[])? else { return Ok(()) };
        let Some(rows) = rows::of(exchange.json()).filter(|_| exchange.status == 200) else { return Ok(()) };
        for parameter in self.operation.query() {
            let name = parameter.name.as_str();
            let schema = element(parameter);
            let is_exact =
                schema["type"] == "boolean" || schema["format"] == "uuid" || schema.get("enum").is_some();
            if !is_exact || NO_FILTERS.contains(&name) {
                continue;
            }
            let is_type = |value: &&Value| {
                value.as_str().is_some_and(|text| text.len() <= rows::MAX_VALUE) && schema["type"] == "string"
                    || value.is_boolean() && schema["type"] == "boolean"
            };
            let Some(row) = rows.iter().find(|row| row.get(name).is_some_and(|value| is_type(&value))) else {
                continue;
            };
            self.check_filter(name, &row[name], &rows::identity(row))?;
        }
        Ok(())
    }

    /// Checks that a filter returns only rows with a value, and among them one that has it.
    fn check_filter(&mut self, name: &str, value: &Value, identity: &str) -> Result<(), Stop> {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        // A row that changed between two requests is not a difference: the second attempt decides.
        for is_last in [false, true] {
            let query = [(name, text.as_str())];
            let response =
                self.session.call_ok(&rules::QUERY_VALID, self.operation, self.path, &query, self.caller)?;
            let Some(exchange) = response else { return Ok(()) };
            let rows = rows::of(exchange.json()).unwrap_or_default();
            self.session.report.count(&rules::FILTER);
            let other = rows.iter().find(|row| row[name] != *value);
            let is_full = rows.iter().any(|row| rows::identity(row) == identity)
                || rows::total(exchange.json()) != Some(rows.len() as u64);
            if other.is_none() && is_full {
                return Ok(());
            }
            if is_last {
                let got = other.map_or_else(
                    || format!("no row {identity}, which has it"),
                    |other| format!("a row with {name} {}", other[name]),
                );
                let expected = format!("the rows with {name} {value}");
                self.session.report.add(&rules::FILTER, &self.operation.id, &exchange, expected, got);
            }
        }
        Ok(())
    }

    fn check_order(&mut self) -> Result<(), Stop> {
        if let Some((_, field)) = NEWEST_FIRST.iter().find(|(path, _)| *path == self.operation.path)
            && let Some(exchange) = self.get(&[])?
        {
            self.check_sorted(&exchange, field, true);
        }
        let Some(sort) = self.operation.query_parameter("sort") else { return Ok(()) };
        let columns = sort.schema["enum"].as_array().cloned().unwrap_or_default();
        let has = |name: &str| self.operation.query_parameter(name).is_some();
        if !(has("sort_direction") && has("limit")) {
            return Ok(());
        }
        for column in columns.iter().filter_map(Value::as_str) {
            for direction in ["asc", "desc"] {
                let query = [("sort", column), ("sort_direction", direction)];
                let rule = &rules::QUERY_VALID;
                if let Some(exchange) =
                    self.session.call_ok(rule, self.operation, self.path, &query, self.caller)?
                {
                    self.check_sorted(&exchange, column, direction == "desc");
                }
            }
        }
        Ok(())
    }

    /// Checks that rows are sorted by a field with numbers or times. Those without a value come last.
    fn check_sorted(&mut self, exchange: &Exchange, field: &str, is_descending: bool) {
        let rows = rows::of(exchange.json()).unwrap_or_default();
        let values: Vec<&Value> = rows.iter().filter_map(|row| row.get(field)).collect();
        // The order of other texts is not stated.
        let is_text = |value: &&Value| value.is_string() && !field.ends_with("_at");
        if values.is_empty() || values.iter().any(is_text) {
            return;
        }
        self.session.report.count(&rules::SORT);
        let mut pairs = values.iter().zip(values.iter().skip(1));
        if let Some((first, second)) = pairs.find(|(first, second)| !is_ordered(first, second, is_descending))
        {
            let direction = if is_descending { "descending" } else { "ascending" };
            let got = format!("{first} before {second}");
            let expected = format!("{field} {direction}");
            self.session.report.add(&rules::SORT, &self.operation.id, exchange, expected, got);
        }
    }
}

/// Whether two values may follow each other. Times in the form of the interface sort as texts.
fn is_ordered(first: &Value, second: &Value, is_descending: bool) -> bool {
    let (first, second) = match (first, second) {
        (_, Value::Null) => return true,
        (Value::Null, _) => return false,
        _ if is_descending => (second, first),
        _ => (first, second),
    };
    match (first.as_f64(), second.as_f64()) {
        (Some(first), Some(second)) => first <= second,
        _ => first.as_str() <= second.as_str(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn rows_without_a_value_come_last() {
        for (first, second, ascending, descending) in [
            (json!(1), json!(2), true, false),
            (json!(2), json!(2.0), true, true),
            (json!("2026-01"), json!("2026-02"), true, false),
            (json!(null), json!(1), false, false),
            (json!(1), json!(null), true, true),
        ] {
            let both = [false, true].map(|is_descending| is_ordered(&first, &second, is_descending));
            assert_eq!(both, [ascending, descending], "{first} {second}");
        }
    }
}
