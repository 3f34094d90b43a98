//! One query parameter: what its schema says that it takes, and reading a value by that.

use poem_openapi::registry::{MetaSchema, MetaSchemaRef, Registry};
use serde_json::Value;
use uuid::Uuid;

/// The type of a fault, in pydantic's words where it has one, and its message.
pub type Fault = (&'static str, String);

/// What a parameter takes.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// Whether it takes several values, by repetition.
    pub is_array: bool,
    is_required: bool,
    max_items: Option<usize>,
    kind: Kind,
}

/// What one value is.
#[derive(Clone, Debug)]
enum Kind {
    /// Characters, so many at least and at most.
    Text(usize, usize),
    /// A whole number from one to another.
    Integer(i64, i64),
    /// A number from one to another.
    Number(f64, f64),
    Boolean,
    Uuid,
    Words(Vec<String>),
}

impl Parameter {
    /// What the schema of a field says.
    pub fn of(
        name: &'static str,
        is_required: bool,
        schema: &MetaSchemaRef,
        registry: &Registry,
    ) -> Parameter {
        let schema = resolve(schema, registry);
        let is_array = schema.ty == "array";
        let item = match &schema.items {
            Some(items) if is_array => within(resolve(items, registry), &schema),
            _ => schema.clone(),
        };
        // Its JSON is never read: the framework compares with a maximum that has turned negative.
        assert_ne!(
            item.format,
            Some("uint64"),
            "the parameter {name} is a `u64`; make it an `i64` of 0 or more"
        );
        Parameter { name, is_array, is_required, max_items: schema.max_items, kind: Kind::of(&item) }
    }

    /// The JSON value that a text stands for.
    pub fn coerce(&self, text: &str) -> Result<Value, Fault> {
        let name = self.name;
        match &self.kind {
            Kind::Text(least, most) => match text.chars().count() {
                length if length > *most => {
                    Err(("string_too_long", format!("`{name}` takes at most {most} characters.")))
                }
                length if length < *least => {
                    Err(("string_too_short", format!("`{name}` takes at least {least} characters.")))
                }
                _ => Ok(Value::from(text)),
            },
            Kind::Integer(least, most) => {
                let whole =
                    whole(text).ok_or_else(|| ("int_parsing", format!("`{name}` is a whole number.")))?;
                match i64::try_from(whole) {
                    Ok(whole) if whole >= *least && whole <= *most => Ok(Value::from(whole)),
                    _ if whole < i128::from(*least) => Err(too_small(name, least)),
                    _ => Err(too_large(name, most)),
                }
            }
            Kind::Number(least, most) => match text.parse::<f64>() {
                Ok(number) if number < *least && number.is_finite() => Err(too_small(name, least)),
                Ok(number) if number > *most && number.is_finite() => Err(too_large(name, most)),
                Ok(number) if number.is_finite() => Ok(Value::from(number)),
                _ => Err(("float_parsing", format!("`{name}` is a number."))),
            },
            Kind::Boolean => match text {
                "true" | "1" => Ok(Value::Bool(true)),
                "false" | "0" => Ok(Value::Bool(false)),
                _ => Err(("bool_parsing", format!("`{name}` is true or false."))),
            },
            Kind::Uuid => match Uuid::try_parse(text) {
                Ok(id) => Ok(Value::from(id.to_string())),
                Err(_) => Err(("uuid_parsing", format!("`{name}` is a UUID."))),
            },
            Kind::Words(words) if words.iter().any(|word| word == text) => Ok(Value::from(text)),
            Kind::Words(words) => Err(("enum", format!("`{name}` is one of {}.", words.join(", ")))),
        }
    }

    /// What is wrong with so many values.
    pub fn check_count(&self, count: usize) -> Option<Fault> {
        let name = self.name;
        match self.max_items {
            _ if self.is_required && count == 0 => Some(("missing", format!("`{name}` is required."))),
            Some(most) if count > most => {
                Some(("too_long", format!("`{name}` takes at most {most} values.")))
            }
            _ => None,
        }
    }
}

