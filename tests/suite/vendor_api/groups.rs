//! Asset groups.

use serde_json::{Value, json};
use uuid::Uuid;

use super::seller_market::{
    SELLER, complete_codebase, empty_market, seller_call, seller_get, seller_patch, seller_post,
};
use crate::harness::elements;

#[tokio::test]
async fn every_team_has_a_default_group() {
    let market = empty_market();
    let groups = seller_get(&market, "asset-groups").await["groups"].clone();
    assert_eq!(groups.as_array().unwrap().len(), 1);
    assert_eq!((&groups[0]["name"], &groups[0]["is_default"]), (&json!("Default"), &json!(true)));
    let default = groups[0]["id"].as_str().unwrap();
    let rejection = seller_call(&market, "DELETE", &format!("asset-groups/{default}"), Value::Null).await;
    assert_eq!(rejection.expect_error(409), "default_group");
    let renamed =
        seller_patch(&market, &format!("asset-groups/{default}"), json!({"name": "Everything"})).await;
    assert_eq!((&renamed["name"], &renamed["is_default"]), (&json!("Everything"), &json!(true)));
}

#[tokio::test]
async fn group_names_are_unique_per_team_ignoring_case() {
    let market = empty_market();
    let first = seller_post(&market, "asset-groups", json!({"name": "ÄRA"})).await;
    for name in ["ÄRA", "ära", "DEFAULT"] {
        let rejection = seller_call(&market, "POST", "asset-groups", json!({"name": name})).await;
        assert_eq!(rejection.expect_error(409), "conflict", "{name}");
    }
    let second = seller_post(&market, "asset-groups", json!({"name": "Second"})).await;
    let path = format!("asset-groups/{}", second["id"].as_str().unwrap());
    assert_eq!(
        seller_call(&market, "PATCH", &path, json!({"name": "ära"})).await.expect_error(409),
        "conflict"
    );
    // A group may be renamed to its own name in another case.
    let path = format!("asset-groups/{}", first["id"].as_str().unwrap());
    assert_eq!(seller_patch(&market, &path, json!({"name": "Ära"})).await["name"], "Ära");
    assert_eq!(seller_patch(&market, &path, json!({})).await["name"], "Ära");
    // Another team may have the same name.
    market.call("mkt_both", "POST", "/v2/asset-groups", &json!({"name": "ära"})).await.expect_status(201);
    let names: Vec<Value> = elements(&seller_get(&market, "asset-groups").await["groups"])
        .map(|group| group["name"].clone())
        .collect();
    assert_eq!(names, ["Default", "Ära", "Second"], "the default group must be first, then by name");
}

#[tokio::test]
async fn group_names_are_unique_in_any_encoding() {
    let market = empty_market();
    for (name, same) in [
        ("caf\u{e9}", "cafe\u{301}"),
        ("Straße", "STRASSE"),
        ("ΧΑΡΤΗΣ", "χαρτης"),
        ("ﬁne", "FINE"),
        ("ﾃﾞｰﾀ", "データ"),
        ("İzmir", "i\u{307}zmir"),
    ] {
        seller_post(&market, "asset-groups", json!({"name": name})).await;
        let rejection = seller_call(&market, "POST", "asset-groups", json!({"name": same})).await;
        assert_eq!(rejection.expect_error(409), "conflict", "{same}");
    }
    for different in ["cafe", "χάρτης", "izmir", "ızmir"] {
        seller_post(&market, "asset-groups", json!({"name": different})).await;
    }
    for invisible in ["a\u{200b}", "\u{feff}a", "\u{3164}", " a", "a\u{a0}"] {
        let rejection = seller_call(&market, "POST", "asset-groups", json!({"name": invisible})).await;
        assert_eq!(
            rejection.expect_status(422)["detail"][0]["loc"],
            json!(["body", "name"]),
            "{invisible:?}"
        );
    }
}

#[tokio::test]
async fn groups_are_sorted_by_unicode_collation() {
    let market = empty_market();
    let sorted = ["1", "Ärger", "Arzt", "coté", "côte", "Élan", "elle", "Ōsaka", "Zebra", "абзац", "数据"];
    for name in sorted.iter().rev() {
        seller_post(&market, "asset-groups", json!({"name": name})).await;
    }
    let mut expected = vec!["Default"];
    expected.extend(sorted);
    for (path, list) in
        [("asset-groups", "groups"), ("assets/window?include_empty_groups=true&header_budget=50", "window")]
    {
        let groups = seller_get(&market, path).await[list].clone();
        let names: Vec<&str> =
            groups.as_array().unwrap().iter().map(|group| group["name"].as_str().unwrap()).collect();
        assert_eq!(names, expected, "{path}");
    }
}

#[tokio::test]
async fn non_empty_group_cannot_be_deleted() {
    let market = empty_market();
    let group = seller_post(&market, "asset-groups", json!({"name": "Old"})).await;
    let path = format!("asset-groups/{}", group["id"].as_str().unwrap());
    let mut body = complete_codebase();
    body["group_id"] = group["id"].clone();
    let asset = seller_post(&market, "codebases", body).await;
    assert_eq!(asset["group_id"], group["id"]);
    assert_eq!(seller_call(&market, "DELETE", &path, Value::Null).await.expect_error(409), "group_not_empty");
    let asset_path = format!("codebases/{}", asset["id"].as_str().unwrap());
    seller_call(&market, "DELETE", &asset_path, Value::Null).await.expect_status(204);
    seller_call(&market, "DELETE", &path, Value::Null).await.expect_status(204);
    assert_eq!(seller_call(&market, "GET", &path, Value::Null).await.expect_error(404), "not_found");
}

#[tokio::test]
async fn asset_can_be_moved_to_a_group() {
    let market = empty_market();
    let group = seller_post(&market, "asset-groups", json!({"name": "Old"})).await;
    let asset = seller_post(&market, "codebases", complete_codebase()).await;
    let (group, asset) = (group["id"].as_str().unwrap(), asset["id"].as_str().unwrap());
    for _ in 0..2 {
        let path = format!("asset-groups/{group}/assets/{asset}");
        let moved = seller_call(&market, "PUT", &path, Value::Null).await.ok();
        assert_eq!((&moved["id"], &moved["group_id"]), (&json!(asset), &json!(group)));
    }
    let listed = seller_get(&market, &format!("assets?group_id={group}")).await;
    assert_eq!(listed["groups"], json!([{"group_id": group, "total": 1, "attachable": 0}]));
    // Null moves the asset back to the default group.
    let moved_back = seller_patch(&market, &format!("codebases/{asset}"), json!({"group_id": null})).await;
    assert_ne!(moved_back["group_id"], group);
    for path in [
        format!("asset-groups/{}/assets/{asset}", Uuid::nil()),
        format!("asset-groups/{group}/assets/{}", Uuid::nil()),
    ] {
        assert_eq!(
            market.call(SELLER, "PUT", &format!("/v2/{path}"), &Value::Null).await.expect_error(404),
            "not_found"
        );
    }
}
