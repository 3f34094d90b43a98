//! Calls for a buyer's questions about the catalog.

use serde_json::{Map, Value, json};

use super::Answer;
use crate::gym::{
    facts::{day, number, only_lowest, text},
    session::Session,
};

pub fn cheapest_certified(session: &Session, subject: &Value) -> Answer {
    let arguments = json!({
        "languages": [subject["language"]], "asset_types": ["codebase"], "verified_only": true, "sort": "price_low",
        "limit": 1, "fields": ["id"],
    });
    Ok(session.call("browse_listings", &arguments)?["items"][0]["id"].take())
}

pub fn median_by_tier(session: &Session, subject: &Value) -> Answer {
    let arguments = json!({
        "list": "browse_listings", "group_by": ["vendor_tier"], "measure": "price",
        "filters": {"tags": [subject["domain"]], "verified_only": true}, "fields": ["group", "median"],
    });
    let output = session.call("aggregate", &arguments)?;
    let groups = output["groups"].as_array().into_iter().flatten();
    let medians = groups.map(|group| (text(group, "/group/0").to_owned(), group["median"].clone()));
    Ok(Value::Object(medians.collect::<Map<_, _>>()))
}

pub fn price_per_task(session: &Session, subject: &Value) -> Answer {
    let arguments = json!({"ids": subject["ids"], "fields": ["id", "price_per_task"]});
    let listings = session.call("get_listings", &arguments)?["listings"].take();
    let listings = listings.as_array().ok_or("no listings")?;
    let cheapest = only_lowest(listings, |listing| number(listing, "/price_per_task"));
    Ok(cheapest.map_or(Value::Null, |listing| listing["id"].clone()))
}

pub fn free_samples(session: &Session, subject: &Value) -> Answer {
    let filter = json!({"tags": [subject["domain"]], "max_sample_price": 0});
    let rows = session.rows("browse_listings", "items", &filter, &["id"])?;
    Ok(rows.into_iter().map(|mut row| row["id"].take()).collect())
}

pub fn certification_evidence(session: &Session, subject: &Value) -> Answer {
    let arguments = json!({"listing_id": subject["id"], "fields": ["certified_at", "checks.status"]});
    let quality = session.call("get_listing_quality", &arguments)?;
    let checks = quality["checks"].as_array().ok_or("no checks")?;
    let passed = checks.iter().filter(|check| check["status"] == "passed").count();
    Ok(
        json!({"certified_on": day(text(&quality, "/certified_at")), "checks": checks.len(), "passed": passed}),
    )
}

pub fn taskset_columns(session: &Session, subject: &Value) -> Answer {
    let listing =
        session.call("get_listing", &json!({"listing_id": subject["id"], "fields": ["tasksets"]}))?;
    let tasksets = listing["tasksets"].as_array().ok_or("no tasksets")?;
    let taskset =
        tasksets.iter().find(|taskset| taskset["name"] == subject["name"]).ok_or("no such taskset")?;
    let arguments =
        json!({"listing_id": subject["id"], "taskset_id": taskset["id"], "fields": ["column_order"]});
    let columns = session.call("get_taskset", &arguments)?;
    Ok(json!({"tasks": taskset["task_count"], "columns": columns["column_order"]}))
}

pub fn certified_environments(session: &Session, _: &Value) -> Answer {
    let filters = json!({"min_environments": 1, "verified_only": true});
    count(session, "browse_listings", &filters)
}

/// Returns how many rows of a list match.
pub fn count(session: &Session, list: &str, filters: &Value) -> Answer {
    let arguments = json!({"list": list, "filters": filters, "fields": ["groups.records"]});
    let output = session.call("aggregate", &arguments)?;
    Ok(json!(number(&output, "/groups/0/records") as u64))
}
