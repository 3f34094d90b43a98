//! Parameters in the documents: expands parameter structs to separate parameters, and removes superfluous
//! keys.

use serde_json::{Map, Value, json};

use crate::{
    domain::principals::PrincipalKind,
    operations::idempotency::HEADER,
    rest::{
        arguments::{
            resolved_schemas::integer_range,
            schema_marks::{IF_MATCH_MARK, LAST_EVENT_ID_MARK, PARAMS_MARK},
        },
        documents::openapi::examples,
        idempotent::MAX_KEY_LENGTH,
        route::{DeclaredRoute, Repeatability},
    },
};

/// Replaces the parameter that represents a struct by one parameter per field, in field order, and adds the idempotency key.
pub fn expand_structs(operation: &mut Map<String, Value>, schemas: &Value, attributes: &DeclaredRoute) {
    let declared = match operation.remove("parameters") {
        Some(Value::Array(declared)) => declared,
        _ => Vec::new(),
    };
    let mut parameters = Vec::new();
    for mut parameter in declared {
        match parameter["schema"]["title"].as_str() {
            Some(IF_MATCH_MARK) => parameters.push(if_match()),
            Some(LAST_EVENT_ID_MARK) => parameters.push(last_event_id()),
            Some(PARAMS_MARK) => parameters.extend(expand_struct(&parameter["schema"], schemas)),
            _ => {
                if let Some(parameter) = parameter.as_object_mut() {
                    parameter
                        .retain(|key, value| key != "explode" && (key != "deprecated" || *value == true));
                }
                parameters.push(parameter);
            }
        }
    }
    if attributes.repeatability == Repeatability::OncePerKey {
        parameters.push(idempotency_key(attributes.required_access.key_kind()));
    }
    for parameter in &mut parameters {
        let name = parameter["name"].as_str().unwrap_or_default();
        let is_in_path = parameter["in"] == "path";
        if let Some(example) = examples::example_parameter(attributes, name, is_in_path) {
            parameter["example"] = example;
        }
    }
    if !parameters.is_empty() {
        operation.insert("parameters".to_owned(), Value::Array(parameters));
    }
}

/// Returns the parameter for the `Idempotency-Key` header.
fn idempotency_key(keys: PrincipalKind) -> Value {
    let scope = match keys {
        PrincipalKind::Team => "team",
        PrincipalKind::Operator => "operator key",
    };
    json!({
        "name": HEADER,
        "in": "header",
        "required": false,
        "description": format!(
            "Identifies this request; unique within the {scope}. If the same request is repeated with the same \
             key within a day, the first response is returned and the operation is not performed again."
        ),
        "schema": {"type": "string", "minLength": 1, "maxLength": MAX_KEY_LENGTH, "pattern": "^[!-~]+$"},
    })
}

/// Returns the parameter for the `If-Match` header.
fn if_match() -> Value {
    json!({
        "name": "If-Match",
        "in": "header",
        "required": false,
        "description": "The `ETag` of the record as the caller read it. If the record has changed since, the \
                        response is 412 and nothing is changed.",
        "schema": {"type": "string"},
    })
}

/// Returns the parameter for the `Last-Event-ID` header.
fn last_event_id() -> Value {
    json!({
        "name": "Last-Event-ID",
        "in": "header",
        "required": false,
        "description": "For a stream: the ID of the last event that the client has. The stream continues after it, \
                        whatever `cursor` says. Browsers send it when they connect again.",
        "schema": {"type": "string"},
    })
}

/// Returns the parameters that a marked schema represents.
fn expand_struct(marked: &Value, schemas: &Value) -> Vec<Value> {
    let names = marked["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    names
        .map(|name| {
            let (schema, is_required) =
                find_field(name, &marked["allOf"][0], schemas).expect("each parameter has a schema");
            build_parameter(name, is_required, schema)
        })
        .collect()
}

/// Returns the schema of a struct's field, and whether the field is required. Fields of flattened structs are
/// found, too.
fn find_field(name: &str, schema: &Value, schemas: &Value) -> Option<(Value, bool)> {
    let schema = match schema["$ref"].as_str() {
        Some(reference) => &schemas[reference.rsplit('/').next().unwrap_or_default()],
        None => schema,
    };
    if let Some(field) = schema["properties"].get(name) {
        let is_required = schema["required"].as_array().is_some_and(|names| names.contains(&json!(name)));
        return Some((field.clone(), is_required));
    }
    schema["allOf"].as_array()?.iter().find_map(|part| find_field(name, part, schemas))
}

fn build_parameter(name: &str, is_required: bool, mut schema: Value) -> Value {
    let description = schema.as_object_mut().and_then(|schema| schema.remove("description"));
    let is_array = schema["type"] == "array";
    if is_array && schema["default"] == json!([]) {
        schema.as_object_mut().map(|schema| schema.remove("default"));
    }
    let number_schema = if is_array { schema.get_mut("items") } else { Some(&mut schema) };
    if let Some(integer) = number_schema.filter(|number_schema| number_schema["type"] == "integer") {
        let (min, max) = integer_range(integer["format"].as_str().unwrap_or_default());
        for (key, bound) in [("minimum", min), ("maximum", max)] {
            if integer.get(key).is_none() {
                integer[key] = json!(bound);
            }
        }
    }
    let mut parameter = json!({"name": name, "in": "query", "required": is_required, "schema": schema});
    if is_array {
        parameter["style"] = json!("form");
        parameter["explode"] = json!(true);
    }
    if let Some(description) = description {
        parameter["description"] = description;
    }
    parameter
}
