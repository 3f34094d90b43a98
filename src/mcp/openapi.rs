//! GET operations of the vendor API and the buyer API, read from the OpenAPI documents: paths, parameters and
//! response shapes.
//!
//! Everything that an agent sees of an operation is derived from this, so it cannot differ from the HTTP API.

use std::{collections::BTreeMap, sync::Arc};

use serde_json::{Map, Value, json};

/// Prefix of references to the named schemas of a document.
const SCHEMA_REF_PREFIX: &str = "#/components/schemas/";

/// Maximum depth of response shapes. Directories are recursive, so there has to be a limit.
const MAX_SHAPE_DEPTH: usize = 8;

/// Every GET operation, by its `operationId`.
#[derive(Debug, Default)]
pub struct GetOperations(BTreeMap<String, Arc<GetOperation>>);

/// A GET operation.
#[derive(Debug)]
pub struct GetOperation {
    /// Path template, with parameters in braces.
    pub path: String,
    /// Parameters, those in the path first.
    pub parameters: Vec<Parameter>,
    /// Shape of the response body (status 200).
    pub response: Shape,
}

/// A path or query parameter.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Name of the parameter.
    pub name: String,
    /// Whether it is in the path; otherwise it is in the query.
    pub is_in_path: bool,
    /// Whether the parameter is required.
    pub is_required: bool,
    /// JSON Schema of the value, without a description.
    pub schema: Map<String, Value>,
    /// Description: the first sentence of the one in the document.
    pub description: String,
}

/// The shape of a response, as far as the document states it.
#[derive(Clone, Debug)]
pub enum Shape {
    /// An object with exactly these fields.
    Object(BTreeMap<String, Field>),
    /// A list of items of one shape.
    List(Box<Shape>),
    /// An object with arbitrary fields.
    Map,
    /// A string.
    Text,
    /// Anything else, with its JSON Schema type; `None` if any type is allowed.
    Other(Option<&'static str>),
}

/// A field of an object.
#[derive(Clone, Debug)]
pub struct Field {
    /// Shape of the field's value.
    pub shape: Shape,
    /// Whether the value may be null.
    pub is_nullable: bool,
}

impl GetOperations {
    /// Reads the GET operations of the documents. An operation that several documents have is the same in all
    /// of them.
    pub fn from_documents(documents: &[&Value]) -> GetOperations {
        let mut operations = BTreeMap::new();
        for document in documents {
            for (path, item) in document["paths"].as_object().into_iter().flatten() {
                let Some(operation) = item.get("get") else { continue };
                let id = operation["operationId"].as_str().unwrap_or_default().to_owned();
                operations
                    .entry(id)
                    .or_insert_with(|| Arc::new(GetOperation::from_document(path, operation, document)));
            }
        }
        GetOperations(operations)
    }

    /// Returns the operation with this ID.
    pub fn find(&self, id: &str) -> Option<Arc<GetOperation>> {
        self.0.get(id).cloned()
    }
}

impl GetOperation {
    fn from_document(path: &str, operation: &Value, document: &Value) -> GetOperation {
        let declared = operation["parameters"].as_array().into_iter().flatten();
        let mut parameters: Vec<Parameter> = declared
            .filter(|parameter| parameter["in"] == "path" || parameter["in"] == "query")
            .map(|parameter| Parameter::from_document(parameter, document))
            .collect();
        parameters.sort_by_key(|parameter| !parameter.is_in_path);
        let schema = &operation["responses"]["200"]["content"]["application/json"]["schema"];
        GetOperation {
            path: path.to_owned(),
            parameters,
            response: Shape::from_schema(schema, document, MAX_SHAPE_DEPTH),
        }
    }

    /// Returns the parameter with this name.
    pub fn parameter(&self, name: &str) -> Option<&Parameter> {
        self.parameters.iter().find(|parameter| parameter.name == name)
    }
}

impl Parameter {
    fn from_document(parameter: &Value, document: &Value) -> Parameter {
        let description = parameter["description"].as_str().unwrap_or_default();
        Parameter {
            name: parameter["name"].as_str().unwrap_or_default().to_owned(),
            is_in_path: parameter["in"] == "path",
            is_required: parameter["required"] == true,
            schema: parameter_schema(&parameter["schema"], document),
            description: first_sentence(description),
        }
    }

