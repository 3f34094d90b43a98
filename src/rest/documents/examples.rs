//! Examples in the documents: of parameters and of answers.
//!
//! Answers are real ones of the demo market, kept beside this file; a test makes them again and compares.

use serde_json::{Value, json};

/// Answers of operations, by their ids.
const ANSWERS: &str = include_str!("../examples.json");

/// An answer of an operation.
pub fn answer(operation: &str) -> Option<Value> {
    let answers: Value = serde_json::from_str(ANSWERS).ok()?;
    answers.get(operation).cloned()
}

/// A value of a parameter.
pub fn parameter(name: &str) -> Option<Value> {
    Some(match name {
        "query" => json!("cobol ledger"),
        "tags" => json!(["finance"]),
        "tag_slugs" => json!(["full-history"]),
        "asset_types" => json!(["codebase"]),
        "languages" => json!(["cobol"]),
        "file_extensions" => json!(["parquet"]),
        "robotics_formats" => json!(["lerobot_v3"]),
        "capabilities" => json!(["terminal"]),
        "vendor_tiers" => json!([2, 3]),
        "min_price" => json!(500),
        "max_price" => json!(20000),
        "limit" => json!(24),
        "listing_id" => json!("9b0c6a3e-8a54-5d0e-9c1b-2f6d7a51c0de"),
        "taskset_id" => json!("2d4f8c10-5b7e-5f43-a0c2-63f1de90ab12"),
        _ => return None,
    })
}
