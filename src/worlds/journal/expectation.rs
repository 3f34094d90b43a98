//! Expectations on the number of calls of a kind to a world. If the number differs, the report contains the nearest calls and
//! their differences.

use std::{
    collections::BTreeMap,
    fmt::{self, Write as _},
    ops::RangeInclusive,
};

use serde_json::{Number, Value};

use super::{
    body::INLINE_BYTES,
    entry::{JournalEntry, Origin, WorldApi},
    filter::{TeamText, matches_path},
    log::Journal,
    secrets,
};
use crate::{error::Code, string_enum::StringEnum};

/// Maximum number of calls that are shown for comparison.
const MAX_NEAREST: usize = 3;

/// Maximum number of differences that are shown of a call.
const MAX_DIFFERENCES: usize = 5;

/// Maximum number of characters that are shown of a value.
const MAX_SHOWN: usize = 100;

/// Maximum number of calls whose numbers are listed.
const MAX_NUMBERS: usize = 1_000;

/// Maximum number of levels of a body that are compared one by one.
const MAX_DEPTH: usize = 64;

/// Additional distance of a call to another operation or path.
const UNRELATED_WEIGHT: usize = 100;

/// The pattern that calls to a world are compared with. All fields that are set must match.
#[derive(Clone, Debug, Default)]
pub struct CallMatch {
    /// `operationId` in the document.
    pub operation: Option<String>,
    /// An API that has the operation.
    pub api: Option<WorldApi>,
    /// Method, in any case.
    pub method: Option<String>,
    /// Path, in which `*` matches any text.
    pub path: Option<String>,
    /// ID or name of the team whose key was sent.
    pub team: Option<TeamText>,
    /// Query parameters. Of several with a name, one must have the value.
    pub query: BTreeMap<String, String>,
    /// Headers, by name in lower case.
    pub headers: BTreeMap<String, String>,
    /// HTTP status.
    pub status: Option<u16>,
    /// Error code.
    pub code: Option<Code>,
    /// A part of the JSON body: objects may have more fields.
    pub body: Option<Value>,
}

/// How often a world is expected to have been called.
#[derive(Clone, Debug)]
pub struct Expectation {
    /// Which calls count.
    pub calls: CallMatch,
    /// How often.
    pub times: RangeInclusive<u64>,
}

/// Whether an expectation is met.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// Whether it is.
    pub is_met: bool,
    /// Number of calls that match.
    pub called: u64,
    /// Numbers of the first of these calls in the journal.
    pub numbers: Vec<u64>,
    /// Number of calls that the journal has dropped, and that may have matched.
    pub dropped: u64,
    /// The calls that are nearest, each with what differs.
    pub nearest: Vec<String>,
}

/// What differs between a call and what is expected.
#[derive(Default)]
struct Differences {
    /// How much differs.
    weight: usize,
    texts: Vec<String>,
}

impl Differences {
    fn add(&mut self, weight: usize, text: impl FnOnce() -> String) {
        self.weight += weight;
        if self.texts.len() < MAX_DIFFERENCES {
            self.texts.push(text());
        }
    }
}

impl Expectation {
    /// Compares the calls in a journal with the expectation. May read files.
    pub fn check(&self, journal: &Journal) -> Verdict {
        let page = journal.list(0, usize::MAX, |entry| entry.request.origin == Origin::World);
        let (mut called, mut numbers) = (0, Vec::new());
        // Ordered by the differences.
        let mut nearest: Vec<(usize, &JournalEntry, Vec<String>)> = Vec::new();
        for entry in &page.entries {
            let differences = self.calls.differences(entry);
            if differences.texts.is_empty() {
                called += 1;
                if numbers.len() < MAX_NUMBERS {
                    numbers.push(entry.number);
                }
                continue;
            }
            // If two differ equally, the later one is nearer.
            let place = nearest.partition_point(|(weight, ..)| *weight < differences.weight);
            if place < MAX_NEAREST {
                nearest.insert(place, (differences.weight, entry, differences.texts));
                nearest.truncate(MAX_NEAREST);
            }
        }
        let nearest = nearest.into_iter().map(|(_, entry, texts)| {
            let (request, path) = (&entry.request, secrets::mask_path(&entry.request.path));
            format!("Request {}, {} {path}: {}.", entry.number, request.method, texts.join("; "))
        });
        Verdict {
            is_met: self.times.contains(&called),
            called,
            numbers,
            dropped: page.dropped,
            nearest: nearest.collect(),
        }
    }
}

