//! A team can neither see nor change the records of another team, with any ID at any place.

use std::collections::BTreeSet;

use marketplace::{config::ContactSettings, rest};
use serde_json::{Value, json};
use uuid::Uuid;

use super::seller_market::{
    OTHER, SELLER, complete_codebase, create_grant, github_link, market_with, seeded_id, seller_post,
    task_id, taskset_record, upload_empty_zip,
};
use crate::{
    contract::cases::{Case, RequiredAccess},
    harness::{BASE, TestMarket, documents::vendor_document},
};

/// IDs of the seller's records, one of each kind, the URL of an upload, and the token of an upload grant.
struct SellerRecords {
    codebase: String,
    raw: String,
    task: String,
    group: String,
    listing: String,
    taskset: String,
    platform_task: String,
    url: String,
    token: String,
}

impl SellerRecords {
    /// Returns the IDs of all records.
    fn ids(&self) -> [&String; 7] {
        [
            &self.codebase,
            &self.raw,
            &self.task,
            &self.group,
            &self.listing,
            &self.taskset,
            &self.platform_task,
        ]
    }
}

async fn market() -> (TestMarket, SellerRecords) {
    let market = market_with(&json!({
        "tasksets": [taskset_record("s", "seller"), taskset_record("theirs", "both")],
        "listings": [{"key": "draft", "team": "seller", "title": "D", "description": "D", "created_at": "-P9D", "assets": []},
            {"key": "theirs", "team": "both", "title": "T", "description": "D", "created_at": "-P9D", "assets": []}],
    }));
    let url = upload_empty_zip(&market, "Seller house");
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let group = text(&seller_post(&market, "asset-groups", json!({"name": "G"})).await["id"]);
    let mut body = complete_codebase();
    body["group_id"] = json!(group);
    let codebase = text(&seller_post(&market, "codebases", body).await["id"]);
    let raw = text(&seller_post(&market, "raw-data", json!({"title": "R"})).await["id"]);
    let import = json!({"task_type": "coding", "task_ids": [task_id("s", "built")]});
    let done = market.call(SELLER, "POST", "/v2/tasks/import", &import).await.ok();
    let task = text(&done["imported"][0]["id"]);
    let own = SellerRecords {
        codebase,
        raw,
        task,
        group,
        listing: seeded_id("listings", "draft"),
        taskset: seeded_id("tasksets", "s"),
        platform_task: task_id("s", "two"),
        url,
        token: create_grant(market.market(), None).1,
    };
    (market, own)
}

/// Returns the complete inventory of a team, as its own API key sees it.
async fn visible_inventory(market: &TestMarket, key: &str) -> Vec<Value> {
    let mut all = Vec::new();
    for path in [
        "assets?limit=200",
        "codebases",
        "raw-data",
        "tasks",
        "asset-groups",
        "assets/window?include_empty_groups=true",
    ] {
        all.push(market.call(key, "GET", &format!("/v2/{path}"), &Value::Null).await.ok());
    }
    all
}

/// Returns every vendor operation that has IDs in its path, with each ID replaced by `{}`.
fn ids_in_paths() -> BTreeSet<String> {
    let operations = vendor_document().operations().iter();
    let own =
        operations.filter(|operation| Case::for_operation(&operation.id).access == RequiredAccess::Vendor);
    own.filter(|operation| operation.path.contains('{'))
        .map(|operation| {
            let steps: Vec<&str> = operation.path["/v2/".len()..]
                .split('/')
                .map(|step| if step.starts_with('{') { "{}" } else { step })
                .collect();
            format!("{} {}", operation.method, steps.join("/"))
        })
        .collect()
}

/// Returns every ID of a vendor operation in the query or the body, as the path and the field.
fn ids_in_queries_and_bodies() -> BTreeSet<String> {
    let document: Value =
        serde_json::from_str(&rest::openapi_json(&rest::VENDOR, BASE, &ContactSettings::default())).unwrap();
    let mut found = BTreeSet::new();
    for operation in vendor_document()
        .operations()
        .iter()
        .filter(|operation| Case::for_operation(&operation.id).access == RequiredAccess::Vendor)
    {
        let documented = &document["paths"][&operation.path][operation.method.to_lowercase()];
        for parameter in documented["parameters"].as_array().into_iter().flatten() {
            if parameter["in"] == "query" && parameter["schema"].to_string().contains("uuid") {
                found.insert(format!("{} ?{}", operation.path, parameter["name"].as_str().unwrap()));
            }
        }
        collect_body_ids(&document, &documented["requestBody"], &operation.path, &mut found);
    }
    found
}

