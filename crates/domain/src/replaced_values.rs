//! The values that fields of an asset had before linked data replaced them. Detaching the data restores them.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{
    field_locks::{LockSource, locked_by_data},
    inventory::Asset,
};

/// The field that is read from the data of assets of all kinds. The other fields belong to codebases.
const DESCRIPTION: &str = "description";

/// The value of a field before linked data replaced it.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct ReplacedValue {
    /// The value as JSON; null if the field had none.
    value: Value,
    /// Whether the value was written with an API key, which locked the field.
    is_from_api: bool,
}

/// Replaced values by field. A field that linked data locks and that has no entry had no value.
pub type ReplacedValues = BTreeMap<String, ReplacedValue>;

/// Adds the values that `before` has in the fields that linked data has locked in `after`. Keeps earlier entries: if
/// data is read twice, the second reading replaces values of the first.
pub fn add_replaced(replaced: &mut ReplacedValues, before: &Asset, after: &Asset) {
    for (field, _) in locked_by_data(&after.locks) {
        let lock_before = before.locks.get(field);
        if lock_before.is_some_and(|source| *source != LockSource::Api) {
            continue;
        }
        let value = ReplacedValue { value: value_of(before, field), is_from_api: lock_before.is_some() };
        replaced.entry(field.to_owned()).or_insert(value);
    }
}

/// Unlocks the fields that linked data has locked, and restores the values and locks that they had before.
pub fn restore(asset: &mut Asset, mut replaced: ReplacedValues) {
    let locked: Vec<String> = locked_by_data(&asset.locks).map(|(field, _)| field.to_owned()).collect();
    for field in locked {
        asset.locks.remove(&field);
        let (value, is_from_api) =
            replaced.remove(&field).map_or((Value::Null, false), |before| (before.value, before.is_from_api));
        set_value(asset, &field, value);
        if is_from_api {
            asset.locks.insert(field, LockSource::Api);
        }
    }
}

fn value_of(asset: &Asset, field: &str) -> Value {
    if field == DESCRIPTION { asset.description.clone().into() } else { asset.codebase.get(field) }
}

fn set_value(asset: &mut Asset, field: &str, value: Value) {
    if field == DESCRIPTION {
        asset.description = if let Value::String(text) = value { Some(text) } else { None };
    } else {
        asset.codebase.set(field, value);
    }
}
