//! Corrects the schemas in the documents to match the actual requests and responses.
//!
//! A response has all its fields: a field that is optional in Rust is null if it has no value. A request may
//! omit such fields. Neither has fields that the schema does not name.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use crate::rest::arguments::schema_marks::OMITTABLE_MARK;

/// Prefix of references to named schemas.
pub const SCHEMA_PREFIX: &str = "#/components/schemas/";

/// Corrects all schemas of a document, and removes those that are not referenced.
pub fn complete_schemas(document: &mut Value) {
    merge_variants(document);
    let used = reachable_schemas(document, &|_| true);
    let in_responses = reachable_schemas(document, &|key| key != "requestBody");
    let mut parts = BTreeSet::new();
    for section in ["paths", "components"] {
        for_each_schema(&mut document[section], &mut |schema| {
            deduplicate_all_of(schema);
            replace_unsigned_format(schema);
            move_item_constraints(schema);
            collect_all_of_parts(schema, &mut parts);
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
            complete_object(schema, in_responses.contains(name), !parts.contains(name));
        }
    }
}

/// Merges the variants of unions: the framework adds the discriminator in a schema of its own, whose other part would
/// have to allow any field.
fn merge_variants(document: &mut Value) {
    let schemas = document["components"]["schemas"].as_object().cloned().unwrap_or_default();
    for (name, schema) in schemas {
        let Some([discriminator, variant]) = schema.get("allOf").and_then(Value::as_array).map(Vec::as_slice)
        else {
            continue;
        };
        let variant = variant["$ref"].as_str().and_then(|target| target.strip_prefix(SCHEMA_PREFIX));
        let (Some(variant), Some(added)) = (variant, discriminator["properties"].as_object()) else {
            continue;
        };
        if !name.ends_with(&format!("_{variant}")) || count_references(document, variant) != 1 {
            continue;
        }
        let merged = &mut document["components"]["schemas"][variant];
        for (field, schema) in added {
            merged["properties"][field] = schema.clone();
        }
        for field in discriminator["required"].as_array().into_iter().flatten() {
            match merged["required"].as_array_mut() {
                Some(required) => required.push(field.clone()),
                None => merged["required"] = json!([field]),
            }
        }
        let (from, to) = (format!("{SCHEMA_PREFIX}{name}"), format!("{SCHEMA_PREFIX}{variant}"));
        replace_text(document, &from, &to);
        if let Some(schemas) = document["components"]["schemas"].as_object_mut() {
            schemas.remove(&name);
        }
    }
}

/// Returns the number of references to a schema in the schemas of a document and in its paths.
fn count_references(value: &Value, name: &str) -> usize {
    match value {
        Value::String(text) => usize::from(text.strip_prefix(SCHEMA_PREFIX) == Some(name)),
        Value::Array(elements) => elements.iter().map(|element| count_references(element, name)).sum(),
        Value::Object(fields) => fields.values().map(|field| count_references(field, name)).sum(),
        _ => 0,
    }
}

/// Replaces all strings that equal `from`.
fn replace_text(value: &mut Value, from: &str, to: &str) {
    match value {
        Value::String(text) if text == from => to.clone_into(text),
        Value::Array(elements) => elements.iter_mut().for_each(|element| replace_text(element, from, to)),
        Value::Object(fields) => fields.values_mut().for_each(|field| replace_text(field, from, to)),
        _ => {}
    }
}

/// Returns the names of the schemas that are reachable from a document's paths through the keys that
/// `may_follow` accepts.
fn reachable_schemas(document: &Value, may_follow: &dyn Fn(&str) -> bool) -> BTreeSet<String> {
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
                        .and_then(|target| target.strip_prefix(SCHEMA_PREFIX));
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

/// Calls `visit` for each schema in a value, outer schemas first. Skips examples, defaults, and enum values.
pub fn for_each_schema(value: &mut Value, visit: &mut impl FnMut(&mut Map<String, Value>)) {
    match value {
        Value::Object(fields) => {
            if ["type", "allOf", "anyOf", "oneOf"].iter().any(|key| fields.contains_key(*key)) {
                visit(fields);
            }
            let nested =
                fields.iter_mut().filter(|(key, _)| !["example", "default", "enum"].contains(&key.as_str()));
            nested.for_each(|(_, value)| for_each_schema(value, visit));
        }
        Value::Array(elements) => elements.iter_mut().for_each(|element| for_each_schema(element, visit)),
        _ => {}
    }
}

/// Removes duplicates: the framework writes what it adds to a named schema both inside `allOf` and next to
/// it.
fn deduplicate_all_of(schema: &mut Map<String, Value>) {
    let Some([_, added]) = schema.get("allOf").and_then(Value::as_array).map(Vec::as_slice) else { return };
    let is_shape = ["$ref", "type", "properties", "allOf"].iter().any(|key| added.get(key).is_some());
    let is_repeated = schema.iter().all(|(key, value)| key == "allOf" || added.get(key) == Some(value));
    if !is_shape
        && is_repeated
        && let Some(Value::Array(all_of)) = schema.get_mut("allOf")
    {
        all_of.truncate(1);
    }
}

/// Replaces unsigned integer formats, which OpenAPI does not define and clients would ignore.
fn replace_unsigned_format(schema: &mut Map<String, Value>) {
    let format = schema.get("format").and_then(Value::as_str).and_then(signed_format);
    let Some(format) = format else { return };
    schema.insert("format".to_owned(), json!(format));
    schema.entry("minimum").or_insert(json!(0));
}

/// Returns the format of OpenAPI for the integers of an unsigned one.
pub fn signed_format(unsigned: &str) -> Option<&'static str> {
    match unsigned {
        "uint8" | "uint16" => Some("int32"),
        "uint" | "uint32" | "uint64" => Some("int64"),
        _ => None,
    }
}

/// Moves constraints on array items from the array, where the framework writes them without effect, to the
/// items.
fn move_item_constraints(schema: &mut Map<String, Value>) {
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

/// Collects the named schemas that are used as one of several `allOf` parts. They must allow the fields of
/// the other parts.
fn collect_all_of_parts(schema: &Map<String, Value>, parts: &mut BTreeSet<String>) {
    let all_of = schema.get("allOf").and_then(Value::as_array).filter(|all_of| all_of.len() > 1);
    let names =
        all_of.into_iter().flatten().filter_map(|part| part["$ref"].as_str()?.strip_prefix(SCHEMA_PREFIX));
    parts.extend(names.map(str::to_owned));
}

fn complete_object(schema: &mut Map<String, Value>, is_in_response: bool, is_closed: bool) {
    let Some(Value::Object(mut properties)) = schema.remove("properties") else {
        return;
    };
    let required: Vec<Value> = schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    for (name, property) in &mut properties {
        if property["title"] == OMITTABLE_MARK {
            *property = unmark_omittable(property);
        } else if !required.contains(&json!(name)) && property.get("default").is_none() {
            *property = make_nullable(property.take());
        }
        // A field with a default may be omitted from a request. But client generators treat a field with a
        // default as always present and would require it, so the default is removed. This loses nothing: all
        // such defaults are false or empty.
        if !is_in_response
            && let Some(default) = property.as_object_mut().and_then(|fields| fields.remove("default"))
        {
            assert!(
                [json!(false), json!([]), json!({})].contains(&default),
                "the default of {name} is {default}, which is neither false nor empty"
            );
        }
    }
    if is_in_response {
        schema.insert("required".to_owned(), properties.keys().map(|name| json!(name)).collect());
    }
    schema.insert("properties".to_owned(), Value::Object(properties));
    if is_closed {
        schema.insert("additionalProperties".to_owned(), json!(false));
    }
}

/// Returns the schema of an optional field that is never null, without the title that marks it as such.
fn unmark_omittable(schema: &Value) -> Value {
    let mut unmarked = schema.as_object().cloned().unwrap_or_default();
    unmarked.remove("title");
    if let Some(Value::Array(all_of)) = unmarked.remove("allOf") {
        if all_of.len() == 1 && (all_of[0].get("$ref").is_none() || unmarked.is_empty()) {
            unmarked.extend(all_of[0].as_object().cloned().unwrap_or_default());
        } else {
            unmarked.insert("allOf".to_owned(), Value::Array(all_of));
        }
    }
    Value::Object(unmarked)
}

/// Makes a schema accept null.
fn make_nullable(mut schema: Value) -> Value {
    if schema.get("type").is_some() {
        schema["nullable"] = json!(true);
        if let Some(Value::Array(values)) = schema.get_mut("enum") {
            values.push(Value::Null);
        }
        return schema;
    }
    // A schema without a type, such as a reference, becomes the only part of `allOf` next to `nullable`, which
    // `nullable_references` replaces.
    let mut fields = schema.as_object().cloned().unwrap_or_default();
    if let Some(reference) = fields.remove("$ref") {
        fields.insert("allOf".to_owned(), json!([{"$ref": reference}]));
    }
    // A schema without constraints accepts null already.
    if fields.contains_key("allOf") {
        fields.insert("nullable".to_owned(), json!(true));
    }
    Value::Object(fields)
}
