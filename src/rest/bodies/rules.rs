//! What a body takes, read from a schema, and holding a body against it.

use poem_openapi::registry::{MetaSchema, MetaSchemaRef, Registry};
use regex::Regex;
use serde_json::{Map, Value};
use uuid::Uuid;

use super::GIVEN;
use crate::{
    domain::{money::Cents, time::Day},
    error::{Problem, Step},
    rest::{
        filter_entries, names,
        params::{range, resolve},
    },
};

/// Problems that one answer tells at most.
const MAX_PROBLEMS: usize = 100;

/// What a value takes.
#[derive(Debug)]
pub enum Rule {
    /// Anything.
    Any,
    /// These fields and no others.
    Object(Vec<Field>),
    /// Any names, and this for each; so many at most.
    Map(Box<Rule>, usize),
    /// This for each element; so many at least and at most.
    Array(Box<Rule>, usize, usize),
    /// Characters, so many at least and at most, of a form.
    Text(usize, usize, Option<Regex>),
    /// A whole number from one to another.
    Integer(i64, i64),
    /// A number from one to another; `true` where it is an amount of money in whole cents.
    Number(f64, f64, bool),
    /// True or false.
    Boolean,
    /// A UUID.
    Uuid,
    /// A day of the calendar.
    Day,
    /// One of these.
    Words(Vec<String>),
}

/// A field of an object.
#[derive(Debug)]
pub struct Field {
    name: &'static str,
    is_required: bool,
    is_nullable: bool,
    rule: Rule,
}

/// The way to a value, for problems with it.
type Way = Vec<Step>;

