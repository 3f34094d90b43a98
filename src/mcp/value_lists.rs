//! Arguments that are one value, or a list of values.

use serde_json::Value;

/// Returns the values of an argument, which is a value or a list of them.
pub fn values(value: &Value) -> &[Value] {
    match value {
        Value::Array(values) => values.as_slice(),
        value => std::slice::from_ref(value),
    }
}

/// Like [`values`], for changes.
pub fn values_mut(value: &mut Value) -> &mut [Value] {
    match value {
        Value::Array(values) => values.as_mut_slice(),
        value => std::slice::from_mut(value),
    }
}