/// Adds the fields of a body schema that contain IDs.
fn collect_body_ids(document: &Value, schema: &Value, path: &str, found: &mut BTreeSet<String>) {
    match schema {
        Value::Object(fields) => {
            for (name, field) in fields {
                if let (Some(reference), "$ref") = (field.as_str(), name.as_str()) {
                    collect_body_ids(
                        document,
                        document.pointer(reference.trim_start_matches('#')).unwrap(),
                        path,
                        found,
                    );
                }
                if name != "items" && (field["format"] == "uuid" || field["items"]["format"] == "uuid") {
                    found.insert(format!("{path} {name}"));
                }
                collect_body_ids(document, field, path, found);
            }
        }
        Value::Array(parts) => parts.iter().for_each(|part| collect_body_ids(document, part, path, found)),
        _ => {}
    }
}

#[test]
fn tests_cover_all_ids_in_queries_and_bodies() {
    let lists = ["assets", "codebases", "raw-data", "tasks"];
    let mut tried: BTreeSet<String> = lists
        .iter()
        .flat_map(|list| ["id", "group_id", "listing_id"].map(|parameter| format!("/v2/{list} ?{parameter}")))
        .collect();
    for position in [
        "assets ?attach_to",
        "assets/window ?attach_to",
        "assets/window ?after_group_id",
        "assets/window ?listing_id",
        // In the tests of estimations.
        "estimations/latest ?asset_id",
        "listings/{listing_id}/assets asset_ids",
        "listings/{listing_id}/assets exclude_ids",
        "listings/{listing_id}/assets group_id",
        "codebases group_id",
        "codebases/batch group_id",
        "codebases/{asset_id} group_id",
        "raw-data group_id",
        "raw-data/{asset_id} group_id",
        "tasks/import group_id",
        "tasks/import task_ids",
        "tasks/import taskset_id",
        "tasks/{asset_id} group_id",
        "vendor/uploads/grants/{token}/complete upload_id",
        "vendor/uploads/grants/{token}/parts upload_id",
    ] {
        tried.insert(format!("/v2/{position}"));
    }
    assert_eq!(ids_in_queries_and_bodies(), tried);
}

/// In a path, the ID of another team's record gets the same 404 as an unknown ID.
#[tokio::test]
async fn other_teams_ids_in_paths_are_not_found() {
    let (market, own) = market().await;
    let group =
        market.call(OTHER, "POST", "/v2/asset-groups", &json!({"name": "Theirs"})).await.expect_status(201);
    let other_id = group["id"].as_str().unwrap().to_owned();
    let before = (visible_inventory(&market, SELLER).await, visible_inventory(&market, OTHER).await);
    let upload = json!({"channel": "zip", "url": upload_empty_zip(&market, "Both house")});
    let positions: Vec<(&str, String, Value)> = vec![
        ("GET", "listings/{}".to_owned(), Value::Null),
        ("GET", "listings/{}/history".to_owned(), Value::Null),
        ("GET", "listings/{}/qc".to_owned(), Value::Null),
        ("GET", "estimations/{}".to_owned(), Value::Null),
        ("GET", "opportunities/{}".to_owned(), Value::Null),
        ("GET", "project-opportunities/{}".to_owned(), Value::Null),
        ("GET", "listings/{}/assets".to_owned(), Value::Null),
        ("POST", "listings/{}/assets".to_owned(), json!({"asset_ids": [own.codebase]})),
        ("DELETE", format!("listings/{{}}/assets/{}", own.codebase), Value::Null),
        ("GET", "assets/{}".to_owned(), Value::Null),
        ("PUT", format!("asset-groups/{other_id}/assets/{{}}"), Value::Null),
        ("GET", "codebases/{}".to_owned(), Value::Null),
        ("PATCH", "codebases/{}".to_owned(), json!({"commits": 1})),
        ("DELETE", "codebases/{}".to_owned(), Value::Null),
        ("POST", "codebases/{}/data".to_owned(), github_link()),
        ("DELETE", "codebases/{}/data".to_owned(), Value::Null),
        ("GET", "codebases/{}/data/structure".to_owned(), Value::Null),
        ("GET", "raw-data/{}/data/structure".to_owned(), Value::Null),
        ("GET", "raw-data/{}".to_owned(), Value::Null),
        ("PATCH", "raw-data/{}".to_owned(), json!({"notes": "x"})),
        ("DELETE", "raw-data/{}".to_owned(), Value::Null),
        ("POST", "raw-data/{}/data".to_owned(), upload),
        ("DELETE", "raw-data/{}/data".to_owned(), Value::Null),
        ("GET", "codebases/{}/qc".to_owned(), Value::Null),
        ("POST", "codebases/{}/qc/runs".to_owned(), Value::Null),
        ("GET", "raw-data/{}/qc".to_owned(), Value::Null),
        ("POST", "raw-data/{}/qc/runs".to_owned(), Value::Null),
        ("POST", "vendor/uploads/grants/{}".to_owned(), Case::for_operation("plan_upload").body()),
        ("POST", "vendor/uploads/grants/{}/parts".to_owned(), Case::for_operation("get_upload_parts").body()),
        (
            "POST",
            "vendor/uploads/grants/{}/complete".to_owned(),
            Case::for_operation("complete_upload").body(),
        ),
        ("GET", "tasks/{}".to_owned(), Value::Null),
        ("PATCH", "tasks/{}".to_owned(), json!({"notes": "x"})),
        ("GET", "asset-groups/{}".to_owned(), Value::Null),
        ("PATCH", "asset-groups/{}".to_owned(), json!({"name": "Mine now"})),
        ("DELETE", "asset-groups/{}".to_owned(), Value::Null),
        ("PUT", format!("asset-groups/{{}}/assets/{}", own.codebase), Value::Null),
    ];
    let tested_positions = positions.iter().map(|(method, template, _)| format!("{method} {template}"));
    let tested_positions =
        tested_positions.map(|position| position.replace(&other_id, "{}").replace(&own.codebase, "{}"));
    assert_eq!(
        tested_positions.collect::<BTreeSet<_>>(),
        ids_in_paths(),
        "the tested positions differ from those in the OpenAPI document"
    );
    let unknown_id = Uuid::nil().to_string();
    for (method, template, body) in &positions {
        let mut messages = Vec::new();
        // Grants are addressed by token, not by ID.
        let token = template.contains("/grants/").then_some(&own.token);
        for id in own.ids().into_iter().chain(token).chain([&unknown_id]) {
            let response =
                market.call(OTHER, method, &format!("/v2/{}", template.replace("{}", id)), body).await;
            assert_eq!(response.expect_error(404), "not_found", "{method} {template} {id}");
            messages.push(response.json()["error"]["message"].clone());
        }
        assert!(messages.iter().all(|message| *message == messages[0]), "{method} {template}: {messages:?}");
    }
    assert_eq!((visible_inventory(&market, SELLER).await, visible_inventory(&market, OTHER).await), before);
}

