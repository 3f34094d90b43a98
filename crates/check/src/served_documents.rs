//! The documents that the deployment serves, compared with those of this build. Texts and examples may differ, and so may
//! the names of schemas.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use serde_json::Value;

use super::{
    caching,
    client::{Caller, Exchange, Request, Stop},
    documents::{Document, MAX_HOPS, resolve},
    rules,
    schemas::short,
    session::Session,
};

/// Keywords of schemas that are compared as they are.
const KEYWORDS: [&str; 14] = [
    "type",
    "nullable",
    "format",
    "pattern",
    "minimum",
    "maximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
    "default",
];

/// Checks that an API serves its document and its docs page, and compares the document.
pub fn check(session: &mut Session, document: &Document) -> Result<(), Stop> {
    let name = format!("{} API", document.name);
    let page = Request::get(format!("/{}/docs", document.name), Caller::Nobody);
    if let Some(exchange) = session.fetch(&name, page)? {
        let is_page = exchange.header("content-type").starts_with("text/html");
        session.expect(&rules::DOCUMENT, &name, &exchange, 200, "");
        if exchange.status == 200 && !is_page {
            let got = exchange.header("content-type").to_owned();
            session.report.add(&rules::DOCUMENT, &name, &exchange, "text/html", got);
        }
    }
    let request = Request::get(format!("/{}/openapi.json", document.name), Caller::Nobody);
    let Some(exchange) = session.fetch(&name, request.clone())? else { return Ok(()) };
    if !session.expect(&rules::DOCUMENT, &name, &exchange, 200, "") {
        return Ok(());
    }
    if let Some(head) = session.fetch(&name, request.with_method("HEAD"))? {
        for (expected, got) in caching::head_differences(session, &exchange, &head) {
            session.report.add(&rules::HEAD, &name, &head, expected, got);
        }
    }
    if !exchange.json()["paths"].is_object() {
        session.report.add(&rules::DOCUMENT, &name, &exchange, "an OpenAPI document", short(exchange.json()));
        return Ok(());
    }
    compare(session, document, &exchange);
    Ok(())
}

fn compare(session: &mut Session, document: &Document, exchange: &Exchange) {
    let name = format!("{} API", document.name);
    session.report.count(&rules::DOCUMENT_OPERATION);
    session.report.count(&rules::DOCUMENT_CONTENT);
    let (expected, got) = (operations(&document.json), operations(exchange.json()));
    let mut comparison = Comparison {
        own: &document.json,
        served: exchange.json(),
        found: Vec::new(),
        compared: HashSet::new(),
    };
    for (operation, own) in &expected {
        match got.get(operation) {
            Some(served) => comparison.compare_operations(operation, own, served),
            None => session.report.add(
                &rules::DOCUMENT_OPERATION,
                &name,
                exchange,
                operation,
                "no such operation",
            ),
        }
    }
    for operation in got.keys().filter(|operation| !expected.contains_key(*operation)) {
        session.report.add(&rules::DOCUMENT_OPERATION, &name, exchange, "no such operation", operation);
    }
    for (place, expected, got) in comparison.found {
        let expected = format!("{place}: {expected}");
        session.report.add(&rules::DOCUMENT_CONTENT, &name, exchange, expected, got);
    }
}

/// Returns the operations of a document by method and path.
fn operations(document: &Value) -> BTreeMap<String, &Value> {
    let methods = ["get", "put", "post", "patch", "delete"];
    let paths = document["paths"].as_object().into_iter().flatten();
    let all = paths.flat_map(|(path, item)| {
        let named =
            methods.iter().map(move |method| (format!("{} {path}", method.to_uppercase()), &item[*method]));
        named.filter(|(_, operation)| operation.is_object())
    });
    all.collect()
}

/// A comparison of two documents. It follows the structure of our own, so that the other one cannot make it long.
struct Comparison<'a> {
    own: &'a Value,
    served: &'a Value,
    /// Places in the document, with the expected and the actual value.
    found: Vec<(String, String, String)>,
    /// The pairs of named schemas that were compared.
    compared: HashSet<(String, String)>,
}

impl<'a> Comparison<'a> {
    fn add(&mut self, place: &str, expected: impl Into<String>, got: impl Into<String>) {
        self.found.push((place.to_owned(), expected.into(), got.into()));
    }

