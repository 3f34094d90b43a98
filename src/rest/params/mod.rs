//! Query parameters as one struct: documented as separate parameters, and parsed with all problems reported
//! at once.
//!
//! The schema of the struct is the only definition of its parameters: type, bounds, enum values, and default
//! are derived from it once per struct. The parser and the OpenAPI documents both use it.

mod parameter;

use std::{
    any::TypeId,
    collections::HashMap,
    sync::{Arc, OnceLock, PoisonError, RwLock},
};

use poem::{Request, RequestBody};
use poem_openapi::{
    ApiExtractor, ApiExtractorType, ExtractParamOptions, Object,
    registry::{MetaParamIn, MetaSchema, MetaSchemaRef, Registry},
    types::{ParseFromJSON, Type},
};
use serde_json::{Map, Value};

use self::parameter::Parameter;
pub use self::parameter::{range, resolve};
use super::{names, problem::Failure};
use crate::error::{Error, Problem, Step};

/// The title that marks the schema of a parameter struct, which `documents` expands to separate parameters.
/// Its `required` lists all parameters in field order, because `properties` loses the order.
pub const MARK: &str = "x-parameters";

/// Maximum number of problems in one response, so that a long invalid query costs little.
const MAX_PROBLEMS: usize = 50;

/// Query parameters, parsed into a struct.
///
/// A field that is an `Option` or has a default is optional, a `Vec` accepts any number of values by
/// repetition (`tags=a&tags=b`), and any other field requires one value. Fields are `String`, `bool`, `f64`,
/// `Uuid`, `Word`, or integers up to `i64`. `u64` is not supported, because the framework's parser rejects
/// all its values.
pub struct Params<T>(pub T);

/// No query parameters: any parameter in the query is an error.
#[derive(Debug, Object)]
pub struct NoParams {}

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
        let marked = MetaSchema {
            title: Some(MARK.to_owned()),
            all_of: vec![T::schema_ref()],
            required: table::<T>().0.iter().map(|parameter| parameter.name).collect(),
            ..MetaSchema::ANY
        };
        Some(MetaSchemaRef::Inline(Box::new(marked)))
    }

    async fn from_request(
        request: &'a Request,
        _: &mut RequestBody,
        _: ExtractParamOptions<T>,
    ) -> poem::Result<Self> {
        let query = request.uri().query().unwrap_or_default();
        read(query).map(Params).map_err(|problems| Failure(Error::Invalid(problems)).into())
    }
}

/// Parses a query string.
fn read<T: Type + ParseFromJSON + 'static>(query: &str) -> Result<T, Vec<Problem>> {
    let values = table::<T>().read(query)?;
    T::parse_from_json(Some(Value::Object(values))).map_err(|error| {
        // The schema has a rule that the table does not support, such as a pattern. The framework checks it,
        // without a location.
        let (loc, msg) = (vec![Step::Name("query".to_owned())], error.into_message());
        vec![Problem { loc, msg, kind: "value_error" }]
    })
}

/// The parameters of a struct, in field order.
#[derive(Debug)]
struct Table(Vec<Parameter>);

/// Returns the parameters of a struct, which are built once and cached.
fn table<T: Type + 'static>() -> Arc<Table> {
    static TABLES: OnceLock<RwLock<HashMap<TypeId, Arc<Table>>>> = OnceLock::new();
    let tables = TABLES.get_or_init(RwLock::default);
    if let Some(table) = tables.read().unwrap_or_else(PoisonError::into_inner).get(&TypeId::of::<T>()) {
        return Arc::clone(table);
    }
    let made = Arc::new(Table::of::<T>());
    tables.write().unwrap_or_else(PoisonError::into_inner).insert(TypeId::of::<T>(), Arc::clone(&made));
    made
}

impl Table {
    fn of<T: Type>() -> Table {
        let mut registry = Registry::new();
        T::register(&mut registry);
        let schema = parameter::resolve(&T::schema_ref(), &registry);
        let properties = schema.properties.iter();
        let is_required = |name| schema.required.contains(name);
        Table(
            properties
                .map(|(name, field)| Parameter::of(name, is_required(name), field, &registry))
                .collect(),
        )
    }

    /// Parses a query to the JSON object that the struct is deserialized from, or returns all problems.
    fn read(&self, query: &str) -> Result<Map<String, Value>, Vec<Problem>> {
        let mut reading =
            Reading { table: self, counts: vec![0; self.0.len()], values: Map::new(), problems: Vec::new() };
        // Malformed percent escapes are kept as they are; bytes that are not UTF-8 become U+FFFD, which
        // matches nothing.
        for (name, text) in form_urlencoded::parse(query.as_bytes()) {
            reading.take(&name, &text);
            if reading.problems.len() == MAX_PROBLEMS {
                return Err(reading.problems);
            }
        }
        reading.end()
    }
}

/// The state of parsing a query.
struct Reading<'a> {
    table: &'a Table,
    /// Number of occurrences of each parameter.
    counts: Vec<usize>,
    values: Map<String, Value>,
    problems: Vec<Problem>,
}

impl Reading<'_> {
    fn take(&mut self, name: &str, text: &str) {
        let Some(place) = self.table.0.iter().position(|parameter| parameter.name == name) else {
            return self.refuse_unknown(name);
        };
        let (parameter, count) = (&self.table.0[place], self.counts[place]);
        self.counts[place] += 1;
        if !parameter.is_array && count > 0 {
            if count == 1 {
                let msg = format!("`{name}` must be sent only once.");
                self.problems.push(Problem::query(name, "repeated", msg));
            }
            return;
        }
        match parameter.coerce(text) {
            Ok(value) if parameter.is_array => {
                if let Value::Array(items) =
                    self.values.entry(name).or_insert_with(|| Value::Array(Vec::new()))
                {
                    items.push(value);
                }
            }
            Ok(value) => {
                self.values.insert(name.to_owned(), value);
            }
            Err((kind, msg)) => {
                let mut problem = Problem::query(name, kind, msg);
                if parameter.is_array {
                    problem.loc.push(Step::Index(count));
                }
                self.problems.push(problem);
            }
        }
    }

    fn refuse_unknown(&mut self, name: &str) {
        let shown = names::shown(name);
        let msg = names::unknown("parameter", &shown, self.table.0.iter().map(|parameter| parameter.name));
        let problem = Problem::query(&shown, "extra_forbidden", msg);
        if !self.problems.contains(&problem) {
            self.problems.push(problem);
        }
    }

    fn end(mut self) -> Result<Map<String, Value>, Vec<Problem>> {
        for (parameter, count) in self.table.0.iter().zip(self.counts) {
            if let Some((kind, msg)) = parameter.check_count(count) {
                self.problems.push(Problem::query(parameter.name, kind, msg));
            }
        }
        if self.problems.is_empty() { Ok(self.values) } else { Err(self.problems) }
    }
}

#[cfg(test)]
mod tests;
