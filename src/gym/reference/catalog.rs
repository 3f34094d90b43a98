//! Calls for a buyer's questions about the catalog.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::Answer;
use crate::gym::{
    facts::{day, median, number, only_lowest, text},
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
    let filter = json!({"tags": [subject["domain"]], "verified_only": true});
    let mut prices: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for row in session.rows("browse_listings", "items", &filter, &["id"])? {
        let arguments = json!({"listing_id": row["id"], "fields": ["price", "vendor_tier"]});
        let listing = session.call("get_listing", &arguments)?;
        prices.entry(listing["vendor_tier"].to_string()).or_default().push(number(&listing, "/price"));
    }
    let medians = prices.into_iter().map(|(tier, prices)| (tier, json!(median(prices))));
    Ok(Value::Object(medians.collect::<Map<_, _>>()))
}

pub fn price_per_task(session: &Session, subject: &Value) -> Answer {
    let mut listings = Vec::new();
    for id in subject["ids"].as_array().into_iter().flatten() {
        listings.push(
            session.call("get_listing", &json!({"listing_id": id, "fields": ["id", "price_per_task"]}))?,
        );
    }
    let cheapest = only_lowest(&listings, |listing| number(listing, "/price_per_task"));
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
    let filter = json!({"min_environments": 1, "verified_only": true});
    Ok(session.rows("browse_listings", "items", &filter, &["id"])?.len().into())
}
