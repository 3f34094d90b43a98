//! Schemas of small examples, and of all documents, also compared with another implementation.

use proptest::prelude::*;
use serde_json::json;

use super::{super::documents::tests::all, *};

fn kinds(schema: &Value, value: &Value) -> Vec<(String, Kind)> {
    let schemas = Schemas::new(json!({"Word": {"type": "string", "enum": ["a", "b"]}}));
    schemas.violations(schema, value).into_iter().map(|found| (found.pointer, found.kind)).collect()
}

#[test]
fn each_violation_has_its_kind_and_place() {
    let schema = json!({
        "type": "object",
        "required": ["id", "sum"],
        "additionalProperties": false,
        "properties": {
            "id": {"type": "string", "format": "uuid"},
            "sum": {"type": "string", "pattern": "^-?\\d+\\.\\d{2}$", "nullable": true},
            "word": {"nullable": true, "allOf": [{"$ref": "#/components/schemas/Word"}]},
            "counts": {"type": "array", "maxItems": 2, "items": {"type": "integer", "minimum": 1}},
            "map": {"type": "object", "additionalProperties": {"type": "boolean"}},
            "at": {"type": "string", "format": "date-time"},
        },
    });
    let id = "0d5c1c52-3f0e-4d0b-9a54-8d7a1b6f2c11";
    let valid = json!({"id": id, "sum": null, "word": null, "counts": [1, 2], "map": {"x": true},
        "at": "2026-03-01T09:00:00.000Z"});
    assert_eq!(kinds(&schema, &valid), []);
    for (field, value, pointer, kind) in [
        ("id", json!("0d5c1c523f0e4d0b9a548d7a1b6f2c11"), "/id", Kind::Form),
        ("id", Value::Null, "/id", Kind::Type),
        ("sum", json!(1.5), "/sum", Kind::Type),
        ("sum", json!("1.5"), "/sum", Kind::Form),
        ("word", json!("c"), "/word", Kind::NotAllowed),
        ("counts", json!([1, 0]), "/counts/1", Kind::Bounds),
        ("counts", json!([1.0]), "/counts/0", Kind::Type),
        ("counts", json!([1, 1, 1]), "/counts", Kind::Bounds),
        ("map", json!({"a/b": 1}), "/map/a~1b", Kind::Type),
        ("at", json!("2026-03-01"), "/at", Kind::Form),
        ("other", json!(1), "/other", Kind::Unknown),
    ] {
        let mut changed = valid.clone();
        changed[field] = value;
        assert_eq!(kinds(&schema, &changed), [(pointer.to_owned(), kind)], "{changed}");
    }
    assert_eq!(kinds(&schema, &json!({"id": id})), [("/sum".to_owned(), Kind::Missing)]);
}

#[test]
fn deep_values_are_no_problem() {
    let schema = json!({"type": "array", "items": {"$ref": "#/components/schemas/Deep"}});
    let schemas = Schemas::new(json!({"Deep": schema}));
    let deep: Value = serde_json::from_str(&format!("{}{}", "[".repeat(120), "]".repeat(120))).unwrap();
    assert_eq!(schemas.violations(&schemas.components["Deep"], &deep), []);
    let endless = Schemas::new(json!({"Loop": {"$ref": "#/components/schemas/Loop"}}));
    assert_eq!(endless.violations(&json!({"$ref": "#/components/schemas/Loop"}), &json!(1)), []);
}

/// Returns every example response of the documents, with the operation, the status, and the schema.
fn examples() -> Vec<(std::rc::Rc<Schemas>, Value, Value)> {
    let mut found = Vec::new();
    for document in all() {
        for operation in &document.operations {
            let item = &document.json["paths"][&operation.path][operation.method.to_lowercase()];
            for (status, response) in &operation.responses {
                let example =
                    &item["responses"][status.to_string()]["content"]["application/json"]["example"];
                if let Some(schema) = response.content.get("application/json").filter(|_| !example.is_null())
                {
                    found.push((std::rc::Rc::clone(&operation.schemas), schema.clone(), example.clone()));
                }
            }
        }
    }
    found
}

#[test]
fn examples_of_the_documents_are_valid() {
    let examples = examples();
    assert!(examples.len() > 100, "{} examples", examples.len());
    for (schemas, schema, example) in examples {
        assert_eq!(schemas.violations(&schema, &example), [], "{example}");
    }
}

/// Translates a schema of the document to JSON Schema.
fn to_json_schema(schema: &Value) -> Value {
    match schema {
        Value::Object(fields) => {
            let mut fields: Map<String, Value> =
                fields.iter().map(|(name, value)| (name.clone(), to_json_schema(value))).collect();
            if fields.remove("nullable") == Some(json!(true)) {
                fields["type"] = json!([fields["type"], "null"]);
            }
            Value::Object(fields)
        }
        Value::Array(elements) => elements.iter().map(to_json_schema).collect(),
        other => other.clone(),
    }
}

/// Replaces the value number `position` of those in a value.
fn replace(value: &mut Value, position: &mut usize, by: &Value) {
    if *position == 0 {
        *value = by.clone();
    }
    *position = position.wrapping_sub(1);
    match value {
        Value::Object(fields) => fields.values_mut().for_each(|field| replace(field, position, by)),
        Value::Array(elements) => elements.iter_mut().for_each(|element| replace(element, position, by)),
        _ => {}
    }
}

#[test]
fn verdicts_are_those_of_another_implementation() {
    let examples = examples();
    let validators: Vec<jsonschema::Validator> = examples
        .iter()
        .map(|(schemas, schema, _)| {
            let mut root = to_json_schema(&json!({"allOf": [schema], "components": {}}));
            root["components"]["schemas"] = to_json_schema(&schemas.components);
            jsonschema::options().should_validate_formats(true).build(&root).unwrap()
        })
        .collect();
    let others = prop::sample::select(vec![
        json!(null),
        json!(true),
        json!(-1),
        json!(0.5),
        json!(99_999_999_999_i64),
        json!(""),
        json!("x"),
        json!("1.50"),
        json!("2026-03-01T09:00:00.000Z"),
        json!([]),
        json!([1]),
        json!({}),
        json!({"id": 1}),
    ]);
    let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2_000) };
    proptest!(config, |(which in 0..examples.len(), position in 0..60_usize, other in others)| {
        let (schemas, schema, example) = &examples[which];
        let mut changed = example.clone();
        replace(&mut changed, &mut { position }, &other);
        let own = schemas.violations(schema, &changed);
        prop_assert_eq!(own.is_empty(), validators[which].is_valid(&changed), "{}: {:?}", changed, own);
    });
}