impl CallMatch {
    /// Returns what differs; nothing if the call matches.
    fn differences(&self, entry: &JournalEntry) -> Differences {
        let mut found = Differences::default();
        let request = &entry.request;
        let operation = request.operation.as_ref();
        let id = operation.map(|operation| operation.id.as_str());
        if let Some(expected) = self.operation.as_deref().filter(|expected| Some(*expected) != id) {
            let id = id.unwrap_or("none");
            found.add(UNRELATED_WEIGHT, || format!("the operation is {id}, expected {expected}"));
        }
        if let Some(expected) = self.api.filter(|api| operation.is_none_or(|of| !of.is_of(*api))) {
            let (api, expected) = (operation.map_or("none", |operation| operation.api), expected.as_str());
            found.add(UNRELATED_WEIGHT, || format!("the API is {api}, expected {expected}"));
        }
        if let Some(expected) = &self.method
            && !request.method.eq_ignore_ascii_case(expected)
        {
            found.add(UNRELATED_WEIGHT, || format!("the method is {}, expected {expected}", request.method));
        }
        if let Some(expected) = &self.path
            && !matches_path(expected, &request.path)
        {
            found.add(UNRELATED_WEIGHT, || {
                format!("the path is {}, expected {expected}", shown(&secrets::mask_path(&request.path)))
            });
        }
        self.compare_caller(entry, &mut found);
        self.compare_parameters(entry, &mut found);
        self.compare_answer(entry, &mut found);
        if let Some(expected) = &self.body {
            // The bodies of other calls are not read.
            if found.weight < UNRELATED_WEIGHT {
                compare_body(expected, entry, &mut found);
            } else {
                found.weight += 1;
            }
        }
        found
    }

    fn compare_caller(&self, entry: &JournalEntry, found: &mut Differences) {
        if let Some(expected) = self.team.as_ref().filter(|team| !team.is_of(entry)) {
            found.add(1, || {
                let actual = match entry.key() {
                    Some(key) => key.team.as_ref().map_or("an operator", |(_, name)| name.as_str()),
                    None => "none",
                };
                format!("the team is {actual}, expected {}", expected.text)
            });
        }
    }

    fn compare_parameters(&self, entry: &JournalEntry, found: &mut Differences) {
        let query = entry.request.query.as_deref().unwrap_or_default();
        for (name, expected) in &self.query {
            let values: Vec<_> = form_urlencoded::parse(query.as_bytes())
                .filter_map(|(key, value)| (key == *name).then_some(value))
                .collect();
            if !values.iter().any(|value| value == expected) {
                found.add(1, || match values.first() {
                    Some(value) => {
                        let value = shown(&secrets::mask_value(&format!("{name}="), value));
                        format!("`{name}` in the query is {value}, expected {expected}")
                    }
                    None => format!("the query has no `{name}`, expected {expected}"),
                });
            }
        }
        for (name, expected) in &self.headers {
            let actual = entry.request_header(name);
            if actual != Some(expected.as_bytes()) {
                found.add(1, || match actual {
                    Some(value) => {
                        let value = shown(&String::from_utf8_lossy(value));
                        format!("the header {name} is {value}, expected {expected}")
                    }
                    None => format!("there is no header {name}, expected {expected}"),
                });
            }
        }
    }

    fn compare_answer(&self, entry: &JournalEntry, found: &mut Differences) {
        let answer = entry.answer();
        if let Some(expected) =
            self.status.filter(|status| answer.is_none_or(|answer| answer.status != *status))
        {
            found.add(1, || match answer {
                Some(answer) => format!("the status is {}, expected {expected}", answer.status),
                None => format!("there is no answer yet, expected the status {expected}"),
            });
        }
        if let Some(expected) =
            self.code.filter(|code| answer.is_none_or(|answer| answer.code != Some(*code)))
        {
            let actual = answer.and_then(|answer| answer.code).map_or("none", StringEnum::as_str);
            found.add(1, || format!("the error code is {actual}, expected {}", expected.as_str()));
        }
    }
}

fn compare_body(expected: &Value, entry: &JournalEntry, found: &mut Differences) {
    let body = entry.request_body.snapshot();
    if body.length > INLINE_BYTES as u64 {
        return found
            .add(1, || format!("the body has {} bytes, and only shorter ones are compared", body.length));
    }
    match serde_json::from_slice::<Value>(&body.beginning) {
        Ok(actual) => compare_values(&Place(None, ""), expected, Some(&actual), MAX_DEPTH, found),
        Err(_) => found.add(1, || "the body is no JSON".to_owned()),
    }
}

