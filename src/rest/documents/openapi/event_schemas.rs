//! The schemas of events: the data of each type. They come from the table of events in the domain, as JSON Schema, which is
//! translated to that of OpenAPI 3.0. A field that does not apply to the view of a team is absent.

use std::collections::BTreeMap;

use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use crate::{
    domain::events::EventData,
    rest::documents::openapi::schemas::{SCHEMA_PREFIX, signed_format},
};

/// Name of the schema of an event.
const EVENT: &str = "MarketEvent";

/// How the names of its schemas by type end.
const EVENT_SUFFIX: &str = "Event";

/// How the names of the types of data end.
const DATA_SUFFIX: &str = "Data";

/// Prefix of references in JSON Schema.
const DEFINITION_PREFIX: &str = "#/$defs/";

/// Replaces the schema of an event, in a document that has one, by one schema for each type of data. The type of the
/// event says which one applies.
pub fn add_data_of_types(document: &mut Value) {
    let schemas = document["components"]["schemas"].as_object_mut();
    let Some(schemas) = schemas.filter(|schemas| schemas.contains_key(EVENT)) else { return };
    let generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let definition = generator.into_root_schema_for::<EventData>();
    let definition = serde_json::to_value(definition).expect("a schema is JSON");
    let event = schemas[EVENT].clone();
    let (mut alternatives, mut mapping) = (Vec::new(), Map::new());
    for (data, types) in types_by_data(&definition) {
        let name = format!("{}{EVENT_SUFFIX}", data.strip_suffix(DATA_SUFFIX).unwrap_or(&data));
        let reference = format!("{SCHEMA_PREFIX}{name}");
        let mut schema = event.clone();
        // Generators name types by their titles.
        schema["title"] = json!(name);
        schema["description"] = json!(format!("An event with {data}."));
        schema["properties"]["type"] = json!({
            "type": "string",
            "description": event["properties"]["type"]["description"],
            "enum": types,
        });
        schema["properties"]["data"] = json!({"$ref": format!("{SCHEMA_PREFIX}{data}")});
        insert(schemas, &name, schema);
        alternatives.push(json!({"$ref": reference}));
        mapping.extend(types.into_iter().map(|event_type| (event_type, json!(reference))));
    }
    schemas[EVENT] = json!({
        "description": event["description"],
        "oneOf": alternatives,
        "discriminator": {"propertyName": "type", "mapping": mapping},
    });
    for (name, schema) in definition["$defs"].as_object().into_iter().flatten() {
        insert(schemas, name, translate(schema));
    }
}

/// Returns the types of events by the name of their data.
fn types_by_data(definition: &Value) -> BTreeMap<String, Vec<String>> {
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for variant in definition["oneOf"].as_array().into_iter().flatten() {
        let properties = &variant["properties"];
        let reference =
            properties["data"]["$ref"].as_str().and_then(|data| data.strip_prefix(DEFINITION_PREFIX));
        let data = reference.expect("the data of an event is a named type");
        let event_type = properties["type"]["const"].as_str().expect("each type of event has a text");
        found.entry(data.to_owned()).or_default().push(event_type.to_owned());
    }
    found
}

/// Adds a schema. Another one of the same name must have the same values, as enums of requests and events do.
fn insert(schemas: &mut Map<String, Value>, name: &str, schema: Value) {
    match schemas.get(name) {
        None => {
            schemas.insert(name.to_owned(), schema);
        }
        Some(other) => {
            let is_same_enum = schema["enum"].is_array() && schema["enum"] == other["enum"];
            assert!(is_same_enum, "the data of events has another schema {name} than the API");
        }
    }
}

/// Translates a schema from JSON Schema to OpenAPI 3.0.
fn translate(schema: &Value) -> Value {
    let Value::Object(fields) = schema else {
        return match schema {
            Value::Array(items) => items.iter().map(translate).collect(),
            other => other.clone(),
        };
    };
    if let Some(values) = texts_of_enum(fields) {
        return json!({"type": "string", "description": schema["description"], "enum": values});
    }
    let mut translated: Map<String, Value> =
        fields.iter().map(|(key, value)| (key.clone(), translate(value))).collect();
    if let Some(Value::Array(types)) = fields.get("type") {
        let named = types.iter().find(|name| **name != "null").cloned();
        translated.insert("type".to_owned(), named.unwrap_or_default());
        translated.insert("nullable".to_owned(), json!(true));
    }
    if let Some(format) = fields.get("format").and_then(Value::as_str).and_then(signed_format) {
        translated.insert("format".to_owned(), json!(format));
    }
    if fields.contains_key("properties") {
        translated.insert("additionalProperties".to_owned(), json!(false));
    }
    // A type, or null.
    if let Some([first, second]) = fields.get("anyOf").and_then(Value::as_array).map(Vec::as_slice)
        && *second == json!({"type": "null"})
    {
        translated.remove("anyOf");
        translated.insert("allOf".to_owned(), json!([translate(first)]));
        translated.insert("nullable".to_owned(), json!(true));
    }
    if let Some(target) = fields.get("$ref").and_then(Value::as_str) {
        let reference = json!({"$ref": target.replacen(DEFINITION_PREFIX, SCHEMA_PREFIX, 1)});
        translated.remove("$ref");
        if translated.is_empty() {
            return reference;
        }
        // Next to a reference, OpenAPI 3.0 ignores everything else.
        translated.insert("allOf".to_owned(), json!([reference]));
    }
    Value::Object(translated)
}

/// Returns the texts of an enum whose values have a description each.
fn texts_of_enum(fields: &Map<String, Value>) -> Option<Vec<Value>> {
    let values = fields.get("oneOf")?.as_array()?;
    values.iter().map(|value| value.get("const").cloned()).collect()
}
