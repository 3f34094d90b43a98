//! The operations of a document.

use serde_json::{Map, Value};

/// Iterates over all operations of a document.
pub fn operations(document: &mut Value) -> impl Iterator<Item = &mut Map<String, Value>> {
    let paths = document["paths"].as_object_mut().into_iter().flatten();
    let items = paths.flat_map(|(_, item)| item.as_object_mut().into_iter().flatten());
    items.filter_map(|(_, operation)| operation.as_object_mut())
}

/// Whether an operation has a parameter with one of these names.
pub fn has_parameter(operation: &Map<String, Value>, names: &[&str]) -> bool {
    let parameters = operation.get("parameters").and_then(Value::as_array).into_iter().flatten();
    parameters.into_iter().any(|parameter| names.iter().any(|name| parameter["name"] == **name))
}
