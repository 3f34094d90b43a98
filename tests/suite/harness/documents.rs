//! The OpenAPI documents for tests: their operations, and validation of responses against their schemas.
//!
//! OpenAPI 3.0 schemas are not JSON Schema, so `nullable` and references are translated here, independently
//! of the code that generates the documents.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use jsonschema::Validator;
use marketplace::{
    config::ContactSettings,
    rest::{self, APIS, Api},
};
use serde_json::{Map, Value, json};

use super::{BASE, TestResponse};

/// An operation of an OpenAPI document.
#[derive(Clone, Debug)]
pub struct Operation {
    /// `operationId` of the operation.
    pub id: String,
    /// HTTP method in upper case.
    pub method: String,
    /// Path template with parameter names in braces.
    pub path: String,
    /// Names of the query parameters.
    pub query: Vec<String>,
    json: Value,
}

/// A field with an ID in a schema.
#[derive(Debug)]
pub struct IdField {
    /// Name of the schema among the components.
    pub schema: String,
    /// Name of the field.
    pub field: String,
    /// Description of the field.
    pub description: String,
}

/// The OpenAPI document of one API.
pub struct Document {
    json: Value,
    /// The schemas of the document as JSON Schema, by name.
    definitions: Map<String, Value>,
    operations: Vec<Operation>,
    validators: Mutex<HashMap<String, Arc<Validator>>>,
}

/// Returns the documents of all APIs, parsed once.
pub fn documents() -> &'static [Document] {
    static DOCUMENTS: OnceLock<Vec<Document>> = OnceLock::new();
    DOCUMENTS.get_or_init(|| APIS.into_iter().map(Document::new).collect())
}

/// Returns the documents of the teams' APIs.
pub fn documents_of_teams() -> [&'static Document; 2] {
    [vendor_document(), buyer_document()]
}

/// Returns the document of the vendor API.
pub fn vendor_document() -> &'static Document {
    let position = APIS.iter().position(|api| api.name == rest::VENDOR.name).unwrap();
    &documents()[position]
}

/// Returns the document of the buyer API.
pub fn buyer_document() -> &'static Document {
    let position = APIS.iter().position(|api| api.name == rest::BUYER.name).unwrap();
    &documents()[position]
}

/// Returns the document of the operator API.
pub fn operator_document() -> &'static Document {
    let position = APIS.iter().position(|api| api.name == rest::OPERATOR.name).unwrap();
    &documents()[position]
}

/// The operations that transfer worlds as files.
pub const TRANSFERS: [&str; 3] = ["export_world", "get_world_replay", "import_world"];

impl Document {
    fn new(api: &Api) -> Document {
        let json: Value =
            serde_json::from_str(&rest::openapi_json(api, BASE, &ContactSettings::default())).unwrap();
        let mut operations = Vec::new();
        for (path, item) in json["paths"].as_object().unwrap() {
            for (method, operation) in item.as_object().unwrap() {
                // Their bodies are files, and they are no declared routes.
                if TRANSFERS.iter().any(|transfer| operation["operationId"] == *transfer) {
                    continue;
                }
                let parameters = operation["parameters"].as_array().cloned().unwrap_or_default();
                let query = parameters.iter().filter(|parameter| parameter["in"] == "query");
                operations.push(Operation {
                    id: operation["operationId"].as_str().unwrap().to_owned(),
                    method: method.to_uppercase(),
                    path: path.clone(),
                    query: query.map(|parameter| parameter["name"].as_str().unwrap().to_owned()).collect(),
                    json: operation.clone(),
                });
            }
        }
        let schemas = json["components"]["schemas"].as_object().unwrap().iter();
        let definitions = schemas.map(|(name, schema)| (name.clone(), to_json_schema(schema))).collect();
        Document { json, definitions, operations, validators: Mutex::default() }
    }

    /// Returns all operations of the document.
    pub fn operations(&self) -> &[Operation] {
        &self.operations
    }

    /// Returns the operation with this `operationId`.
    pub fn operation(&self, id: &str) -> Option<&Operation> {
        self.operations.iter().find(|operation| operation.id == id)
    }

    /// Returns the methods that a path supports, in alphabetical order.
    pub fn methods_of(&self, path: &str) -> Vec<String> {
        let of_path = self.operations.iter().filter(|operation| operation.path == path);
        let mut methods: Vec<String> = of_path.map(|operation| operation.method.clone()).collect();
        if methods.contains(&"GET".to_owned()) {
            methods.push("HEAD".to_owned());
        }
        methods.sort();
        methods
    }

    /// Returns the GET operation that a path, with or without a query, leads to.
    pub fn find(&self, path: &str) -> Option<&Operation> {
        let path = path.split('?').next().unwrap();
        let is_match = |operation: &&Operation| operation.method == "GET" && operation.matches_path(path);
        // A path without parameters takes precedence over one with parameters.
        let found = self.operations.iter().filter(is_match);
        found.min_by_key(|operation| operation.path.matches('{').count())
    }

