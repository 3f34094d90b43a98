//! Runs every operation that changes data once, on its own demo market.

use std::collections::BTreeSet;

use marketplace::{domain::principals::PrincipalKind, operations};
use serde_json::{Map, Value, json};

use super::cases::{Case, VENDOR, cases};
use crate::harness::{
    TestMarket, grant_input,
    records::{self, demo_records},
    uploads::import_zip,
};

/// A demo market and the responses so far, by operation ID.
struct Calls<'a> {
    market: &'a TestMarket,
    responses: Map<String, Value>,
}

impl Calls<'_> {
    /// Calls an operation and returns its response. Without a `body`, sends the example of the document.
    async fn call(
        &mut self,
        operation: &str,
        method: &str,
        path: &str,
        body: Option<Value>,
        status: u16,
    ) -> Value {
        let body = body.unwrap_or_else(|| Case::for_operation(operation).body());
        let found = Case::for_operation(operation).documented();
        assert_eq!(found.method, method, "{operation}");
        let response =
            self.market.call(VENDOR, method, &format!("/v2/{path}"), &body).await.expect_status(status);
        self.responses.insert(operation.to_owned(), response.clone());
        response
    }
}

fn id(response: &Value) -> &str {
    response["id"].as_str().unwrap()
}

/// Returns a response of every operation that changes data, by operation ID. Each is checked against the
/// documents.
pub async fn call_write_operations() -> Map<String, Value> {
    call_write_operations_on(&TestMarket::demo()).await
}

/// Like [`call_write_operations`], on a market with the demo set.
pub async fn call_write_operations_on(market: &TestMarket) -> Map<String, Value> {
    let mut calls = Calls { market, responses: Map::new() };
    let team = demo_records().team_of(VENDOR);
    let draft = demo_records()
        .collection("listings")
        .iter()
        .find(|listing| listing["team"] == team && records::stage(listing) == "draft")
        .unwrap();
    let draft = format!("listings/{}/assets", records::id("listings", draft));
    let attached = calls.call("attach_listing_assets", "POST", &draft, None, 201).await;
    let asset = format!("{draft}/{}", id(&attached["assets"][0]));
    calls.call("detach_listing_asset", "DELETE", &asset, None, 204).await;
    let group = calls.call("create_asset_group", "POST", "asset-groups", None, 201).await;
    let group_path = format!("asset-groups/{}", id(&group));
    calls.call("update_asset_group", "PATCH", &group_path, None, 200).await;
    let code = calls.call("create_codebase", "POST", "codebases", None, 201).await;
    let code_path = format!("codebases/{}", id(&code));
    calls.call("update_codebase", "PATCH", &code_path, None, 200).await;
    calls.call("place_asset", "PUT", &format!("{group_path}/assets/{}", id(&code)), None, 200).await;
    calls.call("detach_codebase_data", "DELETE", &format!("{code_path}/data"), None, 204).await;
    calls.call("attach_codebase_data", "POST", &format!("{code_path}/data"), None, 201).await;
    let batch = calls.call("create_codebases", "POST", "codebases/batch", None, 201).await;
    let first = format!("codebases/{}", id(&batch["items"][0]));
    calls.call("delete_codebase", "DELETE", &first, None, 204).await;
    let raw = calls.call("create_raw_data", "POST", "raw-data", None, 201).await;
    let raw_path = format!("raw-data/{}", id(&raw));
    calls.call("update_raw_data", "PATCH", &raw_path, None, 200).await;
    let url = import_zip(calls.market.market(), demo_team_name(team), b"PK\x05\x06");
    let link = Some(json!({"channel": "zip", "url": url}));
    calls.call("attach_raw_data", "POST", &format!("{raw_path}/data"), link, 201).await;
    calls.call("start_raw_data_qc", "POST", &format!("{raw_path}/qc/runs"), None, 202).await;
    calls.call("start_codebase_qc", "POST", &format!("{code_path}/qc/runs"), None, 202).await;
    call_upload_operations(&mut calls, demo_team_name(team)).await;
    calls.call("detach_raw_data", "DELETE", &format!("{raw_path}/data"), None, 204).await;
    calls.call("delete_raw_data", "DELETE", &raw_path, None, 204).await;
    let taskset =
        demo_records().collection("tasksets").iter().find(|taskset| taskset["team"] == team).unwrap();
    let body = Some(json!({"task_type": "coding", "taskset_id": records::id("tasksets", taskset)}));
    let done = calls.call("import_tasks", "POST", "tasks/import", body, 200).await;
    calls.call("update_task", "PATCH", &format!("tasks/{}", id(&done["imported"][0])), None, 200).await;
    calls.call("refresh_task_qc", "POST", "tasks/refresh-qc", None, 202).await;
    let other = calls
        .market
        .call(VENDOR, "POST", "/v2/asset-groups", &json!({"name": "Empty"}))
        .await
        .expect_status(201);
    calls.call("delete_asset_group", "DELETE", &format!("asset-groups/{}", id(&other)), None, 204).await;
    calls.responses
}

/// Runs the three operations of an upload under a grant.
async fn call_upload_operations(calls: &mut Calls<'_>, team: &str) {
    let grant = grant_input(team, "Billing");
    let (_, token) = calls.market.write(|writer| operations::grants::create(writer, &grant)).unwrap();
    let path = format!("vendor/uploads/grants/{token}");
    let bytes = b"PK\x05\x06".iter().copied().chain([0; 18]).collect::<Vec<u8>>();
    let file = json!({"file_name": "a.zip", "size_bytes": bytes.len(), "content_type": "application/zip"});
    let plan = calls.call("plan_upload", "POST", &path, Some(file), 200).await;
    assert_eq!(calls.market.send_part(&plan, bytes).await.status, 200);
    let parts = json!({"upload_id": plan["upload_id"], "part_numbers": [1]});
    let parts_response =
        calls.call("get_upload_parts", "POST", &format!("{path}/parts"), Some(parts), 200).await;
    let part = json!({"part_number": 1, "etag": parts_response["received"][0]["etag"]});
    let completion = json!({"upload_id": plan["upload_id"], "parts": [part]});
    calls.call("complete_upload", "POST", &format!("{path}/complete"), Some(completion), 200).await;
}

fn demo_team_name(team: &str) -> &'static str {
    demo_records().find("teams", team)["name"].as_str().unwrap()
}

#[tokio::test]
async fn every_write_operation_succeeds_once() {
    let of_teams = cases().filter(|row| row.access.key_kind() == PrincipalKind::Team);
    let writes: BTreeSet<String> =
        of_teams.filter(|row| row.documented().method != "GET").map(|row| row.operation.to_owned()).collect();
    assert_eq!(call_write_operations().await.keys().cloned().collect::<BTreeSet<_>>(), writes);
}
