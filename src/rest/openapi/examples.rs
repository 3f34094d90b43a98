//! Examples in the documents: parameters, request bodies, and responses.
//!
//! The responses are those of the demo market, stored in `examples.json`; a test regenerates and compares
//! them.

use std::sync::LazyLock;

use serde_json::{Value, json};

/// ID of a listing of the demo's vendor, which is in the catalog and has a taskset.
const LISTING: &str = "34f2c447-0d0a-5b97-aa77-8245b1d085a3";

/// Example responses by operation ID.
const RESPONSES: &str = include_str!("../examples.json");

/// Returns the example response of an operation.
pub fn example_response(operation: &str) -> Option<Value> {
    static PARSED: LazyLock<Value> = LazyLock::new(|| serde_json::from_str(RESPONSES).unwrap_or_default());
    PARSED.get(operation).cloned()
}

/// Returns the example request body of an operation.
pub fn example_body(operation: &str) -> Option<Value> {
    Some(match operation {
        "attach_listing_assets" => json!({
            "asset_ids": ["6b473692-e841-5564-8f7d-44593627889f"],
            "matches": [{"sku": "codebase", "filters": ["stage:is:complete", "domain:is:logistics"]}],
        }),
        "create_asset_group" => json!({"name": "Prototypes"}),
        "update_asset_group" => json!({"name": "Prototypes before 2020"}),
        "create_codebase" => json!({
            "title": "Harbour scheduling",
            "exclusivity": "available",
            "description": "Berth planning for a container port, in production from 2011 to 2024.",
            "domain_tags": ["logistics"],
            "data": {"channel": "github", "repo_full_name": "tideclock/harbour"},
        }),
        "create_codebases" => json!({
            "items": [
                {"title": "Billing core", "exclusivity": "available", "lines_of_code": 182_000},
                {"title": "Ticket kiosk", "exclusivity": "unavailable", "price_usd": 12500},
            ],
        }),
        "update_codebase" => json!({"price_usd": 48000, "history_start": "2011-04-18", "description": null}),
        "attach_codebase_data" => json!({"channel": "github", "repo_full_name": "tideclock/harbour"}),
        "create_raw_data" => json!({
            "title": "Court letters 1890 to 1920",
            "description": "Scans with transcriptions.",
            "domain_tags": ["other"],
            "other_domain": "Palaeography",
            "price_usd": 3200,
            "suffix_title": true,
        }),
        "update_raw_data" => {
            json!({"notes": "Scanner was recalibrated for boxes 12 to 40.", "extra_columns": {"boxes": 61}})
        }
        "attach_raw_data" => json!({
            "channel": "zip",
            "url": "https://market.example/v2/blobs/uploads/0d5c1c52-3f0e-4d0b-9a54-8d7a1b6f2c11.zip",
        }),
        "plan_upload" => json!({
            "file_name": "billing-core.zip",
            "size_bytes": 48_213_004,
            "content_type": "application/zip",
            "sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        }),
        "get_upload_parts" => {
            json!({"upload_id": "0d5c1c52-3f0e-4d0b-9a54-8d7a1b6f2c11", "part_numbers": [1]})
        }
        "complete_upload" => json!({
            "upload_id": "0d5c1c52-3f0e-4d0b-9a54-8d7a1b6f2c11",
            "parts": [{"part_number": 1, "etag": "\"99aa06d3014798d86001c324468d497f\""}],
        }),
        "import_tasks" => {
            json!({"task_type": "coding", "taskset_id": "6c2a93fc-8543-5749-9d8b-0acda0590c66"})
        }
        "update_task" => json!({"domain_tags": ["software-engineering"], "price_usd": 40}),
        _ => return None,
    })
}

/// Returns the example value of a parameter of an operation. IDs are those of the demo market. Docs pages send
/// all examples of an operation unless a reader changes them, so they have results together. Therefore, optional
/// parameters that would exclude each other have none.
pub fn example_parameter(operation: &str, name: &str) -> Option<Value> {
    let of_list = match operation {
        "browse_listings" => browse_example(name),
        "list_own_listings" => match name {
            "query" => Some(json!("review")),
            "tags" => Some(json!(["software-engineering"])),
            "asset_types" => Some(json!(["taskset"])),
            _ => None,
        },
        "list_opportunities" => match name {
            "query" => Some(json!("cobol")),
            "tags" => Some(json!(["legacy"])),
            "asset_types" => Some(json!(["codebase"])),
            _ => None,
        },
        "list_estimations" | "get_estimation_summary" if name == "filter" => {
            Some(json!(["status:is:estimated", "name:contains:core"]))
        }
        "list_codebases" if name == "filter" => Some(json!(["stage:is:complete", "domain:is:logistics"])),
        "get_listings_by_ids" if name == "ids" => Some(json!([LISTING])),
        "list_latest_estimations" if name == "asset_id" => {
            Some(json!(["ef50a644-f585-571e-b33d-4774e03b7d48"]))
        }
        _ => None,
    };
    of_list.or_else(|| {
        Some(match name {
            "filter" => json!(["stage:is:complete"]),
            "limit" => json!(24),
            _ => json!(example_id(operation, name)?),
        })
    })
}

/// Returns the example value of a parameter of the catalog.
fn browse_example(name: &str) -> Option<Value> {
    Some(match name {
        "query" => json!("cobol ledger"),
        "tags" => json!(["finance"]),
        "tag_slugs" => json!(["full-history"]),
        "asset_types" => json!(["codebase"]),
        "languages" => json!(["cobol"]),
        "vendor_tiers" => json!([2, 3]),
        "min_price" => json!(500),
        "max_price" => json!(200_000),
        _ => return None,
    })
}

/// Returns the example ID of a path parameter: of a listing in the catalog, and of records of the demo's vendor
/// and buyer.
fn example_id(operation: &str, name: &str) -> Option<&'static str> {
    let is_filter = operation.starts_with("list_") && operation != "list_listing_assets";
    Some(match name {
        "listing_id" | "group_id" if is_filter || operation == "get_asset_window" => return None,
        "listing_id" => LISTING,
        "taskset_id" => "37015791-0563-5418-ad9d-8ea4f26f8602",
        "group_id" => "594e74df-b05c-5021-8f58-73f7d8c20e9a",
        "asset_id" if operation.contains("task") => "c67ae8a9-58a3-5df1-bb64-d66274bc0b5b",
        "asset_id" if operation.contains("raw_data") => "29b2be45-a5f6-55e0-bc0e-2b2248571f6d",
        "asset_id" => "38b28206-20c1-55d4-9f66-f6011c61f2ce",
        "estimation_id" => "c5c9cde1-479a-5cb7-a912-8ac541cf704e",
        "opportunity_id" => match operation {
            "get_opportunity" => "1c05baa5-aa62-50bd-a4be-365f1da5cc53",
            "get_project_opportunity" => "008c5450-1928-5d2b-9ce5-fdb4fc928799",
            "get_own_opportunity" => "cc712357-1a3c-5cbd-9518-0b8753bc4518",
            _ => "78f9ea3b-c4b8-55da-a0ce-49a1f59fbbf6",
        },
        _ => return None,
    })
}