    /// Returns the schemas of the document by name.
    pub fn schemas(&self) -> &Value {
        &self.json["components"]["schemas"]
    }

    /// Returns the IDs that values of a schema contain.
    pub fn id_fields(&self, schema: &Value) -> Vec<IdField> {
        let mut visited = HashSet::new();
        let mut found = Vec::new();
        // Each schema with the name of its component, and the field that it is the schema of.
        let mut pending: Vec<(&Value, &str, &str, &str)> = vec![(schema, "", "", "")];
        while let Some((schema, component, field, description)) = pending.pop() {
            let description = schema["description"].as_str().unwrap_or(description);
            if let Some(name) = schema["$ref"].as_str().and_then(|reference| reference.rsplit('/').next()) {
                if visited.insert(name) {
                    pending.push((&self.schemas()[name], name, field, ""));
                }
            } else if schema["format"] == "uuid" {
                let (schema, field) = (component.to_owned(), field.to_owned());
                found.push(IdField { schema, field, description: description.to_owned() });
            }
            let alternatives = ["allOf", "anyOf", "oneOf"].into_iter();
            let parts = alternatives.flat_map(|key| schema[key].as_array().into_iter().flatten());
            let elements = ["items", "additionalProperties"].into_iter().filter_map(|key| schema.get(key));
            let properties = schema["properties"].as_object().into_iter().flatten();
            pending.extend(parts.chain(elements).map(|part| (part, component, field, description)));
            pending.extend(properties.map(|(name, property)| (property, component, name.as_str(), "")));
        }
        found
    }

    /// Asserts that the document lists the status of a response for the operation, and that its body matches
    /// the schema.
    pub fn assert_valid(&self, operation: &Operation, response: &TestResponse) {
        let status = response.status.to_string();
        let mut documented = &operation.json["responses"][&status];
        assert!(!documented.is_null(), "{} does not list the status {status}", operation.id);
        if let Some(reference) = documented["$ref"].as_str() {
            documented = self.json.pointer(reference.trim_start_matches('#')).expect("the reference exists");
        }
        let Some(contents) = documented["content"].as_object().filter(|contents| !contents.is_empty()) else {
            assert!(
                response.bytes.is_empty(),
                "{}: the response with status {status} has a body but no schema",
                operation.id
            );
            return;
        };
        let kind = response.header("content-type").split(';').next().unwrap();
        let content = contents.get(kind);
        let content = content.unwrap_or_else(|| panic!("{} does not list the type {kind}", operation.id));
        // Other types are those of files.
        if kind != "application/json" {
            return;
        }
        let validator = self.validator(&content["schema"]);
        let body = response.json();
        let codes = operation.json["x-error-codes"][&status].as_array();
        assert!(
            codes.is_none_or(|codes| codes.contains(&body["error"]["code"])),
            "{} does not list the code of {body}",
            operation.id
        );
        let errors: Vec<String> = validator
            .iter_errors(&body)
            .map(|error| format!("{}: {error}", error.instance_path()))
            .take(5)
            .collect();
        assert!(
            errors.is_empty(),
            "{}: response {status} does not match its schema: {errors:#?}",
            operation.id
        );
    }

    /// Asserts that a value matches a named schema.
    pub fn assert_matches(&self, schema: &str, value: &Value) {
        let validator = self.validator(&json!({"$ref": format!("#/components/schemas/{schema}")}));
        let errors: Vec<String> =
            validator.iter_errors(value).map(|error| error.to_string()).take(3).collect();
        assert!(errors.is_empty(), "{value} does not match {schema}: {errors:#?}");
    }

    /// Returns the validator of a schema in the document, with the components that it refers to as definitions.
    fn validator(&self, schema: &Value) -> Arc<Validator> {
        let mut validators = self.validators.lock().unwrap_or_else(PoisonError::into_inner);
        let validator = validators.entry(schema.to_string()).or_insert_with(|| {
            let (schema, mut definitions) = (to_json_schema(schema), Map::new());
            self.add_definitions(&schema, &mut definitions);
            let root_schema = json!({"allOf": [schema], "$defs": definitions});
            Arc::new(jsonschema::options().should_validate_formats(true).build(&root_schema).unwrap())
        });
        Arc::clone(validator)
    }

    /// Adds the definitions that a JSON Schema refers to, and those that these refer to.
    fn add_definitions(&self, schema: &Value, added: &mut Map<String, Value>) {
        match schema {
            Value::Object(fields) => {
                let name =
                    fields.get("$ref").and_then(Value::as_str).and_then(|path| path.strip_prefix("#/$defs/"));
                if let Some((name, definition)) = name.and_then(|name| self.definitions.get_key_value(name))
                    && !added.contains_key(name)
                {
                    added.insert(name.clone(), definition.clone());
                    self.add_definitions(definition, added);
                }
                fields.values().for_each(|field| self.add_definitions(field, added));
            }
            Value::Array(items) => items.iter().for_each(|item| self.add_definitions(item, added)),
            _ => {}
        }
    }
}

