//! Invariants of domains, tags, and asset kinds.

use std::collections::BTreeMap;

use marketplace::domain::{
    state_machine::StateMachine,
    taxonomy::{AssetTypeOperation, AssetTypeStage, AssetTypeState},
};
use rusqlite::Connection;
use serde_json::{Value, json};

use super::{
    Event, strings,
    teams::{time, time_text},
};

/// The last event of each domain and tag has its label.
pub fn check_labels(rows: &Connection, events: &[Event]) {
    for (resource, table) in
        [("domain", "domains"), ("content_tag", "content_tags"), ("inventory_tag", "inventory_tags")]
    {
        let mut labels: BTreeMap<&str, &str> = BTreeMap::new();
        for event in events.iter().filter(|event| event.resource() == resource) {
            let before = labels.insert(&event.subject, event.text("label"));
            assert!(before.is_none() || event.kind.ends_with(".updated"), "{}", event.data);
        }
        for row in strings(rows, &format!("SELECT slug, label FROM {table}")) {
            let label = labels.remove(row[0].as_str());
            assert!(label.is_none_or(|label| label == row[1]), "{table}: {row:?}");
        }
        assert!(labels.is_empty(), "{table}: {labels:?}");
    }
}

/// The events of each asset kind lead from state to state to its present one, and it retired at its time.
pub fn check_asset_types(rows: &Connection, events: &[Event]) {
    let new = AssetTypeState { is_enabled: true, stage: AssetTypeStage::Current };
    let mut kinds: BTreeMap<&str, (AssetTypeState, Value, Option<i64>)> = BTreeMap::new();
    for event in events.iter().filter(|event| event.resource() == "asset_type") {
        let (state, retires_at, retired_at) =
            kinds.entry(&event.subject).or_insert_with(|| (new, Value::Null, None));
        let operation = match event.kind.as_str() {
            "asset_type.enabled" => AssetTypeOperation::Enable,
            "asset_type.disabled" => AssetTypeOperation::Disable,
            "asset_type.deprecated" => AssetTypeOperation::Deprecate,
            "asset_type.retired" => AssetTypeOperation::Retire,
            other => panic!("{other}"),
        };
        *state = state.after(operation).unwrap_or_else(|| panic!("{operation:?} of {state:?}"));
        match operation {
            AssetTypeOperation::Deprecate => *retires_at = event.data["retires_at"].clone(),
            AssetTypeOperation::Retire => *retired_at = Some(event.occurred_at),
            _ => {}
        }
    }
    for row in strings(rows, "SELECT slug, is_enabled, retires_at, retired_at FROM asset_types") {
        let Some((state, retires_at, retired_at)) = kinds.get(row[0].as_str()) else { continue };
        let stage = match (time(&row[2]), time(&row[3])) {
            (None, _) => AssetTypeStage::Current,
            (Some(_), None) => AssetTypeStage::Deprecated,
            (Some(_), Some(_)) => AssetTypeStage::Retired,
        };
        assert_eq!(*state, AssetTypeState { is_enabled: row[1] == "1", stage }, "{row:?}");
        assert_eq!(*retired_at, time(&row[3]), "{row:?}");
        // A kind that an operator retires early retires at that time instead of the announced one.
        let (announced, retires_at) = (retires_at, time_text(time(&row[2])));
        let is_retired_early = retired_at.is_some() && json!(retires_at) != *announced;
        assert!(!is_retired_early || time(&row[2]) == *retired_at, "{row:?}");
        assert!(is_retired_early || *announced == retires_at, "{row:?}");
    }
}
