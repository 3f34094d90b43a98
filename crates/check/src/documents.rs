//! The OpenAPI documents that a deployment is compared with.

use std::{collections::BTreeMap, rc::Rc};

use marketplace_domain::principals::PrincipalKind;
use serde_json::Value;

use super::schemas::Schemas;

/// The methods of operations.
const METHODS: [&str; 5] = ["DELETE", "GET", "PATCH", "POST", "PUT"];

/// Maximum number of references that lead to each other.
pub const MAX_HOPS: usize = 20;

/// The document of an API.
#[derive(Debug)]
pub struct Document {
    /// Name of the API.
    pub name: &'static str,
    /// What the paths of its operations begin with.
    pub prefix: &'static str,
    /// The kind of keys that it takes.
    pub keys: PrincipalKind,
    /// Whether a deployment may not serve the API.
    pub is_optional: bool,
    /// The document.
    pub json: Value,
    /// Its operations.
    pub operations: Vec<Rc<Operation>>,
}

/// An operation of a document.
#[derive(Debug)]
pub struct Operation {
    /// `operationId`.
    pub id: String,
    /// HTTP method in upper case.
    pub method: &'static str,
    /// Path with the names of parameters in braces.
    pub path: String,
    /// Parameters in the path, in the query, and in headers.
    pub parameters: Vec<Parameter>,
    /// The documented responses, by status.
    pub responses: BTreeMap<u16, Response>,
    /// The operations whose path parameters responses of this one contain.
    pub links: Vec<Link>,
    /// The schemas that the responses refer to.
    pub schemas: Rc<Schemas>,
}

/// A parameter of an operation.
#[derive(Debug)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// Where it is: `path`, `query`, or `header`.
    pub place: String,
    /// Whether a request must have it.
    pub is_required: bool,
    /// Its schema, without a reference at the top.
    pub schema: Value,
}

/// A documented response.
#[derive(Debug, Default)]
pub struct Response {
    /// The schemas of the body by media type; none if there is no body.
    pub content: BTreeMap<String, Value>,
}

/// Says where a response has the parameters of another operation.
#[derive(Debug)]
pub struct Link {
    /// `operationId` of the other operation.
    pub operation: String,
    /// The name of each path parameter, and where its value is.
    pub parameters: Vec<(String, Source)>,
}

/// Where the value of a path parameter is.
#[derive(Debug, PartialEq, Eq)]
pub enum Source {
    /// The path parameter of the request with this name.
    Request(String),
    /// A place in the body. `None` is any element of an array.
    Body(Vec<Option<String>>),
}

impl Document {
    /// Reads a document. Leaves out parts that are not valid OpenAPI 3.0.
    pub fn parse(
        name: &'static str,
        prefix: &'static str,
        keys: PrincipalKind,
        is_optional: bool,
        json: Value,
    ) -> Document {
        let schemas = Rc::new(Schemas::new(json["components"]["schemas"].clone()));
        let operations = fields(&json["paths"]).flat_map(|(path, item)| {
            fields(item).filter_map(|(name, operation)| {
                let method = METHODS.into_iter().find(|method| method.eq_ignore_ascii_case(name))?;
                Some(Rc::new(parse_operation(path, method, operation, &json, &schemas)))
            })
        });
        let operations = operations.collect();
        Document { name, prefix, keys, is_optional, json, operations }
    }

    /// Returns the operation with this method and path.
    pub fn find(&self, method: &str, path: &str) -> Option<&Rc<Operation>> {
        self.operations.iter().find(|operation| operation.method == method && operation.path == path)
    }
}

impl Operation {
    /// Returns the names of the path parameters in their order.
    pub fn path_parameters(&self) -> impl Iterator<Item = &str> {
        let steps = self.path.split('/');
        steps.filter_map(|step| step.strip_prefix('{')?.strip_suffix('}'))
    }

    /// Returns the parameters in the query.
    pub fn query(&self) -> impl Iterator<Item = &Parameter> {
        self.parameters.iter().filter(|parameter| parameter.place == "query")
    }

    /// Returns the query parameter with this name.
    pub fn query_parameter(&self, name: &str) -> Option<&Parameter> {
        self.query().find(|parameter| parameter.name == name)
    }

    /// Whether the path leads to a record, and not to a part of one or a list.
    pub fn is_of_record(&self) -> bool {
        self.path.ends_with('}')
    }

    /// Returns the path with these values of its parameters.
    pub fn path_with(&self, values: &[(String, String)]) -> String {
        let step = |step: &str| -> String {
            let name = step.strip_prefix('{').and_then(|step| step.strip_suffix('}'));
            let value = name.and_then(|name| values.iter().find(|(known, _)| known == name));
            value.map_or_else(|| step.to_owned(), |(_, value)| encode_step(value))
        };
        self.path.split('/').map(step).collect::<Vec<_>>().join("/")
    }

