//! Every operation that changes something, carried out once on a demo market of its own.

use std::{collections::BTreeSet, io::Write};

use marketplace::{
    domain::assets::Exclusivity,
    operations::{self, grants::GrantIn},
};
use poem::http::Method;
use serde_json::{Map, Value, json};

use super::{rows::VENDOR, vendor_rows::example};
use crate::harness::{
    BASE, TestMarket,
    documents::{Document, documents},
    records::{self, demo_records},
};

/// A demo market, and what its answers were.
struct Walk {
    market: TestMarket,
    answers: Map<String, Value>,
}

impl Walk {
    /// Carries an operation out, with the example's body unless another one is given.
    async fn take(
        &mut self,
        operation: &str,
        method: &str,
        path: &str,
        body: Option<Value>,
        status: u16,
    ) -> Value {
        let body = body.unwrap_or_else(|| example(operation));
        let found = documents().iter().find_map(|document| document.operation(operation)).unwrap();
        assert_eq!(found.method, method, "{operation}");
        let answer = self.market.call(VENDOR, method, &format!("/v2/{path}"), &body).await.with(status);
        self.answers.insert(operation.to_owned(), answer.clone());
        answer
    }
}

fn id(answer: &Value) -> &str {
    answer["id"].as_str().unwrap()
}

/// Answers of every operation that changes something, by their ids; the answers are held against the document.
pub async fn answers() -> Map<String, Value> {
    let mut walk = Walk { market: TestMarket::demo(), answers: Map::new() };
    let team = demo_records().team_of(VENDOR);
    let draft = demo_records()
        .of("listings")
        .iter()
        .find(|listing| listing["team"] == team && records::stage(listing) == "draft")
        .unwrap();
    let draft = format!("listings/{}/assets", records::id("listings", draft));
    let attached = walk.take("attach_listing_assets", "POST", &draft, None, 201).await;
    let asset = format!("{draft}/{}", id(&attached["assets"][0]));
    walk.take("detach_listing_asset", "DELETE", &asset, None, 204).await;
    let group = walk.take("create_asset_group", "POST", "asset-groups", None, 201).await;
    let group_path = format!("asset-groups/{}", id(&group));
    walk.take("update_asset_group", "PATCH", &group_path, None, 200).await;
    let code = walk.take("create_codebase", "POST", "codebases", None, 201).await;
    let code_path = format!("codebases/{}", id(&code));
    walk.take("update_codebase", "PATCH", &code_path, None, 200).await;
    walk.take("place_asset", "PUT", &format!("{group_path}/assets/{}", id(&code)), None, 200).await;
    walk.take("detach_codebase_data", "DELETE", &format!("{code_path}/data"), None, 204).await;
    walk.take("attach_codebase_data", "POST", &format!("{code_path}/data"), None, 201).await;
    let made = walk.take("create_codebases", "POST", "codebases/batch", None, 201).await;
    let first = format!("codebases/{}", id(&made["items"][0]));
    walk.take("delete_codebase", "DELETE", &first, None, 204).await;
    let raw = walk.take("create_raw_data", "POST", "raw-data", None, 201).await;
    let raw_path = format!("raw-data/{}", id(&raw));
    walk.take("update_raw_data", "PATCH", &raw_path, None, 200).await;
    let mut zip = tempfile::NamedTempFile::new().unwrap();
    zip.write_all(b"PK\x05\x06").unwrap();
    let url = operations::uploads::put(walk.market.market(), demo_name(team), zip.path(), BASE).unwrap();
    let link = Some(json!({"channel": "zip", "url": url}));
    walk.take("attach_raw_data", "POST", &format!("{raw_path}/data"), link, 201).await;
    walk.take("start_raw_data_qc", "POST", &format!("{raw_path}/qc/runs"), None, 202).await;
    walk.take("start_codebase_qc", "POST", &format!("{code_path}/qc/runs"), None, 202).await;
    upload(&mut walk, demo_name(team)).await;
    walk.take("detach_raw_data", "DELETE", &format!("{raw_path}/data"), None, 204).await;
    walk.take("delete_raw_data", "DELETE", &raw_path, None, 204).await;
    let taskset = demo_records().of("tasksets").iter().find(|taskset| taskset["team"] == team).unwrap();
    let body = Some(json!({"task_type": "coding", "taskset_id": records::id("tasksets", taskset)}));
    let done = walk.take("import_tasks", "POST", "tasks/import", body, 200).await;
    walk.take("update_task", "PATCH", &format!("tasks/{}", id(&done["imported"][0])), None, 200).await;
    walk.take("refresh_task_qc", "POST", "tasks/refresh-qc", None, 202).await;
    let other =
        walk.market.call(VENDOR, "POST", "/v2/asset-groups", &json!({"name": "Empty"})).await.with(201);
    walk.take("delete_asset_group", "DELETE", &format!("asset-groups/{}", id(&other)), None, 204).await;
    walk.answers
}

/// The way of an upload under a grant.
async fn upload(walk: &mut Walk, team: &str) {
    let grant =
        GrantIn { team, title: "Billing", exclusivity: Exclusivity::Available, group: None, max_bytes: None };
    let (_, token) =
        walk.market.market().write_blocking(|writer| operations::grants::create(writer, &grant)).unwrap();
    let path = format!("vendor/uploads/grants/{token}");
    let bytes = b"PK\x05\x06".iter().copied().chain([0; 18]).collect::<Vec<u8>>();
    let file = json!({"file_name": "a.zip", "size_bytes": bytes.len(), "content_type": "application/zip"});
    let plan = walk.take("plan_upload", "POST", &path, Some(file), 200).await;
    let at = plan["url"].as_str().unwrap().strip_prefix(BASE).unwrap();
    assert_eq!(walk.market.send_body(Method::PUT, at, &[], bytes).await.status, 200);
    let parts = json!({"upload_id": plan["upload_id"], "part_numbers": [1]});
    let told = walk.take("get_upload_parts", "POST", &format!("{path}/parts"), Some(parts), 200).await;
    let part = json!({"part_number": 1, "etag": told["received"][0]["etag"]});
    let whole = json!({"upload_id": plan["upload_id"], "parts": [part]});
    walk.take("complete_upload", "POST", &format!("{path}/complete"), Some(whole), 200).await;
}

fn demo_name(team: &str) -> &'static str {
    demo_records().find("teams", team)["name"].as_str().unwrap()
}

#[tokio::test]
async fn every_operation_that_changes_something_has_a_happy_answer() {
    let operations = documents().iter().flat_map(Document::operations);
    let writes: BTreeSet<String> = operations
        .filter(|operation| operation.method != "GET")
        .map(|operation| operation.id.clone())
        .collect();
    assert_eq!(answers().await.keys().cloned().collect::<BTreeSet<_>>(), writes);
}
