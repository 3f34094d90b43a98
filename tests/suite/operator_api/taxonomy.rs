//! Asset types, domains, and tags; the settings and facts of the market.

use serde_json::{Value, json};

use super::calls::{Calls, each, id};

#[tokio::test]
async fn an_asset_type_is_disabled_deprecated_and_retired() {
    let calls = Calls::new();
    let page = calls.get("asset-types?limit=100").await;
    assert_eq!(page["total"], 8);
    let disabled = calls.call("PATCH", "asset-types/raw_data", json!({"enabled": false})).await.ok();
    assert_eq!((&disabled["enabled"], &disabled["stage"]), (&json!(false), &json!("current")));
    assert_eq!(calls.last_event(), "asset_type.disabled");
    calls.assert_audited("update_asset_type", "asset_type", &json!("raw_data")).await;
    assert!(each(&calls.get("asset-types?enabled=false").await, "slug").contains(&&json!("raw_data")));
    assert_eq!(calls.refusal("asset-types/raw_data/retire").await["from"], "current");
    let body = json!({"retires_at": "2026-06-01T00:00:00Z", "accepts_new_listings": true, "message": "Use another."});
    let deprecated = calls.post("asset-types/raw_data/deprecate", body.clone()).await.ok();
    assert_eq!(
        (&deprecated["stage"], &deprecated["message"]),
        (&json!("deprecated"), &json!("Use another."))
    );
    assert_eq!(calls.post("asset-types/raw_data/retire", Value::Null).await.ok()["stage"], "retired");
    assert_eq!(
        calls.post("asset-types/raw_data/deprecate", body).await.expect_error(409),
        "invalid_transition"
    );
    let enabled = calls.call("PATCH", "asset-types/raw_data", json!({"enabled": true})).await;
    assert_eq!(enabled.expect_error(409), "invalid_transition");
    assert_eq!(calls.call("GET", "asset-types/nothing", Value::Null).await.expect_error(404), "not_found");
    assert_eq!(
        calls.call("PATCH", "asset-types/nothing", json!({"enabled": true})).await.expect_error(404),
        "not_found"
    );
}

#[tokio::test]
async fn domains_and_tags_are_created_and_renamed() {
    let calls = Calls::new();
    for (path, kind) in
        [("domains", "domain"), ("content-tags", "content_tag"), ("inventory-tags", "inventory_tag")]
    {
        let mut body = json!({"slug": "tides", "label": "Tides"});
        if kind == "inventory_tag" {
            body["description"] = json!("About tides.");
            body["category"] = json!("Water");
        }
        let created = calls.create(path, body.clone()).await;
        assert_eq!(created, body);
        assert_eq!(calls.last_event(), format!("{kind}.created"));
        calls.assert_audited(&format!("create_{kind}"), kind, &json!("tides")).await;
        assert_eq!(calls.post(path, body.clone()).await.expect_error(409), "conflict");
        body["slug"] = json!("Tides!");
        assert_eq!(calls.post(path, body).await.problems(), ["body.slug string_pattern_mismatch"]);
        let renamed =
            calls.call("PATCH", &format!("{path}/tides"), json!({"label": "Tide tables"})).await.ok();
        assert_eq!((&renamed["slug"], &renamed["label"]), (&json!("tides"), &json!("Tide tables")));
        assert_eq!(calls.last_event(), format!("{kind}.updated"));
        assert_eq!(
            each(&calls.get(&format!("{path}?limit=1")).await, "slug"),
            [&json!("tides")],
            "the last one"
        );
        let absent = calls.call("PATCH", &format!("{path}/nothing"), json!({"label": "T"})).await;
        assert_eq!(absent.expect_error(404), "not_found");
    }
    assert_eq!(calls.get("inventory-tags?category=Water").await["total"], 1);
}

#[tokio::test]
async fn facts_of_the_market_follow_its_changes() {
    let calls = Calls::new();
    let before = calls.get("market").await;
    let sum = |list: &Value| {
        list.as_array().unwrap().iter().map(|item| item["count"].as_u64().unwrap()).sum::<u64>()
    };
    assert_eq!(before["open_teams"], calls.get("teams?closed=false").await["total"]);
    assert_eq!((&before["index_lag"], &before["used_up_quotas"]), (&json!(0), &json!([])));
    assert!(before["last_event_id"].as_str().unwrap().starts_with("evt_0"));
    assert!(
        before["disk_free_bytes"].as_u64().unwrap() > 0 && before["database_bytes"].as_u64().unwrap() > 0
    );
    assert!(!before.to_string().contains('/'), "no path");
    calls.post(&format!("teams/{}/close", id("teams", "newleaf-data")), Value::Null).await.ok();
    let after = calls.get("market").await;
    assert_eq!(after["closed_teams"].as_u64(), before["closed_teams"].as_u64().map(|count| count + 1));
    assert_eq!(sum(&after["listings"]), sum(&before["listings"]));
    let statements = calls.market.market().statement_count();
    calls.get("market").await;
    let used = calls.market.market().statement_count() - statements;
    assert!(used <= 10, "{used} statements");
}

#[tokio::test]
async fn settings_are_listed_without_secrets() {
    let calls = Calls::new();
    let settings = calls.get("settings").await;
    let find =
        |key: &str| settings["items"].as_array().unwrap().iter().find(|item| item["key"] == key).cloned();
    assert_eq!(find("quotas.assets").unwrap()["value"], calls.market.market().settings().quotas.assets);
    assert_eq!(find("repositories.github_token").unwrap()["value"], "", "not set");
    for (key, reloadable) in [("quotas.assets", true), ("server.listen", false), ("log.filter", true)] {
        assert_eq!(find(key).unwrap()["reloadable"], reloadable, "{key}");
    }
}
