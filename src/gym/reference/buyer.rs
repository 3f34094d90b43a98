//! Calls for a buyer's questions about its own purchases, bids, and requests.

use serde_json::{Map, Value, json};

use super::Answer;
use crate::gym::{
    facts::{cents, day, month, number, sums, text},
    session::Session,
};

/// Returns all purchases with these fields.
pub fn purchases(session: &Session, fields: &[&str]) -> Result<Vec<Value>, String> {
    session.rows("list_purchases", "purchases", &json!({}), fields)
}

pub fn spending_by_month(session: &Session, subject: &Value) -> Answer {
    let purchases = purchases(session, &["purchase.created_at", "purchase.total"])?;
    let amounts = purchases
        .iter()
        .map(|row| (month(text(row, "/purchase/created_at")), number(row, "/purchase/total")));
    Ok(of_months(&sums(amounts), subject))
}

/// Returns the sums of the months of a subject.
pub fn of_months(sums: &std::collections::BTreeMap<String, f64>, subject: &Value) -> Value {
    let months = subject["months"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let sums = months.map(|month| (month.to_owned(), json!(cents(sums.get(month).copied().unwrap_or(0.0)))));
    Value::Object(sums.collect::<Map<_, _>>())
}

/// Returns the amounts of the team's undecided bids.
pub fn pending(session: &Session) -> Result<Vec<f64>, String> {
    let offers = session.rows("list_offers", "offers", &json!({}), &["offer.status", "offer.amount"])?;
    let pending = offers.iter().filter(|row| row["offer"]["status"] == "submitted");
    Ok(pending.map(|row| number(row, "/offer/amount")).collect())
}

pub fn pending_bids(session: &Session, _: &Value) -> Answer {
    let pending = pending(session)?;
    Ok(json!({"count": pending.len(), "sum": cents(pending.iter().sum())}))
}

pub fn latest_checkout(session: &Session, _: &Value) -> Answer {
    let fields = ["purchase.created_at", "purchase.total", "purchase.purchase_kind", "purchase.listing_id"];
    let purchases = purchases(session, &fields)?;
    let full = purchases.iter().filter(|row| row["purchase"]["purchase_kind"] == "full");
    let latest = full.max_by_key(|row| text(row, "/purchase/created_at")).ok_or("no purchase")?;
    let purchase = &latest["purchase"];
    Ok(json!({
        "day": day(text(purchase, "/created_at")), "listing_id": purchase["listing_id"], "paid": purchase["total"],
    }))
}

pub fn next_deadline(session: &Session, _: &Value) -> Answer {
    let arguments = json!({"status": "published"});
    let requests = session.rows("list_own_opportunities", "items", &arguments, &["id", "deadline"])?;
    let open = requests.iter().filter(|row| row["deadline"].is_string());
    let next = open.min_by_key(|row| text(row, "/deadline")).ok_or("no deadline")?;
    Ok(json!({"opportunity_id": next["id"], "day": day(text(next, "/deadline"))}))
}

pub fn project_bids(session: &Session, subject: &Value) -> Answer {
    let projects =
        session.rows("list_own_opportunities", "items", &json!({"kind": "project"}), &["id", "title"])?;
    let project = projects.iter().find(|row| row["title"] == subject["title"]).ok_or("no such project")?;
    let arguments = json!({"opportunity_id": project["id"]});
    let bids = session.rows("list_project_bids", "items", &arguments, &["status", "num_tasks"])?;
    let standing: Vec<&Value> = bids.iter().filter(|bid| bid["status"] != "withdrawn").collect();
    let tasks: f64 = standing.iter().map(|bid| number(bid, "/num_tasks")).sum();
    Ok(json!({"bids": standing.len(), "tasks": tasks}))
}
