//! Validation rules for parameters and JSON bodies, derived from schemas.

use poem_openapi::registry::{MetaSchema, MetaSchemaRef, Registry};
use regex::Regex;
use serde_json::Value;
use uuid::Uuid;

use crate::{
    domain::{
        money::Cents,
        patterns,
        time::{Day, Timestamp},
    },
    rest::arguments::{
        resolved_schemas::{integer_range, merge_schemas, resolve_schema},
        schema_marks::{FILTER_FORMAT, OMITTABLE_MARK},
    },
};

/// The constraint on a value.
#[derive(Debug)]
pub enum Rule {
    /// Any value.
    Any,
    /// An object with these fields and no others.
    Object(Vec<Field>),
    /// An object with arbitrary names: the rule for each value, and the maximum number of entries.
    Map(Box<Rule>, usize),
    /// An array: the rule for each element, and the minimum and maximum length.
    Array(Box<Rule>, usize, usize),
    /// A string: the minimum and maximum length in characters, and the pattern.
    Text(usize, usize, Option<Regex>),
    /// An integer, with its minimum and maximum.
    Integer(i64, i64),
    /// A number, with its minimum and maximum; `true` if it is an amount of money in whole cents.
    Number(f64, f64, bool),
    /// `true` or `false`.
    Boolean,
    /// A UUID in a string.
    Uuid,
    /// A calendar date in the form YYYY-MM-DD.
    Day,
    /// A point in time in RFC 3339 format, of a form that the pattern restricts.
    Time(Regex),
    /// One of these strings.
    OneOf(Vec<String>),
}

/// A field of an object, with its rule.
#[derive(Debug)]
pub struct Field {
    /// Name in the object.
    pub name: &'static str,
    /// Whether the field must be present.
    pub is_required: bool,
    /// Whether the field may be null.
    pub is_nullable: bool,
    /// The constraint on its value.
    pub rule: Rule,
}