/// In a body, the ID of another team's record is rejected like an unknown ID. In an import it is not found.
#[tokio::test]
async fn other_teams_ids_in_bodies_are_rejected_like_unknown_ids() {
    let (market, own) = market().await;
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let own_codebase =
        market.call(OTHER, "POST", "/v2/codebases", &complete_codebase()).await.expect_status(201);
    let own_raw = market.call(OTHER, "POST", "/v2/raw-data", &json!({"title": "R"})).await.expect_status(201);
    let import = json!({"task_type": "coding", "task_ids": [task_id("theirs", "built")]});
    let own_task = market.call(OTHER, "POST", "/v2/tasks/import", &import).await.ok();
    let before = (visible_inventory(&market, SELLER).await, visible_inventory(&market, OTHER).await);
    let task = format!("tasks/{}", text(&own_task["imported"][0]["id"]));
    let codebase = format!("codebases/{}", text(&own_codebase["id"]));
    let raw = format!("raw-data/{}", text(&own_raw["id"]));
    let unknown_id = Uuid::nil().to_string();
    let mut with_group = complete_codebase();
    with_group["group_id"] = json!("{}");
    let row = json!({"title": "T", "exclusivity": "available", "group_id": "{}"});
    for (method, path, template, status) in [
        ("POST", "codebases", with_group, 422),
        ("POST", "codebases/batch", json!({"items": [row]}), 422),
        ("PATCH", codebase.as_str(), json!({"group_id": "{}"}), 422),
        ("POST", "raw-data", json!({"title": "T", "group_id": "{}"}), 422),
        ("PATCH", raw.as_str(), json!({"group_id": "{}"}), 422),
        ("PATCH", task.as_str(), json!({"group_id": "{}"}), 422),
        (
            "POST",
            "tasks/import",
            json!({"task_type": "coding", "task_ids": [task_id("theirs", "two")], "group_id": "{}"}),
            422,
        ),
        ("POST", "tasks/import", json!({"task_type": "coding", "taskset_id": "{}"}), 404),
        ("POST", "tasks/import", json!({"task_type": "coding", "task_ids": ["{}"]}), 404),
    ] {
        let mut messages = Vec::new();
        for id in own.ids().into_iter().chain([&unknown_id]) {
            let body: Value = serde_json::from_str(&template.to_string().replace("{}", id)).unwrap();
            let response = market.call(OTHER, method, &format!("/v2/{path}"), &body).await;
            assert_eq!(response.status, status, "{method} {path} {body}");
            let response = response.json();
            let message =
                if status == 422 { response["detail"].clone() } else { response["error"]["message"].clone() };
            messages.push(message.to_string().replace(id.as_str(), ""));
        }
        assert!(messages.iter().all(|message| *message == messages[0]), "{method} {path}: {messages:?}");
    }
    for url in [&own.url, "https://example.com/none.zip"] {
        let body = json!({"channel": "zip", "url": url});
        let response = market.call(OTHER, "POST", &format!("/v2/{raw}/data"), &body).await;
        assert_eq!(response.problems(), ["body.url unknown_reference"]);
    }
    assert_eq!((visible_inventory(&market, SELLER).await, visible_inventory(&market, OTHER).await), before);
}

