//! Calls for questions of a team that sells and buys.

use serde_json::{Value, json};

use super::{Answer, buyer::pending, catalog::count, vendor::bids_by_listing};
use crate::gym::{
    facts::{cents, number},
    session::Session,
};

pub fn balance_of_month(session: &Session, subject: &Value) -> Answer {
    let sum = |list: &str, measure: &str| -> Result<f64, String> {
        let arguments = json!({
            "list": list, "measure": measure, "group_by": ["month"], "fields": ["group", "sum"], "limit": 100,
        });
        let output = session.call("aggregate", &arguments)?;
        let mut groups = output["groups"].as_array().into_iter().flatten();
        let month = groups.find(|group| group["group"][0] == subject["month"]);
        Ok(month.map_or(0.0, |group| number(group, "/sum")))
    };
    Ok(json!(cents(sum("list_sales", "amount")? - sum("list_purchases", "total")?)))
}

pub fn bids_on_both_sides(session: &Session, _: &Value) -> Answer {
    let received: u64 = bids_by_listing(session)?.values().filter_map(Value::as_u64).sum();
    Ok(json!({"made": pending(session)?.0, "received": received}))
}

pub fn bought_from(session: &Session, subject: &Value) -> Answer {
    let bought = count(session, "list_purchases", &json!({"vendor": subject["name"]}))?;
    Ok(json!(bought.as_u64().is_some_and(|bought| bought > 0)))
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