impl Kind {
    fn of(schema: &MetaSchema) -> Kind {
        match (schema.ty, schema.format) {
            _ if !schema.enum_items.is_empty() => {
                Kind::Words(schema.enum_items.iter().filter_map(Value::as_str).map(str::to_owned).collect())
            }
            ("integer", format) => {
                let (least, most) = range(format.unwrap_or_default());
                Kind::Integer(
                    schema.minimum.map_or(least, |bound| least.max(bound.ceil() as i64)),
                    schema.maximum.map_or(most, |bound| most.min(bound.floor() as i64)),
                )
            }
            ("number", _) => {
                Kind::Number(schema.minimum.unwrap_or(f64::MIN), schema.maximum.unwrap_or(f64::MAX))
            }
            ("boolean", _) => Kind::Boolean,
            (_, Some("uuid")) => Kind::Uuid,
            _ => Kind::Text(schema.min_length.unwrap_or(0), schema.max_length.unwrap_or(usize::MAX)),
        }
    }
}

/// The whole numbers of a format. None reaches beyond `i64`, which is what the database holds.
pub fn range(format: &str) -> (i64, i64) {
    match format {
        "int8" => (i8::MIN.into(), i8::MAX.into()),
        "int16" => (i16::MIN.into(), i16::MAX.into()),
        "int32" => (i32::MIN.into(), i32::MAX.into()),
        "uint8" => (0, u8::MAX.into()),
        "uint16" => (0, u16::MAX.into()),
        "uint32" => (0, u32::MAX.into()),
        "uint64" => (0, i64::MAX),
        _ => (i64::MIN, i64::MAX),
    }
}

/// A whole number as JSON writes it, however long.
fn whole(text: &str) -> Option<i128> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_whole = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let beyond = if digits.len() == text.len() { i128::MAX } else { i128::MIN };
    is_whole.then(|| text.parse().unwrap_or(beyond))
}

fn too_small(name: &str, least: impl std::fmt::Display) -> Fault {
    ("greater_than_equal", format!("`{name}` is at least {least}."))
}

fn too_large(name: &str, most: impl std::fmt::Display) -> Fault {
    ("less_than_equal", format!("`{name}` is at most {most}."))
}

/// A schema with its references followed, as far as parameters have any.
pub fn resolve(schema: &MetaSchemaRef, registry: &Registry) -> MetaSchema {
    let schema = match schema {
        MetaSchemaRef::Inline(schema) => schema.as_ref().clone(),
        MetaSchemaRef::Reference(name) => registry.schemas.get(name).cloned().unwrap_or(MetaSchema::ANY),
    };
    let parts: Vec<MetaSchema> = schema.all_of.iter().map(|part| resolve(part, registry)).collect();
    parts.iter().fold(schema, within)
}

/// A schema, with what it leaves open taken from another one that goes for the same value. The framework puts the bounds
/// of an array's items on the array.
fn within(schema: MetaSchema, other: &MetaSchema) -> MetaSchema {
    MetaSchema {
        ty: if schema.ty.is_empty() { other.ty } else { schema.ty },
        format: schema.format.or(other.format),
        enum_items: if schema.enum_items.is_empty() { other.enum_items.clone() } else { schema.enum_items },
        minimum: schema.minimum.or(other.minimum),
        maximum: schema.maximum.or(other.maximum),
        min_length: schema.min_length.or(other.min_length),
        max_length: schema.max_length.or(other.max_length),
        pattern: schema.pattern.or_else(|| other.pattern.clone()),
        multiple_of: schema.multiple_of.or(other.multiple_of),
        items: schema.items.or_else(|| other.items.clone()),
        min_items: schema.min_items.or(other.min_items),
        max_items: schema.max_items.or(other.max_items),
        // Parts that were put together by flattening have fields of their own.
        properties: [schema.properties, other.properties.clone()].concat(),
        required: [schema.required, other.required.clone()].concat(),
        additional_properties: schema.additional_properties.or_else(|| other.additional_properties.clone()),
        max_properties: schema.max_properties.or(other.max_properties),
        ..schema
    }
}
