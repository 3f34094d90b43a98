//! The OpenAPI documents as tests read them: their operations, and what their schemas say of an answer.
//!
//! OpenAPI 3.0 is not JSON Schema, so `nullable` and the place of references are translated here, without help from the
//! code that makes the documents.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use jsonschema::Validator;
use marketplace::rest::{self, Side};
use serde_json::{Map, Value, json};

use super::{Answer, BASE};

/// An operation of a document.
#[derive(Clone, Debug)]
pub struct Operation {
    /// Its `operationId`.
    pub id: String,
    /// GET and the like.
    pub method: String,
    /// Its path with names in braces.
    pub path: String,
    /// Its query parameters.
    pub query: Vec<String>,
    json: Value,
}

/// The document of one side.
pub struct Document {
    json: Value,
    operations: Vec<Operation>,
    validators: Mutex<HashMap<String, Arc<Validator>>>,
}

/// The documents of both sides, read once.
pub fn documents() -> &'static [Document; 2] {
    static DOCUMENTS: OnceLock<[Document; 2]> = OnceLock::new();
    DOCUMENTS.get_or_init(|| [Side::Vendor, Side::Buyer].map(Document::of))
}

impl Document {
    fn of(side: Side) -> Document {
        let json: Value = serde_json::from_str(&rest::document(side, BASE)).unwrap();
        let mut operations = Vec::new();
        for (path, item) in json["paths"].as_object().unwrap() {
            for (method, operation) in item.as_object().unwrap() {
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
        Document { json, operations, validators: Mutex::default() }
    }

    /// Every operation.
    pub fn operations(&self) -> &[Operation] {
        &self.operations
    }

    /// The operation of this id.
    pub fn operation(&self, id: &str) -> Option<&Operation> {
        self.operations.iter().find(|operation| operation.id == id)
    }

    /// Demands that an answer is one that the document lists for the operation, and that its body is as the document says.
    pub fn check(&self, operation: &Operation, answer: &Answer) {
        let status = answer.status.to_string();
        let mut response = &operation.json["responses"][&status];
        assert!(!response.is_null(), "{} does not list the status {status}", operation.id);
        if let Some(reference) = response["$ref"].as_str() {
            response =
                self.json.pointer(reference.trim_start_matches('#')).expect("a reference leads somewhere");
        }
        let Some((kind, content)) = response["content"].as_object().and_then(|content| content.iter().next())
        else {
            assert!(
                answer.bytes.is_empty(),
                "{} answers {status} with a body that no schema describes",
                operation.id
            );
            return;
        };
        assert_eq!(answer.header("content-type"), kind, "{}", operation.id);
        let validator = self.validator(&content["schema"]);
        let body = answer.json();
        let faults: Vec<String> = validator
            .iter_errors(&body)
            .map(|fault| format!("{}: {fault}", fault.instance_path()))
            .take(5)
            .collect();
        assert!(faults.is_empty(), "{} answers {status} unlike its schema: {faults:#?}", operation.id);
    }

    /// What a schema of the document demands, with every component at hand.
    fn validator(&self, schema: &Value) -> Arc<Validator> {
        let mut made = self.validators.lock().unwrap_or_else(PoisonError::into_inner);
        let validator = made.entry(schema.to_string()).or_insert_with(|| {
            let components = self.json["components"]["schemas"].as_object().unwrap();
            let definitions: Map<String, Value> =
                components.iter().map(|(name, schema)| (name.clone(), json_schema(schema))).collect();
            let whole = json!({"allOf": [json_schema(schema)], "$defs": definitions});
            Arc::new(jsonschema::options().should_validate_formats(true).build(&whole).unwrap())
        });
        Arc::clone(validator)
    }
}

/// Demands that an answer is as the documents say, each that has the operation.
pub fn check_answer(method: &str, path: &str, answer: &Answer) {
    let path = path.split('?').next().unwrap();
    let fits = |operation: &&Operation| operation.method == method && operation.is_at(path);
    let candidates = documents().iter().flat_map(|document| document.operations.iter().filter(fits));
    // A path without names in it stands before one with them.
    let found = candidates.min_by_key(|operation| operation.path.matches('{').count());
    let found = found.unwrap_or_else(|| panic!("no document has {method} {path}"));
    for document in documents() {
        if let Some(operation) = document.operation(&found.id) {
            document.check(operation, answer);
        }
    }
}

/// The methods that the path of an operation takes, in the order of the alphabet.
pub fn methods_beside(id: &str) -> Vec<String> {
    let document = documents().iter().find(|document| document.operation(id).is_some()).unwrap();
    let path = &document.operation(id).unwrap().path;
    let beside = document.operations.iter().filter(|operation| operation.path == *path);
    let mut methods: Vec<String> = beside.map(|operation| operation.method.clone()).collect();
    if methods.contains(&"GET".to_owned()) {
        methods.push("HEAD".to_owned());
    }
    methods.sort();
    methods
}

impl Operation {
    /// The budget of a team that it counts against.
    pub fn budget(&self) -> &str {
        self.json["x-budget"].as_str().unwrap()
    }

    fn is_at(&self, path: &str) -> bool {
        let (own, asked): (Vec<_>, Vec<_>) = (self.path.split('/').collect(), path.split('/').collect());
        own.len() == asked.len()
            && own.iter().zip(&asked).all(|(own, step)| own.starts_with('{') || own == step)
    }
}

/// A schema of OpenAPI 3.0 as JSON Schema: `nullable` becomes a choice, and references lead to `$defs`.
fn json_schema(schema: &Value) -> Value {
    match schema {
        Value::Object(fields) => {
            let mut fields: Map<String, Value> =
                fields.iter().map(|(k, v)| (k.clone(), json_schema(v))).collect();
            if let Some(Value::String(reference)) = fields.get_mut("$ref") {
                *reference = reference.replace("#/components/schemas/", "#/$defs/");
            }
            match fields.remove("nullable") {
                // A field that is called so is a schema and no flag.
                Some(flag @ Value::Object(_)) => {
                    fields.insert("nullable".to_owned(), flag);
                    Value::Object(fields)
                }
                Some(Value::Bool(true)) => json!({"anyOf": [fields, {"type": "null"}]}),
                _ => Value::Object(fields),
            }
        }
        Value::Array(items) => items.iter().map(json_schema).collect(),
        other => other.clone(),
    }
}

#[test]
fn schemas_are_translated_so_that_they_still_refuse() {
    let schema = json_schema(&json!({
        "type": "object",
        "required": ["a", "b"],
        "additionalProperties": false,
        "properties": {
            "a": {"type": "string", "nullable": true},
            "b": {"nullable": true, "allOf": [{"$ref": "#/components/schemas/B"}]},
        },
    }));
    let whole = json!({"allOf": [schema], "$defs": {"B": {"type": "integer", "minimum": 1}}});
    let validator = jsonschema::options().build(&whole).unwrap();
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
