//! Listings of the operator API.

use serde_json::{Value, json};

use super::{Operator, UNKNOWN, id};
use crate::catalog::small_market::{listing, published};

fn path(key: &str) -> String {
    format!("/listings/{}", id("listings", key))
}

/// Complete raw data of the seller, without data of its own.
fn robotics(key: &str) -> Value {
    json!({"key": key, "team": "seller", "sku": "other", "title": key, "description": "Recordings.",
        "domain_tags": ["logistics"], "created_at": "-P9D", "other": ["brochures"]})
}

#[tokio::test]
async fn listing_goes_through_its_whole_life() {
    let operator = Operator::new(&[], json!({"assets": [robotics("one"), robotics("two")]}));
    let body = json!({
        "team_id": id("teams", "seller"), "title": "Gauges", "description": "Readings.", "price": "12.50",
        "currency": "USD", "domain_tags": ["logistics"], "tag_slugs": ["ci-enabled"],
        "delivery_method": "download", "delivery_days": 2, "asset_ids": [id("assets", "one")],
    });
    let created = operator.post("/listings", body).await;
    assert_eq!(
        (&created["price"], &created["sample_price"], &created["domain_tags"], &created["stage"]),
        (&json!("12.50"), &Value::Null, &json!(["logistics"]), &json!("draft"))
    );
    let listing = created["id"].as_str().unwrap().to_owned();
    let path = format!("/listings/{listing}");
    for (verb, body, stage) in [
        ("submit", Value::Null, "review"),
        ("withdraw", Value::Null, "draft"),
        ("attach", json!({"asset_ids": [id("assets", "two")]}), "draft"),
        ("detach", json!({"asset_id": id("assets", "two")}), "draft"),
        ("submit", Value::Null, "review"),
        ("request-changes", json!({"note": "Add units."}), "draft"),
        ("submit", Value::Null, "review"),
        ("approve", Value::Null, "ready"),
        ("publish", Value::Null, "active"),
        ("feature", json!({"place": 3}), "active"),
        ("certify", Value::Null, "active"),
        ("revoke", Value::Null, "active"),
        ("unfeature", Value::Null, "active"),
        ("unpublish", Value::Null, "ready"),
        ("archive", Value::Null, "archived"),
        ("restore", Value::Null, "ready"),
    ] {
        let changed = operator.post(&format!("{path}/{verb}"), body).await;
        assert_eq!(changed["stage"], stage, "{verb}");
        assert_eq!(changed, operator.get(&path).await, "{verb}");
        let feedback = if verb == "request-changes" || changed["review_feedback"] == "Add units." {
            json!("Add units.")
        } else {
            Value::Null
        };
        assert_eq!(changed["review_feedback"], feedback, "{verb}");
        assert_eq!(
            changed["featured"].is_null(),
            !["feature", "certify", "revoke"].contains(&verb),
            "{verb}"
        );
        assert_eq!(changed["certified_at"].is_null(), verb != "certify", "{verb}");
        assert_eq!(changed["archived_at"].is_null(), verb != "archive", "{verb}");
        assert_eq!(changed["asset_count"], if verb == "attach" { 2 } else { 1 }, "{verb}");
    }
    assert_eq!(operator.get(&path).await["review_feedback"], Value::Null, "approved");
    let steps = [
        ("create_listing", "created"),
        ("", "asset_attached"),
        ("submit_listing", "submitted"),
        ("withdraw_listing", "withdrawn"),
        ("attach_listing_assets", "asset_attached"),
        ("detach_listing_asset", "asset_detached"),
        ("submit_listing", "submitted"),
        ("request_listing_changes", "changes_requested"),
        ("submit_listing", "submitted"),
        ("approve_listing", "approved"),
        ("publish_listing", "published"),
        ("feature_listing", ""),
        ("certify_listing", "certified"),
        ("revoke_listing_certification", "certification_revoked"),
        ("unfeature_listing", ""),
        ("unpublish_listing", "unpublished"),
        ("archive_listing", "archived"),
        ("restore_listing", "restored"),
    ];
    let of = |texts: Vec<&'static str>| texts.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>();
    let operations: Vec<String> = operator.audit().await.into_iter().map(|entry| entry.0).collect();
    assert_eq!(operations, of(steps.map(|step| step.0).to_vec()));
    assert!(operator.audit().await.iter().all(|entry| entry.1 == "listing" && entry.2 == listing));
    let mut events = operator.list(&format!("{path}/history?limit=100"), "event_type").await;
    events.reverse();
    assert_eq!(json!(events), json!(of(steps.map(|step| step.1).to_vec())));
    let outbox = operator.events();
    for expected in ["listing.featured", "listing.unfeatured", "listing.certified", "listing.restored"] {
        assert!(outbox.contains(&expected), "{expected} in {outbox:?}");
    }
}

