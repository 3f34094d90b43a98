//! Runs every operation of the operator API that changes data once, on one demo market, and checks what its route
//! declares: the events that it may append, and its entry in the audit.

use std::collections::BTreeSet;

use marketplace::{
    domain::events::{EventRowId, EventType},
    operations::{
        access::Platform,
        grant_uploads::FileInput,
        operator_uploads::{self, UploadPurpose},
    },
    store,
    string_enum::StringEnum,
};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::cases::{Case, OPERATOR, RequiredAccess, cases};
use crate::harness::TestMarket;

/// Operations that end what others need, so they come last.
const LAST: [&str; 3] = ["delete_task", "close_team", "revoke_operator_key"];

/// Operations on records that others end, so they come first.
const FIRST: [&str; 1] = ["create_project_bid"];

/// Returns the operations that change something, in the order of the document, but those that end something last.
fn rows() -> Vec<&'static Case> {
    let is_change = |row: &&Case| row.access == RequiredAccess::ActingOperator && !row.is_of_sandbox();
    let mut rows: Vec<&Case> = cases().filter(is_change).collect();
    let is_among = |operations: &[&str], row: &Case| operations.contains(&row.operation);
    rows.sort_by_key(|row| (!is_among(&FIRST, row), LAST.iter().position(|last| *last == row.operation)));
    rows
}

/// The last event and the number of audit entries.
fn seen(market: &TestMarket) -> (EventRowId, Vec<(EventRowId, EventType)>) {
    let events =
        market.read(|reader| store::events::list_after(reader.rows, EventRowId(0), usize::MAX >> 1)).unwrap();
    let last = events.last().map_or(EventRowId(0), |event| event.row_id);
    (last, events.into_iter().map(|event| (event.row_id, event.event_type)).collect())
}

/// Returns the audit entries, newest first.
async fn audit(market: &TestMarket) -> Vec<Value> {
    let page = market.get(OPERATOR, "/operator/v1/audit?limit=100").await.ok();
    page["items"].as_array().unwrap().clone()
}

/// Returns requests of an operation: on the records of the demo, or on what earlier operations have created.
async fn requests(market: &TestMarket, row: &Case, earlier: &Map<String, Value>) -> Vec<(String, Value)> {
    match row.operation {
        "create_trace_import" => {
            let upload = &earlier["create_trace_upload"];
            let blank_lines = "\n".repeat(upload["size_bytes"].as_u64().unwrap() as usize);
            assert_eq!(market.send_part(&upload["parts"][0], blank_lines).await.status, 200);
            let path = format!("/operator/v1/tasksets/{}/traces", upload["taskset_id"].as_str().unwrap());
            vec![(path, json!({"upload_id": upload["id"]}))]
        }
        "complete_team_upload" => {
            let upload = &earlier["plan_team_upload"];
            let zeros = "\0".repeat(upload["size_bytes"].as_u64().unwrap() as usize);
            assert_eq!(market.send_part(&upload["parts"][0], zeros).await.status, 200);
            vec![(format!("/operator/v1/uploads/{}/complete", upload["id"].as_str().unwrap()), Value::Null)]
        }
        "cancel_team_upload" => {
            let team = earlier["plan_team_upload"]["team_id"].as_str().unwrap().parse().unwrap();
            vec![(format!("/operator/v1/uploads/{}", plan_upload(market, team)), Value::Null)]
        }
        "update_task_build" => {
            let id = earlier["create_task_build"]["id"].as_str().unwrap();
            vec![(format!("/operator/v1/task-builds/{id}"), row.body())]
        }
        "revoke_grant" => {
            let id = earlier["create_grant"]["grant"]["id"].as_str().unwrap();
            vec![(format!("/operator/v1/grants/{id}/revoke"), row.body())]
        }
        "retry_job" | "cancel_job" => {
            let page = market.get(OPERATOR, "/operator/v1/jobs?state=waiting").await.ok();
            let verb = row.operation.strip_suffix("_job").unwrap();
            let jobs = page["items"].as_array().unwrap().iter();
            jobs.map(|job| (format!("/operator/v1/jobs/{}/{verb}", job["id"].as_str().unwrap()), Value::Null))
                .collect()
        }
        _ => row.requests_for_all_records().into_iter().map(|(_, path)| (path, row.body())).collect(),
    }
}