impl Rule {
    /// What a schema says.
    pub fn of(schema: &MetaSchemaRef, registry: &Registry) -> Rule {
        let schema = resolve(schema, registry);
        if !schema.enum_items.is_empty() {
            return Rule::Words(
                schema.enum_items.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
            );
        }
        match (schema.ty, schema.format) {
            ("object", _) if !schema.properties.is_empty() => Rule::object(&schema, registry),
            ("object", _) => {
                let values = schema.additional_properties.as_deref();
                let rule = values.map_or(Rule::Any, |values| Rule::of(values, registry));
                Rule::Map(Box::new(rule), schema.max_properties.unwrap_or(usize::MAX))
            }
            ("array", _) => {
                let items = schema.items.as_deref().map_or(Rule::Any, |items| Rule::of(items, registry));
                let (least, most) = (schema.min_items.unwrap_or(0), schema.max_items.unwrap_or(usize::MAX));
                Rule::Array(Box::new(items), least, most)
            }
            ("integer", format) => {
                let (least, most) = range(format.unwrap_or_default());
                Rule::Integer(
                    schema.minimum.map_or(least, |bound| least.max(bound.ceil() as i64)),
                    schema.maximum.map_or(most, |bound| most.min(bound.floor() as i64)),
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
            ("string", Some(filter_entries::FORMAT)) => Rule::Text(0, usize::MAX, None),
            ("string", _) => {
                let form =
                    schema.pattern.as_deref().map(|form| Regex::new(form).expect("a pattern is well-formed"));
                Rule::Text(schema.min_length.unwrap_or(0), schema.max_length.unwrap_or(usize::MAX), form)
            }
            _ => Rule::Any,
        }
    }

    fn object(schema: &MetaSchema, registry: &Registry) -> Rule {
        let field = |(name, of): &(&'static str, MetaSchemaRef)| {
            let is_required = schema.required.contains(name);
            let resolved = resolve(of, registry);
            let is_given = resolved.title.as_deref() == Some(GIVEN) || resolved.default.is_some();
            Field { name, is_required, is_nullable: !is_required && !is_given, rule: Rule::of(of, registry) }
        };
        Rule::Object(schema.properties.iter().map(field).collect())
    }

    /// Adds everything that is wrong with a value, which stands at the end of `way`. Whole numbers that are written with a
    /// point are written without it afterwards.
    pub fn check(&self, value: &mut Value, way: &mut Way, problems: &mut Vec<Problem>) {
        if problems.len() >= MAX_PROBLEMS {
            return;
        }
        if let Err((kind, what)) = self.check_shallowly(value) {
            let msg = format!("{} {what}.", place(way));
            return problems.push(Problem { loc: way.clone(), msg, kind });
        }
        match (self, value) {
            (Rule::Object(fields), Value::Object(map)) => check_fields(fields, map, way, problems),
            (Rule::Map(rule, _), Value::Object(map)) => {
                for (name, value) in map {
                    behind(way, Step::Name(name.clone()), |way| rule.check(value, way, problems));
                }
            }
            (Rule::Array(rule, ..), Value::Array(values)) => {
                for (index, value) in values.iter_mut().enumerate() {
                    behind(way, Step::Index(index), |way| rule.check(value, way, problems));
                }
            }
            _ => {}
        }
    }

    /// What is wrong with a value itself, and not with what is in it: its type, in pydantic's words where it has one, and
    /// what would be right.
    fn check_shallowly(&self, value: &mut Value) -> Result<(), (&'static str, String)> {
        let whole = if let Rule::Integer(..) = self { whole(value) } else { None };
        match (self, &*value) {
            (Rule::Map(_, most), Value::Object(map)) if map.len() > *most => {
                Err(("too_long", format!("takes at most {most} names")))
            }
            (Rule::Any, _)
            | (Rule::Boolean, Value::Bool(_))
            | (Rule::Object(_) | Rule::Map(..), Value::Object(_)) => Ok(()),
            (Rule::Object(_) | Rule::Map(..), _) => Err(("dict_type", "is an object".to_owned())),
            (Rule::Array(_, least, most), Value::Array(values)) => match values.len() {
                length if length > *most => Err(("too_long", format!("takes at most {most} elements"))),
                length if length < *least => Err(("too_short", format!("takes at least {least} elements"))),
                _ => Ok(()),
            },
            (Rule::Array(..), _) => Err(("list_type", "is an array".to_owned())),
            (Rule::Text(least, most, form), Value::String(text)) => {
                check_text(text, *least, *most, form.as_ref())
            }
            (Rule::Uuid, Value::String(text)) if Uuid::try_parse(text).is_ok() => Ok(()),
            (Rule::Uuid, Value::String(_)) => Err(("uuid_parsing", "is a UUID".to_owned())),
            (Rule::Day, Value::String(text)) if Day::parse(text).is_some() => Ok(()),
            (Rule::Day, Value::String(_)) => Err(("date_parsing", "is a day, written YYYY-MM-DD".to_owned())),
            (Rule::Words(words), Value::String(text)) if words.contains(text) => Ok(()),
            (Rule::Words(words), _) => Err(("enum", format!("is one of {}", words.join(", ")))),
            (Rule::Text(..) | Rule::Uuid | Rule::Day, _) => Err(("string_type", "is a text".to_owned())),
            (Rule::Integer(least, most), Value::Number(_)) => {
                let whole = whole.ok_or_else(|| ("int_type", "is a whole number".to_owned()))?;
                if whole < i128::from(*least) {
                    return Err(too_small(least));
                }
                if whole > i128::from(*most) {
                    return Err(too_large(most));
                }
                *value = Value::from(whole as i64);
                Ok(())
            }
            (Rule::Integer(..), _) => Err(("int_type", "is a whole number".to_owned())),
            (Rule::Number(least, most, is_money), Value::Number(number)) => match number.as_f64() {
                Some(number) if number < *least => Err(too_small(least)),
                Some(number) if number > *most => Err(too_large(most)),
                Some(number) if *is_money && Cents::from_dollars(number).is_none() => {
                    Err(("multiple_of", "has at most two decimals".to_owned()))
                }
                _ => Ok(()),
            },
            (Rule::Number(..), _) => Err(("float_type", "is a number".to_owned())),
            (Rule::Boolean, _) => Err(("bool_type", "is true or false".to_owned())),
        }
    }
}

fn check_fields(fields: &[Field], map: &mut Map<String, Value>, way: &mut Way, problems: &mut Vec<Problem>) {
    for name in map.keys().filter(|name| fields.iter().all(|field| field.name != name.as_str())) {
        let shown = names::shown(name);
        let msg = names::unknown("field", &shown, fields.iter().map(|field| field.name));
        behind(way, Step::Name(shown), |way| {
            problems.push(Problem { loc: way.clone(), msg, kind: "extra_forbidden" });
        });
    }
    for field in fields {
        behind(way, Step::Name(field.name.to_owned()), |way| match map.get_mut(field.name) {
            None if field.is_required => {
                let msg = format!("{} is required.", place(way));
                problems.push(Problem { loc: way.clone(), msg, kind: "missing" });
            }
            Some(Value::Null) if field.is_nullable => {}
            Some(value) => field.rule.check(value, way, problems),
            None => {}
        });
    }
}

fn check_text(
    text: &str,
    least: usize,
    most: usize,
    form: Option<&Regex>,
) -> Result<(), (&'static str, String)> {
    match text.chars().count() {
        length if length > most => Err(("string_too_long", format!("takes at most {most} characters"))),
        length if length < least => Err(("string_too_short", format!("takes at least {least} characters"))),
        _ => match form {
            Some(form) if !form.is_match(text) => {
                Err(("string_pattern_mismatch", super::super::shapes::texts::form_in_words(form.as_str())))
            }
            _ => Ok(()),
        },
    }
}

/// A number without a part behind the point.
fn whole(value: &Value) -> Option<i128> {
    if let Some(whole) = value.as_i64() {
        return Some(whole.into());
    }
    if let Some(whole) = value.as_u64() {
        return Some(whole.into());
    }
    // `as` saturates, and what it saturates to is beyond every bound.
    value.as_f64().filter(|number| number.fract() == 0.0).map(|number| number as i128)
}

fn too_small(least: impl std::fmt::Display) -> (&'static str, String) {
    ("greater_than_equal", format!("is at least {least}"))
}

fn too_large(most: impl std::fmt::Display) -> (&'static str, String) {
    ("less_than_equal", format!("is at most {most}"))
}

/// Does something with the way one step further on.
fn behind(way: &mut Way, step: Step, act: impl FnOnce(&mut Way)) {
    way.push(step);
    act(way);
    way.pop();
}

/// The way to a value, in words.
fn place(way: &[Step]) -> String {
    let mut text = String::new();
    for step in way.iter().skip(1) {
        match step {
            Step::Name(name) if text.is_empty() => text.push_str(&names::shown(name)),
            Step::Name(name) => text.extend([".", &names::shown(name)]),
            Step::Index(index) => text.extend(["[", &index.to_string(), "]"]),
        }
    }
    if text.is_empty() { "The body".to_owned() } else { format!("`{text}`") }
}