#[tokio::test]
async fn actor_is_the_team_or_the_platform() {
    let operator = Operator::new(&[listing("a", &json!({}))], json!({}));
    for (verb, body, actor) in [
        ("submit", Value::Null, "team"),
        ("reject", json!({"note": "Personal details."}), "platform"),
        ("certify", Value::Null, "platform"),
        ("archive", Value::Null, "team"),
    ] {
        operator.post(&format!("{}/{verb}", path("a")), body).await;
        let newest = operator.get(&format!("{}/history?limit=1", path("a"))).await["items"][0].clone();
        assert_eq!(newest["actor"], actor, "{verb}");
    }
    let rejected = operator.get(&path("a")).await;
    assert_eq!(
        (&rejected["review_status"], &rejected["review_feedback"]),
        (&json!("rejected"), &json!("Personal details."))
    );
    let message = operator.market.get("mkt_seller", "/v2/vendor/notifications").await.ok().to_string();
    assert!(message.contains("Personal details."), "{message}");
}

#[tokio::test]
async fn illegal_transition_names_the_allowed_ones() {
    let operator =
        Operator::new(&[listing("a", &json!({})), published("b", 9, &json!({"featured": 1}))], json!({}));
    let refused = operator.call("POST", &format!("{}/publish", path("a")), &Value::Null).await;
    assert_eq!(
        refused.expect_status(409)["error"]["details"],
        json!({"from": "draft", "allowed": ["submit", "archive"]})
    );
    for (verb, body, status, code) in [
        ("approve", Value::Null, 409, "invalid_transition"),
        ("request-changes", json!({"note": "More."}), 409, "invalid_transition"),
        ("request-changes", json!({"note": ""}), 422, "string_too_short"),
        ("reject", json!({}), 422, "missing"),
        ("revoke", Value::Null, 409, "conflict"),
        ("unfeature", Value::Null, 409, "conflict"),
        ("feature", json!({"place": 0}), 422, "greater_than_equal"),
        ("feature", json!({"place": 1}), 409, "conflict"),
        ("attach", json!({"asset_ids": []}), 422, "too_short"),
        ("attach", json!({"asset_ids": [UNKNOWN]}), 422, "value_error"),
        ("detach", json!({"asset_id": UNKNOWN}), 422, "not_found"),
        ("detach", json!({"asset_id": id("assets", "b-files")}), 422, "not_found"),
    ] {
        let refused = operator.refusal(&format!("{}/{verb}", path("a")), body).await;
        assert_eq!(refused, (status, code.to_owned()), "{verb}");
        let unknown = operator.call("POST", &format!("/listings/{UNKNOWN}/submit"), &Value::Null).await;
        assert_eq!(unknown.status, 404);
    }
    let asset = json!({"asset_id": id("assets", "b-files")});
    let in_catalog = operator.refusal(&format!("{}/detach", path("b")), asset).await;
    assert_eq!(in_catalog, (409, "listing_not_editable".to_owned()));
    assert!(operator.events().is_empty() && operator.audit().await.is_empty());
}

#[tokio::test]
async fn patch_changes_what_it_states() {
    let operator = Operator::new(&[published("a", 9, &json!({"accepts_bids": true}))], json!({}));
    let before = operator.get(&path("a")).await;
    let patch = async |body: Value| operator.call("PATCH", &path("a"), &body).await;
    // What changes nothing has no event, in any stage.
    let same = patch(json!({"title": before["title"], "price": "50.00"})).await.ok();
    assert_eq!(same, before);
    assert!(operator.events().is_empty() && operator.audit().await.is_empty());
    let sample = json!([{"asset_id": before["asset_ids"][0]}]);
    let changed =
        patch(json!({"price": "99.95", "sample_price": "0.00", "accepts_bids": false, "sample": sample}))
            .await
            .ok();
    assert_eq!(
        (&changed["price"], &changed["sample_price"], &changed["accepts_bids"], &changed["title"]),
        (&json!("99.95"), &json!("0.00"), &json!(false), &before["title"])
    );
    assert_eq!(operator.events(), ["listing.updated"]);
    let cleared = patch(json!({"sample_price": null})).await.ok();
    assert_eq!((&cleared["sample_price"], &cleared["price"]), (&Value::Null, &json!("99.95")));
    for (body, status) in [
        (json!({"title": "Another"}), 409),
        (json!({"price": null}), 422),
        (json!({"price": "-1.00"}), 422),
        (json!({"price": 12}), 422),
        (json!({"price": "1.234"}), 422),
        (json!({"price": "1.00", "currency": "EUR"}), 422),
        (json!({"delivery_days": 3}), 422),
        (json!({"domain_tags": ["nothing"]}), 422),
        (json!({"accepts_bids": null}), 422),
    ] {
        assert_eq!(patch(body.clone()).await.status, status, "{body}");
    }
    let delivered = patch(json!({"delivery_method": "download", "delivery_days": 3})).await.ok();
    assert_eq!(delivered["delivery_days"], 3);
    let longer = patch(json!({"delivery_days": 4})).await.ok();
    assert_eq!((&longer["delivery_method"], &longer["delivery_days"]), (&json!("download"), &json!(4)));
    let without = patch(json!({"delivery_method": null})).await.ok();
    assert_eq!((&without["delivery_method"], &without["delivery_days"]), (&Value::Null, &Value::Null));
}

