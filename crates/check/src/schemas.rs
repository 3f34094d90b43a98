//! Validation of JSON by the schemas of an OpenAPI 3.0 document.
//!
//! It reports each violation with its place and its kind, since each kind has a rule of its own. Integers are numbers
//! without a fraction: typed clients do not read `1.0` as one.

use std::{cell::RefCell, collections::HashMap};

use regex::Regex;
use serde_json::{Map, Value};
use time::{Date, OffsetDateTime, format_description::well_known::Rfc3339, macros::format_description};
use uuid::Uuid;

/// Maximum number of violations of a value that are reported.
const MAX_VIOLATIONS: usize = 20;

/// Maximum depth of schemas inside each other. Values are no deeper than the JSON parser allows, 128 levels.
const MAX_DEPTH: usize = 1_000;

/// The named schemas of a document.
#[derive(Debug)]
pub struct Schemas {
    components: Value,
    patterns: RefCell<HashMap<String, Option<Regex>>>,
}

/// How a value violates a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A required field is missing.
    Missing,
    /// The schema has no such field.
    Unknown,
    /// The value has another type.
    Type,
    /// The value is not among the allowed ones.
    NotAllowed,
    /// The text does not have the form that a format or pattern demands.
    Form,
    /// A number, a length, or a count is out of bounds.
    Bounds,
}

/// A violation of a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// JSON Pointer of the value.
    pub pointer: String,
    /// Its kind.
    pub kind: Kind,
    /// What the schema demands.
    pub expected: String,
    /// What the value is.
    pub got: String,
}

/// Where a value is: names of fields and indices of elements.
#[derive(Clone, Copy)]
struct Place<'a> {
    parent: Option<&'a Place<'a>>,
    step: &'a str,
    depth: usize,
}

impl Place<'_> {
    fn pointer(&self) -> String {
        let parent = self.parent.map(Place::pointer);
        let step = self.step.replace('~', "~0").replace('/', "~1");
        parent.map_or_else(String::new, |parent| format!("{parent}/{step}"))
    }
}

impl Schemas {
    /// Uses the components of a document.
    pub fn new(components: Value) -> Schemas {
        Schemas { components, patterns: RefCell::default() }
    }

    /// Returns the violations of a schema in a value, at most 20.
    pub fn violations(&self, schema: &Value, value: &Value) -> Vec<Violation> {
        let mut found = Vec::new();
        self.check(schema, value, Place { parent: None, step: "", depth: 0 }, &mut found);
        found
    }

    fn check(&self, schema: &Value, value: &Value, place: Place, found: &mut Vec<Violation>) {
        if found.len() >= MAX_VIOLATIONS || place.depth > MAX_DEPTH {
            return;
        }
        let inner = Place { depth: place.depth + 1, ..place };
        if let Some(reference) = schema["$ref"].as_str() {
            let name = reference.rsplit('/').next().unwrap_or_default();
            return self.check(&self.components[name], value, inner, found);
        }
        if value.is_null() && schema["nullable"] == true {
            return;
        }
        if let Some(name) = schema["type"].as_str()
            && !has_type(value, name)
        {
            return found.push(violation(place, Kind::Type, format!("type {name}"), value));
        }
        if let Some(allowed) = schema["enum"].as_array()
            && !allowed.contains(value)
        {
            let names: Vec<String> = allowed.iter().map(ToString::to_string).collect();
            found.push(violation(place, Kind::NotAllowed, format!("one of {}", names.join(", ")), value));
        }
        match value {
            Value::String(text) => self.check_text(schema, text, value, place, found),
            Value::Number(_) => check_number(schema, value, place, found),
            Value::Array(elements) => {
                check_count(schema, "Items", elements.len(), "elements", value, place, found);
                for (index, element) in elements.iter().enumerate().filter(|_| schema["items"].is_object()) {
                    let step = index.to_string();
                    let inner = Place { parent: Some(&place), step: &step, depth: place.depth + 1 };
                    self.check(&schema["items"], element, inner, found);
                }
            }
            Value::Object(fields) => self.check_fields(schema, fields, value, place, found),
            Value::Null | Value::Bool(_) => {}
        }
        for part in schema["allOf"].as_array().into_iter().flatten() {
            self.check(part, value, inner, found);
        }
        for key in ["oneOf", "anyOf"] {
            if let Some(alternatives) = schema[key].as_array() {
                self.check_alternatives(schema, alternatives, value, inner, found);
            }
        }
    }

    fn check_text(
        &self,
        schema: &Value,
        text: &str,
        value: &Value,
        place: Place,
        found: &mut Vec<Violation>,
    ) {
        if schema["minLength"].is_u64() || schema["maxLength"].is_u64() {
            check_count(schema, "Length", text.chars().count(), "characters", value, place, found);
        }
        let format = schema["format"].as_str().unwrap_or_default();
        if !has_format(text, format) {
            found.push(violation(place, Kind::Form, format!("format {format}"), value));
        } else if let Some(pattern) = schema["pattern"].as_str()
            && !self.matches(pattern, text)
        {
            found.push(violation(place, Kind::Form, format!("pattern {pattern}"), value));
        }
    }