/// Asserts that a response matches each document that has the operation.
pub fn assert_matches_documents(method: &str, path: &str, response: &TestResponse) {
    let path = path.split('?').next().unwrap();
    let is_match = |operation: &&Operation| operation.method == method && operation.matches_path(path);
    let candidates = documents().iter().flat_map(|document| document.operations.iter().filter(is_match));
    // A path without parameters takes precedence over one with parameters.
    let found = candidates.min_by_key(|operation| operation.path.matches('{').count());
    let found = found.unwrap_or_else(|| panic!("no document has {method} {path}"));
    for document in documents() {
        // APIs with different prefixes can have operations with the same ID.
        let operation = document.operation(&found.id).filter(|operation| operation.path == found.path);
        if let Some(operation) = operation {
            document.assert_valid(operation, response);
        }
    }
}

impl Operation {
    /// Returns an extension of the document, such as `x-budget`; null if the operation has none with this name.
    pub fn extension(&self, name: &str) -> &Value {
        &self.json[name]
    }

    /// Returns the name of the rate limit budget that the operation counts against.
    pub fn budget(&self) -> &str {
        self.json["x-budget"].as_str().unwrap()
    }

    /// Returns the schema of the response for success, `Null` if it has no body.
    pub fn success_schema(&self) -> &Value {
        let responses = self.json["responses"].as_object().unwrap();
        let found = responses.iter().find(|(status, _)| status.starts_with('2'));
        found.map_or(&Value::Null, |(_, response)| &response["content"]["application/json"]["schema"])
    }

    /// Returns the name of the schema of the body, if the operation takes one.
    pub fn body_schema(&self) -> Option<&str> {
        let schema = &self.json["requestBody"]["content"]["application/json"]["schema"];
        schema["$ref"].as_str()?.rsplit('/').next()
    }

    /// Whether the operation takes a body.
    pub fn takes_body(&self) -> bool {
        !self.json["requestBody"].is_null()
    }

    fn matches_path(&self, path: &str) -> bool {
        matches_template(&self.path, path)
    }
}

/// Whether a path is one of a template, which has the names of parameters in braces.
pub fn matches_template(template: &str, path: &str) -> bool {
    let (mut expected, mut found) = (template.split('/'), path.split('/'));
    loop {
        match (expected.next(), found.next()) {
            (None, None) => return true,
            (Some(name), Some(value)) if name.starts_with('{') || name == value => {}
            _ => return false,
        }
    }
}

/// Translates an OpenAPI 3.0 schema to JSON Schema: `nullable` becomes `anyOf`, and references point to
/// `$defs`.
fn to_json_schema(schema: &Value) -> Value {
    match schema {
        Value::Object(fields) => {
            let mut fields: Map<String, Value> =
                fields.iter().map(|(k, v)| (k.clone(), to_json_schema(v))).collect();
            if let Some(Value::String(reference)) = fields.get_mut("$ref") {
                *reference = reference.replace("#/components/schemas/", "#/$defs/");
            }
            match fields.remove("nullable") {
                // A property with the name `nullable` has a schema as value and is not the flag.
                Some(flag @ Value::Object(_)) => {
                    fields.insert("nullable".to_owned(), flag);
                    Value::Object(fields)
                }
                // Without a type next to it, the flag has no effect.
                Some(Value::Bool(true)) if fields.contains_key("type") => {
                    fields["type"] = json!([fields["type"], "null"]);
                    Value::Object(fields)
                }
                _ => Value::Object(fields),
            }
        }
        Value::Array(items) => items.iter().map(to_json_schema).collect(),
        other => other.clone(),
    }
}

#[test]
fn translated_schemas_reject_invalid_values() {
    let schema = to_json_schema(&json!({
        "type": "object",
        "required": ["a", "b"],
        "additionalProperties": false,
        "properties": {
            "a": {"type": "string", "nullable": true},
            "b": {"anyOf": [{"$ref": "#/components/schemas/B"}, {"$ref": "#/components/schemas/Null"}]},
        },
    }));
    let nothing = to_json_schema(&json!({"type": "string", "nullable": true, "enum": [null]}));
    let definitions = json!({"B": {"type": "integer", "minimum": 1}, "Null": nothing});
    let root_schema = json!({"allOf": [schema], "$defs": definitions});
    let validator = jsonschema::options().build(&root_schema).unwrap();
    for (body, is_valid) in [
        (json!({"a": "x", "b": 1}), true),
        (json!({"a": null, "b": null}), true),
        (json!({"a": 1, "b": 1}), false),
        (json!({"a": "x", "b": 0}), false),
        (json!({"a": "x"}), false),
        (json!({"a": "x", "b": 1, "c": 1}), false),
    ] {
        assert_eq!(validator.is_valid(&body), is_valid, "{body}");
    }
}