/// What is wrong with a value: the problem's type (pydantic's name, if it has one) and a predicate for the
/// message.
pub type Fault = (&'static str, String);

impl Rule {
    /// Derives the rule from a schema.
    pub fn from_schema(schema: &MetaSchemaRef, registry: &Registry) -> Rule {
        Rule::of_schema(&resolve_schema(schema, registry), registry)
    }

    fn of_schema(schema: &MetaSchema, registry: &Registry) -> Rule {
        if !schema.enum_items.is_empty() {
            return Rule::OneOf(
                schema.enum_items.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
            );
        }
        match (schema.ty, schema.format) {
            ("object", _) if !schema.properties.is_empty() => Rule::object(schema, registry),
            ("object", _) => {
                let values = schema.additional_properties.as_deref();
                let rule = values.map_or(Rule::Any, |values| Rule::from_schema(values, registry));
                Rule::Map(Box::new(rule), schema.max_properties.unwrap_or(usize::MAX))
            }
            ("array", _) => {
                let (min, max) = (schema.min_items.unwrap_or(0), schema.max_items.unwrap_or(usize::MAX));
                Rule::Array(Box::new(Rule::of_items(schema, registry)), min, max)
            }
            ("integer", format) => {
                // The framework converts the maximum of a `u64` to a negative number, and so rejects every value.
                assert_ne!(format, Some("uint64"), "use an `i64` with a minimum of 0 instead of a `u64`");
                let (min, max) = integer_range(format.unwrap_or_default());
                Rule::Integer(
                    schema.minimum.map_or(min, |bound| min.max(bound.ceil() as i64)),
                    schema.maximum.map_or(max, |bound| max.min(bound.floor() as i64)),
                )
            }
            ("number", _) => Rule::Number(
                schema.minimum.unwrap_or(f64::MIN),
                schema.maximum.unwrap_or(f64::MAX),
                schema.multiple_of.is_some(),
            ),
            ("boolean", _) => Rule::Boolean,
            ("string", Some("uuid")) => Rule::Uuid,
            ("string", Some("date")) => Rule::Day,
            ("string", Some("date-time")) => Rule::Time(regex(schema.pattern.as_deref().unwrap_or_default())),
            ("string", Some(FILTER_FORMAT)) => Rule::Text(0, usize::MAX, None),
            ("string", _) => {
                let pattern = schema.pattern.as_deref().map(regex);
                Rule::Text(schema.min_length.unwrap_or(0), schema.max_length.unwrap_or(usize::MAX), pattern)
            }
            _ => Rule::Any,
        }
    }

    /// Derives the rule for the elements of an array. The framework puts the bounds of scalars on their array.
    fn of_items(schema: &MetaSchema, registry: &Registry) -> Rule {
        let Some(items) = schema.items.as_deref() else { return Rule::Any };
        let items = resolve_schema(items, registry);
        let is_scalar = matches!(items.ty, "string" | "integer" | "number" | "boolean");
        Rule::of_schema(&if is_scalar { merge_schemas(items, schema) } else { items }, registry)
    }

    fn object(schema: &MetaSchema, registry: &Registry) -> Rule {
        let field = |(name, field_schema): &(&'static str, MetaSchemaRef)| {
            let is_required = schema.required.contains(name);
            let resolved = resolve_schema(field_schema, registry);
            let is_omittable =
                resolved.title.as_deref() == Some(OMITTABLE_MARK) || resolved.default.is_some();
            Field {
                name,
                is_required,
                is_nullable: !is_required && !is_omittable,
                rule: Rule::from_schema(field_schema, registry),
            }
        };
        Rule::Object(schema.properties.iter().map(field).collect())
    }

    /// Returns the fields of an object; none for any other value.
    pub fn fields(&self) -> &[Field] {
        if let Rule::Object(fields) = self { fields } else { &[] }
    }

    /// Converts the text of a parameter to JSON, or returns the first thing that is wrong with it.
    pub fn parse_text(&self, text: &str) -> Result<Value, Fault> {
        let unparsable = |kind| Err((kind, self.type_fault().1));
        match self {
            Rule::Integer(min, max) => match parse_integer(text) {
                Some(integer) => check_integer(integer, *min, *max).map(Value::from),
                None => unparsable("int_parsing"),
            },
            Rule::Number(min, max, is_money) => match text.parse::<f64>() {
                Ok(number) if number.is_finite() => {
                    first_fault(check_number(number, *min, *max, *is_money)).map(|()| Value::from(number))
                }
                _ => unparsable("float_parsing"),
            },
            // Some languages write their truth values in upper case.
            Rule::Boolean => match text.to_ascii_lowercase().as_str() {
                "true" | "1" => Ok(Value::Bool(true)),
                "false" | "0" => Ok(Value::Bool(false)),
                _ => unparsable("bool_parsing"),
            },
            _ => first_fault(self.check_text(text)).map(|()| Value::from(text)),
        }
    }

    /// Returns everything that is wrong with a string.
    pub fn check_text(&self, text: &str) -> Vec<Fault> {
        match self {
            Rule::Any => Vec::new(),
            Rule::Text(min, max, pattern) => check_text(text, *min, *max, pattern.as_ref()),
            Rule::Uuid if Uuid::try_parse(text).is_ok() => Vec::new(),
            Rule::Uuid => vec![("uuid_parsing", "must be a UUID".to_owned())],
            Rule::Day if Day::parse(text).is_some() => Vec::new(),
            Rule::Day => vec![("date_parsing", "must be a date in the form YYYY-MM-DD".to_owned())],
            Rule::Time(pattern) if pattern.is_match(text) && Timestamp::parse(text).is_some() => Vec::new(),
            Rule::Time(_) => {
                let message = "must be a time in RFC 3339 format, such as 2026-03-01T09:00:00Z".to_owned();
                vec![("datetime_parsing", message)]
            }
            Rule::OneOf(values) if values.iter().any(|value| value == text) => Vec::new(),
            _ => vec![self.type_fault()],
        }
    }

    /// Returns everything that is wrong with a number, a truth value, or null. Integers that are written with
    /// a decimal point, such as `7.0`, are replaced by plain integers.
    pub(super) fn check_scalar(&self, value: &mut Value) -> Vec<Fault> {
        match (self, &*value) {
            (Rule::Any, _) | (Rule::Boolean, Value::Bool(_)) => Vec::new(),
            (Rule::Integer(min, max), Value::Number(_)) => match as_integer(value) {
                None => vec![self.type_fault()],
                Some(integer) => match check_integer(integer, *min, *max) {
                    Ok(integer) => {
                        *value = Value::from(integer);
                        Vec::new()
                    }
                    Err(fault) => vec![fault],
                },
            },
            (Rule::Number(min, max, is_money), Value::Number(number)) => {
                number.as_f64().map_or_else(Vec::new, |number| check_number(number, *min, *max, *is_money))
            }
            _ => vec![self.type_fault()],
        }
    }

    /// Returns the problem with a value of another JSON type.
    pub(super) fn type_fault(&self) -> Fault {
        match self {
            Rule::Object(_) | Rule::Map(..) => ("dict_type", "must be an object".to_owned()),
            Rule::Array(..) => ("list_type", "must be an array".to_owned()),
            Rule::OneOf(values) => ("enum", format!("must be one of {}", values.join(", "))),
            Rule::Text(..) | Rule::Uuid | Rule::Day | Rule::Time(_) => {
                ("string_type", "must be a string".to_owned())
            }
            Rule::Integer(..) => ("int_type", "must be an integer".to_owned()),
            Rule::Number(..) => ("float_type", "must be a number".to_owned()),
            Rule::Boolean => ("bool_type", "must be true or false".to_owned()),
            Rule::Any => ("value_error", "is invalid".to_owned()),
        }
    }
}

fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a pattern is well-formed")
}