    /// Whether a text matches a pattern. Patterns that this program cannot compile match everything.
    fn matches(&self, pattern: &str, text: &str) -> bool {
        let mut patterns = self.patterns.borrow_mut();
        let compiled = patterns.entry(pattern.to_owned()).or_insert_with(|| Regex::new(pattern).ok());
        compiled.as_ref().is_none_or(|pattern| pattern.is_match(text))
    }

    fn check_fields(
        &self,
        schema: &Value,
        fields: &Map<String, Value>,
        value: &Value,
        place: Place,
        found: &mut Vec<Violation>,
    ) {
        check_count(schema, "Properties", fields.len(), "fields", value, place, found);
        let inner = |step| Place { parent: Some(&place), step, depth: place.depth + 1 };
        for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            if !fields.contains_key(name) {
                let expected = "a value, since the field is required".to_owned();
                let got = "no such field".to_owned();
                found.push(Violation { pointer: inner(name).pointer(), kind: Kind::Missing, expected, got });
            }
        }
        let others = &schema["additionalProperties"];
        for (name, field) in fields {
            match schema["properties"].get(name) {
                Some(schema) => self.check(schema, field, inner(name), found),
                None if *others == false => {
                    found.push(violation(inner(name), Kind::Unknown, "no such field".to_owned(), field));
                }
                None if others.is_object() => self.check(others, field, inner(name), found),
                None => {}
            }
        }
    }

    /// Checks a value that has one of several forms: the form that its discriminator names, or else the closest one.
    fn check_alternatives(
        &self,
        schema: &Value,
        alternatives: &[Value],
        value: &Value,
        place: Place,
        found: &mut Vec<Violation>,
    ) {
        let mapping = schema["discriminator"]["mapping"].as_object();
        let property = schema["discriminator"]["propertyName"].as_str();
        if let (Some(mapping), Some(name)) = (mapping, property.and_then(|name| value[name].as_str())) {
            let Some(reference) = mapping.get(name) else {
                let names = mapping.keys().cloned().collect::<Vec<_>>().join(", ");
                let pointer = format!("{}/{}", place.pointer(), property.unwrap_or_default());
                let (expected, got) = (format!("one of {names}"), short(&Value::from(name)));
                return found.push(Violation { pointer, kind: Kind::NotAllowed, expected, got });
            };
            let reference = Value::from_iter([("$ref", reference.clone())]);
            return self.check(&reference, value, place, found);
        }
        let attempts = alternatives.iter().map(|alternative| {
            let mut found = Vec::new();
            self.check(alternative, value, place, &mut found);
            found
        });
        found.extend(attempts.min_by_key(Vec::len).unwrap_or_default());
    }
}

fn violation(place: Place, kind: Kind, expected: String, value: &Value) -> Violation {
    Violation { pointer: place.pointer(), kind, expected, got: short(value) }
}

/// Returns a value as JSON; for a list or an object, a summary.
pub fn short(value: &Value) -> String {
    match value {
        Value::Array(elements) => format!("an array of {} elements", elements.len()),
        Value::Object(fields) => format!("an object with {} fields", fields.len()),
        other => other.to_string(),
    }
}

fn has_type(value: &Value, name: &str) -> bool {
    match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        _ => true,
    }
}

fn has_format(text: &str, format: &str) -> bool {
    match format {
        "uuid" => text.len() == 36 && Uuid::try_parse(text).is_ok(),
        "date-time" => OffsetDateTime::parse(text, &Rfc3339).is_ok(),
        "date" => Date::parse(text, format_description!("[year]-[month]-[day]")).is_ok(),
        _ => true,
    }
}

fn check_number(schema: &Value, value: &Value, place: Place, found: &mut Vec<Violation>) {
    let Some(number) = value.as_f64() else { return };
    if schema["minimum"].as_f64().is_some_and(|minimum| number < minimum) {
        found.push(violation(place, Kind::Bounds, format!("at least {}", schema["minimum"]), value));
    }
    if schema["maximum"].as_f64().is_some_and(|maximum| number > maximum) {
        found.push(violation(place, Kind::Bounds, format!("at most {}", schema["maximum"]), value));
    }
    if let Some(unit) = schema["multipleOf"].as_f64() {
        let count = number / unit;
        if (count - count.round()).abs() > 1e-6 {
            found.push(violation(place, Kind::Bounds, format!("a multiple of {unit}"), value));
        }
    }
}

/// Checks a number of elements, fields, or characters. `bound` is the end of the names of the keywords.
fn check_count(
    schema: &Value,
    bound: &str,
    count: usize,
    unit: &str,
    value: &Value,
    place: Place,
    found: &mut Vec<Violation>,
) {
    let limit = |end: &str| schema[format!("{end}{bound}")].as_u64();
    if let Some(minimum) = limit("min").filter(|minimum| (count as u64) < *minimum) {
        found.push(violation(place, Kind::Bounds, format!("at least {minimum} {unit}"), value));
    }
    if let Some(maximum) = limit("max").filter(|maximum| (count as u64) > *maximum) {
        found.push(violation(place, Kind::Bounds, format!("at most {maximum} {unit}"), value));
    }
}

#[cfg(test)]
mod tests;
