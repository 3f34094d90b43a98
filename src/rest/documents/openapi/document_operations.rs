//! Iteration over the operations of a document.

use serde_json::{Map, Value};

/// Iterates over all operations of a document.
pub fn operations(document: &mut Value) -> impl Iterator<Item = &mut Map<String, Value>> {
    let paths = document["paths"].as_object_mut().into_iter().flatten();
    let items = paths.flat_map(|(_, item)| item.as_object_mut().into_iter().flatten());
    items.filter_map(|(_, operation)| operation.as_object_mut())
}
