//! Calls for questions of a team that sells and buys.

use serde_json::{Value, json};

use super::{
    Answer,
    buyer::{pending, purchases},
    vendor::bids_by_listing,
};
use crate::gym::{
    facts::{cents, month, number, text},
    session::Session,
};

pub fn balance_of_month(session: &Session, subject: &Value) -> Answer {
    let sales = session.rows("list_sales", "sales", &json!({}), &["amount", "paid_at"])?;
    let purchases = purchases(session, &["purchase.created_at", "purchase.total"])?;
    let sold = sales.iter().filter(|sale| subject["month"] == month(text(sale, "/paid_at")));
    let bought = purchases.iter().filter(|row| subject["month"] == month(text(row, "/purchase/created_at")));
    let sold: f64 = sold.map(|sale| number(sale, "/amount")).sum();
    Ok(json!(cents(sold - bought.map(|row| number(row, "/purchase/total")).sum::<f64>())))
}

pub fn bids_on_both_sides(session: &Session, _: &Value) -> Answer {
    let received: u64 = bids_by_listing(session)?.values().filter_map(Value::as_u64).sum();
    Ok(json!({"made": pending(session)?.len(), "received": received}))
}

pub fn bought_from(session: &Session, subject: &Value) -> Answer {
    let purchases = purchases(session, &["listing.team_name"])?;
    Ok(json!(purchases.iter().any(|row| row["listing"]["team_name"] == subject["name"])))
}

pub fn project_bids_on_both_sides(session: &Session, _: &Value) -> Answer {
    let made = session.rows("list_own_project_bids", "items", &json!({}), &["id"])?.len();
    let projects = session.rows("list_own_opportunities", "items", &json!({"kind": "project"}), &["id"])?;
    let mut received = 0;
    for project in projects {
        let arguments = json!({"opportunity_id": project["id"]});
        received += session.rows("list_project_bids", "items", &arguments, &["id"])?.len();
    }
    Ok(json!({"made": made, "received": received}))
}
