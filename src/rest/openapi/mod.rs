//! The OpenAPI documents: the framework's description of the routes, with additions that the framework does
//! not support.
//!
//! One pass over the framework's JSON. `schemas` corrects the schemas, and `error_responses` adds what all
//! operations have in common. Nothing in this module depends on an individual route, except for examples and
//! some links.

mod document_operations;
mod error_responses;
pub mod examples;
mod links;
mod parameters;
mod schemas;

use poem::http::Method;
use poem_openapi::{OpenApi, OpenApiService};
use serde_json::{Map, Value, json};

use self::document_operations::{operations, operations_with_method};
use super::{api::Api, limits::Budget};
use crate::{config::ContactSettings, string_enum::StringEnum};

/// The OpenAPI version: the last one in which `nullable` has the meaning that clients expect.
const OPENAPI_VERSION: &str = "3.0.3";

/// The version of the API.
const API_VERSION: &str = "2.0.0";

/// Generates the OpenAPI document of one API, whose routes are `apis`.
pub fn generate_document<A: OpenApi>(apis: A, api: Api, base_url: &str) -> Value {
    let spec = OpenApiService::new(apis, "", API_VERSION).spec();
    let mut document: Value = serde_json::from_str(&spec).expect("the framework generates valid JSON");
    document["openapi"] = json!(OPENAPI_VERSION);
    document["info"] = info(api);
    document["servers"] = json!([{"url": base_url, "description": "This server."}]);
    let schemas = document["components"]["schemas"].clone();
    for operation in operations_with_method(&mut document, "post") {
        parameters::add_idempotency_key(operation);
    }
    add_budgets(&mut document);
    for operation in operations(&mut document) {
        parameters::expand_structs(operation, &schemas);
        add_examples(operation);
        error_responses::add_responses(operation);
    }
    links::add_links(&mut document);
    remove_unused_tags(&mut document);
    error_responses::add_components(&mut document);
    schemas::complete_schemas(&mut document);
    document
}

fn info(api: Api) -> Value {
    let (title, text) = match api {
        Api::Vendor => (
            "Data marketplace: vendor API",
            "For teams that sell data: the catalog as buyers see it, and the team's own listings, assets, \
             uploads, estimations, and sales.",
        ),
        Api::Buyer => (
            "Data marketplace: buyer API",
            "For teams that buy data: the catalog with its quality evidence and previews, and the team's \
             purchases, offers, and opportunities.",
        ),
    };
    json!({
        "title": title,
        "version": API_VERSION,
        "description": format!(
            "{text}\n\nAuthenticate with a team's API key in the `Authorization: Bearer <key>`, \
             `platform-api-key`, or `X-API-Key` header; if several are sent, only the first in this order \
             is used. Timestamps are UTC in RFC 3339 format with three decimal places. Amounts that are \
             numbers are in US dollars; amounts that are strings have two decimal places. Unknown query \
             parameters are rejected. Every response has an `X-Request-Id` header. Responses to GET have \
             an `ETag`; send it in `If-None-Match` to get 304 without a body if the content has not \
             changed. HEAD is supported wherever GET is.\n\nEach team has these rate limit budgets, in \
             requests per minute: {}. `x-budget` names the budget of an operation, and the `RateLimit` \
             response header reports what remains of it. Budgets without a limit are not reported.",
            Budget::ALL.iter().map(|budget| format!("`{}`", budget.as_str())).collect::<Vec<_>>().join(", ")
        ),
        "license": {"name": "MIT OR Apache-2.0", "url": "https://spdx.org/licenses/MIT.html"},
    })
}

/// Sets whom to ask about the API. Without any contact in the settings, the document has none.
pub fn set_contact(document: &mut Value, contact: &ContactSettings) {
    let facts = [("name", &contact.name), ("url", &contact.url), ("email", &contact.email)];
    let facts: Map<String, Value> = facts
        .into_iter()
        .filter(|(_, value)| !value.is_empty())
        .map(|(name, value)| (name.to_owned(), json!(value)))
        .collect();
    if !facts.is_empty() {
        document["info"]["contact"] = Value::Object(facts);
    }
}

/// Adds `x-budget`, the rate limit budget that the operation is charged to, to every operation.
fn add_budgets(document: &mut Value) {
    for (path, item) in document["paths"].as_object_mut().into_iter().flatten() {
        for (method, operation) in item.as_object_mut().into_iter().flatten() {
            let method = Method::from_bytes(method.to_uppercase().as_bytes())
                .expect("keys of a path item are methods");
            operation["x-budget"] = json!(Budget::for_operation(&method, path).as_str());
        }
    }
}

/// Removes the tags that no operation of the document uses. The framework adds all variants of the tag enum.
fn remove_unused_tags(document: &mut Value) {
    let tags = |operation: &mut Map<String, Value>| operation.get("tags").and_then(Value::as_array).cloned();
    let used: Vec<Value> = operations(document).filter_map(tags).flatten().collect();
    if let Some(tags) = document["tags"].as_array_mut() {
        tags.retain(|tag| used.contains(&tag["name"]));
    }
}

/// Adds an example response of the demo market, and an example request body, to an operation that has any.
fn add_examples(operation: &mut Map<String, Value>) {
    let id = operation.get("operationId").and_then(Value::as_str).unwrap_or_default().to_owned();
    if let (Some(body), Some(example)) = (operation.get_mut("requestBody"), examples::example_body(&id)) {
        body["content"][error_responses::JSON]["example"] = example;
    }
    let Some(example) = examples::example_response(&id) else {
        return;
    };
    let responses = operation.get_mut("responses").and_then(Value::as_object_mut).into_iter().flatten();
    for (_, response) in responses.filter(|(status, _)| status.starts_with('2')) {
        if let Some(content) = response["content"].get_mut(error_responses::JSON) {
            content["example"] = example.clone();
        }
    }
}

#[cfg(test)]
mod tests;
