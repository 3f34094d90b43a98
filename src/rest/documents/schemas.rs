//! Schemas in the documents, made to say what answers and requests are really like.
//!
//! An answer has all its fields, and those that are optional in Rust are null where they are empty; a request may leave them
//! out. Neither has fields that are not named.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use crate::rest::bodies::GIVEN;

/// Where the named schemas are.
const NAMED: &str = "#/components/schemas/";

/// Completes every schema of a document, and drops those that nothing refers to.
pub fn complete(document: &mut Value) {
    let used = reachable(document, &|_| true);
    let answered = reachable(document, &|key| key != "requestBody");
    let mut parts = BTreeSet::new();
    for section in ["paths", "components"] {
        each(&mut document[section], &mut |schema| {
            merge_plainly(schema);
            number_plainly(schema);
            bound_items(schema);
            note_parts(schema, &mut parts);
        });
    }
    let Some(schemas) = document["components"]["schemas"].as_object_mut() else {
        return;
    };
    schemas.retain(|name, _| used.contains(name));
    for (name, schema) in schemas {
        let Some(schema) = schema.as_object_mut() else {
            continue;
        };
        if schema.contains_key("properties") {
            complete_object(schema, answered.contains(name), !parts.contains(name));
        }
    }
}

/// The names of the schemas that a document's paths lead to, by the keys that `may_follow`.
fn reachable(document: &Value, may_follow: &dyn Fn(&str) -> bool) -> BTreeSet<String> {
    fn walk(
        value: &Value,
        document: &Value,
        may_follow: &dyn Fn(&str) -> bool,
        found: &mut BTreeSet<String>,
    ) {
        match value {
            Value::Object(fields) => {
                for (key, value) in fields.iter().filter(|(key, _)| may_follow(key)) {
                    let name = value
                        .as_str()
                        .filter(|_| key == "$ref")
                        .and_then(|target| target.strip_prefix(NAMED));
                    match name {
                        Some(name) if found.insert(name.to_owned()) => {
                            walk(&document["components"]["schemas"][name], document, may_follow, found);
                        }
                        Some(_) => {}
                        None => walk(value, document, may_follow, found),
                    }
                }
            }
            Value::Array(elements) => {
                for element in elements {
                    walk(element, document, may_follow, found);
                }
            }
            _ => {}
        }
    }
    let mut found = BTreeSet::new();
    walk(&document["paths"], document, may_follow, &mut found);
    walk(&document["components"]["responses"], document, may_follow, &mut found);
    found
}

/// Shows every schema below a value, the outer ones first. Examples are not looked into.
fn each(value: &mut Value, act: &mut impl FnMut(&mut Map<String, Value>)) {
    match value {
        Value::Object(fields) => {
            if ["type", "allOf", "anyOf", "oneOf"].iter().any(|key| fields.contains_key(*key)) {
                act(fields);
            }
            let below =
                fields.iter_mut().filter(|(key, _)| !["example", "default", "enum"].contains(&key.as_str()));
            below.for_each(|(_, value)| each(value, act));
        }
        Value::Array(elements) => elements.iter_mut().for_each(|element| each(element, act)),
        _ => {}
    }
}

/// The framework says what it adds to a named schema twice, inside of `allOf` and beside it; beside it is enough.
fn merge_plainly(schema: &mut Map<String, Value>) {
    let Some([_, added]) = schema.get("allOf").and_then(Value::as_array).map(Vec::as_slice) else { return };
    let is_shape = ["$ref", "type", "properties", "allOf"].iter().any(|key| added.get(key).is_some());
    let is_repeated = schema.iter().all(|(key, value)| key == "allOf" || added.get(key) == Some(value));
    if !is_shape
        && is_repeated
        && let Some(Value::Array(all)) = schema.get_mut("allOf")
    {
        all.truncate(1);
    }
}

