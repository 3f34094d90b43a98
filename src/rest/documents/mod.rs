//! The OpenAPI documents: what the framework says of the routes, completed by what it cannot say.
//!
//! One pass over its JSON. What a schema says is in `schemas`, what all operations have in common in `failures`; nothing
//! here knows a single route.

pub mod examples;
mod failures;
mod links;
mod parameters;
mod schemas;

use poem::http::Method;
use poem_openapi::{OpenApi, OpenApiService};
use serde_json::{Map, Value, json};

use super::{Side, limits::Budget};
use crate::domain::vocabulary::Vocabulary;

/// The version of the description format; the last one in which `nullable` means what clients take it for.
const FORMAT: &str = "3.0.3";

/// The version of the interface.
const VERSION: &str = "2.0.0";

/// The document of one side, whose routes are `apis`.
pub fn document<A: OpenApi>(apis: A, side: Side, base_url: &str) -> Value {
    let spec = OpenApiService::new(apis, "", VERSION).spec();
    let mut document: Value = serde_json::from_str(&spec).expect("the framework writes JSON");
    document["openapi"] = json!(FORMAT);
    document["info"] = info(side);
    document["servers"] = json!([{"url": base_url, "description": "This server."}]);
    let schemas = document["components"]["schemas"].clone();
    for operation in of_method(&mut document, "post") {
        parameters::take_idempotency_key(operation);
    }
    note_budgets(&mut document);
    for operation in operations(&mut document) {
        parameters::expand(operation, &schemas);
        give_example(operation);
        failures::add(operation);
    }
    links::add(&mut document);
    keep_used_tags(&mut document);
    failures::define(&mut document);
    schemas::complete(&mut document);
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
             are numbers are US dollars; amounts that are strings have two decimals. Parameters that an operation does not \
             name are refused. Every answer carries `X-Request-Id`; answers to GET carry an `ETag` that `If-None-Match` \
             takes, and one that has not changed is 304 without a body. HEAD is answered wherever GET is.\n\nA team may make so \
             many requests a minute against each of its budgets ({}); `x-budget` says which one an operation counts against, \
             and `RateLimit` on the answer what is left of it. A budget that is not set is not told.",
            Budget::ALL.iter().map(|budget| format!("`{}`", budget.word())).collect::<Vec<_>>().join(", ")
        ),
        "contact": {"name": "The people who run this server", "url": "https://marketplace.example/support"},
        "license": {"name": "MIT OR Apache-2.0", "url": "https://spdx.org/licenses/MIT.html"},
    })
}

/// Says of every operation which of a team's budgets it counts against.
fn note_budgets(document: &mut Value) {
    for (path, item) in document["paths"].as_object_mut().into_iter().flatten() {
        for (method, operation) in item.as_object_mut().into_iter().flatten() {
            let method = Method::from_bytes(method.to_uppercase().as_bytes()).expect("a method");
            operation["x-budget"] = json!(Budget::of(&method, path).word());
        }
    }
}

/// Every operation of a document.
fn operations(document: &mut Value) -> impl Iterator<Item = &mut Map<String, Value>> {
    let paths = document["paths"].as_object_mut().into_iter().flatten();
    let items = paths.flat_map(|(_, item)| item.as_object_mut().into_iter().flatten());
    items.filter_map(|(_, operation)| operation.as_object_mut())
}

/// Drops the tags that no operation of the document has: all sides share one set of them.
fn keep_used_tags(document: &mut Value) {
    let tags = |operation: &mut Map<String, Value>| operation.get("tags").and_then(Value::as_array).cloned();
    let used: Vec<Value> = operations(document).filter_map(tags).flatten().collect();
    if let Some(tags) = document["tags"].as_array_mut() {
        tags.retain(|tag| used.contains(&tag["name"]));
    }
}

/// The operations of a method.
fn of_method<'a>(
    document: &'a mut Value,
    method: &'a str,
) -> impl Iterator<Item = &'a mut Map<String, Value>> {
    let paths = document["paths"].as_object_mut().into_iter().flatten();
    paths.filter_map(move |(_, item)| item.get_mut(method)?.as_object_mut())
}

/// Shows a real answer, where there is one, and a request that leads to it.
fn give_example(operation: &mut Map<String, Value>) {
    let id = operation.get("operationId").and_then(Value::as_str).unwrap_or_default().to_owned();
    if let (Some(body), Some(example)) = (operation.get_mut("requestBody"), examples::body(&id)) {
        body["content"][failures::JSON]["example"] = example;
    }
    let Some(example) = examples::answer(&id) else {
        return;
    };
    let responses = operation.get_mut("responses").and_then(Value::as_object_mut).into_iter().flatten();
    for (_, response) in responses.filter(|(status, _)| status.starts_with('2')) {
        if let Some(content) = response["content"].get_mut(failures::JSON) {
            content["example"] = example.clone();
        }
    }
}

#[cfg(test)]
mod tests;
