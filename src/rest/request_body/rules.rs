//! Validation rules for JSON bodies, derived from schemas.

use poem_openapi::registry::{MetaSchema, MetaSchemaRef, Registry};
use regex::Regex;
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::{
    domain::{money::Cents, time::Day},
    error::{LocSegment, Problem},
    rest::{
        params::{integer_range, resolve_schema},
        patterns,
        schema_marks::{FILTER_FORMAT, OMITTABLE_MARK},
        unknown_names,
    },
};

/// Maximum number of problems in one response.
const MAX_PROBLEMS: usize = 100;

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
    /// One of these strings.
    OneOf(Vec<String>),
}

/// A field of an object, with its rule.
#[derive(Debug)]
pub struct Field {
    name: &'static str,
    is_required: bool,
    is_nullable: bool,
    rule: Rule,
}

/// The path from the body to a value, for the location of problems.
type FieldPath = Vec<LocSegment>;

impl Rule {
    /// Derives the rule from a schema.
    pub fn from_schema(schema: &MetaSchemaRef, registry: &Registry) -> Rule {
        let schema = resolve_schema(schema, registry);
        if !schema.enum_items.is_empty() {
            return Rule::OneOf(
                schema.enum_items.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
            );
        }
        match (schema.ty, schema.format) {
            ("object", _) if !schema.properties.is_empty() => Rule::object(&schema, registry),
            ("object", _) => {
                let values = schema.additional_properties.as_deref();
                let rule = values.map_or(Rule::Any, |values| Rule::from_schema(values, registry));
                Rule::Map(Box::new(rule), schema.max_properties.unwrap_or(usize::MAX))
            }
            ("array", _) => {
                let items =
                    schema.items.as_deref().map_or(Rule::Any, |items| Rule::from_schema(items, registry));
                let (min, max) = (schema.min_items.unwrap_or(0), schema.max_items.unwrap_or(usize::MAX));
                Rule::Array(Box::new(items), min, max)
            }
            ("integer", format) => {
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
            ("string", Some(FILTER_FORMAT)) => Rule::Text(0, usize::MAX, None),
            ("string", _) => {
                let pattern = schema
                    .pattern
                    .as_deref()
                    .map(|pattern| Regex::new(pattern).expect("a pattern is well-formed"));
                Rule::Text(schema.min_length.unwrap_or(0), schema.max_length.unwrap_or(usize::MAX), pattern)
            }
            _ => Rule::Any,
        }
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

    /// Adds all problems with `value`, which is at `path`, to `problems`. Integers that are written with a
    /// decimal point, such as `7.0`, are replaced by plain integers.
    pub fn check(&self, value: &mut Value, path: &mut FieldPath, problems: &mut Vec<Problem>) {
        if problems.len() >= MAX_PROBLEMS {
            return;
        }
        if let Err((kind, predicate)) = self.check_value(value) {
            let msg = format!("{} {predicate}.", describe_path(path));
            return problems.push(Problem { loc: path.clone(), msg, kind });
        }
        match (self, value) {
            (Rule::Object(fields), Value::Object(map)) => check_fields(fields, map, path, problems),
            (Rule::Map(rule, _), Value::Object(map)) => {
                for (name, value) in map {
                    with_step(path, LocSegment::Name(name.clone()), |path| rule.check(value, path, problems));
                }
            }
            (Rule::Array(rule, ..), Value::Array(values)) => {
                for (index, value) in values.iter_mut().enumerate() {
                    with_step(path, LocSegment::Index(index), |path| rule.check(value, path, problems));
                }
            }
            _ => {}
        }
    }

    /// Checks a value itself, but not its fields or elements. The error is the problem's type (pydantic's
    /// name, if it has one) and a predicate for the message, such as "must be an integer".
    fn check_value(&self, value: &mut Value) -> Result<(), (&'static str, String)> {
        let integer = if let Rule::Integer(..) = self { as_integer(value) } else { None };
        match (self, &*value) {
            (Rule::Map(_, max), Value::Object(map)) if map.len() > *max => {
                Err(("too_long", format!("must have at most {max} entries")))
            }
            (Rule::Any, _)
            | (Rule::Boolean, Value::Bool(_))
            | (Rule::Object(_) | Rule::Map(..), Value::Object(_)) => Ok(()),
            (Rule::Object(_) | Rule::Map(..), _) => Err(("dict_type", "must be an object".to_owned())),
            (Rule::Array(_, min, max), Value::Array(values)) => match values.len() {
                length if length > *max => Err(("too_long", format!("must have at most {max} elements"))),
                length if length < *min => {
                    Err(("too_short", format!("must have a length of at least {min}")))
                }
                _ => Ok(()),
            },
            (Rule::Array(..), _) => Err(("list_type", "must be an array".to_owned())),
            (Rule::Text(min, max, pattern), Value::String(text)) => {
                check_text(text, *min, *max, pattern.as_ref())
            }
            (Rule::Uuid, Value::String(text)) if Uuid::try_parse(text).is_ok() => Ok(()),
            (Rule::Uuid, Value::String(_)) => Err(("uuid_parsing", "must be a UUID".to_owned())),
            (Rule::Day, Value::String(text)) if Day::parse(text).is_some() => Ok(()),
            (Rule::Day, Value::String(_)) => {
                Err(("date_parsing", "must be a date in the form YYYY-MM-DD".to_owned()))
            }
            (Rule::OneOf(values), Value::String(text)) if values.contains(text) => Ok(()),
            (Rule::OneOf(values), _) => Err(("enum", format!("must be one of {}", values.join(", ")))),
            (Rule::Text(..) | Rule::Uuid | Rule::Day, _) => {
                Err(("string_type", "must be a string".to_owned()))
            }
            (Rule::Integer(min, max), Value::Number(_)) => {
                let integer = integer.ok_or_else(|| ("int_type", "must be an integer".to_owned()))?;
                if integer < i128::from(*min) {
                    return Err(too_small(min));
                }
                if integer > i128::from(*max) {
                    return Err(too_large(max));
                }
                *value = Value::from(integer as i64);
                Ok(())
            }
            (Rule::Integer(..), _) => Err(("int_type", "must be an integer".to_owned())),
            (Rule::Number(min, max, is_money), Value::Number(number)) => match number.as_f64() {
                Some(number) if number < *min => Err(too_small(min)),
                Some(number) if number > *max => Err(too_large(max)),
                Some(number) if *is_money && Cents::from_dollars(number).is_none() => {
                    Err(("multiple_of", "must have at most two decimal places".to_owned()))
                }
                _ => Ok(()),
            },
            (Rule::Number(..), _) => Err(("float_type", "must be a number".to_owned())),
            (Rule::Boolean, _) => Err(("bool_type", "must be true or false".to_owned())),
        }
    }
}

fn check_fields(
    fields: &[Field],
    map: &mut Map<String, Value>,
    path: &mut FieldPath,
    problems: &mut Vec<Problem>,
) {
    for name in map.keys().filter(|name| fields.iter().all(|field| field.name != name.as_str())) {
        let truncated = unknown_names::truncate_name(name);
        let msg =
            unknown_names::unknown_name_message("field", &truncated, fields.iter().map(|field| field.name));
        with_step(path, LocSegment::Name(truncated), |path| {
            problems.push(Problem { loc: path.clone(), msg, kind: "extra_forbidden" });
        });
    }
    for field in fields {
        with_step(path, LocSegment::Name(field.name.to_owned()), |path| match map.get_mut(field.name) {
            None if field.is_required => {
                let msg = format!("{} is required.", describe_path(path));
                problems.push(Problem { loc: path.clone(), msg, kind: "missing" });
            }
            Some(Value::Null) if field.is_nullable => {}
            Some(value) => field.rule.check(value, path, problems),
            None => {}
        });
    }
}

fn check_text(
    text: &str,
    min: usize,
    max: usize,
    pattern: Option<&Regex>,
) -> Result<(), (&'static str, String)> {
    match text.chars().count() {
        length if length > max => Err(("string_too_long", format!("must have at most {max} characters"))),
        length if length < min => Err(("string_too_short", format!("must have a length of at least {min}"))),
        _ => match pattern {
            Some(pattern) if !pattern.is_match(text) => {
                Err(("string_pattern_mismatch", patterns::describe_pattern(pattern.as_str())))
            }
            _ => Ok(()),
        },
    }
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

fn too_small(min: impl std::fmt::Display) -> (&'static str, String) {
    ("greater_than_equal", format!("must be at least {min}"))
}

fn too_large(max: impl std::fmt::Display) -> (&'static str, String) {
    ("less_than_equal", format!("must be at most {max}"))
}

/// Calls `act` with the path extended by one step, then restores the path.
fn with_step(path: &mut FieldPath, step: LocSegment, act: impl FnOnce(&mut FieldPath)) {
    path.push(step);
    act(path);
    path.pop();
}

/// Formats the path to a value for a message, such as `` `parts[0].id` ``.
fn describe_path(path: &[LocSegment]) -> String {
    let mut text = String::new();
    for step in path.iter().skip(1) {
        match step {
            LocSegment::Name(name) if text.is_empty() => text.push_str(&unknown_names::truncate_name(name)),
            LocSegment::Name(name) => text.extend([".", &unknown_names::truncate_name(name)]),
            LocSegment::Index(index) => text.extend(["[", &index.to_string(), "]"]),
        }
    }
    if text.is_empty() { "The body".to_owned() } else { format!("`{text}`") }
}