/// OpenAPI knows no unsigned formats, so clients would pass over them.
fn number_plainly(schema: &mut Map<String, Value>) {
    let format = match schema.get("format").and_then(Value::as_str) {
        Some("uint8" | "uint16") => "int32",
        Some("uint32" | "uint64") => "int64",
        _ => return,
    };
    schema.insert("format".to_owned(), json!(format));
    schema.entry("minimum").or_insert(json!(0));
}

/// The framework puts what goes for each item of an array on the array, where it means nothing.
fn bound_items(schema: &mut Map<String, Value>) {
    if schema.get("type") != Some(&json!("array")) {
        return;
    }
    for rule in
        ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minLength", "maxLength", "pattern"]
    {
        if let Some(bound) = schema.remove(rule)
            && let Some(items) = schema.get_mut("items")
        {
            items[rule] = bound;
        }
    }
}

/// A named schema that is one of several parts of a whole must let the others' fields through.
fn note_parts(schema: &Map<String, Value>, parts: &mut BTreeSet<String>) {
    let all = schema.get("allOf").and_then(Value::as_array).filter(|all| all.len() > 1);
    let names = all.into_iter().flatten().filter_map(|part| part["$ref"].as_str()?.strip_prefix(NAMED));
    parts.extend(names.map(str::to_owned));
}

fn complete_object(schema: &mut Map<String, Value>, is_answered: bool, is_whole: bool) {
    let Some(Value::Object(mut properties)) = schema.remove("properties") else {
        return;
    };
    let required: Vec<Value> = schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    for (name, property) in &mut properties {
        if property["title"] == GIVEN {
            *property = given(property);
        } else if !required.contains(&json!(name)) && property.get("default").is_none() {
            *property = nullable(property.take());
        }
        // A field that has a default may be left out of a request; but generators of clients take a default for a promise
        // that the field is there, and would demand it. Every default of a body is false or empty, as one expects.
        if !is_answered
            && let Some(default) = property.as_object_mut().and_then(|fields| fields.remove("default"))
        {
            assert!(
                [json!(false), json!([]), json!({})].contains(&default),
                "{name} is {default} by default"
            );
        }
    }
    if is_answered {
        schema.insert("required".to_owned(), properties.keys().map(|name| json!(name)).collect());
    }
    schema.insert("properties".to_owned(), Value::Object(properties));
    if is_whole {
        schema.insert("additionalProperties".to_owned(), json!(false));
    }
}

/// The schema of a field that may be left out and is never null, without the mark that says so.
fn given(schema: &Value) -> Value {
    let mut whole = schema.as_object().cloned().unwrap_or_default();
    whole.remove("title");
    if let Some(Value::Array(all)) = whole.remove("allOf") {
        if all.len() == 1 && (all[0].get("$ref").is_none() || whole.is_empty()) {
            whole.extend(all[0].as_object().cloned().unwrap_or_default());
        } else {
            whole.insert("allOf".to_owned(), Value::Array(all));
        }
    }
    Value::Object(whole)
}

/// The same schema, which may be null, too.
fn nullable(mut schema: Value) -> Value {
    if schema.get("type").is_some() {
        schema["nullable"] = json!(true);
        if let Some(Value::Array(words)) = schema.get_mut("enum") {
            words.push(Value::Null);
        }
        return schema;
    }
    // `nullable` counts beside a `type` only, and lets null past that type and no other; so a named schema becomes one of
    // two. What is said of it beside its name goes for both.
    let mut whole = schema.as_object().cloned().unwrap_or_default();
    let named = match (whole.remove("$ref"), whole.remove("allOf")) {
        (Some(reference), _) => json!({"$ref": reference}),
        (_, Some(Value::Array(all))) if all.len() == 1 => all[0].clone(),
        (_, Some(all)) => json!({"allOf": all}),
        // Anything at all, which null is.
        (None, None) => return schema,
    };
    whole.insert("anyOf".to_owned(), json!([named, {"type": "object", "nullable": true, "enum": [null]}]));
    Value::Object(whole)
}
