//! The OpenAPI documents: the framework's description of the routes, with additions that the framework does
//! not support.
//!
//! One pass over the framework's JSON. `schemas` corrects the schemas, and `error_responses` adds the common
//! parts of all operations. Nothing in this module depends on an individual route: examples and some links are
//! attributes of the routes.

mod document_operations;
mod error_codes;
mod error_responses;
mod event_schemas;
pub mod examples;
mod links;
mod nullable_references;
mod parameters;
mod schemas;
mod transfer_operations;

use serde_json::{Map, Value, json};

use crate::{
    config::ContactSettings,
    domain::principals::PrincipalKind,
    rest::{api::Api, documents::openapi::document_operations::operations, route::DeclaredRoute},
    string_enum::StringEnum,
    web::{auth, limits::Budget},
};

/// The OpenAPI version: the last one in which `nullable` has the meaning that clients expect.
const OPENAPI_VERSION: &str = "3.0.3";

/// The description of the effects of operations in the documents for operators.
const EFFECTS: &str = " `x-actor` of an operation that changes something says who acts, as histories show it: a team \
     does what a team could do itself, the platform what an operator decides. `x-events` names the events that \
     it may append.";

/// Generates the OpenAPI document of one API.
pub fn generate_document(api: &Api, base_url: &str) -> Value {
    let mut document: Value =
        serde_json::from_str(&(api.spec)()).expect("the framework generates valid JSON");
    document["openapi"] = json!(OPENAPI_VERSION);
    document["info"] = info(api);
    document["servers"] = json!([{"url": base_url, "description": "This server."}]);
    let schemas = document["components"]["schemas"].clone();
    let routes = api.routes();
    for operation in operations(&mut document) {
        let route = attributes_of(operation, &routes);
        let attributes = &*route;
        operation.insert("x-budget".to_owned(), json!(attributes.budget.as_str()));
        if let Some(effect) = attributes.effect {
            let events: Vec<&str> = effect.events.iter().map(|kind| kind.as_str()).collect();
            operation.insert("x-actor".to_owned(), json!(effect.actor.as_str()));
            operation.insert("x-events".to_owned(), json!(events));
        }
        parameters::expand_structs(operation, &schemas, &route);
        add_examples(operation, &route);
        error_responses::add_responses(operation);
        error_codes::add_error_codes(operation, &route);
    }
    if api.is_sandbox() {
        transfer_operations::add_operations(&mut document);
    }
    links::add_links(&mut document, &routes);
    remove_unused_tags(&mut document);
    error_responses::add_components(&mut document, api.keys);
    describe_keys(&mut document, api.keys);
    schemas::complete_schemas(&mut document);
    event_schemas::add_data_of_types(&mut document);
    nullable_references::replace_nullable_references(&mut document);
    document
}

/// Returns the attributes of an operation. [`crate::rest::declarations`] checks that all operations have some.
fn attributes_of(operation: &Map<String, Value>, routes: &[DeclaredRoute]) -> DeclaredRoute {
    let id = operation.get("operationId").and_then(Value::as_str).unwrap_or_default();
    routes
        .iter()
        .copied()
        .find(|route| route.operation == id)
        .unwrap_or_else(|| panic!("{id} has no attributes"))
}

fn info(api: &Api) -> Value {
    let Api { title, version, purpose: text, .. } = api;
    let (key, holder, effects) = match api.keys {
        PrincipalKind::Team => ("a team's API key", "team", ""),
        PrincipalKind::Operator => ("an operator key", "operator key", EFFECTS),
    };
    json!({
        "title": title,
        "version": version,
        "description": format!(
            "{text}\n\nAuthenticate with {key} in the `Authorization: Bearer <key>`, \
             `platform-api-key`, or `X-API-Key` header; if several are sent, only the first in this order \
             is used. Timestamps are UTC in RFC 3339 format with three decimal places. Amounts that are \
             numbers are in US dollars; amounts that are strings have two decimal places. Unknown query \
             parameters are rejected. Every response has an `X-Request-Id` header. Responses to GET have \
             an `ETag`; send it in `If-None-Match` to get 304 without a body if the content has not \
             changed. HEAD is supported wherever GET is.\n\nEach {holder} has these rate limit budgets, in \
             requests per minute: {}. `x-budget` names the budget of an operation, and the `RateLimit` \
             response header reports what remains of it. Budgets without a limit are not reported. \
             `x-error-codes` names the error codes of an operation, by status.{effects}",
            Budget::ALL.iter().map(|budget| format!("`{}`", budget.as_str())).collect::<Vec<_>>().join(", ")
        ),
        "license": {"name": "MIT OR Apache-2.0", "url": "https://spdx.org/licenses/MIT.html"},
    })
}

/// Describes which keys the security schemes carry. The framework describes those of teams.
fn describe_keys(document: &mut Value, keys: PrincipalKind) {
    if keys == PrincipalKind::Team {
        return;
    }
    let schemes = document["components"]["securitySchemes"].as_object_mut();
    for (_, scheme) in schemes.into_iter().flatten() {
        let described = scheme["description"].as_str().unwrap_or_default();
        scheme["description"] = json!(described.replacen(auth::KEY_OF_TEAM, "An operator key", 1));
    }
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

/// Removes the tags that no operation of the document uses. The framework adds all variants of the tag enum.
fn remove_unused_tags(document: &mut Value) {
    let tags = |operation: &mut Map<String, Value>| operation.get("tags").and_then(Value::as_array).cloned();
    let used: Vec<Value> = operations(document).filter_map(tags).flatten().collect();
    if let Some(tags) = document["tags"].as_array_mut() {
        tags.retain(|tag| used.contains(&tag["name"]));
    }
}

/// Adds an example response of the demo market, and an example request body, to an operation that has any.
fn add_examples(operation: &mut Map<String, Value>, route: &DeclaredRoute) {
    if let (Some(body), Some(example)) = (operation.get_mut("requestBody"), route.body_example) {
        body["content"][error_responses::JSON]["example"] = example();
    }
    let Some(example) = examples::example_response(route) else {
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