    /// Returns the closed set of values of a parameter that takes one of them or a list of them; none for other parameters.
    pub fn closed_values(&self) -> impl Iterator<Item = &Value> {
        let values = self.schema.get("enum").or_else(|| self.schema.get("items")?.get("enum"));
        values.and_then(Value::as_array).into_iter().flatten()
    }

    /// Returns whether the parameter takes a list.
    pub fn is_list(&self) -> bool {
        self.schema.get("type") == Some(&json!("array"))
    }
}

/// Converts a parameter's schema to JSON Schema, without OpenAPI formats and bounds that have no effect in
/// practice.
fn parameter_schema(schema: &Value, document: &Value) -> Map<String, Value> {
    let resolved = schema["allOf"].as_array().filter(|all| all.len() == 1).map_or(schema, |all| &all[0]);
    let resolved = resolve_ref(resolved, document);
    let mut out = Map::new();
    for key in ["type", "enum"] {
        if let Some(value) = resolved.get(key) {
            out.insert(key.to_owned(), value.clone());
        }
    }
    if resolved["format"] == "uuid" {
        out.insert("format".to_owned(), json!("uuid"));
    }
    for key in ["minimum", "maximum"] {
        match resolved[key].as_f64() {
            // Models assume it, and the operation validates it.
            Some(0.0) if key == "minimum" => {}
            Some(bound) if bound.abs() < f64::from(i32::MAX) => {
                let is_integer = bound.fract() == 0.0;
                out.insert(key.to_owned(), if is_integer { json!(bound as i64) } else { json!(bound) });
            }
            _ => {}
        }
    }
    if let Some(items) = resolved.get("items") {
        out.insert("items".to_owned(), Value::Object(parameter_schema(items, document)));
    }
    if let Some(default) = schema.get("default") {
        out.insert("default".to_owned(), default.clone());
    }
    out
}

/// Returns the first sentence of a description, on one line.
fn first_sentence(description: &str) -> String {
    let line = description.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.find(". ") {
        Some(end) => line[..=end].to_owned(),
        None => line,
    }
}

/// Resolves a reference; returns any other schema as it is.
fn resolve_ref<'d>(schema: &'d Value, document: &'d Value) -> &'d Value {
    match schema["$ref"].as_str().and_then(|target| target.strip_prefix(SCHEMA_REF_PREFIX)) {
        Some(name) => &document["components"]["schemas"][name],
        None => schema,
    }
}

/// Returns whether a schema allows only null.
fn is_null(schema: &Value, document: &Value) -> bool {
    resolve_ref(schema, document)["enum"] == json!([null])
}

impl Shape {
    /// Returns the names of the fields of an object.
    pub fn field_names(&self) -> Vec<&str> {
        match self {
            Shape::Object(fields) => fields.keys().map(String::as_str).collect(),
            _ => Vec::new(),
        }
    }

    fn from_schema(schema: &Value, document: &Value, depth: usize) -> Shape {
        let Some(depth) = depth.checked_sub(1) else { return Shape::Other(None) };
        let schema = resolve_ref(schema, document);
        // Whether null is allowed is a property of the field; see `Field::from_schema`.
        for key in ["anyOf", "allOf", "oneOf"] {
            let Some(parts) = schema[key].as_array() else { continue };
            let values = parts.iter().filter(|part| !is_null(part, document));
            let shapes = values.map(|part| Shape::from_schema(part, document, depth));
            return shapes.reduce(Shape::merge).unwrap_or(Shape::Other(None));
        }
        match schema["type"].as_str() {
            Some("object") => schema["properties"].as_object().map_or(Shape::Map, |fields| {
                let field = |(name, schema): (&String, &Value)| {
                    (name.clone(), Field::from_schema(schema, document, depth))
                };
                Shape::Object(fields.iter().map(field).collect())
            }),
            Some("array") => Shape::List(Box::new(Shape::from_schema(&schema["items"], document, depth))),
            Some("string") => Shape::Text,
            Some("integer") => Shape::Other(Some("integer")),
            Some("number") => Shape::Other(Some("number")),
            Some("boolean") => Shape::Other(Some("boolean")),
            _ => Shape::Other(None),
        }
    }