#[tokio::test]
async fn patch_is_refused_if_the_listing_has_changed() {
    let operator = Operator::new(&[published("a", 9, &json!({}))], json!({}));
    let path = format!("/operator/v1{}", path("a"));
    let read = operator.market.get("mkt_test_operator", &path).await;
    let etag = read.header("etag").to_owned();
    for (price, status) in [("60.00", 200), ("70.00", 412)] {
        let headers = [("if-match", etag.as_str())];
        let body = json!({"price": price});
        let response = operator.market.call_with("mkt_test_operator", "PATCH", &path, &body, &headers).await;
        assert_eq!(response.status, status, "{price}");
    }
}

#[tokio::test]
async fn listings_are_filtered() {
    let operator = Operator::new(
        &[
            listing("a", &json!({"title": "Tides"})),
            published("b", 9, &json!({"featured": 2, "team": "both", "exclusive": true, "assets": ["code"]})),
            listing("c", &json!({"history": [{"event": "submitted", "at": "-P8D"}]})),
        ],
        json!({"assets": [{"key": "code", "team": "both", "sku": "codebase", "title": "Code", "created_at": "-P95D",
            "codebase": {"exclusivity": "available"}}]}),
    );
    operator.post(&format!("{}/certify", path("c")), Value::Null).await;
    for (query, expected) in [
        (String::new(), "abc"),
        (format!("team_id={}", id("teams", "both")), "b"),
        (format!("team_id={UNKNOWN}"), ""),
        ("title=Tides".to_owned(), "a"),
        ("title=tides".to_owned(), ""),
        ("review_status=in_review".to_owned(), "c"),
        ("catalog_status=unpublished".to_owned(), "ac"),
        ("stage=active".to_owned(), "b"),
        ("stage=archived".to_owned(), ""),
        ("exclusive=true".to_owned(), "b"),
        ("exclusive=false".to_owned(), "ac"),
        ("featured=true".to_owned(), "b"),
        ("featured=false&certified=true".to_owned(), "c"),
        ("certified=false&stage=draft".to_owned(), "a"),
    ] {
        let mut found = operator.list(&format!("/listings?{query}"), "id").await;
        let mut expected: Vec<String> =
            expected.chars().map(|key| id("listings", &key.to_string())).collect();
        found.sort_by_key(Value::to_string);
        expected.sort();
        assert_eq!(json!(found), json!(expected), "{query}");
    }
    let unknown = operator.call("GET", "/listings?stage=none", &Value::Null).await;
    assert_eq!(unknown.status, 422);
}

#[tokio::test]
async fn cursor_of_a_history_belongs_to_its_listing() {
    let operator = Operator::new(&[published("a", 9, &json!({})), published("b", 9, &json!({}))], json!({}));
    let history = |key: &str, query: &str| format!("{}/history?limit=3{query}", path(key));
    let first = operator.get(&history("a", "")).await;
    let cursor = first["next_cursor"].as_str().unwrap();
    let second = operator.get(&history("a", &format!("&cursor={cursor}"))).await;
    assert_eq!((&first["total"], &second["total"]), (&json!(4), &Value::Null));
    assert_eq!(
        (&second["items"][0]["event_type"], &second["next_cursor"]),
        (&json!("created"), &Value::Null)
    );
    let other = operator.call("GET", &history("b", &format!("&cursor={cursor}")), &Value::Null).await;
    assert_eq!((other.status, other.error_code().as_str()), (400, "invalid_cursor"));
    let unknown = operator.call("GET", &format!("/listings/{UNKNOWN}/history"), &Value::Null).await;
    assert_eq!(unknown.status, 404);
}

#[tokio::test]
async fn draft_of_an_unknown_or_closed_team_is_refused() {
    let operator = Operator::new(&[], json!({"assets": [robotics("one")]}));
    let seller = id("teams", "seller");
    for (body, status, code) in [
        (json!({"team_id": UNKNOWN, "title": "T"}), 422, "not_found"),
        (json!({"team_id": seller, "title": "T", "domain_tags": ["nothing"]}), 422, "unknown_slug"),
        (json!({"team_id": seller, "title": "T", "delivery_days": 1}), 422, "missing"),
        (json!({"team_id": seller, "title": "T", "asset_ids": [UNKNOWN]}), 422, "value_error"),
        (json!({"team_id": seller}), 422, "missing"),
    ] {
        assert_eq!(operator.refusal("/listings", body.clone()).await, (status, code.to_owned()), "{body}");
    }
    operator.post(&format!("/teams/{seller}/close"), Value::Null).await;
    let closed = operator.refusal("/listings", json!({"team_id": seller, "title": "T"})).await;
    assert_eq!(closed, (409, "conflict".to_owned()));
}