/// Plans an upload without an entry in the audit. Returns its ID.
fn plan_upload(market: &TestMarket, team: Uuid) -> Uuid {
    let (market, platform, purpose) = (market.market(), Platform::of_process(), UploadPurpose::Zip(team));
    let file = FileInput { file_name: "a.zip".to_owned(), size_bytes: 22, sha256: None };
    let upload = operator_uploads::prepare(market, platform, purpose, &file).unwrap();
    let plan =
        market.write_blocking(|writer| operator_uploads::plan(writer, platform, purpose, &file, &upload));
    plan.unwrap();
    upload.id
}

/// Calls an operation on the first record for which it succeeds.
async fn call(market: &TestMarket, row: &Case, earlier: &Map<String, Value>) -> Option<Value> {
    let method = &row.documented().method;
    for (path, body) in requests(market, row, earlier).await {
        let is_patch = method == "PATCH";
        let before = if is_patch { market.get(OPERATOR, &path).await.bytes } else { Vec::new() };
        let response = market.call(OPERATOR, method, &path, &body).await;
        if is_patch && response.bytes == before {
            // The record has these values already.
            continue;
        }
        if response.status < 300 {
            return Some(response.expect_status(response.status));
        }
        let text = String::from_utf8_lossy(&response.bytes).into_owned();
        assert_eq!(response.status, 409, "{method} {path}: {text}");
    }
    None
}

/// Returns the response of every operation that changes something, by operation ID, `Null` if it has no body.
pub async fn call_operator_operations() -> Map<String, Value> {
    call_operator_operations_on(&TestMarket::demo()).await
}

/// Like [`call_operator_operations`], on a market with the demo set.
pub async fn call_operator_operations_on(market: &TestMarket) -> Map<String, Value> {
    let (mut responses, mut refused) = (Map::new(), Vec::new());
    for row in rows() {
        let (last_event, entries) = (seen(market).0, audit(market).await.len());
        let Some(response) = call(market, row, &responses).await else {
            refused.push(row.operation);
            continue;
        };
        let effect = row.route.effect.unwrap_or_else(|| panic!("{} declares no effect", row.operation));
        let events = seen(market).1.into_iter().filter(|(row_id, _)| *row_id > last_event);
        let appended: BTreeSet<&str> = events.map(|(_, kind)| kind.as_str()).collect();
        let declared: BTreeSet<&str> = effect.events.iter().map(|kind| kind.as_str()).collect();
        assert!(appended.is_subset(&declared), "{} appended {appended:?}", row.operation);
        if entries < 100 && row.operation != "revoke_operator_key" {
            let audit = audit(market).await;
            assert_eq!(audit.len(), entries + 1, "{} has no entry in the audit", row.operation);
            assert_eq!(audit[0]["operation"], row.operation);
            let demo_key = &audit.last().unwrap()["operator_key_id"];
            assert_eq!(audit[0]["operator_key_id"], *demo_key, "{}", row.operation);
        }
        // The demo has no records of these kinds before.
        let read = match row.operation {
            "create_trace_upload" => Some(("get_trace_upload", "trace-uploads")),
            "plan_team_upload" => Some(("get_team_upload", "uploads")),
            "create_trace_import" => Some(("get_trace_import", "trace-imports")),
            "retry_job" => Some(("get_job", "jobs")),
            _ => None,
        };
        if let Some((operation, collection)) = read {
            let id = response["id"].as_str().unwrap();
            let path = format!("/operator/v1/{collection}/{id}");
            let found = market.call(OPERATOR, "GET", &path, &Value::Null).await.ok();
            responses.insert(operation.to_owned(), found);
        }
        responses.insert(row.operation.to_owned(), response);
    }
    assert!(refused.is_empty(), "no record of the demo allows {refused:?}");
    responses
}

#[tokio::test]
async fn every_operation_of_operators_succeeds_on_the_demo() {
    call_operator_operations().await;
}
