//! Upload grants of the operator API.

use serde_json::{Value, json};

use super::{Operator, UNKNOWN, id};

#[tokio::test]
async fn grant_is_created_listed_and_revoked() {
    let operator = Operator::new(
        &[],
        json!({"groups": [{"key": "mine", "team": "seller", "name": "Mine", "created_at": "-P9D"}]}),
    );
    let body = json!({"team_id": id("teams", "seller"), "title": "Tide tables", "group_id": id("groups", "mine"),
        "exclusivity": "unavailable", "max_bytes": 1000});
    let created = operator.post("/grants", body).await;
    assert_eq!(created["token"].as_str().unwrap().len(), 32);
    let grant = &created["grant"];
    assert_eq!(
        (&grant["title"], &grant["status"], &grant["exclusivity"], &grant["max_bytes"], &grant["group_id"]),
        (
            &json!("Tide tables"),
            &json!("open"),
            &json!("unavailable"),
            &json!(1000),
            &json!(id("groups", "mine"))
        )
    );
    let path = format!("/grants/{}", grant["id"].as_str().unwrap());
    assert_eq!(operator.get(&path).await, *grant, "without the token");
    let team = id("teams", "seller");
    for (query, expected) in [
        ("status=open".to_owned(), 1),
        ("status=revoked".to_owned(), 0),
        ("status=expired".to_owned(), 0),
        (format!("team_id={team}"), 1),
        (format!("team_id={}", id("teams", "both")), 0),
        (format!("team_id={UNKNOWN}"), 0),
    ] {
        assert_eq!(operator.list(&format!("/grants?{query}"), "id").await.len(), expected, "{query}");
    }
    let revoked = operator.post(&format!("{path}/revoke"), Value::Null).await;
    assert_eq!(
        (&revoked["status"], &revoked["revoked_at"]),
        (&json!("revoked"), &json!("2026-03-01T09:00:00.000Z"))
    );
    let refused = operator.call("POST", &format!("{path}/revoke"), &Value::Null).await;
    let error = refused.expect_status(409);
    assert_eq!(error["error"]["details"], json!({"from": "revoked", "allowed": []}));
    assert_eq!(operator.list("/grants?status=revoked", "id").await, [grant["id"].clone()]);
    assert_eq!(operator.events(), ["upload_grant.created", "upload_grant.revoked"]);
    let subject = grant["id"].as_str().unwrap();
    let entry = |operation: &str| (operation.to_owned(), "upload_grant".to_owned(), subject.to_owned());
    assert_eq!(operator.audit().await, [entry("create_grant"), entry("revoke_grant")]);
}

#[tokio::test]
async fn grant_is_expired_as_soon_as_its_time_has_passed() {
    let operator = Operator::new(&[], json!({}));
    let body = json!({"team_id": id("teams", "seller"), "title": "Tide tables"});
    operator.post("/grants", body).await;
    operator.market.clock().advance(24 * 3_600_000_000);
    // Nothing was written since, so no step has recorded it.
    assert!(operator.list("/grants?status=open", "id").await.is_empty());
    assert_eq!(operator.list("/grants?status=expired", "status").await, ["expired"]);
}

#[tokio::test]
async fn grant_refers_to_an_open_team_and_a_group_of_it() {
    let operator = Operator::new(
        &[],
        json!({"groups": [{"key": "theirs", "team": "both", "name": "Theirs", "created_at": "-P9D"}]}),
    );
    let team = id("teams", "seller");
    for body in [
        json!({"team_id": UNKNOWN, "title": "Tide tables"}),
        json!({"team_id": team, "title": "Tide tables", "group_id": id("groups", "theirs")}),
    ] {
        assert_eq!(operator.refusal("/grants", body).await, (422, "not_found".to_owned()));
    }
    operator.post(&format!("/teams/{team}/close"), Value::Null).await;
    let closed = operator.refusal("/grants", json!({"team_id": team, "title": "Tide tables"})).await;
    assert_eq!(closed, (409, "conflict".to_owned()));
}
