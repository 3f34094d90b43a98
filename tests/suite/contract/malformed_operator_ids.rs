//! IDs that an operator sends: what is no UUID is rejected with its place, and every notation of a UUID names the same
//! record.

use marketplace::domain::principals::PrincipalKind;
use serde_json::{Value, json};
use uuid::Uuid;

use super::cases::{Case, OPERATOR, cases};
use crate::harness::{TestMarket, demo, records::demo_records};

/// Parameters of paths that are not UUIDs: names and numbers.
const NO_UUIDS: [&str; 3] = ["asset_type", "slug", "job_id"];

/// Query parameters with IDs of any kind.
const ANY_IDS: [&str; 2] = ["subject_id", "external_id"];

fn rows() -> impl Iterator<Item = &'static Case> {
    cases().filter(|row| row.access.key_kind() == PrincipalKind::Operator && !row.is_of_sandbox())
}

#[tokio::test]
async fn malformed_ids_in_paths_are_rejected() {
    let market = demo();
    let mut count = 0;
    for row in rows() {
        let operation = row.documented();
        let names = operation.path.split('/').filter_map(|step| step.strip_prefix('{')?.strip_suffix('}'));
        for name in names {
            let problem = format!("path.{name} uuid_parsing");
            for id in ["not-a-uuid", "00000000-0000-0000-0000-00000000000g", "0", "%20", "%FF"] {
                let path = operation.path.replace(&format!("{{{name}}}"), id);
                let response = market.call(OPERATOR, &operation.method, &path, &row.body()).await;
                if NO_UUIDS.contains(&name) {
                    assert!([404, 422].contains(&response.status), "{} {path}", operation.method);
                } else {
                    assert_eq!(response.problems(), [problem.as_str()], "{} {path}", operation.method);
                    count += 1;
                }
            }
        }
    }
    assert!(count > 300, "{count} requests");
}

#[tokio::test]
async fn malformed_ids_in_queries_are_rejected() {
    let market = demo();
    let mut count = 0;
    for row in rows() {
        let operation = row.documented();
        let names = operation.query.iter().filter(|name| name.ends_with("_id") || *name == "team");
        for name in names.filter(|name| !ANY_IDS.contains(&name.as_str())) {
            let path = format!("{}?{name}=nonsense", operation.path);
            let response = market.get(OPERATOR, &path).await;
            assert_eq!(response.problems(), [format!("query.{name} uuid_parsing")], "{path}");
            // There is nothing of what does not exist.
            let page = market.get(OPERATOR, &path.replace("nonsense", &Uuid::nil().to_string())).await.ok();
            assert_eq!(page["items"], json!([]), "{path}");
            count += 1;
        }
    }
    assert!(count > 30, "{count} parameters");
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
    let market = demo();
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
