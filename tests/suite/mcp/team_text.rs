//! Every text field that agents see is classified as written by teams or by the platform. A new field of an
//! operation with a tool has to be added to one of the lists.

use std::collections::{BTreeMap, BTreeSet};

use marketplace::{mcp::WRITTEN_BY_TEAMS, rest::route::Tool};
use serde_json::Value;

use super::documents;

/// Text fields and maps that the platform writes, with the reason.
const PLATFORM_FIELDS: [(&str, &[&str]); 6] = [
    (
        "slugs, labels and statuses that the platform defines",
        &[
            "aliases",
            "category",
            "check_key",
            "domain_tags",
            "key",
            "label",
            "languages",
            "listing_kinds",
            "slug",
            "tag_slugs",
            "qa_agents",
        ],
    ),
    ("names of models, from the platform's catalog", &["model", "models", "pass_at_k"]),
    (
        "URLs and digests that the server generates",
        &["bundle_download_url", "bundle_url", "commit_sha", "link", "next_cursor"],
    ),
    ("IDs in the platform's hub", &["dataset_id"]),
    (
        "sentences and slugs of the platform for agents",
        &[
            "check_statuses",
            "errored_checks",
            "evidence",
            "failed_checks",
            "not_listable_because",
            "qc_check_statuses",
            "qc_errored_checks",
            "qc_failed_checks",
            "unit",
        ],
    ),
    (
        "maps with counts or states, whose keys the platform defines",
        &["asset_counts", "asset_types", "lifecycle_stages", "locked_fields"],
    ),
];

/// Returns the names of fields in responses of operations with tools that hold free text or arbitrary
/// objects, with these operations.
fn free_text_fields() -> BTreeMap<String, BTreeSet<String>> {
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let routes = super::routes();
    let with_tool =
        routes.iter().filter(|route| matches!(route.tool(), Some(Tool::Own { .. } | Tool::Choice { .. })));
    let operations: BTreeSet<&str> = with_tool.map(|route| route.operation).collect();
    for document in documents() {
        let items = document["paths"].as_object().unwrap().values();
        for operation in items.filter_map(|item| item.get("get")) {
            let id = operation["operationId"].as_str().unwrap();
            if !operations.contains(id) {
                continue;
            }
            let schema = &operation["responses"]["200"]["content"]["application/json"]["schema"];
            let mut names = BTreeSet::new();
            collect_free_text(schema, "", &document, &mut names, &mut BTreeSet::new());
            for name in names {
                found.entry(name).or_default().insert(id.to_owned());
            }
        }
    }
    found
}

fn collect_free_text(
    schema: &Value,
    name: &str,
    document: &Value,
    found: &mut BTreeSet<String>,
    pairs: &mut BTreeSet<(String, String)>,
) {
    if let Some(target) = schema["$ref"].as_str() {
        let named = target.rsplit('/').next().unwrap();
        if pairs.insert((named.to_owned(), name.to_owned())) {
            collect_free_text(&document["components"]["schemas"][named], name, document, found, pairs);
        }
        return;
    }
    let parts = ["allOf", "anyOf", "oneOf"].iter().filter_map(|key| schema[*key].as_array()).flatten();
    let parts: Vec<&Value> = parts.collect();
    if !parts.is_empty() {
        return parts.into_iter().for_each(|part| collect_free_text(part, name, document, found, pairs));
    }
    match schema["type"].as_str() {
        Some("string") => {
            let is_bound = ["enum", "pattern"].iter().any(|key| schema.get(key).is_some())
                || ["uuid", "date-time", "date"].contains(&schema["format"].as_str().unwrap_or_default());
            if !is_bound {
                found.insert(name.to_owned());
            }
        }
        Some("array") => collect_free_text(&schema["items"], name, document, found, pairs),
        Some("object") => match schema["properties"].as_object() {
            Some(fields) => {
                fields
                    .iter()
                    .for_each(|(name, schema)| collect_free_text(schema, name, document, found, pairs));
            }
            None => _ = found.insert(name.to_owned()),
        },
        Some("integer" | "number" | "boolean") => {}
        _ => _ = found.insert(name.to_owned()),
    }
}

#[test]
fn every_text_field_is_classified() {
    let free = free_text_fields();
    let platform_fields: Vec<&str> = PLATFORM_FIELDS.iter().flat_map(|(_, names)| *names).copied().collect();
    for (name, operations) in &free {
        let is_known = WRITTEN_BY_TEAMS.contains(&name.as_str()) != platform_fields.contains(&name.as_str());
        assert!(is_known, "{name} of {operations:?} is a text field: does a team write it?");
    }
    let stale: Vec<&str> = platform_fields.into_iter().filter(|name| !free.contains_key(*name)).collect();
    assert!(stale.is_empty(), "no longer in any response: {stale:?}");
    assert!(free.len() > 50, "{}", free.len());
}
