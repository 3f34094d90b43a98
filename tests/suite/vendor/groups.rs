//! Asset groups.

use serde_json::{Value, json};
use uuid::Uuid;

use super::stock::{SELLER, change, complete, empty, make, read, seller};

#[tokio::test]
async fn every_team_begins_with_its_default_group() {
    let market = empty();
    let groups = read(&market, "asset-groups").await["groups"].clone();
    assert_eq!(groups.as_array().unwrap().len(), 1);
    assert_eq!((&groups[0]["name"], &groups[0]["is_default"]), (&json!("Default"), &json!(true)));
    let default = groups[0]["id"].as_str().unwrap();
    let refusal = seller(&market, "DELETE", &format!("asset-groups/{default}"), Value::Null).await;
    assert_eq!(refusal.refused(409), "default_group");
    let renamed = change(&market, &format!("asset-groups/{default}"), json!({"name": "Everything"})).await;
    assert_eq!((&renamed["name"], &renamed["is_default"]), (&json!("Everything"), &json!(true)));
}

#[tokio::test]
async fn names_are_unique_in_a_team_regardless_of_case() {
    let market = empty();
    let first = make(&market, "asset-groups", json!({"name": "ÄRA"})).await;
    for name in ["ÄRA", "ära", "DEFAULT"] {
        let refusal = seller(&market, "POST", "asset-groups", json!({"name": name})).await;
        assert_eq!(refusal.refused(409), "conflict", "{name}");
    }
    let second = make(&market, "asset-groups", json!({"name": "Second"})).await;
    let path = format!("asset-groups/{}", second["id"].as_str().unwrap());
    assert_eq!(seller(&market, "PATCH", &path, json!({"name": "ära"})).await.refused(409), "conflict");
    // A group may be renamed to its own name in another case.
    let path = format!("asset-groups/{}", first["id"].as_str().unwrap());
    assert_eq!(change(&market, &path, json!({"name": "Ära"})).await["name"], "Ära");
    assert_eq!(change(&market, &path, json!({})).await["name"], "Ära");
    // Another team may have the same name.
    market.call("mkt_both", "POST", "/v2/asset-groups", &json!({"name": "ära"})).await.with(201);
    let names: Vec<Value> = read(&market, "asset-groups").await["groups"]
        .as_array()
        .unwrap()
        .iter()
        .map(|group| group["name"].clone())
        .collect();
    assert_eq!(names, ["Default", "Second", "Ära"], "the default group must be first, then by name");
}

#[tokio::test]
async fn a_group_that_holds_assets_stays() {
    let market = empty();
    let group = make(&market, "asset-groups", json!({"name": "Old"})).await;
    let path = format!("asset-groups/{}", group["id"].as_str().unwrap());
    let mut body = complete();
    body["group_id"] = group["id"].clone();
    let asset = make(&market, "codebases", body).await;
    assert_eq!(asset["group_id"], group["id"]);
    assert_eq!(seller(&market, "DELETE", &path, Value::Null).await.refused(409), "group_not_empty");
    let asset_path = format!("codebases/{}", asset["id"].as_str().unwrap());
    seller(&market, "DELETE", &asset_path, Value::Null).await.with(204);
    seller(&market, "DELETE", &path, Value::Null).await.with(204);
    assert_eq!(seller(&market, "GET", &path, Value::Null).await.refused(404), "not_found");
}

#[tokio::test]
async fn an_asset_is_placed_in_a_group() {
    let market = empty();
    let group = make(&market, "asset-groups", json!({"name": "Old"})).await;
    let asset = make(&market, "codebases", complete()).await;
    let (group, asset) = (group["id"].as_str().unwrap(), asset["id"].as_str().unwrap());
    for _ in 0..2 {
        let path = format!("asset-groups/{group}/assets/{asset}");
        let placed = seller(&market, "PUT", &path, Value::Null).await.ok();
        assert_eq!((&placed["id"], &placed["group_id"]), (&json!(asset), &json!(group)));
    }
    let listed = read(&market, &format!("assets?group_id={group}")).await;
    assert_eq!(listed["groups"], json!([{"group_id": group, "total": 1, "attachable": 0}]));
    // Null moves the asset back to the default group.
    let back = change(&market, &format!("codebases/{asset}"), json!({"group_id": null})).await;
    assert_ne!(back["group_id"], group);
    for path in [
        format!("asset-groups/{}/assets/{asset}", Uuid::nil()),
        format!("asset-groups/{group}/assets/{}", Uuid::nil()),
    ] {
        assert_eq!(
            market.call(SELLER, "PUT", &format!("/v2/{path}"), &Value::Null).await.refused(404),
            "not_found"
        );
    }
}
