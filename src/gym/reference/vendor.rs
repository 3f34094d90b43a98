//! Calls for a vendor's questions.

use serde_json::{Map, Value, json};

use super::{Answer, buyer::sums_of_months};
use crate::gym::{
    facts::{day, number, only_lowest, text},
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
    let filter = ["passed", "none", "in_progress", "cancelled"].map(|outcome| format!("qc:is_not:{outcome}"));
    let rows = session.rows("list_assets", "items", &json!({"filter": filter}), &["id"])?;
    Ok(rows.into_iter().map(|mut row| row["id"].take()).collect())
}

pub fn review_feedback(session: &Session, subject: &Value) -> Answer {
    let arguments = json!({"review_status": ["in_review"]});
    let rows = session.rows("list_own_listings", "items", &arguments, &["id"])?;
    let in_review: Vec<&Value> = rows.iter().map(|row| &row["id"]).collect();
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
    let filter = json!({"has_active_bids": true});
    let rows = session.rows("list_own_listings", "items", &filter, &["id", "active_bid_count"])?;
    Ok(rows
        .into_iter()
        .map(|mut row| (text(&row, "/id").to_owned(), row["active_bid_count"].take()))
        .collect())
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
    sums_of_months(session, "get_earnings_summary", "net", subject)
}

pub fn next_release(session: &Session, _: &Value) -> Answer {
    let earnings = session.call("get_earnings_summary", &json!({"fields": ["next_release"]}))?;
    let next = &earnings["next_release"];
    Ok(json!({"day": day(text(next, "/at")), "amount": next["amount"]}))
}

pub fn best_seller(session: &Session, _: &Value) -> Answer {
    let arguments = json!({
        "list": "list_sales", "group_by": ["listing"], "measure": "amount", "fields": ["group", "records", "sum"],
        "limit": 100,
    });
    let output = session.call("aggregate", &arguments)?;
    let groups = output["groups"].as_array().ok_or("no groups")?;
    let best = only_lowest(groups, |group| -number(group, "/sum")).ok_or("no best")?;
    Ok(json!({"listing_id": best["group"][0], "sales": best["records"], "net": best["sum"]}))
}

pub fn wallet(session: &Session, _: &Value) -> Answer {
    let wallet = session.call("get_wallet", &json!({}))?;
    let earnings = &wallet["earnings"];
    Ok(json!({
        "credits": wallet["credits_balance"], "pending": earnings["pending"], "available": earnings["available"],
    }))
}