    /// Returns the shape that covers both shapes. Objects are merged field by field.
    pub fn merge(self, other: Shape) -> Shape {
        match (self, other) {
            (Shape::Object(mut fields), Shape::Object(other_fields)) => {
                for (name, field) in other_fields {
                    let existing = fields.remove(&name);
                    let merged = match existing {
                        Some(existing) => Field {
                            shape: existing.shape.merge(field.shape),
                            is_nullable: existing.is_nullable || field.is_nullable,
                        },
                        None => field,
                    };
                    fields.insert(name, merged);
                }
                Shape::Object(fields)
            }
            (Shape::List(a), Shape::List(b)) => Shape::List(Box::new(a.merge(*b))),
            (Shape::Map, Shape::Object(_) | Shape::Map) | (Shape::Object(_), Shape::Map) => Shape::Map,
            (Shape::Text, Shape::Text) => Shape::Text,
            (Shape::Other(a), Shape::Other(b)) if a == b => Shape::Other(a),
            _ => Shape::Other(None),
        }
    }

    /// Returns the shape at a path of field names separated by dots. Lists are entered implicitly.
    pub fn at_path(&self, path: &str) -> Option<&Shape> {
        path.split('.').filter(|name| !name.is_empty()).try_fold(self, |shape, name| match shape {
            Shape::Object(fields) => fields.get(name).map(|field| &field.shape),
            Shape::List(items) => items.at_path(name),
            _ => None,
        })
    }

    /// Returns the shape of a direct part: the named field of an object, or the items of a list if `name` is
    /// `None`.
    pub fn part(&self, name: Option<&str>) -> Option<&Shape> {
        match (self, name) {
            (Shape::Object(fields), Some(name)) => fields.get(name).map(|field| &field.shape),
            (Shape::List(items), None) => Some(items),
            _ => None,
        }
    }

    /// Returns the JSON Schema of the shape: types only, with the fields of objects down to the given depth.
    pub fn schema(&self, depth: usize) -> Map<String, Value> {
        let mut out = Map::new();
        let kind = match self {
            Shape::Object(fields) => {
                if depth > 0 {
                    let field = |(name, field): (&String, &Field)| (name.clone(), field.schema(depth - 1));
                    out.insert("properties".to_owned(), Value::Object(fields.iter().map(field).collect()));
                }
                Some("object")
            }
            Shape::Map => Some("object"),
            Shape::List(items) => {
                let items = items.schema(depth);
                if !items.is_empty() {
                    out.insert("items".to_owned(), Value::Object(items));
                }
                Some("array")
            }
            Shape::Text => Some("string"),
            Shape::Other(kind) => *kind,
        };
        if let Some(kind) = kind {
            out.insert("type".to_owned(), json!(kind));
        }
        out
    }
}

impl Field {
    fn from_schema(schema: &Value, document: &Value, depth: usize) -> Field {
        let resolved = resolve_ref(schema, document);
        let mut alternatives = resolved["anyOf"].as_array().into_iter().flatten();
        let is_nullable =
            resolved["nullable"] == true || alternatives.any(|alternative| is_null(alternative, document));
        Field { shape: Shape::from_schema(schema, document, depth), is_nullable }
    }

    /// Returns the JSON Schema of the field. Nullable fields use `anyOf`, because not every client supports
    /// lists of types.
    fn schema(&self, depth: usize) -> Value {
        let out = self.shape.schema(depth);
        if self.is_nullable && !out.is_empty() { nullable(&Value::Object(out)) } else { Value::Object(out) }
    }
}

/// Returns a schema that also allows null.
pub fn nullable(schema: &Value) -> Value {
    json!({"anyOf": [schema, {"type": "null"}]})
}
