//! Calls for a buyer's questions about its own purchases, bids, and requests.

use serde_json::{Map, Value, json};

use super::Answer;
use crate::gym::{
    facts::{cents, day, number, sums, text},
    session::Session,
};

/// Returns all purchases with these fields.
pub fn purchases(session: &Session, fields: &[&str]) -> Result<Vec<Value>, String> {
    session.rows("list_purchases", "purchases", &json!({}), fields)
}

pub fn spending_by_month(session: &Session, subject: &Value) -> Answer {
    sums_of_months(session, "get_spending", "total", subject)
}

/// Returns the sums that a tool shows for the months of a subject.
pub fn sums_of_months(session: &Session, tool: &str, sum: &str, subject: &Value) -> Answer {
    let months = subject["months"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let since = format!("{}-01", months.clone().min().ok_or("no months")?);
    let fields = ["by_month.name".to_owned(), format!("by_month.{sum}")];
    let output = session.call(tool, &json!({"since": since, "fields": fields}))?;
    let rows = output["by_month"].as_array().into_iter().flatten();
    let sums = sums(rows.map(|row| (text(row, "/name"), number(row, &format!("/{sum}")))));
    let answer =
        months.map(|month| (month.to_owned(), json!(cents(sums.get(month).copied().unwrap_or(0.0)))));
    Ok(Value::Object(answer.collect::<Map<_, _>>()))
}

/// Returns the number of the team's undecided bids, and their sum.
pub fn pending(session: &Session) -> Result<(u64, f64), String> {
    let arguments = json!({
        "list": "list_offers", "measure": "amount", "filters": {"status": ["submitted"]},
        "fields": ["groups.records", "groups.sum"],
    });
    let output = session.call("aggregate", &arguments)?;
    Ok((number(&output, "/groups/0/records") as u64, number(&output, "/groups/0/sum")))
}

pub fn pending_bids(session: &Session, _: &Value) -> Answer {
    let (count, sum) = pending(session)?;
    Ok(json!({"count": count, "sum": cents(sum)}))
}

pub fn latest_checkout(session: &Session, _: &Value) -> Answer {
    let fields = ["purchase.created_at", "purchase.total", "purchase.listing_id"];
    let arguments = json!({"kind": ["full"], "limit": 1, "fields": fields});
    let output = session.call("list_purchases", &arguments)?;
    let purchase = &output["purchases"][0]["purchase"];
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