    /// Whether a request for this path would reach this operation or one like it.
    pub fn matches_path(&self, path: &str) -> bool {
        let (own, other): (Vec<_>, Vec<_>) = (self.path.split('/').collect(), path.split('/').collect());
        own.len() == other.len()
            && own.iter().zip(&other).all(|(own, other)| own.starts_with('{') || own == other)
    }
}

/// Encodes a value as one step of a path.
pub fn encode_step(value: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let encode =
        |byte: u8| if is_plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    value.bytes().map(encode).collect()
}

fn fields(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}

fn elements(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// Follows references, if a value is one.
pub fn resolve<'a>(mut value: &'a Value, document: &'a Value) -> &'a Value {
    for _ in 0..MAX_HOPS {
        let path = value["$ref"].as_str().map(|path| path.trim_start_matches('#'));
        let Some(target) = path.and_then(|path| document.pointer(path)) else { break };
        value = target;
    }
    value
}

fn parse_operation(
    path: &str,
    method: &'static str,
    json: &Value,
    document: &Value,
    schemas: &Rc<Schemas>,
) -> Operation {
    let parameter = |json: &Value| {
        // An enum is a reference with a default next to it.
        let schema = &json["schema"];
        let inner = elements(&schema["allOf"]).next().unwrap_or(schema);
        Parameter {
            name: text(&json["name"]),
            place: text(&json["in"]),
            is_required: json["required"] == true,
            schema: resolve(inner, document).clone(),
        }
    };
    let responses = fields(&json["responses"]).filter_map(|(status, response)| {
        let content = &resolve(response, document)["content"];
        let content = fields(content).map(|(kind, content)| (kind.clone(), content["schema"].clone()));
        Some((status.parse().ok()?, Response { content: content.collect() }))
    });
    let successes = fields(&json["responses"]).filter(|(status, _)| status.starts_with('2'));
    let links =
        successes.flat_map(|(_, response)| fields(&response["links"]).map(|(_, link)| parse_link(link)));
    Operation {
        id: text(&json["operationId"]),
        method,
        path: path.to_owned(),
        parameters: elements(&json["parameters"]).map(parameter).collect(),
        responses: responses.collect(),
        links: links.collect(),
        schemas: Rc::clone(schemas),
    }
}

fn parse_link(json: &Value) -> Link {
    let parameters = fields(&json["parameters"]).filter_map(|(name, expression)| {
        let expression = expression.as_str()?;
        let source = if let Some(name) = expression.strip_prefix("$request.path.") {
            Source::Request(name.to_owned())
        } else {
            let steps = expression.strip_prefix("$response.body#/")?.split('/');
            let step = |step: &str| (step.parse::<usize>().is_err()).then(|| step.to_owned());
            Source::Body(steps.map(step).collect())
        };
        Some((name.clone(), source))
    });
    Link { operation: text(&json["operationId"]), parameters: parameters.collect() }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// Returns the documents of the program.
    pub fn all() -> Vec<Rc<Document>> {
        let document = |name, prefix, keys, snapshot: &str| {
            let (_, json) = snapshot.split_once("---\n{").unwrap();
            let json = serde_json::from_str(&format!("{{{json}")).unwrap();
            Rc::new(Document::parse(name, prefix, keys, false, json))
        };
        macro_rules! snapshot {
            ($name:literal) => {
                include_str!(concat!(
                    "../../../tests/suite/contract/snapshots/suite__contract__documents__",
                    $name,
                    "_document_matches_snapshot.snap"
                ))
            };
        }
        vec![
            document("vendor", "/v2", PrincipalKind::Team, snapshot!("vendor")),
            document("buyer", "/v2", PrincipalKind::Team, snapshot!("buyer")),
            document("operator", "/operator/v1", PrincipalKind::Operator, snapshot!("operator")),
            document("sandbox", "/sandbox/v1", PrincipalKind::Operator, snapshot!("sandbox")),
        ]
    }

    #[test]
    fn all_links_of_documents_are_understood() {
        for document in all() {
            for operation in &document.operations {
                for link in &operation.links {
                    let target = document.operations.iter().find(|other| other.id == link.operation).unwrap();
                    let mut names: Vec<&str> =
                        link.parameters.iter().map(|(name, _)| name.as_str()).collect();
                    let mut expected: Vec<&str> = target.path_parameters().collect();
                    names.sort_unstable();
                    expected.sort_unstable();
                    assert_eq!(names, expected, "{} to {}", operation.id, link.operation);
                }
            }
        }
    }

    #[test]
    fn values_are_encoded_in_paths() {
        let document = all().remove(1);
        let operation = document.find("GET", "/v2/listings/browse/{listing_id}").unwrap();
        let path = operation.path_with(&[("listing_id".to_owned(), "a/../ü".to_owned())]);
        assert_eq!(path, "/v2/listings/browse/a%2F..%2F%C3%BC");
        assert!(
            operation.matches_path("/v2/listings/browse/x") && !operation.matches_path("/v2/listings/browse")
        );
    }
}
