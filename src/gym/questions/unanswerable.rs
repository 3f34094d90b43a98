//! Questions that the tools cannot answer: about actions of others, missing records, and missing measurements.

use serde_json::{Value, json};

use super::{Asked, Asking};
use crate::gym::{
    checkers::Expected,
    facts::{Facts, day, text},
};

const fn unknown(text: String, format: &'static str, subject: Value) -> Asked {
    Asked { text, expected: Expected::Unknown(format), subject }
}

/// Purchases of other buyers.
pub fn other_buyers(facts: &mut Facts) -> Asking {
    let page = facts.list("/v2/listings/browse?limit=100", "items")?;
    let Some(listing) = facts.random.pick(&page) else { return Ok(None) };
    let (id, title) = (text(listing, "/id"), text(listing, "/title"));
    let question = format!("How many other teams have bought the listing “{title}” ({id}) so far?");
    Ok(Some(unknown(question, "a whole number", json!({"id": id}))))
}

/// A listing that does not exist.
pub fn missing_listing(facts: &mut Facts) -> Asking {
    let mut random = facts.random.clone();
    let number = (u128::from(random.next_u64()) << 64) | u128::from(random.next_u64());
    let id = uuid::Builder::from_random_bytes(number.to_be_bytes()).into_uuid().to_string();
    if facts.find(&format!("/v2/listings/browse/{id}"))?.is_some() {
        return Ok(None);
    }
    Ok(Some(unknown(
        format!("What does the listing {id} cost?"),
        "a number of US dollars",
        json!({"id": id}),
    )))
}

/// The buyer of a sale.
pub fn buyer_of_sale(facts: &mut Facts) -> Asking {
    let sales = facts.list("/v2/listings/sales", "sales")?;
    let Some(sale) = facts.random.pick(&sales) else { return Ok(None) };
    let (title, day) = (text(sale, "/listing_title"), day(text(sale, "/paid_at")));
    let question = format!("Which team bought our listing “{title}” and paid on {day}?");
    Ok(Some(unknown(question, "the name of a team", json!({"sale": text(sale, "/id")}))))
}

/// Who bid on a listing.
pub fn bidder(facts: &mut Facts) -> Asking {
    let listings = facts.list("/v2/listings?limit=100&has_active_bids=true", "items")?;
    let Some(listing) = facts.random.pick(&listings) else { return Ok(None) };
    let (id, title) = (text(listing, "/id"), text(listing, "/title"));
    let question =
        format!("Which team made the first of the undecided bids on our listing “{title}” ({id})?");
    Ok(Some(unknown(question, "the name of a team", json!({"id": id}))))
}

/// Drafts of another vendor.
pub fn drafts_of_others(facts: &mut Facts) -> Asking {
    let page = facts.list("/v2/listings/browse?limit=100", "items")?;
    let Some(listing) = facts.random.pick(&page) else { return Ok(None) };
    let name = text(listing, "/team_name");
    let question =
        format!("How many drafts of listings that are not published does the vendor “{name}” have?");
    Ok(Some(unknown(question, "a whole number", json!({"name": name}))))
}

/// The average reward of a task that was never graded.
pub fn ungraded_task(facts: &mut Facts) -> Asking {
    let mut found = facts.list("/v2/listings/browse?limit=100&asset_types=taskset", "items")?;
    facts.random.shuffle(&mut found);
    for listing in &found {
        let id = text(listing, "/id");
        let tasksets = facts.listing(id)?["tasksets"].take();
        for taskset in tasksets.as_array().into_iter().flatten() {
            let taskset_id = text(taskset, "/id");
            let preview = facts.get(&format!("/v2/listings/browse/{id}/tasksets/{taskset_id}/tasks"))?;
            let Some(task) = ungraded(&preview) else { continue };
            let (name, task_id) = (text(task, "/task/name"), text(task, "/task/id"));
            let question = format!(
                "What is the average reward of all graded runs of the latest version of the task “{name}” ({task_id}), in the \
                 taskset {taskset_id} of the listing {id}?"
            );
            let subject = json!({"listing": id, "taskset": taskset_id, "task": task_id});
            return Ok(Some(unknown(question, "a number", subject)));
        }
    }
    Ok(None)
}

/// Returns a task of a preview without a graded run.
pub fn ungraded(preview: &Value) -> Option<&Value> {
    let tasks = preview["tasks"].as_array()?;
    tasks.iter().find(|task| rewards(preview, text(task, "/version/id")).is_empty())
}

/// Returns the rewards of the runs of a version of a task.
pub fn rewards(preview: &Value, version: &str) -> Vec<f64> {
    let stats = preview["task_stats"].as_array().into_iter().flatten();
    let of_version = stats.filter(|stats| text(stats, "/task_version_id") == version);
    let traces = of_version.filter_map(|stats| stats["traces"].as_array()).flatten();
    traces.filter_map(|trace| trace["reward"].as_f64()).collect()
}
