//! Calls for questions about amounts.

use serde_json::{Value, json};

use super::{Answer, buyer::purchases, vendor::earnings};
use crate::gym::{
    facts::{cents, median, month, number, text},
    session::Session,
};

pub fn median_sale(session: &Session, _: &Value) -> Answer {
    let sales = session.rows("list_sales", "sales", &json!({}), &["purchase_kind", "amount"])?;
    let full = sales.iter().filter(|sale| sale["purchase_kind"] == "full");
    Ok(json!(median(full.map(|sale| number(sale, "/amount")).collect())))
}

pub fn fees_of_month(session: &Session, subject: &Value) -> Answer {
    let entries = earnings(session, &["entry_type", "amount", "created_at"])?;
    let fees = entries.iter().filter(|entry| {
        entry["entry_type"] == "platform_fee" && subject["month"] == month(text(entry, "/created_at"))
    });
    Ok(json!(cents(-fees.map(|entry| number(entry, "/amount")).sum::<f64>())))
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
    let rows = session.rows("list_estimations", "estimations", &json!({}), &["quote_high_cents"])?;
    let highest = rows.iter().map(|row| number(row, "/quote_high_cents")).max_by(f64::total_cmp);
    Ok(json!(highest.map(|cents| cents / 100.0)))
}

pub fn refunds(session: &Session, _: &Value) -> Answer {
    let entries = earnings(session, &["entry_type", "amount"])?;
    let refunds: Vec<f64> = entries
        .iter()
        .filter(|entry| entry["entry_type"] == "refund")
        .map(|entry| number(entry, "/amount"))
        .collect();
    Ok(json!({"count": refunds.len(), "sum": cents(-refunds.iter().sum::<f64>())}))
}

pub fn buyer_fees(session: &Session, subject: &Value) -> Answer {
    let year = subject["year"].as_str().unwrap_or_default();
    let purchases = purchases(session, &["purchase.created_at", "purchase.buyer_fee"])?;
    let of_year = purchases.iter().filter(|row| text(row, "/purchase/created_at").starts_with(year));
    Ok(json!(cents(of_year.map(|row| number(row, "/purchase/buyer_fee")).sum())))
}

pub fn average_price(session: &Session, _: &Value) -> Answer {
    let purchases = purchases(session, &["purchase.purchase_kind", "purchase.price"])?;
    let full = purchases.iter().filter(|row| row["purchase"]["purchase_kind"] == "full");
    let prices: Vec<f64> = full.map(|row| number(row, "/purchase/price")).collect();
    Ok(json!(cents(prices.iter().sum::<f64>() / prices.len() as f64)))
}
