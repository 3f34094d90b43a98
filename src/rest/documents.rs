//! The OpenAPI documents: what the framework says of the routes, completed by what it cannot say.
//!
//! One pass over its JSON: structs of parameters become parameters, nullable fields are required and nullable, objects
//! take no further fields, and every operation names the failures that all operations can have.

use std::collections::BTreeMap;

use poem_openapi::{registry::Registry, types::Type};
use serde_json::{Map, Value, json};

use super::{
    Side, examples,
    params::MARK,
    problem::{ErrorBody, ValidationBody},
};

/// The version of the interface.
const VERSION: &str = "2.0.0";

/// Failures that operations share: status, what it means, and whether its body is the envelope.
const FAILURES: [(&str, &str); 9] = [
    ("400", "The request cannot be read, or its cursor belongs to another one."),
    ("401", "No API key was sent, or one that does not count."),
    ("403", "The key's team may not do this: no marketplace role, no mutual NDA, or the browse gate is shut."),
    ("404", "There is no such thing that the team can see."),
    ("409", "The state of things does not allow this."),
    ("422", "Values break their rules; the body names every one of them."),
    ("429", "The team has spent its budget for now; wait as long as `Retry-After` says."),
    ("500", "The server failed; nothing was changed."),
    ("503", "The server is full; wait as long as `Retry-After` says."),
];

/// Completes the framework's document of one side.
pub fn complete(spec: &str, side: Side, base_url: &str) -> Value {
    let mut document: Value = serde_json::from_str(spec).expect("the framework writes JSON");
    document["info"] = info(side);
    document["servers"] = json!([{"url": base_url, "description": "This server."}]);
    document["tags"] = tags(side, &document);
    if let Some(schemas) = document["components"]["schemas"].as_object_mut() {
        schemas.extend(failure_schemas());
        let kinds: BTreeMap<String, Value> =
            schemas.iter().map(|(name, schema)| (name.clone(), schema["type"].clone())).collect();
        for (name, schema) in schemas.iter_mut() {
            complete_schema(name, schema, &kinds);
        }
    }
    let schemas = document["components"]["schemas"].clone();
    for operation in operations(&mut document) {
        expand_parameters(operation, &schemas);
        complete_operation(operation);
    }
    drop_parameter_structs(&mut document);
    document["components"]["responses"] = shared_responses();
    document["components"]["headers"] = shared_headers();
    document
}

fn info(side: Side) -> Value {
    let (title, text) = match side {
        Side::Vendor => (
            "Data marketplace: vendor API",
            "For teams that offer data: the catalog that buyers see, and everything that a vendor keeps in the market.",
        ),
        Side::Buyer => (
            "Data marketplace: buyer API",
            "For teams that look for data: the catalog with its quality evidence and previews, and what a buyer has in the market.",
        ),
    };
    json!({
        "title": title,
        "version": VERSION,
        "description": format!(
            "{text}\n\nEvery operation takes a team's API key as `Authorization: Bearer <key>`, `platform-api-key` or \
             `X-API-Key`; the first of them that is sent counts. Times are UTC, RFC 3339 with three decimals. Amounts that \
             are numbers are US dollars; amounts that are strings have two decimals. Every answer carries `X-Request-Id`; \
             answers to GET carry an `ETag` that `If-None-Match` takes."
        ),
        "contact": {"name": "The people who run this server", "url": "https://marketplace.example/support"},
        "license": {"name": "MIT OR Apache-2.0", "url": "https://spdx.org/licenses/MIT.html"},
    })
}

fn tags(side: Side, document: &Value) -> Value {
    let all = [
        ("catalog", "The published listings: pages, filters, facets, details, quality evidence and previews."),
        ("taxonomy", "The words of the catalog: domains, tags and asset kinds."),
        ("account", "The team's wallet and messages."),
    ];
    let used = |name: &str| {
        let paths = document["paths"].as_object().into_iter().flatten();
        paths.flat_map(|(_, item)| item.as_object().into_iter().flatten()).any(|(_, operation)| {
            operation["tags"].as_array().is_some_and(|tags| tags.iter().any(|tag| tag == name))
        })
    };
    let _ = side;
    let tags = all.iter().filter(|(name, _)| used(name));
    tags.map(|(name, description)| json!({"name": name, "description": description})).collect()
}

/// Every operation of a document.
fn operations(document: &mut Value) -> impl Iterator<Item = &mut Map<String, Value>> {
    let paths = document["paths"].as_object_mut().into_iter().flatten();
    paths.flat_map(|(_, item)| item.as_object_mut().into_iter().flatten()).filter_map(|(_, operation)| operation.as_object_mut())
}

/// The bodies of failures, which no route names.
fn failure_schemas() -> Map<String, Value> {
    let mut registry = Registry::new();
    ErrorBody::register(&mut registry);
    ValidationBody::register(&mut registry);
    let schemas = registry.schemas.into_iter();
    schemas.map(|(name, schema)| (name, serde_json::to_value(schema).expect("a schema is JSON"))).collect()
}

/// Optional fields of answers are always there and may be null; objects have no fields but the named ones. `kinds` are the
/// types of all schemas, by their names.
fn complete_schema(name: &str, schema: &mut Value, kinds: &BTreeMap<String, Value>) {
    if schema.get("description").is_none() {
        schema["description"] = json!(format!("{name}."));
    }
    let required: Vec<Value> = schema["required"].as_array().cloned().unwrap_or_default();
    let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) else {
        return;
    };
    for (field, property) in properties.iter_mut() {
        drop_repeated_words(property);
        if !required.contains(&json!(field)) {
            make_nullable(property, kinds);
        }
    }
    schema["required"] = properties.keys().map(|field| json!(field)).collect();
    schema["additionalProperties"] = json!(false);
}