fn check_text(text: &str, min: usize, max: usize, pattern: Option<&Regex>) -> Vec<Fault> {
    let length = text.chars().take(max.saturating_add(1)).count();
    if length < min {
        // A text that is too short to match needs no other explanation.
        return vec![("string_too_short", format!("must have a length of at least {min}"))];
    }
    let mut faults = Vec::new();
    if length > max {
        faults.push(("string_too_long", format!("must have at most {max} characters")));
    }
    if let Some(pattern) = pattern.filter(|pattern| !pattern.is_match(text)) {
        faults.push(("string_pattern_mismatch", patterns::describe_pattern(pattern.as_str())));
    }
    faults
}

fn first_fault(faults: Vec<Fault>) -> Result<(), Fault> {
    faults.into_iter().next().map_or(Ok(()), Err)
}

/// Parses an integer in JSON notation. A value beyond `i128` saturates.
fn parse_integer(text: &str) -> Option<i128> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_integer = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let saturated = if digits.len() == text.len() { i128::MAX } else { i128::MIN };
    is_integer.then(|| text.parse().unwrap_or(saturated))
}

fn check_integer(integer: i128, min: i64, max: i64) -> Result<i64, Fault> {
    match i64::try_from(integer) {
        Ok(integer) if (min..=max).contains(&integer) => Ok(integer),
        _ if integer < i128::from(min) => Err(too_small(min)),
        _ => Err(too_large(max)),
    }
}

fn check_number(number: f64, min: f64, max: f64, is_money: bool) -> Vec<Fault> {
    let mut faults = Vec::new();
    if number < min {
        faults.push(too_small(min));
    }
    if number > max {
        faults.push(too_large(max));
    }
    // Cents are exact only in the range of amounts, so a large amount is just too large.
    if is_money && number.abs() <= max && Cents::from_dollars(number).is_none() {
        faults.push(("multiple_of", "must have at most two decimal places".to_owned()));
    }
    faults
}

/// Returns the value of a number that has no fraction.
fn as_integer(value: &Value) -> Option<i128> {
    if let Some(integer) = value.as_i64() {
        return Some(integer.into());
    }
    if let Some(integer) = value.as_u64() {
        return Some(integer.into());
    }
    // `as` saturates, and the values at which it saturates exceed all bounds.
    value.as_f64().filter(|number| number.fract() == 0.0).map(|number| number as i128)
}

fn too_small(min: impl std::fmt::Display) -> Fault {
    ("greater_than_equal", format!("must be at least {min}"))
}

fn too_large(max: impl std::fmt::Display) -> Fault {
    ("less_than_equal", format!("must be at most {max}"))
}