/// When assets are attached, another team's ID is skipped like an unknown ID. As an ID to exclude it has no
/// effect, and as a group ID it is rejected.
#[tokio::test]
async fn other_teams_assets_cannot_be_attached_or_excluded() {
    let (market, own) = market().await;
    let mut body = complete_codebase();
    body["data"] = github_link();
    let other_id = market.call(OTHER, "POST", "/v2/codebases", &body).await.expect_status(201)["id"].clone();
    let path = format!("/v2/listings/{}/assets", seeded_id("listings", "theirs"));
    let unknown_id = Uuid::nil().to_string();
    let ids: Vec<&String> = own.ids().into_iter().chain([&unknown_id]).collect();
    for id in &ids {
        let done = market.call(OTHER, "POST", &path, &json!({"asset_ids": [id]})).await.expect_status(201);
        assert_eq!(
            (&done["attached"], &done["skipped"]),
            (&json!(0), &json!([{"reason": "not_found", "count": 1}]))
        );
        let body = json!({"matches": [{"group_id": id}]});
        assert_eq!(
            market.call(OTHER, "POST", &path, &body).await.problems(),
            ["body.matches.0.group_id unknown_reference"]
        );
    }
    let body = json!({"matches": [{"exclude_ids": ids}]});
    let done = market.call(OTHER, "POST", &path, &body).await.expect_status(201);
    assert_eq!(
        (&done["attached"], &done["assets"][0]["id"], &done["total"]),
        (&json!(1), &other_id, &json!(1))
    );
}

/// As a filter, the ID of another team's record matches nothing.
#[tokio::test]
async fn filters_by_other_teams_ids_match_nothing() {
    let (market, own) = market().await;
    market.call(OTHER, "POST", "/v2/codebases", &complete_codebase()).await.expect_status(201);
    let ids = own.ids();
    for path in ["assets", "codebases", "raw-data", "tasks"] {
        for parameter in ["id", "group_id", "listing_id"] {
            for id in ids {
                let list = market
                    .call(OTHER, "GET", &format!("/v2/{path}?{parameter}={id}"), &Value::Null)
                    .await
                    .ok();
                assert_eq!((&list["total"], &list["items"]), (&json!(0), &json!([])), "{path} {parameter}");
            }
        }
    }
    for id in ids {
        let window =
            market.call(OTHER, "GET", &format!("/v2/assets/window?listing_id={id}"), &Value::Null).await.ok();
        assert_eq!(window["total"], 0);
        let window = market
            .call(OTHER, "GET", &format!("/v2/assets/window?after_group_id={id}"), &Value::Null)
            .await
            .ok();
        assert_eq!(window["window"], json!([]));
        for path in ["assets", "assets/window"] {
            let list =
                market.call(OTHER, "GET", &format!("/v2/{path}?attach_to={id}"), &Value::Null).await.ok();
            assert_eq!((&list["total"], &list["groups"][0]["attachable"]), (&json!(1), &json!(0)));
        }
    }
}

/// No response to one team contains an ID of another team's record.
#[tokio::test]
async fn responses_contain_no_ids_of_other_teams() {
    let (market, own) = market().await;
    let other_inventory = format!("{:?}", visible_inventory(&market, OTHER).await);
    for id in own.ids() {
        assert!(!other_inventory.contains(id.as_str()), "{id}");
    }
    let sellers = format!("{:?}", visible_inventory(&market, SELLER).await);
    for id in [&own.codebase, &own.raw, &own.task, &own.group] {
        assert!(sellers.contains(id.as_str()), "{id}");
    }
}
