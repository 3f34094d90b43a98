//! Query parameters as one struct: documented as separate parameters, and parsed with all problems reported
//! at once.
//!
//! The schema of the struct is the only definition of its parameters: type, bounds, enum values, and default
//! are derived from it once per struct. The parser and the OpenAPI documents both use it.

use poem::{Request, RequestBody};
use poem_openapi::{
    ApiExtractor, ApiExtractorType, ExtractParamOptions, Object,
    registry::{MetaParamIn, MetaSchema, MetaSchemaRef, Registry},
    types::{ParseFromJSON, Type},
};
use serde_json::{Map, Value};

use crate::{
    error::{Error, LocSegment, Problem},
    rest::arguments::{
        request_body::{self, Fault, Field, Rule, cached_rule},
        schema_marks::PARAMS_MARK,
        unknown_names,
    },
    web::problem::ApiError,
};

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

/// Fails if the query of a request has any parameter.
pub fn check_no_query(request: &Request) -> Result<(), Error> {
    parse_request::<NoParams>(request).map(drop)
}

/// Parses the query of a request. Fails with all problems.
pub fn parse_request<T: Type + ParseFromJSON + 'static>(request: &Request) -> Result<T, Error> {
    parse_query(request.uri().query().unwrap_or_default()).map_err(Error::Invalid)
}

/// Parses the query, and then checks that there is no body if the operation takes none.
async fn parse_params<T: Type + ParseFromJSON + 'static>(
    request: &Request,
    body: &mut RequestBody,
) -> poem::Result<T> {
    let params = parse_request(request).map_err(ApiError)?;
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
            required: cached_rule::<T>().rule.fields().iter().map(|field| field.name).collect(),
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
    let values = parse_values(query, cached_rule::<T>().rule.fields())?;
    T::parse_from_json(Some(Value::Object(values))).map_err(|error| {
        // The schema has a constraint that rules do not support, such as a pattern. The framework checks it,
        // without a location.
        let (loc, msg) = (vec![LocSegment::Name("query".to_owned())], error.into_message());
        vec![Problem { loc, msg, kind: "value_error" }]
    })
}

/// Parses a query to the JSON object that the struct with these fields is deserialized from, or returns all
/// problems.
fn parse_values(query: &str, fields: &[Field]) -> Result<Map<String, Value>, Vec<Problem>> {
    let mut parser =
        QueryParser { fields, counts: vec![0; fields.len()], values: Map::new(), problems: Vec::new() };
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

/// The state of parsing a query.
struct QueryParser<'a> {
    /// The parameters, by the fields of their struct.
    fields: &'a [Field],
    /// Number of occurrences of each parameter.
    counts: Vec<usize>,
    values: Map<String, Value>,
    problems: Vec<Problem>,
}

impl QueryParser<'_> {
    fn add_value(&mut self, name: &str, text: &str) {
        let Some(index) = self.fields.iter().position(|field| field.name == name) else {
            return self.reject_unknown(name);
        };
        let (rule, count) = (&self.fields[index].rule, self.counts[index]);
        self.counts[index] += 1;
        match rule {
            Rule::Array(items, ..) => match items.parse_text(text) {
                Ok(value) => {
                    let values = self.values.entry(name).or_insert_with(|| Value::Array(Vec::new()));
                    if let Value::Array(values) = values {
                        values.push(value);
                    }
                }
                Err(fault) => self.report(name, Some(count), fault),
            },
            _ if count == 1 => self.report(name, None, ("repeated", "must be sent only once".to_owned())),
            _ if count > 1 => {}
            rule => match rule.parse_text(text) {
                Ok(value) => {
                    self.values.insert(name.to_owned(), value);
                }
                Err(fault) => self.report(name, None, fault),
            },
        }
    }

    /// Reports what is wrong with a parameter, or with its value at `index` if it has several.
    fn report(&mut self, name: &str, index: Option<usize>, (kind, predicate): Fault) {
        let mut problem = Problem::query(name, kind, format!("`{name}` {predicate}."));
        problem.loc.extend(index.map(LocSegment::Index));
        self.problems.push(problem);
    }

    fn reject_unknown(&mut self, name: &str) {
        let truncated = unknown_names::truncate_name(name);
        let known = self.fields.iter().map(|field| field.name);
        let msg = unknown_names::unknown_name_message("parameter", &truncated, known);
        let problem = Problem::query(&truncated, "extra_forbidden", msg);
        if !self.problems.contains(&problem) {
            self.problems.push(problem);
        }
    }

    fn finish(mut self) -> Result<Map<String, Value>, Vec<Problem>> {
        for (index, field) in self.fields.iter().enumerate() {
            match (self.counts[index], &field.rule) {
                (0, _) if field.is_required => {
                    self.report(field.name, None, ("missing", "is required".to_owned()));
                }
                (count, Rule::Array(_, _, max)) if count > *max => {
                    self.report(field.name, None, ("too_long", format!("must have at most {max} values")));
                }
                _ => {}
            }
        }
        if self.problems.is_empty() { Ok(self.values) } else { Err(self.problems) }
    }
}

#[cfg(test)]
mod tests;
