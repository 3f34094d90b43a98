//! What the schemas of the OpenAPI documents say: shapes of objects, and descriptions of parameters.

use std::collections::BTreeSet;

use marketplace::{
    config::ContactSettings,
    rest::{self, APIS},
};
use serde_json::{Value, json};

use crate::harness::BASE;

/// Fields that hold any JSON, because vendors define their content, or it depends on the error, the setting, or the request
/// that is expected.
const FREE_FORM_FIELDS: [&str; 13] = [
    "agent_config",
    "body",
    "brief",
    "column_values",
    "default",
    "derived_column_values",
    "details",
    "environment",
    "extra_columns",
    "headers",
    "query",
    "settings",
    "value",
];

fn openapi_documents() -> [Value; 4] {
    APIS.map(|api| serde_json::from_str(&rest::openapi_json(api, BASE, &ContactSettings::default())).unwrap())
}

/// Strict validators ignore `nullable` without a type next to it, and reject null where the values are listed without it.
#[test]
fn nullable_schemas_state_null_where_it_has_an_effect() {
    fn check(schema: &Value, nullable: &mut usize) {
        if schema["nullable"] == true {
            assert!(schema["type"].is_string(), "{schema}");
            let values = schema["enum"].as_array();
            assert!(values.is_none_or(|values| values.contains(&Value::Null)), "{schema}");
            *nullable += 1;
        }
        match schema {
            Value::Object(fields) => fields.values().for_each(|value| check(value, nullable)),
            Value::Array(elements) => elements.iter().for_each(|value| check(value, nullable)),
            _ => {}
        }
    }
    for document in openapi_documents() {
        let mut nullable = 0;
        check(&document, &mut nullable);
        assert!(nullable > 1, "{nullable}");
    }
}

/// Whether a schema states nothing about its values.
fn is_free_form(schema: &Value) -> bool {
    let stated = ["type", "$ref", "allOf", "anyOf", "oneOf", "enum"];
    stated.iter().all(|key| schema.get(key).is_none())
}

/// Collects the fields whose schema, or the schema of whose elements or values, is free-form.
fn collect_free_form_fields(schema: &Value, name: &str, found: &mut BTreeSet<String>) {
    let is_open_object = schema["type"] == "object"
        && schema.get("properties").is_none()
        && schema.get("oneOf").is_none()
        && schema
            .get("additionalProperties")
            .is_none_or(|values| *values == json!(true) || is_free_form(values));
    if is_open_object || is_free_form(schema) {
        found.insert(name.to_owned());
    }
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        collect_free_form_fields(field, name, found);
    }
    for key in ["items", "additionalProperties"] {
        if let Some(values) = schema.get(key).filter(|values| values.is_object()) {
            collect_free_form_fields(values, name, found);
        }
    }
    for part in ["allOf", "anyOf", "oneOf"].iter().filter_map(|key| schema[*key].as_array()).flatten() {
        collect_free_form_fields(part, name, found);
    }
}

#[test]
fn only_data_that_vendors_define_has_no_schema() {
    let mut found = BTreeSet::new();
    for document in openapi_documents() {
        for (name, schema) in document["components"]["schemas"].as_object().unwrap() {
            collect_free_form_fields(schema, name, &mut found);
        }
    }
    // A version of a task has free-form content; the environment of an asset has a schema.
    assert_eq!(found.iter().map(String::as_str).collect::<Vec<_>>(), FREE_FORM_FIELDS);
}

#[test]
fn every_parameter_has_a_description() {
    for document in openapi_documents() {
        for (path, item) in document["paths"].as_object().unwrap() {
            for (method, operation) in item.as_object().unwrap() {
                for parameter in operation["parameters"].as_array().into_iter().flatten() {
                    let description = parameter["description"].as_str().unwrap_or_default();
                    assert!(description.ends_with('.'), "{method} {path}: {}", parameter["name"]);
                }
            }
        }
    }
}
