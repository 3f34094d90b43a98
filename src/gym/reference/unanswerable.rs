//! Calls for questions that the tools cannot answer: each looks where the answer would be.

use serde_json::{Value, json};

use super::Answer;
use crate::gym::{facts::text, questions::unanswerable::rewards, session::Session};

const UNKNOWN: &str = "unknown";

/// Returns a field of a record, or that it is unknown.
fn field_or_unknown(record: &Value, name: &str) -> Value {
    record.get(name).filter(|value| !value.is_null()).cloned().unwrap_or_else(|| json!(UNKNOWN))
}

pub fn other_buyers(session: &Session, subject: &Value) -> Answer {
    let listing = session.call("get_listing", &json!({"listing_id": subject["id"]}))?;
    Ok(field_or_unknown(&listing, "purchase_count"))
}

pub fn missing_listing(session: &Session, subject: &Value) -> Answer {
    match session.call("get_listing", &json!({"listing_id": subject["id"], "fields": ["price"]})) {
        Ok(listing) => Ok(field_or_unknown(&listing, "price")),
        Err(reason) if reason.contains("not_found") => Ok(json!(UNKNOWN)),
        Err(reason) => Err(reason),
    }
}

pub fn buyer_of_sale(session: &Session, _: &Value) -> Answer {
    let sales = session.call("list_sales", &json!({"limit": 1}))?;
    Ok(field_or_unknown(&sales["sales"][0], "buyer"))
}

pub fn bidder(session: &Session, subject: &Value) -> Answer {
    let fields = json!(["id", "title", "active_bid_count"]);
    let listing = session.call("get_own_listing", &json!({"listing_id": subject["id"], "fields": fields}))?;
    Ok(field_or_unknown(&listing, "bidder"))
}

pub fn drafts_of_others(session: &Session, subject: &Value) -> Answer {
    let arguments = json!({"query": subject["name"], "limit": 1, "fields": ["review_status", "counts"]});
    let found = session.call("browse_listings", &arguments)?;
    Ok(field_or_unknown(&found["counts"], "drafts"))
}

pub fn ungraded_task(session: &Session, subject: &Value) -> Answer {
    let arguments = json!({
        "listing_id": subject["listing"], "taskset_id": subject["taskset"],
        "fields": ["tasks.task.id", "tasks.version.id", "task_stats"],
    });
    let preview = session.call("preview_taskset_tasks", &arguments)?;
    let mut tasks = preview["tasks"].as_array().into_iter().flatten();
    let task =
        tasks.find(|task| task["task"]["id"] == subject["task"]).ok_or("the preview lacks the task")?;
    let rewards = rewards(&preview, text(task, "/version/id"));
    if rewards.is_empty() {
        return Ok(json!(UNKNOWN));
    }
    Ok(json!(rewards.iter().sum::<f64>() / rewards.len() as f64))
}