/// The framework repeats a field's description inside an `allOf`.
fn drop_repeated_words(property: &mut Value) {
    if let Some(parts) = property.get_mut("allOf").and_then(Value::as_array_mut) {
        parts.retain(|part| part.get("$ref").is_some());
    }
}

/// Lets a field be null. `nullable` counts only beside a `type`, so a reference to a schema is given that schema's.
fn make_nullable(property: &mut Value, kinds: &BTreeMap<String, Value>) {
    if let Some(reference) = property.get("$ref").cloned() {
        *property = json!({"allOf": [{"$ref": reference}]});
    }
    let reference = property["allOf"][0]["$ref"].as_str().and_then(|reference| reference.rsplit('/').next());
    if let Some(kind) = reference.and_then(|name| kinds.get(name)).cloned() {
        property["type"] = kind;
    }
    property["nullable"] = json!(true);
}

/// Replaces the one parameter that stands for a struct by a parameter for each of its fields.
fn expand_parameters(operation: &mut Map<String, Value>, schemas: &Value) {
    let Some(parameters) = operation.get_mut("parameters").and_then(Value::as_array_mut) else {
        return;
    };
    let Some(index) = parameters.iter().position(|parameter| parameter["schema"]["title"] == MARK) else {
        return;
    };
    let marked = parameters.remove(index);
    let reference = marked["schema"]["allOf"][0]["$ref"].as_str().unwrap_or_default();
    let schema = &schemas[reference.rsplit('/').next().unwrap_or_default()];
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let mut property = property.clone();
        let description = property.as_object_mut().and_then(|fields| fields.remove("description"));
        if let Some(fields) = property.as_object_mut() {
            fields.remove("nullable");
        }
        // A lone reference needs no wrapping.
        if property.as_object().is_some_and(|fields| fields.len() == 1)
            && let Some([inner]) = property["allOf"].as_array().map(Vec::as_slice)
        {
            property = inner.clone();
        }
        let mut parameter = json!({"name": name, "in": "query", "required": false, "schema": property});
        if parameter["schema"]["type"] == "array" {
            parameter["style"] = json!("form");
            parameter["explode"] = json!(true);
        }
        if let Some(description) = description {
            parameter["description"] = description;
        }
        parameters.push(parameter);
    }
    if parameters.is_empty() {
        operation.remove("parameters");
    }
}

/// Structs of parameters are no schemas of anything else.
fn drop_parameter_structs(document: &mut Value) {
    if let Some(schemas) = document["components"]["schemas"].as_object_mut() {
        schemas.retain(|name, _| !name.ends_with("Query") && name != "NoParams");
    }
}

fn complete_operation(operation: &mut Map<String, Value>) {
    let id = operation.get("operationId").and_then(Value::as_str).unwrap_or_default().to_owned();
    let has_body = operation.contains_key("requestBody");
    let request_id = json!({"X-Request-Id": {"$ref": "#/components/headers/X-Request-Id"}});
    let Some(responses) = operation.get_mut("responses").and_then(Value::as_object_mut) else {
        return;
    };
    for (status, response) in responses.iter_mut().filter(|(status, _)| status.starts_with('2')) {
        response["headers"] = request_id.clone();
        if status == "200" {
            response["headers"]["ETag"] = json!({"$ref": "#/components/headers/ETag"});
        }
        for (_, content) in response["content"].as_object_mut().into_iter().flatten() {
            if let Some(example) = examples::answer(&id) {
                content["example"] = example;
            }
        }
    }
    for (status, _) in FAILURES {
        responses.insert(status.to_owned(), json!({"$ref": format!("#/components/responses/Failure{status}")}));
    }
    if has_body {
        responses.insert("413".to_owned(), json!({"$ref": "#/components/responses/Failure413"}));
    }
    let parameters = operation.get_mut("parameters").and_then(Value::as_array_mut).into_iter().flatten();
    for parameter in parameters {
        let name = parameter["name"].as_str().unwrap_or_default().to_owned();
        if let Some(example) = examples::parameter(&name) {
            parameter["example"] = example;
        }
    }
}

fn shared_responses() -> Value {
    let mut responses = Map::new();
    for (status, description) in FAILURES {
        let schema = if status == "422" { "ValidationBody" } else { "ErrorBody" };
        let mut response = json!({
            "description": description,
            "headers": {"X-Request-Id": {"$ref": "#/components/headers/X-Request-Id"}},
            "content": {"application/json; charset=utf-8": {
                "schema": {"$ref": format!("#/components/schemas/{schema}")},
                "example": examples::failure(status),
            }},
        });
        if status == "429" || status == "503" {
            response["headers"]["Retry-After"] = json!({"$ref": "#/components/headers/Retry-After"});
        }
        if status == "401" {
            response["headers"]["WWW-Authenticate"] = json!({"$ref": "#/components/headers/WWW-Authenticate"});
        }
        responses.insert(format!("Failure{status}"), response);
    }
    Value::Object(responses)
}

fn shared_headers() -> Value {
    let header = |description: &str, schema: Value| json!({"description": description, "schema": schema});
    json!({
        "X-Request-Id": header(
            "The request's id: the caller's own, where it sent a fitting one.",
            json!({"type": "string", "pattern": "^[A-Za-z0-9._-]{1,128}$"}),
        ),
        "ETag": header("The answer's entity tag, for `If-None-Match`.", json!({"type": "string"})),
        "Retry-After": header("Seconds to wait.", json!({"type": "integer", "minimum": 0})),
        "WWW-Authenticate": header("The scheme that is asked for.", json!({"type": "string", "enum": ["Bearer"]})),
    })
}
