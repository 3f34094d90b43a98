//! Calls for a vendor's questions.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::{Answer, buyer::of_months};
use crate::gym::{
    facts::{cents, day, month, number, only_lowest, sums, text},
    questions::vendor_money::is_earning,
    session::Session,
};

/// Returns all entries of the earnings with these fields.
pub fn earnings(session: &Session, fields: &[&str]) -> Result<Vec<Value>, String> {
    session.rows("list_earnings", "items", &json!({}), fields)
}

pub fn missing_fields(session: &Session, _: &Value) -> Answer {
    let rows =
        session.rows("list_codebases", "items", &json!({"stage": "incomplete"}), &["id", "missing"])?;
    let fields = rows.into_iter().map(|mut row| (text(&row, "/id").to_owned(), row["missing"].take()));
    Ok(Value::Object(fields.collect::<Map<_, _>>()))
}

pub fn failed_quality(session: &Session, _: &Value) -> Answer {
    let mut failed = Vec::new();
    for (tool, kind) in [("list_codebases", "codebase"), ("list_raw_data", "raw_data")] {
        for row in session.rows(tool, "items", &json!({}), &["id"])? {
            let arguments = json!({
                "asset_id": row["id"], "kind": kind, "fields": ["latest_run.status", "latest_run.passed"],
            });
            let run = session.call("get_asset_qc", &arguments)?["latest_run"].take();
            if run["status"] == "error" || run["status"] == "completed" && run["passed"] == false {
                failed.push(row["id"].clone());
            }
        }
    }
    Ok(failed.into())
}

pub fn review_feedback(session: &Session, subject: &Value) -> Answer {
    let arguments = json!({"lifecycle_stages": ["draft", "review"]});
    let rows = session.rows("list_own_listings", "items", &arguments, &["id", "review_status"])?;
    let in_review: Vec<&Value> =
        rows.iter().filter(|row| row["review_status"] == "in_review").map(|row| &row["id"]).collect();
    let arguments = json!({"listing_id": subject["id"], "fields": ["latest_run.review_feedback"]});
    let quality = session.call("get_listing_qc", &arguments)?;
    Ok(json!({"in_review": in_review, "feedback": quality["latest_run"]["review_feedback"]}))
}

pub fn estimations(session: &Session, _: &Value) -> Answer {
    let fields = ["status_counts.pending", "quote_low_cents", "quote_high_cents"];
    let summary = session.call("get_estimation_summary", &json!({"fields": fields}))?;
    Ok(json!({
        "pending": summary["status_counts"]["pending"],
        "low": number(&summary, "/quote_low_cents") / 100.0,
        "high": number(&summary, "/quote_high_cents") / 100.0,
    }))
}

/// Returns the listings of the team with undecided bids, and the number of these.
pub fn bids_by_listing(session: &Session) -> Result<Map<String, Value>, String> {
    let mut bids = Map::new();
    for row in session.rows("list_own_listings", "items", &json!({"has_active_bids": true}), &["id"])? {
        let arguments = json!({"listing_id": row["id"], "fields": ["active_bid_count"]});
        let count = session.call("get_own_listing", &arguments)?["active_bid_count"].take();
        bids.insert(text(&row, "/id").to_owned(), count);
    }
    Ok(bids)
}

pub fn bids_on_listings(session: &Session, _: &Value) -> Answer {
    bids_by_listing(session).map(Value::Object)
}

pub fn fitting_opportunities(session: &Session, subject: &Value) -> Answer {
    let filter = json!({
        "asset_types": [subject["kind"]], "budget_unit": subject["unit"], "max_budget": subject["budget"],
    });
    let rows = session.rows("list_opportunities", "items", &filter, &["id"])?;
    Ok(rows.into_iter().map(|mut row| row["id"].take()).collect())
}

pub fn earnings_by_month(session: &Session, subject: &Value) -> Answer {
    let entries = earnings(session, &["entry_type", "amount", "created_at"])?;
    let amounts = entries.iter().filter(|entry| is_earning(entry));
    let by_month = sums(amounts.map(|entry| (month(text(entry, "/created_at")), number(entry, "/amount"))));
    Ok(of_months(&by_month, subject))
}

pub fn next_release(session: &Session, _: &Value) -> Answer {
    let now = session.call("get_current_team", &json!({}))?["now"].take();
    let entries = earnings(session, &["entry_type", "amount", "available_at"])?;
    let now = now.as_str().unwrap_or_default();
    let held = entries.iter().filter(|entry| is_earning(entry) && text(entry, "/available_at") > now);
    let by_time = sums(held.map(|entry| (text(entry, "/available_at"), number(entry, "/amount"))));
    let (time, sum) = by_time.into_iter().next().ok_or("nothing is pending")?;
    Ok(json!({"day": day(&time), "amount": cents(sum)}))
}

pub fn best_seller(session: &Session, _: &Value) -> Answer {
    let sales = session.rows("list_sales", "sales", &json!({}), &["listing_id", "amount"])?;
    let mut by_listing: BTreeMap<&str, (u64, f64)> = BTreeMap::new();
    for sale in &sales {
        let entry = by_listing.entry(text(sale, "/listing_id")).or_default();
        *entry = (entry.0 + 1, entry.1 + number(sale, "/amount"));
    }
    let rows: Vec<Value> = by_listing
        .iter()
        .map(|(id, (count, sum))| json!({"listing_id": id, "sales": count, "net": cents(*sum)}))
        .collect();
    Ok(only_lowest(&rows, |row| -number(row, "/net")).cloned().unwrap_or_default())
}

pub fn wallet(session: &Session, _: &Value) -> Answer {
    let wallet = session.call("get_wallet", &json!({}))?;
    let earnings = &wallet["earnings"];
    Ok(json!({
        "credits": wallet["credits_balance"], "pending": earnings["pending"], "available": earnings["available"],
    }))
}
