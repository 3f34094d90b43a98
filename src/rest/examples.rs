//! Examples in the documents: of parameters, of failures, and of answers.
//!
//! Answers are real ones of the demo market, kept beside this file; a test makes them again and compares.

use serde_json::{Value, json};

/// Answers of operations, by their ids.
const ANSWERS: &str = include_str!("examples.json");

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

/// The body of a failure with this status.
pub fn failure(status: &str) -> Value {
    let envelope = |code: &str, message: &str, details: Value| {
        json!({"error": {
            "code": code,
            "message": message,
            "request_id": "0d5c1c52-3f0e-4d0b-9a54-8d7a1b6f2c11",
            "details": details,
        }})
    };
    match status {
        "400" => envelope("invalid_cursor", "The cursor does not belong to this request.", Value::Null),
        "401" => envelope("unauthorized", "This API key has expired. Use another key of your team.", Value::Null),
        "403" => envelope(
            "listing_browse_locked",
            "Browsing opens once your team has 3 published listings; it has 1.",
            json!({"published_count": 1, "required_count": 3}),
        ),
        "404" => envelope("not_found", "There is no listing that your team can see.", Value::Null),
        "409" => envelope("conflict", "The state of things does not allow this.", Value::Null),
        "422" => json!({"detail": [{
            "loc": ["query", "limit"],
            "msg": "`limit` is at most 100.",
            "type": "less_than_equal",
        }]}),
        "429" => envelope("rate_limited", "Your team has spent its budget for this minute.", Value::Null),
        "503" => envelope("at_capacity", "The server is full; try again in a second.", Value::Null),
        _ => envelope("internal_error", "Something failed on our side.", Value::Null),
    }
}
