//! Calls for questions about amounts.

use serde_json::{Value, json};

use super::{Answer, vendor::earnings};
use crate::gym::{
    facts::{cents, number},
    session::Session,
};

/// Returns the statistics of a number of all matching rows of a list.
fn statistics(session: &Session, list: &str, measure: &str, filters: &Value) -> Result<Value, String> {
    let arguments = json!({"list": list, "measure": measure, "filters": filters});
    Ok(session.call("aggregate", &arguments)?["groups"][0].take())
}

pub fn median_sale(session: &Session, _: &Value) -> Answer {
    Ok(statistics(session, "list_sales", "amount", &json!({"kind": ["full"]}))?["median"].take())
}

pub fn fees_of_month(session: &Session, subject: &Value) -> Answer {
    let summary =
        session.call("get_earnings_summary", &json!({"fields": ["by_month.name", "by_month.fees"]}))?;
    let mut months = summary["by_month"].as_array().into_iter().flatten();
    let month = months.find(|month| month["name"] == subject["month"]).ok_or("no such month")?;
    Ok(json!(-number(month, "/fees")))
}

pub fn gross_and_net(session: &Session, subject: &Value) -> Answer {
    let entries = earnings(session, &["entry_type", "amount", "purchase_id"])?;
    let of_sale = |kind: &str| -> f64 {
        let entries = entries
            .iter()
            .filter(|entry| entry["purchase_id"] == subject["purchase"] && entry["entry_type"] == kind);
        entries.map(|entry| number(entry, "/amount")).sum()
    };
    let (gross, fee) = (of_sale("sale"), -of_sale("platform_fee"));
    Ok(json!({"gross": gross, "fee": fee, "net": cents(gross - fee)}))
}

pub fn highest_quote(session: &Session, _: &Value) -> Answer {
    Ok(statistics(session, "list_estimations", "high", &json!({}))?["max"].take())
}

pub fn refunds(session: &Session, _: &Value) -> Answer {
    let refunds = statistics(session, "list_earnings", "amount", &json!({"kind": ["refund"]}))?;
    Ok(json!({"count": refunds["records"], "sum": -number(&refunds, "/sum")}))
}

pub fn buyer_fees(session: &Session, subject: &Value) -> Answer {
    let year = subject["year"].as_str().unwrap_or_default();
    let arguments = json!({
        "since": format!("{year}-01-01"), "until": format!("{year}-12-31"), "fields": ["total.fees"],
    });
    Ok(session.call("get_spending", &arguments)?["total"]["fees"].take())
}

pub fn average_price(session: &Session, _: &Value) -> Answer {
    let full = statistics(session, "list_purchases", "price", &json!({"kind": ["full"]}))?;
    Ok(json!(cents(number(&full, "/sum") / number(&full, "/records"))))
}