    fn compare_operations(&mut self, place: &str, own: &'a Value, served: &'a Value) {
        let (expected, got) = (parameters(self.own, own), parameters(self.served, served));
        self.compare_names(&format!("{place}, parameters"), expected.keys(), got.keys());
        for (name, parameter) in &expected {
            if let Some(other) = got.get(name) {
                self.compare_schemas(&format!("{place}, {name}"), &parameter["schema"], &other["schema"]);
            }
        }
        let body = |operation: &'a Value| &operation["requestBody"]["content"]["application/json"]["schema"];
        if body(own).is_object() {
            self.compare_schemas(&format!("{place}, body"), body(own), body(served));
        }
        let statuses = |operation: &'a Value| operation["responses"].as_object();
        let names =
            |operation: &'a Value| statuses(operation).into_iter().flat_map(|statuses| statuses.keys());
        self.compare_names(&format!("{place}, responses"), names(own), names(served));
        for (status, response) in statuses(own).into_iter().flatten() {
            let other = &served["responses"][status];
            if other.is_object() {
                let schema = |document: &'a Value, response: &'a Value| {
                    &resolve(response, document)["content"]["application/json"]["schema"]
                };
                let (own, served) = (schema(self.own, response), schema(self.served, other));
                self.compare_schemas(&format!("{place}, response {status}"), own, served);
            }
        }
    }

    fn compare_names<'n>(
        &mut self,
        place: &str,
        expected: impl Iterator<Item = &'n String>,
        got: impl Iterator<Item = &'n String>,
    ) {
        let (expected, got): (BTreeSet<&String>, BTreeSet<&String>) = (expected.collect(), got.collect());
        for name in expected.difference(&got) {
            self.add(place, *name, "nothing");
        }
        for name in got.difference(&expected) {
            self.add(place, "nothing", *name);
        }
    }

    fn compare_schemas(&mut self, place: &str, own: &'a Value, served: &'a Value) {
        let reference = |schema: &Value| schema["$ref"].as_str().map(str::to_owned);
        if let (Some(own), Some(served)) = (reference(own), reference(served))
            && !self.compared.insert((own, served))
        {
            return;
        }
        let (expected, is_null_expected) = unwrap_schema(self.own, own);
        let (got, is_null_served) = unwrap_schema(self.served, served);
        if is_null_expected != is_null_served {
            self.add(place, format!("nullable {is_null_expected}"), format!("nullable {is_null_served}"));
        }
        for keyword in KEYWORDS {
            let is_same = match (expected[keyword].as_f64(), got[keyword].as_f64()) {
                (Some(expected), Some(got)) => (expected - got).abs() < f64::EPSILON,
                _ => expected[keyword] == got[keyword] || keyword == "nullable",
            };
            // A list of types was already compared.
            let is_list_of_types = keyword == "type" && got["type"].is_array();
            if !(is_same || is_list_of_types) {
                self.add(place, format!("{keyword} {}", expected[keyword]), short(&got[keyword]));
            }
        }
        for keyword in ["required", "enum"] {
            let names = |schema: &Value| -> BTreeSet<String> {
                schema[keyword].as_array().into_iter().flatten().map(ToString::to_string).collect()
            };
            let (expected, got) = (names(expected), names(got));
            self.compare_names(&format!("{place}, {keyword}"), expected.iter(), got.iter());
        }
        self.compare_parts(place, expected, got);
    }

    /// Compares the schemas of fields and elements, and alternatives.
    fn compare_parts(&mut self, place: &str, own: &'a Value, served: &'a Value) {
        let fields = |schema: &'a Value| schema["properties"].as_object();
        let names = |schema: &'a Value| fields(schema).into_iter().flat_map(|fields| fields.keys());
        self.compare_names(&format!("{place}, fields"), names(own), names(served));
        for (name, field) in fields(own).into_iter().flatten() {
            let other = &served["properties"][name];
            if other.is_object() {
                self.compare_schemas(&format!("{place}/{name}"), field, other);
            }
        }
        for keyword in ["items", "additionalProperties"] {
            match (&own[keyword], &served[keyword]) {
                (own, served) if own.is_object() && served.is_object() => {
                    self.compare_schemas(&format!("{place}/*"), own, served);
                }
                (own, served) if own.is_object() != served.is_object() || own != served => {
                    self.add(place, format!("{keyword} {}", short(own)), short(served));
                }
                _ => {}
            }
        }
        for keyword in ["oneOf", "anyOf", "allOf"] {
            let parts = |schema: &'a Value| schema[keyword].as_array().map(Vec::as_slice).unwrap_or_default();
            let (expected, got) = (parts(own), parts(served));
            if expected.len() != got.len() {
                self.add(place, format!("{keyword} of {}", expected.len()), got.len().to_string());
            }
            for (own, served) in expected.iter().zip(got) {
                self.compare_schemas(place, own, served);
            }
        }
    }
}

