//! Query parameters as one struct: documented as real parameters, and read with every problem reported at once.
//!
//! The struct's schema is the only statement of what a parameter takes: its type, bounds, words and default are read from
//! there, once a struct, and the parser goes by them.

use std::{
    any::TypeId,
    borrow::Cow,
    collections::HashMap,
    sync::{Arc, OnceLock, PoisonError, RwLock},
};

use poem::{Request, RequestBody};
use poem_openapi::{
    ApiExtractor, ApiExtractorType, ExtractParamOptions,
    registry::{MetaParamIn, MetaSchema, MetaSchemaRef, Registry},
    types::{ParseFromJSON, Type},
};
use serde_json::{Map, Value};

use super::problem::Failure;
use crate::error::{Error, Problem};

/// What marks the schema of a whole struct, for `documents` to take apart.
pub const MARK: &str = "x-parameters";

/// Query parameters, read into a struct.
pub struct Params<T>(pub T);

impl<'a, T: Type + ParseFromJSON + 'static> ApiExtractor<'a> for Params<T> {
    const TYPES: &'static [ApiExtractorType] = &[ApiExtractorType::Parameter];

    type ParamType = T;
    type ParamRawType = T;

    fn register(registry: &mut Registry) {
        T::register(registry);
    }

    fn param_in() -> Option<MetaParamIn> {
        Some(MetaParamIn::Query)
    }

    fn param_schema_ref() -> Option<MetaSchemaRef> {
        let marked =
            MetaSchema { title: Some(MARK.to_owned()), all_of: vec![T::schema_ref()], ..MetaSchema::ANY };
        Some(MetaSchemaRef::Inline(Box::new(marked)))
    }

    async fn from_request(
        request: &'a Request,
        _: &mut RequestBody,
        _: ExtractParamOptions<T>,
    ) -> poem::Result<Self> {
        let parsed = table::<T>().read(request.uri().query().unwrap_or_default());
        let value = Value::Object(parsed.map_err(|problems| Failure(Error::Invalid(problems)))?);
        let read = T::parse_from_json(Some(value));
        // The table said that the values fit, so this is a fault of the struct and not of the caller.
        read.map(Params).map_err(|error| Failure(Error::internal(error.into_message())).into())
    }
}

/// No query parameters at all: any that is sent is refused.
#[derive(Debug, poem_openapi::Object)]
pub struct NoParams {}

/// What a parameter's value is.
#[derive(Clone, Debug, PartialEq)]
enum Kind {
    Text,
    Integer,
    Number,
    Boolean,
    Uuid,
    Words(Vec<String>),
}

/// What a parameter takes.
#[derive(Clone, Debug)]
struct Parameter {
    name: &'static str,
    kind: Kind,
    is_array: bool,
    minimum: Option<f64>,
    maximum: Option<f64>,
    max_length: Option<usize>,
    max_items: Option<usize>,
}

/// The parameters of a struct.
#[derive(Debug)]
struct Parameters(Vec<Parameter>);

/// The table of a struct, made once.
fn table<T: Type + 'static>() -> Arc<Parameters> {
    static TABLES: OnceLock<RwLock<HashMap<TypeId, Arc<Parameters>>>> = OnceLock::new();
    let tables = TABLES.get_or_init(RwLock::default);
    if let Some(table) = tables.read().unwrap_or_else(PoisonError::into_inner).get(&TypeId::of::<T>()) {
        return Arc::clone(table);
    }
    let made = Arc::new(Parameters::of::<T>());
    tables.write().unwrap_or_else(PoisonError::into_inner).insert(TypeId::of::<T>(), Arc::clone(&made));
    made
}

impl Parameters {
    fn of<T: Type>() -> Parameters {
        let mut registry = Registry::new();
        T::register(&mut registry);
        let schema = match T::schema_ref() {
            MetaSchemaRef::Inline(schema) => *schema,
            MetaSchemaRef::Reference(name) => registry.schemas.get(&name).cloned().unwrap_or(MetaSchema::ANY),
        };
        let properties = schema.properties.iter();
        Parameters(properties.map(|(name, schema)| Parameter::of(name, schema, &registry)).collect())
    }

