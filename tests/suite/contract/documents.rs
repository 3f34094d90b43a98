//! The OpenAPI documents: snapshots, and examples that are real responses.

use marketplace::{
    config::ContactSettings,
    rest::{self, APIS, example_key},
};
use serde_json::{Map, Value, json};

use crate::harness::{self, BASE, generated};

/// The file with the example responses, which is compiled into the program.
const EXAMPLES: &str = "src/rest/documents/examples.json";

/// ID of a listing of the demo market that has a taskset.
const LISTING: &str = "3e2d79e2-8302-51d1-83d5-f1aba5d6d91d";

/// ID of this taskset.
const TASKSET: &str = "5e316e03-31bf-563a-add4-91ab6bb72d9e";

#[test]
fn documents_match_their_snapshots() {
    for api in APIS {
        let name = format!("{}_document_matches_snapshot", api.name);
        insta::assert_snapshot!(name, rest::openapi_json(api, BASE, &ContactSettings::default()));
    }
}

/// Maximum number of elements of an array in an example; further ones are removed.
const MAX_EXAMPLE_ELEMENTS: usize = 2;

fn shorten_arrays(value: Value) -> Value {
    match value {
        Value::Array(elements) => {
            elements.into_iter().take(MAX_EXAMPLE_ELEMENTS).map(shorten_arrays).collect()
        }
        Value::Object(fields) => {
            fields.into_iter().map(|(name, value)| (name, shorten_arrays(value))).collect()
        }
        other => other,
    }
}

#[tokio::test]
async fn examples_are_real_responses() {
    let listing = format!("/v2/listings/browse/{LISTING}");
    let mut examples = Map::new();
    for (operation, path) in [
        ("browse_listings", "/v2/listings/browse?limit=1".to_owned()),
        ("get_browse_access", "/v2/listings/browse/access".to_owned()),
        ("get_listings_by_ids", format!("/v2/listings/browse/by-ids?ids={LISTING}")),
        ("get_listing", listing.clone()),
        ("get_listing_quality", format!("{listing}/quality")),
        ("get_taskset", format!("{listing}/tasksets/{TASKSET}")),
        ("preview_taskset_tasks", format!("{listing}/tasksets/{TASKSET}/tasks")),
        ("list_domains", "/v2/domains".to_owned()),
        ("list_inventory_tags", "/v2/inventory-tags".to_owned()),
        ("list_content_tags", "/v2/content-tags".to_owned()),
        ("list_asset_types", "/v2/asset-types".to_owned()),
        ("get_wallet", "/v2/wallet".to_owned()),
        ("list_notifications", "/v2/vendor/notifications?limit=2".to_owned()),
    ] {
        examples.insert(
            operation.to_owned(),
            shorten_arrays(harness::demo().get("mkt_demo_both", &path).await.ok()),
        );
    }
    for row in super::cases::cases() {
        let name = example_key(&row.route);
        if row.documented().method == "GET"
            && !examples.contains_key(&name)
            && let Some((key, path)) = row.ok_requests().into_iter().next()
        {
            examples.insert(name, shorten_arrays(harness::demo().get(key, &path).await.ok()));
        }
    }
    // Facts about the disk differ each time.
    for fact in ["database_bytes", "disk_free_bytes"] {
        examples["operator/get_market"][fact] = 48_213_004.into();
    }
    for (operation, response) in super::write_operations::call_write_operations().await {
        if !response.is_null() {
            examples.insert(operation, shorten_arrays(response));
        }
    }
    for (operation, response) in super::operator_operations::call_operator_operations().await {
        if !response.is_null() {
            examples.insert(format!("operator/{operation}"), shorten_arrays(response));
        }
    }
    for (operation, response) in super::sandbox_operations::call_sandbox_operations().await {
        if !response.is_null() {
            examples.insert(format!("operator/{operation}"), shorten_arrays(response));
        }
    }
    let mut text = serde_json::to_string_pretty(&examples).unwrap();
    text.push('\n');
    generated::assert_current(EXAMPLES, &text);
    for row in super::cases::cases().filter(|row| row.documented().method != "DELETE") {
        let name = example_key(&row.route);
        assert!(examples.contains_key(&name), "{name} has no example");
    }
}

/// The transfers of worlds are documented like other operations, except that their bodies are files.
#[test]
fn sandbox_document_has_the_transfers_of_worlds() {
    let document: Value =
        serde_json::from_str(&rest::openapi_json(&rest::SANDBOX, BASE, &ContactSettings::default())).unwrap();
    let model = &document["paths"]["/sandbox/v1/worlds/{world}"]["get"];
    let mut found = Vec::new();
    for (path, method) in [("export", "get"), ("replay", "get"), ("import", "post")] {
        let operation = &document["paths"][format!("/sandbox/v1/worlds/{{world}}/{path}")][method];
        let with_file =
            if method == "get" { &operation["responses"]["200"] } else { &operation["requestBody"] };
        assert_eq!(with_file["content"]["application/zip"]["schema"]["format"], "binary", "{path}");
        for field in ["security", "parameters", "tags"] {
            assert_eq!(operation[field], model[field], "{path}: {field}");
        }
        assert_eq!(operation["x-error-codes"]["404"], json!(["not_found", "world_not_found"]), "{path}");
        found.push(operation["operationId"].as_str().unwrap().to_owned());
    }
    found.sort_unstable();
    assert_eq!(found, crate::harness::documents::TRANSFERS);
}

/// The variants of a union name all their fields, and allow no others.
#[test]
fn upload_plans_are_closed() {
    let document: Value =
        serde_json::from_str(&rest::openapi_json(&rest::VENDOR, BASE, &ContactSettings::default())).unwrap();
    let schemas = &document["components"]["schemas"];
    for (name, mode) in [("SinglePlan", "single"), ("MultipartPlan", "multipart")] {
        let schema = &schemas[name];
        assert_eq!(schema["additionalProperties"], false, "{name}");
        assert_eq!(schema["properties"]["mode"]["enum"], json!([mode]), "{name}");
        assert!(schema["required"].as_array().unwrap().contains(&json!("mode")), "{name}");
        let reference = format!("#/components/schemas/{name}");
        assert_eq!(schemas["UploadPlan"]["discriminator"]["mapping"][mode], reference);
    }
}
