//! Gives references that may be null a form in which null is valid. `nullable` has an effect only next to the `type` that it
//! extends (OpenAPI 3.0.3), so next to a reference, strict validators ignore it.
//!
//! The form also has to be one of which generators of clients make a type or null: some turn an alternative without a name that
//! allows only null into invalid code, or lose the null of an enum in an alternative.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::rest::documents::openapi::schemas::{SCHEMA_PREFIX, for_each_schema};

/// Name of the schema of null.
const NULL: &str = "Null";

/// Replaces each nullable reference of a document: one to an enum by its values and null, and any other one by two alternatives,
/// of which the second is null.
pub fn replace_nullable_references(document: &mut Value) {
    let enums = enums(document);
    let mut has_null = false;
    for section in ["paths", "components"] {
        for_each_schema(&mut document[section], &mut |schema| {
            let Some(target) = nullable_target(schema) else { return };
            schema.remove("allOf");
            let name = target.trim_start_matches(SCHEMA_PREFIX);
            if let Some(values) = enums.get(name) {
                let values: Vec<&Value> = values.iter().chain([&Value::Null]).collect();
                schema.insert("title".to_owned(), json!(name));
                schema.insert("type".to_owned(), json!("string"));
                schema.insert("enum".to_owned(), json!(values));
            } else {
                schema.remove("nullable");
                let alternatives = [target, format!("{SCHEMA_PREFIX}{NULL}")];
                let alternatives = alternatives.map(|target| json!({"$ref": target}));
                schema.insert("anyOf".to_owned(), json!(alternatives));
                has_null = true;
            }
        });
    }
    if has_null {
        document["components"]["schemas"][NULL] =
            json!({"type": "string", "description": "No value.", "nullable": true, "enum": [null]});
    }
}

/// Returns the values of the enums of a document, by name.
fn enums(document: &Value) -> BTreeMap<String, Vec<Value>> {
    let schemas = document["components"]["schemas"].as_object().into_iter().flatten();
    schemas.filter_map(|(name, schema)| Some((name.clone(), schema["enum"].as_array()?.clone()))).collect()
}

/// Returns what a schema refers to that is a nullable reference.
fn nullable_target(schema: &Map<String, Value>) -> Option<String> {
    let is_nullable = schema.get("nullable") == Some(&json!(true)) && !schema.contains_key("type");
    match schema.get("allOf").filter(|_| is_nullable).and_then(Value::as_array).map(Vec::as_slice) {
        Some([part]) => part["$ref"].as_str().map(str::to_owned),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nullable_references_have_a_form_in_which_null_is_valid() {
        let reference = |name: &str| json!({"$ref": format!("{SCHEMA_PREFIX}{name}")});
        let nullable =
            |name: &str| json!({"allOf": [reference(name)], "nullable": true, "description": "Either."});
        let mut document = json!({
            "paths": {},
            "components": {"schemas": {
                "Role": {"type": "string", "enum": ["buyer", "vendor"]},
                "Part": {"type": "object"},
                "Thing": {"type": "object", "properties": {
                    "role": nullable("Role"),
                    "part": nullable("Part"),
                    "note": {"type": "string", "nullable": true},
                    "other": {"allOf": [reference("Part")], "description": "Always."},
                }},
            }},
        });
        replace_nullable_references(&mut document);
        let schemas = &document["components"]["schemas"];
        let properties = &schemas["Thing"]["properties"];
        let role = json!({
            "title": "Role",
            "type": "string",
            "enum": ["buyer", "vendor", null],
            "nullable": true,
            "description": "Either.",
        });
        assert_eq!(properties["role"], role);
        let part = json!({"anyOf": [reference("Part"), reference("Null")], "description": "Either."});
        assert_eq!(properties["part"], part);
        assert_eq!(properties["note"], json!({"type": "string", "nullable": true}));
        assert_eq!(properties["other"]["allOf"], json!([reference("Part")]));
        assert_eq!(schemas["Null"]["enum"], json!([null]));
        assert_eq!(schemas["Role"]["enum"], json!(["buyer", "vendor"]));
    }
}