    /// Reads a query string into the JSON object that the struct is made from, or tells everything that is wrong with it.
    fn read(&self, query: &str) -> Result<Map<String, Value>, Vec<Problem>> {
        let mut values = Map::new();
        let mut problems = Vec::new();
        for (name, text) in form_urlencoded::parse(query.as_bytes()) {
            let Some(parameter) = self.0.iter().find(|parameter| parameter.name == name) else {
                problems.push(self.unknown(&name));
                continue;
            };
            match parameter.coerce(&text) {
                Err((kind, msg)) => problems.push(Problem::query(&name, kind, msg)),
                Ok(value) if parameter.is_array => {
                    if let Value::Array(items) = values.entry(&*name).or_insert_with(|| Value::Array(Vec::new())) {
                        items.push(value);
                        if parameter.max_items.is_some_and(|most| items.len() == most + 1) {
                            let most = items.len() - 1;
                            let msg = format!("`{name}` takes at most {most} values.");
                            problems.push(Problem::query(&name, "too_long", msg));
                        }
                    }
                }
                Ok(value) => {
                    if values.insert(name.to_string(), value).is_some() {
                        let msg = format!("`{name}` takes one value and was sent more than once.");
                        problems.push(Problem::query(&name, "repeated", msg));
                    }
                }
            }
        }
        if problems.is_empty() { Ok(values) } else { Err(problems) }
    }

    fn unknown(&self, name: &str) -> Problem {
        let likeness = |parameter: &&Parameter| strsim::jaro_winkler(name, parameter.name);
        let nearest = self.0.iter().max_by(|a, b| likeness(a).total_cmp(&likeness(b)));
        let shown: Cow<str> = if name.chars().count() > 60 { "that name".into() } else { format!("`{name}`").into() };
        let msg = match nearest {
            Some(nearest) if likeness(&nearest) > 0.7 => {
                format!("There is no parameter {shown} here; did you mean `{}`?", nearest.name)
            }
            Some(_) => {
                let names: Vec<&str> = self.0.iter().map(|parameter| parameter.name).collect();
                format!("There is no parameter {shown} here; there are {}.", names.join(", "))
            }
            None => format!("There is no parameter {shown} here; this operation takes none."),
        };
        Problem::query(name, "extra_forbidden", msg)
    }
}