/// A place in a body: the place that contains it, and its name there.
struct Place<'a>(Option<&'a Place<'a>>, &'a str);

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(parent) => write!(f, "{parent}.{}", self.1),
            None => f.write_str("body"),
        }
    }
}

/// Compares a value with the expected one: objects may have more fields, arrays must have the same length.
fn compare_values(
    place: &Place,
    expected: &Value,
    actual: Option<&Value>,
    depth: usize,
    found: &mut Differences,
) {
    let Some(actual) = actual else {
        return found.add(1, || format!("`{place}` is absent, expected {}", shown_value(expected)));
    };
    match (expected, actual) {
        (Value::Object(expected), Value::Object(actual)) if depth > 0 => {
            for (name, value) in expected {
                compare_values(&Place(Some(place), name), value, actual.get(name), depth - 1, found);
            }
        }
        (Value::Array(expected), Value::Array(actual)) if depth > 0 && expected.len() == actual.len() => {
            for (index, (value, actual)) in expected.iter().zip(actual).enumerate() {
                let index = index.to_string();
                compare_values(&Place(Some(place), &index), value, Some(actual), depth - 1, found);
            }
        }
        (Value::Array(expected), Value::Array(actual)) if expected.len() != actual.len() => {
            let (actual, expected) = (actual.len(), expected.len());
            found.add(1, || format!("`{place}` has {actual} elements, expected {expected}"));
        }
        (Value::Number(expected), Value::Number(actual)) if is_same_number(expected, actual) => {}
        (expected, actual) if expected == actual => {}
        (expected, actual) => {
            found.add(1, || {
                let actual = secrets::mask_value(&format!("\"{}\":", place.1), &actual.to_string());
                format!("`{place}` is {}, expected {}", shown(&actual), shown_value(expected))
            });
        }
    }
}

/// Whether two numbers are the same, such as 1 and 1.0.
fn is_same_number(one: &Number, other: &Number) -> bool {
    let integer =
        |number: &Number| number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from));
    match (integer(one), integer(other)) {
        // Different large integers can be equal as floating-point numbers.
        (Some(one), Some(other)) => one == other,
        _ => one.as_f64() == other.as_f64(),
    }
}

fn shown_value(value: &Value) -> String {
    shown(&secrets::mask_text(&value.to_string()))
}

/// Returns the beginning of a text.
fn shown(text: &str) -> String {
    let mut beginning: String = text.chars().take(MAX_SHOWN).collect();
    if beginning.len() < text.len() {
        let _ = write!(beginning, "…");
    }
    beginning
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn differences(expected: &Value, actual: &Value) -> Vec<String> {
        let mut found = Differences::default();
        compare_values(&Place(None, ""), expected, Some(actual), MAX_DEPTH, &mut found);
        found.texts
    }

    #[test]
    fn part_of_a_body_matches() {
        let actual = json!({"a": 1.0, "b": [{"c": "x", "d": null}], "e": true});
        for expected in
            [json!({}), json!({"a": 1}), json!({"b": [{"c": "x"}]}), json!({"b": [{"d": null}], "e": true})]
        {
            assert_eq!(differences(&expected, &actual), [""; 0], "{expected}");
        }
    }

    #[test]
    fn large_integers_are_told_apart() {
        let number = 9_007_199_254_740_993_u64;
        for (expected, is_same) in
            [(json!(number), true), (json!(number - 1), false), (json!(u64::MAX), false)]
        {
            assert_eq!(differences(&expected, &json!(number)).is_empty(), is_same, "{expected}");
        }
        assert_eq!(differences(&json!(u64::MAX), &json!(u64::MAX)), [""; 0]);
        assert_eq!(differences(&json!(-1), &json!(-1.0)), [""; 0]);
    }

    #[test]
    fn differences_name_their_places() {
        let actual = json!({"a": 1, "b": [{"c": "x"}]});
        let expected = json!({"a": "1", "b": [{"c": "y"}], "d": {"e": 2}});
        assert_eq!(
            differences(&expected, &actual),
            [
                "`body.a` is 1, expected \"1\"",
                "`body.b.0.c` is \"x\", expected \"y\"",
                "`body.d` is absent, expected {\"e\":2}",
            ]
        );
        assert_eq!(differences(&json!({"b": []}), &actual), ["`body.b` has 1 elements, expected 0"]);
        assert_eq!(differences(&json!([]), &actual).len(), 1);
    }
}
