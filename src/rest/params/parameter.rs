//! One query parameter: its constraints, derived from a schema, and the parsing of its values.

use std::sync::Arc;

use poem_openapi::registry::{MetaSchema, MetaSchemaRef, Registry};
use serde_json::Value;

use crate::rest::{
    request_body::Rule,
    resolved_schemas::{integer_range, merge_schemas, resolve_schema},
};

/// The type of a problem (pydantic's name, if it has one) and its message.
pub type KindAndMessage = (&'static str, String);

/// A query parameter and its constraints.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Name in the query string.
    pub name: &'static str,
    /// Whether the parameter accepts several values, by repetition.
    pub is_array: bool,
    is_required: bool,
    max_items: Option<usize>,
    kind: Kind,
}

/// The type and the bounds of a value.
#[derive(Clone, Debug)]
enum Kind {
    /// A string, with the rule that it has in a body, too.
    Text(Arc<Rule>),
    /// An integer, with its minimum and maximum.
    Integer(i64, i64),
    /// A finite number, with its minimum and maximum.
    Number(f64, f64),
    Boolean,
}

impl Parameter {
    /// Derives a parameter from the schema of its field.
    pub fn from_schema(
        name: &'static str,
        is_required: bool,
        schema: &MetaSchemaRef,
        registry: &Registry,
    ) -> Parameter {
        let schema = resolve_schema(schema, registry);
        let is_array = schema.ty == "array";
        let item = match &schema.items {
            Some(items) if is_array => merge_schemas(resolve_schema(items, registry), &schema),
            _ => schema.clone(),
        };
        // The framework converts the maximum of a `u64` to a negative number, and so rejects every value.
        assert_ne!(
            item.format,
            Some("uint64"),
            "the parameter {name} is a `u64`; use an `i64` with a minimum of 0"
        );
        Parameter {
            name,
            is_array,
            is_required,
            max_items: schema.max_items,
            kind: Kind::from_schema(&item, registry),
        }
    }

    /// Converts the text of one value to JSON.
    pub fn parse_value(&self, text: &str) -> Result<Value, KindAndMessage> {
        let name = self.name;
        match &self.kind {
            Kind::Text(rule) => match rule.check_text(text).into_iter().next() {
                Some((kind, predicate)) => Err((kind, format!("`{name}` {predicate}."))),
                None => Ok(Value::from(text)),
            },
            Kind::Integer(min, max) => {
                let integer = parse_integer(text)
                    .ok_or_else(|| ("int_parsing", format!("`{name}` must be an integer.")))?;
                match i64::try_from(integer) {
                    Ok(integer) if integer >= *min && integer <= *max => Ok(Value::from(integer)),
                    _ if integer < i128::from(*min) => Err(too_small(name, min)),
                    _ => Err(too_large(name, max)),
                }
            }
            Kind::Number(min, max) => match text.parse::<f64>() {
                Ok(number) if number < *min && number.is_finite() => Err(too_small(name, min)),
                Ok(number) if number > *max && number.is_finite() => Err(too_large(name, max)),
                Ok(number) if number.is_finite() => Ok(Value::from(number)),
                _ => Err(("float_parsing", format!("`{name}` must be a number."))),
            },
            // Some languages write their truth values in upper case.
            Kind::Boolean => match text.to_ascii_lowercase().as_str() {
                "true" | "1" => Ok(Value::Bool(true)),
                "false" | "0" => Ok(Value::Bool(false)),
                _ => Err(("bool_parsing", format!("`{name}` must be true or false."))),
            },
        }
    }

    /// Checks the number of values that were sent. Returns the problem with it, if any.
    pub fn check_count(&self, count: usize) -> Option<KindAndMessage> {
        let name = self.name;
        match self.max_items {
            _ if self.is_required && count == 0 => Some(("missing", format!("`{name}` is required."))),
            Some(max) if count > max => {
                Some(("too_long", format!("`{name}` must have at most {max} values.")))
            }
            _ => None,
        }
    }
}

impl Kind {
    fn from_schema(schema: &MetaSchema, registry: &Registry) -> Kind {
        match (schema.ty, schema.format) {
            ("integer", format) => {
                let (min, max) = integer_range(format.unwrap_or_default());
                Kind::Integer(
                    schema.minimum.map_or(min, |bound| min.max(bound.ceil() as i64)),
                    schema.maximum.map_or(max, |bound| max.min(bound.floor() as i64)),
                )
            }
            ("number", _) => {
                Kind::Number(schema.minimum.unwrap_or(f64::MIN), schema.maximum.unwrap_or(f64::MAX))
            }
            ("boolean", _) => Kind::Boolean,
            _ => Kind::Text(Arc::new(Rule::of_schema(schema, registry))),
        }
    }
}

/// Parses an integer in JSON notation. A value beyond `i128` saturates.
fn parse_integer(text: &str) -> Option<i128> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_integer = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let saturated = if digits.len() == text.len() { i128::MAX } else { i128::MIN };
    is_integer.then(|| text.parse().unwrap_or(saturated))
}

fn too_small(name: &str, min: impl std::fmt::Display) -> KindAndMessage {
    ("greater_than_equal", format!("`{name}` must be at least {min}."))
}

fn too_large(name: &str, max: impl std::fmt::Display) -> KindAndMessage {
    ("less_than_equal", format!("`{name}` must be at most {max}."))
}
