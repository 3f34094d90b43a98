//! Bodies of the operator API: rules that hold for many operations.

use serde_json::{Value, json};

use super::calls::{Calls, id};

#[tokio::test]
async fn lists_in_bodies_have_each_value_once() {
    let calls = Calls::new();
    let team = id("teams", "lumen-codeworks");
    let asset = id("assets", "lumen-tide-tables");
    let texts =
        json!({"team_id": team, "title": "Tides", "description": "All.", "price": "5.00", "terms": ""});
    let listing = |field: &str, values: Value| {
        let mut body = texts.clone();
        body[field] = values;
        body
    };
    for (path, body, expected) in [
        ("teams", json!({"name": "New", "roles": ["vendor", "vendor"]}), "body.roles.1 duplicate"),
        ("listings", listing("asset_ids", json!([asset, asset])), "body.asset_ids.1 duplicate"),
        ("listings", listing("domain_tags", json!(["legal", "legal"])), "body.domain_tags.1 duplicate"),
        (
            "webhooks",
            json!({"url": "https://1.1.1.1/hook", "event_types": ["team.created", "team.created"]}),
            "body.event_types.1 duplicate",
        ),
    ] {
        let refused = calls.post(path, body).await;
        assert!(refused.problems().contains(&expected.to_owned()), "{path}: {:?}", refused.problems());
    }
    let path = format!("teams/{team}");
    let refused = calls.call("PATCH", &path, json!({"roles": ["buyer", "buyer"]})).await;
    assert_eq!(refused.problems(), ["body.roles.1 duplicate"]);
}
