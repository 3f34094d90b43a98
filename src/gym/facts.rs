//! Responses of the HTTP API for the private market. Subjects and expected answers are taken from them.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{
    error::GymError, planted::Planted, private_market::PrivateMarket, question::Side, random::Random,
};

/// Maximum number of listings whose details are read for one subject.
pub const MAX_SUBJECT_LISTINGS: usize = 40;

/// Maximum number of rows that are read of a list. A longer list is not used as a subject.
const MAX_ROWS: usize = 5_000;

/// A view of the market for one template, with its own series of random choices.
pub struct Facts<'a> {
    market: &'a PrivateMarket,
    /// Who asks.
    pub side: Side,
    /// Chooses subjects.
    pub random: Random,
}

impl<'a> Facts<'a> {
    /// Creates the view for a template with this name.
    pub fn new(market: &'a PrivateMarket, side: Side, seed: u64, name: &str) -> Facts<'a> {
        Facts { market, side, random: Random::new(seed, name) }
    }

    /// Returns the current time of the market, in the form of times in JSON.
    pub fn now(&self) -> String {
        self.market.market().clock().now().to_string()
    }

    /// Returns what was planted.
    pub const fn planted(&self) -> &'a Planted {
        self.market.planted()
    }

    /// Returns the response to a GET request; `None` if there is no such record.
    pub fn find(&self, path: &str) -> Result<Option<Value>, GymError> {
        self.market.find(self.side, path)
    }

    /// Returns the response to a GET request of a record that exists.
    pub fn get(&self, path: &str) -> Result<Value, GymError> {
        self.find(path)?.ok_or_else(|| GymError::Response(404, path.to_owned()))
    }

    /// Returns a list that has no pages.
    pub fn list(&self, path: &str, list: &str) -> Result<Vec<Value>, GymError> {
        Ok(take_list(&mut self.get(path)?, list))
    }

    /// Returns all rows of a list with offsets; none if there are too many. `path` has no query.
    pub fn rows(&self, path: &str, list: &str) -> Result<Vec<Value>, GymError> {
        let mut rows = Vec::new();
        loop {
            let found = self.list(&format!("{path}?limit=100&offset={}", rows.len()), list)?;
            let is_last = found.len() < 100;
            rows.extend(found);
            if is_last {
                return Ok(rows);
            }
            if rows.len() > MAX_ROWS {
                return Ok(Vec::new());
            }
        }
    }

    /// Returns the summaries of the catalog that match a query; `None` if there are more than `max`.
    pub fn browse(&self, query: &str, max: usize) -> Result<Option<Vec<Value>>, GymError> {
        let mut found = Vec::new();
        let mut cursor = String::new();
        loop {
            let mut page = self.get(&format!("/v2/listings/browse?limit=100&{query}{cursor}"))?;
            found.extend(take_list(&mut page, "items"));
            if found.len() > max {
                return Ok(None);
            }
            match page["next_cursor"].as_str() {
                Some(next) => cursor = format!("&cursor={next}"),
                None => return Ok(Some(found)),
            }
        }
    }

    /// Returns the details of the catalog's listings that match a query; `None` if there are too many to be a subject.
    pub fn details(&self, query: &str) -> Result<Option<Vec<Value>>, GymError> {
        let Some(found) = self.browse(query, MAX_SUBJECT_LISTINGS)? else { return Ok(None) };
        found.iter().map(|listing| self.listing(text(listing, "/id"))).collect::<Result<_, _>>().map(Some)
    }

    /// Returns the details of a listing of the catalog.
    pub fn listing(&self, id: &str) -> Result<Value, GymError> {
        self.get(&format!("/v2/listings/browse/{id}"))
    }

    /// Returns the values of a facet of the whole catalog, in random order.
    pub fn facet(&mut self, name: &str) -> Result<Vec<String>, GymError> {
        let page = self.get("/v2/listings/browse?limit=1")?;
        let values = page["facets"][name].as_object().into_iter().flatten();
        let mut values: Vec<String> = values.map(|(value, _)| value.clone()).collect();
        self.random.shuffle(&mut values);
        Ok(values)
    }
}

fn take_list(response: &mut Value, list: &str) -> Vec<Value> {
    match response[list].take() {
        Value::Array(rows) => rows,
        _ => Vec::new(),
    }
}

/// Returns a text of a record; empty if there is none.
pub fn text<'v>(record: &'v Value, pointer: &str) -> &'v str {
    record.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// Returns a number of a record, also one in a string; 0 if there is none.
pub fn number(record: &Value, pointer: &str) -> f64 {
    match record.pointer(pointer) {
        Some(Value::String(text)) => text.parse().unwrap_or(0.0),
        Some(value) => value.as_f64().unwrap_or(0.0),
        None => 0.0,
    }
}

/// Returns the month of a time, `YYYY-MM`.
pub fn month(time: &str) -> &str {
    time.get(..7).unwrap_or_default()
}

/// Returns the day of a time, `YYYY-MM-DD`.
pub fn day(time: &str) -> &str {
    time.get(..10).unwrap_or_default()
}

/// Rounds an amount in US dollars to cents.
pub fn cents(amount: f64) -> f64 {
    (amount * 100.0).round() / 100.0
}

/// Returns the median: the mean of both middle values if their number is even; `None` for no values.
pub fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => None,
        count if count % 2 == 1 => Some(values[middle]),
        _ => Some(f64::midpoint(values[middle - 1], values[middle])),
    }
}

/// Adds amounts by key.
pub fn sums<'v>(amounts: impl Iterator<Item = (&'v str, f64)>) -> BTreeMap<String, f64> {
    let mut sums = BTreeMap::new();
    for (key, amount) in amounts {
        *sums.entry(key.to_owned()).or_insert(0.0) += amount;
    }
    sums
}

/// Returns the record with the lowest value of `key`, if no other has the same.
pub fn only_lowest(records: &[Value], key: impl Fn(&Value) -> f64) -> Option<&Value> {
    let lowest = records.iter().min_by(|a, b| key(a).total_cmp(&key(b)))?;
    let is_only = records.iter().filter(|other| (key(other) - key(lowest)).abs() < f64::EPSILON).count() == 1;
    is_only.then_some(lowest)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn medians_and_lowest_records() {
        assert_eq!(
            (median(vec![]), median(vec![3.0, 1.0]), median(vec![9.0, 1.0, 4.0])),
            (None, Some(2.0), Some(4.0))
        );
        let records = [json!({"a": 2}), json!({"a": 1}), json!({"a": 2})];
        let key = |record: &Value| number(record, "/a");
        assert_eq!(only_lowest(&records, key), Some(&records[1]));
        assert_eq!(only_lowest(&records, |record| -key(record)), None);
    }
}
