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
use super::{problem::ApiError, request_body, resolved_schemas, schema_marks::PARAMS_MARK, unknown_names};
use crate::error::{Error, LocSegment, Problem};

/// Maximum number of problems in one response, so that a long invalid query costs little.
const MAX_PROBLEMS: usize = 50;

/// Query parameters, parsed into a struct.
///
/// A field that is an `Option` or has a default is optional, a `Vec` accepts any number of values by
/// repetition (`tags=a&tags=b`), and any other field requires one value. Fields are `String`, `bool`, `f64`,
/// `Uuid`, `EnumValue`, or integers up to `i64`. `u64` is not supported, because the framework's parser
/// rejects all its values.
///
/// A route without query parameters has no argument for them; see [`reject_query`]. After the query, the body
/// is checked if the operation takes none.
pub struct Params<T>(pub T);

/// No query parameters: any parameter in the query is an error.
#[derive(Debug, Object)]
struct NoParams {}

/// Fails if the query of a request to a route without query parameters has any, or if there is a body
/// although the operation takes none.
pub async fn reject_query(request: &Request, body: &mut RequestBody) -> poem::Result<()> {
    parse_params::<NoParams>(request, body).await.map(|_| ())
}

/// Parses the query, and then checks that there is no body if the operation takes none.
async fn parse_params<T: Type + ParseFromJSON + 'static>(
    request: &Request,
    body: &mut RequestBody,
) -> poem::Result<T> {
    let query = request.uri().query().unwrap_or_default();
    let params = parse_query(query).map_err(|problems| ApiError(Error::Invalid(problems)))?;
    request_body::reject_body(request, body).await.map_err(ApiError)?;
    Ok(params)
}

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
            title: Some(PARAMS_MARK.to_owned()),
            all_of: vec![T::schema_ref()],
            required: cached_table::<T>().0.iter().map(|parameter| parameter.name).collect(),
            ..MetaSchema::ANY
        };
        Some(MetaSchemaRef::Inline(Box::new(marked)))
    }

    async fn from_request(
        request: &'a Request,
        body: &mut RequestBody,
        _: ExtractParamOptions<T>,
    ) -> poem::Result<Self> {
        parse_params(request, body).await.map(Params)
    }
}

/// Parses a query string.
fn parse_query<T: Type + ParseFromJSON + 'static>(query: &str) -> Result<T, Vec<Problem>> {
    let values = cached_table::<T>().parse(query)?;
    T::parse_from_json(Some(Value::Object(values))).map_err(|error| {
        // The schema has a rule that the table does not support, such as a pattern. The framework checks it,
        // without a location.
        let (loc, msg) = (vec![LocSegment::Name("query".to_owned())], error.into_message());
        vec![Problem { loc, msg, kind: "value_error" }]
    })
}

/// The parameters of a struct, in field order.
#[derive(Debug)]
struct ParameterTable(Vec<Parameter>);

/// Returns the parameters of a struct, which are built once and cached.
fn cached_table<T: Type + 'static>() -> Arc<ParameterTable> {
    static TABLES: OnceLock<RwLock<HashMap<TypeId, Arc<ParameterTable>>>> = OnceLock::new();
    let tables = TABLES.get_or_init(RwLock::default);
    if let Some(table) = tables.read().unwrap_or_else(PoisonError::into_inner).get(&TypeId::of::<T>()) {
        return Arc::clone(table);
    }
    let new_table = Arc::new(ParameterTable::from_struct::<T>());
    tables.write().unwrap_or_else(PoisonError::into_inner).insert(TypeId::of::<T>(), Arc::clone(&new_table));
    new_table
}

impl ParameterTable {
    fn from_struct<T: Type>() -> ParameterTable {
        let mut registry = Registry::new();
        T::register(&mut registry);
        let schema = resolved_schemas::resolve_schema(&T::schema_ref(), &registry);
        let properties = schema.properties.iter();
        let is_required = |name| schema.required.contains(name);
        ParameterTable(
            properties
                .map(|(name, field)| Parameter::from_schema(name, is_required(name), field, &registry))
                .collect(),
        )
    }

    /// Parses a query to the JSON object that the struct is deserialized from, or returns all problems.
    fn parse(&self, query: &str) -> Result<Map<String, Value>, Vec<Problem>> {
        let mut parser = QueryParser {
            table: self,
            counts: vec![0; self.0.len()],
            values: Map::new(),
            problems: Vec::new(),
        };
        // Malformed percent escapes are kept as they are; bytes that are not UTF-8 become U+FFFD, which
        // matches nothing.
        for (name, text) in form_urlencoded::parse(query.as_bytes()) {
            parser.add_value(&name, &text);
            if parser.problems.len() == MAX_PROBLEMS {
                return Err(parser.problems);
            }
        }
        parser.finish()
    }
}

/// The state of parsing a query.
struct QueryParser<'a> {
    table: &'a ParameterTable,
    /// Number of occurrences of each parameter.
    counts: Vec<usize>,
    values: Map<String, Value>,
    problems: Vec<Problem>,
}

impl QueryParser<'_> {
    fn add_value(&mut self, name: &str, text: &str) {
        let Some(index) = self.table.0.iter().position(|parameter| parameter.name == name) else {
            return self.reject_unknown(name);
        };
        let (parameter, count) = (&self.table.0[index], self.counts[index]);
        self.counts[index] += 1;
        if !parameter.is_array && count > 0 {
            if count == 1 {
                let msg = format!("`{name}` must be sent only once.");
                self.problems.push(Problem::query(name, "repeated", msg));
            }
            return;
        }
        match parameter.parse_value(text) {
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
                    problem.loc.push(LocSegment::Index(count));
                }
                self.problems.push(problem);
            }
        }
    }

    fn reject_unknown(&mut self, name: &str) {
        let truncated = unknown_names::truncate_name(name);
        let msg = unknown_names::unknown_name_message(
            "parameter",
            &truncated,
            self.table.0.iter().map(|parameter| parameter.name),
        );
        let problem = Problem::query(&truncated, "extra_forbidden", msg);
        if !self.problems.contains(&problem) {
            self.problems.push(problem);
        }
    }

    fn finish(mut self) -> Result<Map<String, Value>, Vec<Problem>> {
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