/// The kind of a fault, and its message.
type Fault = (&'static str, String);

impl Parameter {
    fn of(name: &'static str, schema: &MetaSchemaRef, registry: &Registry) -> Parameter {
        let schema = resolve(schema, registry);
        let is_array = schema.ty == "array";
        let item = match &schema.items {
            Some(items) if is_array => resolve(items, registry),
            _ => schema.clone(),
        };
        let kind = match (item.ty, item.format) {
            _ if !item.enum_items.is_empty() => {
                Kind::Words(item.enum_items.iter().filter_map(Value::as_str).map(str::to_owned).collect())
            }
            ("integer", _) => Kind::Integer,
            ("number", _) => Kind::Number,
            ("boolean", _) => Kind::Boolean,
            (_, Some("uuid")) => Kind::Uuid,
            _ => Kind::Text,
        };
        Parameter {
            name,
            kind,
            is_array,
            minimum: item.minimum.or(schema.minimum),
            maximum: item.maximum.or(schema.maximum),
            max_length: item.max_length,
            max_items: schema.max_items,
        }
    }

    fn coerce(&self, text: &str) -> Result<Value, Fault> {
        let name = self.name;
        match &self.kind {
            Kind::Text => match self.max_length {
                Some(most) if text.chars().count() > most => {
                    Err(("string_too_long", format!("`{name}` takes at most {most} characters.")))
                }
                _ => Ok(Value::from(text)),
            },
            Kind::Integer => {
                let whole: i64 = text.parse().map_err(|_| ("int_parsing", format!("`{name}` is a whole number.")))?;
                self.check_bounds(whole as f64)?;
                Ok(Value::from(whole))
            }
            Kind::Number => {
                let number = text.parse().ok().filter(|number: &f64| number.is_finite());
                let number = number.ok_or_else(|| ("float_parsing", format!("`{name}` is a number.")))?;
                self.check_bounds(number)?;
                Ok(Value::from(number))
            }
            Kind::Boolean => match text {
                "true" | "1" => Ok(Value::Bool(true)),
                "false" | "0" => Ok(Value::Bool(false)),
                _ => Err(("bool_parsing", format!("`{name}` is true or false."))),
            },
            Kind::Uuid => match uuid::Uuid::try_parse(text) {
                Ok(id) => Ok(Value::from(id.to_string())),
                Err(_) => Err(("uuid_parsing", format!("`{name}` is a UUID."))),
            },
            Kind::Words(words) if words.iter().any(|word| word == text) => Ok(Value::from(text)),
            Kind::Words(words) => Err(("enum", format!("`{name}` is one of {}.", words.join(", ")))),
        }
    }

    fn check_bounds(&self, number: f64) -> Result<(), Fault> {
        let name = self.name;
        if let Some(least) = self.minimum.filter(|least| number < *least) {
            return Err(("greater_than_equal", format!("`{name}` is at least {least}.")));
        }
        if let Some(most) = self.maximum.filter(|most| number > *most) {
            return Err(("less_than_equal", format!("`{name}` is at most {most}.")));
        }
        Ok(())
    }
}

/// A schema with its references followed, as far as parameters have any.
fn resolve(schema: &MetaSchemaRef, registry: &Registry) -> MetaSchema {
    let schema = match schema {
        MetaSchemaRef::Inline(schema) => schema.as_ref().clone(),
        MetaSchemaRef::Reference(name) => registry.schemas.get(name).cloned().unwrap_or(MetaSchema::ANY),
    };
    schema.all_of.iter().fold(schema.clone(), |whole, part| {
        let part = resolve(part, registry);
        MetaSchema {
            ty: if part.ty.is_empty() { whole.ty } else { part.ty },
            format: part.format.or(whole.format),
            enum_items: if part.enum_items.is_empty() { whole.enum_items } else { part.enum_items },
            minimum: part.minimum.or(whole.minimum),
            maximum: part.maximum.or(whole.maximum),
            ..whole
        }
    })
}

#[cfg(test)]
mod tests {
    use poem_openapi::Object;

    use super::*;
    use crate::{domain::teams::Role, rest::vocabulary::Word};

    #[derive(Debug, Object)]
    struct Sample {
        #[oai(default, validator(max_length = 5))]
        tags: Vec<String>,
        #[oai(default, validator(max_items = 2))]
        ids: Vec<uuid::Uuid>,
        owned: Option<bool>,
        #[oai(validator(minimum(value = "1"), maximum(value = "100")))]
        limit: Option<u32>,
        #[oai(validator(minimum(value = "0")))]
        price: Option<f64>,
        role: Option<Word<Role>>,
    }

    fn read(query: &str) -> Result<Sample, Vec<String>> {
        let values = Parameters::of::<Sample>().read(query).map_err(|problems| {
            problems.into_iter().map(|problem| format!("{} {}", problem.kind, problem.msg)).collect::<Vec<_>>()
        })?;
        Ok(Sample::parse_from_json(Some(Value::Object(values))).unwrap())
    }

    #[test]
    fn values_are_read_by_their_schema() {
        let id = "6f1f2f9e-0c5b-4a55-8f43-6f2d1f0e9a11";
        let sample = read(&format!("tags=a&tags=b%20c&owned=true&limit=24&price=0.5&role=buyer&ids={id}")).unwrap();
        assert_eq!(sample.tags, ["a", "b c"]);
        assert_eq!(sample.owned, Some(true));
        assert_eq!(sample.limit, Some(24));
        assert_eq!(sample.price, Some(0.5));
        assert_eq!(sample.role, Some(Word(Role::Buyer)));
        assert_eq!(sample.ids[0].to_string(), id);
        let nothing = read("").unwrap();
        assert!(nothing.tags.is_empty() && nothing.owned.is_none());
    }

    #[test]
    fn every_fault_has_its_type_and_all_are_told() {
        for (query, expected) in [
            ("limit=0", "greater_than_equal `limit` is at least 1."),
            ("limit=101", "less_than_equal `limit` is at most 100."),
            ("limit=1.0", "int_parsing `limit` is a whole number."),
            ("limit=", "int_parsing `limit` is a whole number."),
            ("limit=99999999999999999999", "int_parsing `limit` is a whole number."),
            ("price=NaN", "float_parsing `price` is a number."),
            ("price=inf", "float_parsing `price` is a number."),
            ("price=-0.01", "greater_than_equal `price` is at least 0."),
            ("owned=yes", "bool_parsing `owned` is true or false."),
            ("ids=12", "uuid_parsing `ids` is a UUID."),
            ("role=seller", "enum `role` is one of vendor, buyer."),
            ("limit=3&limit=4", "repeated `limit` takes one value and was sent more than once."),
            ("tags=abcdef", "string_too_long `tags` takes at most 5 characters."),
            ("limt=3", "extra_forbidden There is no parameter `limt` here; did you mean `limit`?"),
        ] {
            assert_eq!(read(query).unwrap_err(), [expected], "{query}");
        }
        assert_eq!(read("limit=0&price=x&zzz=1").unwrap_err().len(), 3);
        assert_eq!(Parameters::of::<NoParams>().read("a=1").unwrap_err().len(), 1);
    }

    #[test]
    fn no_bytes_make_it_panic() {
        for query in ["%", "%zz=%", "=&=&", "%ff%fe=1", "limit=%00", "&&&&", "tags=%ff"] {
            let _ = read(query);
        }
    }
}