/// Returns the parameters of an operation by place and name.
fn parameters<'a>(document: &'a Value, operation: &'a Value) -> BTreeMap<String, &'a Value> {
    let all = operation["parameters"].as_array().into_iter().flatten();
    let named = all.map(|parameter| {
        let parameter = resolve(parameter, document);
        let text = |name: &str| parameter[name].as_str().unwrap_or_default();
        (format!("{} parameter {}", text("in"), text("name")), parameter)
    });
    named.collect()
}

/// Returns a schema without references and wrappers, and whether it allows null. OpenAPI 3.0 and 3.1 write that in
/// different ways.
fn unwrap_schema<'a>(document: &'a Value, mut schema: &'a Value) -> (&'a Value, bool) {
    let mut is_nullable = false;
    for _ in 0..MAX_HOPS {
        schema = resolve(schema, document);
        is_nullable |= schema["nullable"] == true;
        let parts = ["allOf", "anyOf", "oneOf"].iter().find_map(|keyword| schema[*keyword].as_array());
        let is_null = |part: &Value| part["type"] == "null";
        let others: Vec<&Value> = parts.into_iter().flatten().filter(|part| !is_null(part)).collect();
        is_nullable |= parts.is_some_and(|parts| parts.iter().any(is_null));
        match others.as_slice() {
            [only] if schema.get("properties").is_none() => schema = only,
            _ => break,
        }
    }
    is_nullable |= schema["type"].as_array().is_some_and(|types| types.iter().any(|name| name == "null"));
    (schema, is_nullable)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn differences(own: &Value, served: &Value) -> Vec<String> {
        let reference = json!({"$ref": "#/schema"});
        let mut comparison = Comparison { own, served, found: Vec::new(), compared: HashSet::new() };
        comparison.compare_schemas("x", &reference, &reference);
        comparison
            .found
            .into_iter()
            .map(|(place, expected, got)| format!("{place}: {expected} | {got}"))
            .collect()
    }

    #[test]
    fn names_of_schemas_and_ways_to_write_null_do_not_matter() {
        let own = json!({
            "schema": {"type": "object", "required": ["a", "b"], "properties": {
                "a": {"type": "string", "nullable": true, "description": "One."},
                "b": {"nullable": true, "allOf": [{"$ref": "#/named/B"}]},
                "c": {"type": "array", "items": {"$ref": "#/schema"}},
            }},
            "named": {"B": {"type": "string", "enum": ["x", "y"]}},
        });
        let mut served = json!({
            "schema": {"type": "object", "required": ["b", "a"], "properties": {
                "a": {"type": ["string", "null"]},
                "b": {"anyOf": [{"$ref": "#/other"}, {"type": "null"}]},
                "c": {"type": "array", "items": {"$ref": "#/schema"}},
            }},
            "other": {"type": "string", "enum": ["y", "x"]},
        });
        assert_eq!(differences(&own, &own), [""; 0]);
        assert_eq!(differences(&own, &served), [""; 0]);
        served["other"]["enum"] = json!(["x", "z"]);
        served["schema"]["properties"]["a"] = json!({"type": "integer"});
        served["schema"]["properties"]["d"] = json!({});
        let expected = [
            "x, fields: nothing | d",
            "x/a: nullable true | nullable false",
            "x/a: type \"string\" | \"integer\"",
            "x/b, enum: \"y\" | nothing",
            "x/b, enum: nothing | \"z\"",
        ];
        assert_eq!(differences(&own, &served), expected);
    }
}
