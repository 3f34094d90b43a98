//! IDs that an operator sends: what is no UUID is rejected with its place, and every notation of a UUID names the same
//! record.

use marketplace::domain::principals::PrincipalKind;
use serde_json::{Value, json};
use uuid::Uuid;

use super::cases::{Case, OPERATOR, cases};
use crate::harness::{TestMarket, records::demo_records};

fn rows() -> impl Iterator<Item = &'static Case> {
    cases().filter(|row| row.access.key_kind() == PrincipalKind::Operator && !row.is_of_sandbox())
}

/// Returns copies of a body with one ID each replaced, and the place of the ID.
fn with_malformed_ids(body: &Value) -> Vec<(Value, String)> {
    let is_id = |value: &Value| value.as_str().is_some_and(|text| Uuid::try_parse(text).is_ok());
    let mut changed = Vec::new();
    for (name, value) in body.as_object().into_iter().flatten() {
        let (mut copy, place) = (body.clone(), format!("body.{name}"));
        if is_id(value) {
            copy[name] = json!("nonsense");
            changed.push((copy, place));
        } else if value.as_array().is_some_and(|values| values.first().is_some_and(is_id)) {
            copy[name][0] = json!("nonsense");
            changed.push((copy, format!("{place}.0")));
        }
    }
    changed
}

#[tokio::test]
async fn malformed_ids_in_bodies_are_rejected() {
    let market = TestMarket::demo();
    let mut places = Vec::new();
    for row in rows().filter(|row| row.documented().body_schema().is_some()) {
        let method = &row.documented().method;
        for (body, place) in with_malformed_ids(&row.body()) {
            let response = market.call(OPERATOR, method, &row.path(), &body).await;
            assert_eq!(response.problems(), [format!("{place} uuid_parsing")], "{} {body}", row.operation);
            places.push(place);
        }
    }
    assert!(places.len() > 20, "{places:?}");
}

#[tokio::test]
async fn every_notation_of_an_id_names_the_same_record() {
    let market = TestMarket::demo();
    let team = demo_records().find("teams", demo_records().team_of("mkt_demo_vendor"));
    let name = team["name"].as_str().unwrap().replace(' ', "%20");
    let page = market.get(OPERATOR, &format!("/operator/v1/teams?name={name}")).await.ok();
    let id = page["items"][0]["id"].as_str().unwrap().to_owned();
    for notation in [id.to_uppercase(), id.replace('-', ""), format!("%7B{id}%7D")] {
        let found = market.get(OPERATOR, &format!("/operator/v1/teams/{notation}")).await.ok();
        assert_eq!(found["id"], id, "{notation}");
        let keys = market.get(OPERATOR, &format!("/operator/v1/keys?team_id={notation}")).await.ok();
        assert_eq!(keys["items"][0]["team_id"], id, "{notation}");
        let body_notation = notation.replace("%7B", "{").replace("%7D", "}");
        let bought = market
            .call(
                OPERATOR,
                "POST",
                "/operator/v1/credit-purchases",
                &json!({"team_id": body_notation, "amount": "1.00"}),
            )
            .await;
        assert_eq!(bought.expect_status(201)["team_id"], id, "{notation}");
    }
}
