//! Tasksets, their tasks, and imports of traces, by operators.

use serde_json::{Value, json};
use uuid::Uuid;

use super::calls::{Calls, each, id};

async fn create_taskset(calls: &Calls) -> String {
    let columns = json!([{"name": "area", "label": "Area", "kind": "text"}]);
    let body = json!({"team_id": id("teams", "lumen-codeworks"), "name": "Sorting", "columns": columns});
    calls.create("tasksets", body).await["id"].as_str().unwrap().to_owned()
}

/// Creates a task with a live version and a build. Returns the IDs of the task, the version, and the build.
async fn create_task(calls: &Calls, taskset: &str) -> [String; 3] {
    let text = |value: &Value| value["id"].as_str().unwrap().to_owned();
    let body = json!({"name": "Sort", "external_id": "T-1", "column_values": {"area": "lists"}});
    let task = text(&calls.create(&format!("tasksets/{taskset}/tasks"), body).await);
    let version = json!({"current_state": "live", "brief": {"prompt": "Sort it."}});
    let version = text(&calls.create(&format!("tasks/{task}/versions"), version).await);
    let build = calls.create(&format!("task-versions/{version}/builds"), json!({"status": "queued"})).await;
    [task, version, text(&build)]
}

#[tokio::test]
async fn a_taskset_gets_tasks_versions_and_builds() {
    let calls = Calls::new();
    let taskset = create_taskset(&calls).await;
    let [task, version, build] = create_task(&calls, &taskset).await;
    let found = calls.get(&format!("tasksets/{taskset}")).await;
    assert_eq!((&found["task_count"], &found["columns"][0]["kind"]), (&json!(1), &json!("text")));
    assert_eq!(
        each(&calls.get(&format!("tasksets?team_id={}", id("teams", "lumen-codeworks"))).await, "id").len(),
        3
    );
    assert_eq!(calls.get("tasksets?name=Sorting").await["total"], 1);

    let found = calls.get(&format!("tasks/{task}")).await;
    assert_eq!(
        (&found["latest_version"], &found["team_id"]),
        (&json!(1), &json!(id("teams", "lumen-codeworks")))
    );
    let again = json!({"name": "Sort", "external_id": "T-1"});
    assert_eq!(calls.post(&format!("tasksets/{taskset}/tasks"), again).await.expect_error(409), "conflict");
    let wrong = calls
        .post(&format!("tasksets/{taskset}/tasks"), json!({"name": "A", "column_values": {"size": 1}}))
        .await;
    assert_eq!(wrong.problems(), ["body.column_values value_error"]);
    let unknown = calls.post(&format!("tasksets/{}/tasks", Uuid::nil()), json!({"name": "A"})).await;
    assert_eq!(unknown.expect_error(404), "not_found");
    let absent = calls.call("GET", &format!("tasksets/{}/tasks", Uuid::nil()), Value::Null).await;
    assert_eq!(absent.expect_error(404), "not_found");

    let next = json!({"current_state": "live", "lifecycle_stage": "accepted"});
    assert_eq!(calls.create(&format!("tasks/{task}/versions"), next).await["version"], 2);
    let versions = calls.get(&format!("tasks/{task}/versions")).await;
    assert_eq!(each(&versions, "current_state"), [&json!("live"), &json!("superseded")]);
    assert_eq!(calls.get(&format!("task-versions/{version}")).await["latest_build"], 1);
    assert_eq!(each(&calls.get(&format!("task-versions/{version}/builds")).await, "id"), [&json!(build)]);
    let path = format!("task-builds/{build}");
    assert_eq!(calls.call("PATCH", &path, json!({"status": "succeeded"})).await.ok()["status"], "succeeded");
    let refused = calls.call("PATCH", &path, json!({"status": "running"})).await;
    assert_eq!(refused.expect_error(409), "invalid_transition");

    calls.call("DELETE", &format!("tasks/{task}"), Value::Null).await.expect_status(204);
    calls.assert_audited("delete_task", "task", &json!(task)).await;
    assert_eq!(calls.last_event(), "task.deleted");
    assert!(calls.get(&format!("tasks/{task}")).await["deleted_at"].is_string());
    assert_eq!(calls.get(&format!("tasksets/{taskset}/tasks?deleted=false")).await["total"], 0);
    let deleted = calls.get(&format!("tasksets/{taskset}/tasks?deleted=true&external_id=T-1")).await;
    assert_eq!(each(&deleted, "id"), [&json!(task)]);
    let again = calls.call("DELETE", &format!("tasks/{task}"), Value::Null).await;
    assert_eq!(again.expect_error(404), "not_found");
}

/// Sends a part to its URL. Returns the status.
async fn send_part(calls: &Calls, part: &Value, bytes: &str) -> u16 {
    calls.market.send_part(part, bytes.to_owned()).await.status
}

#[tokio::test]
async fn traces_are_uploaded_and_imported_once() {
    let calls = Calls::new();
    let taskset = create_taskset(&calls).await;
    create_task(&calls, &taskset).await;
    let line = json!({
        "trace_id": Uuid::from_u128(7), "external_id": "T-1", "version": 1, "build_version": 1, "model": "atlas",
        "reward": 1, "graded_at": "2026-02-01T00:00:00Z",
    });
    let file = format!("{line}\nnot JSON\n");
    let plan = json!({"file_name": "traces.jsonl", "size_bytes": file.len()});
    let uploads = format!("tasksets/{taskset}/trace-uploads");
    let traces = format!("tasksets/{taskset}/traces");
    for (inserted, existing) in [(1, 0), (0, 1)] {
        let upload = calls.create(&uploads, plan.clone()).await;
        assert_eq!((&upload["part_count"], &upload["taskset_id"]), (&json!(1), &json!(taskset)));
        let body = json!({"upload_id": upload["id"]});
        assert_eq!(calls.post(&traces, body.clone()).await.expect_error(409), "parts_missing");
        assert_eq!(send_part(&calls, &upload["parts"][0], &file).await, 200);
        let found = calls.get(&format!("trace-uploads/{}", upload["id"].as_str().unwrap())).await;
        assert_eq!(found["parts"], json!([]), "all parts were received");
        let import = calls.create(&traces, body.clone()).await;
        calls.assert_audited("create_trace_import", "trace_import", &import["id"]).await;
        assert_eq!((&import["status"], &import["size_bytes"]), (&json!("queued"), &json!(file.len())));
        assert_eq!(calls.post(&traces, body).await.problems(), ["body.upload_id unknown_reference"]);
        assert_eq!(send_part(&calls, &upload["parts"][0], &file).await, 404, "the upload is complete");
        calls.market.run_background();
        let import = calls.get(&format!("trace-imports/{}", import["id"].as_str().unwrap())).await;
        assert_eq!(import["status"], "completed");
        assert_eq!((&import["inserted"], &import["existing"]), (&json!(inserted), &json!(existing)));
        assert_eq!((&import["rejected"], &import["problems"][0]["line"]), (&json!(1), &json!(2)));
    }
    assert_eq!(calls.get(&format!("{traces}?status=completed")).await["total"], 2);
    assert_eq!(calls.get(&format!("{traces}?status=failed")).await["total"], 0);
}

#[tokio::test]
async fn uploads_of_traces_are_checked_and_limited() {
    let calls = Calls::new();
    let taskset = create_taskset(&calls).await;
    let uploads = format!("tasksets/{taskset}/trace-uploads");
    let plan = |sha256: Value| json!({"file_name": "a.jsonl", "size_bytes": 1, "sha256": sha256});
    let upload = calls.create(&uploads, plan(json!("0".repeat(64)))).await;
    assert_eq!(send_part(&calls, &upload["parts"][0], "\n").await, 200);
    let body = json!({"upload_id": upload["id"]});
    let other = format!("tasksets/{}/traces", id("tasksets", "boreal-triage-notes"));
    assert_eq!(calls.post(&other, body.clone()).await.problems(), ["body.upload_id unknown_reference"]);
    let traces = format!("tasksets/{taskset}/traces");
    assert_eq!(calls.post(&traces, body.clone()).await.expect_error(409), "conflict", "another digest");
    assert_eq!(calls.post(&traces, body).await.problems(), ["body.upload_id unknown_reference"]);

    let too_large = json!({"file_name": "a.jsonl", "size_bytes": 1_000_000_000_000_i64});
    assert_eq!(calls.post(&uploads, too_large).await.problems(), ["body.size_bytes less_than_equal"]);
    let absent = calls.post(&format!("tasksets/{}/trace-uploads", Uuid::nil()), plan(Value::Null)).await;
    assert_eq!(absent.expect_error(404), "not_found");
    let mut last = Value::Null;
    for _ in 0..10 {
        last = calls.create(&uploads, plan(Value::Null)).await;
    }
    assert_eq!(calls.post(&uploads, plan(Value::Null)).await.expect_error(409), "quota_exceeded");
    // After a day, uploads have expired, and others can be planned.
    calls.market.clock().advance(24 * 3_600 * 1_000_000);
    let path = format!("trace-uploads/{}", last["id"].as_str().unwrap());
    assert_eq!(calls.call("GET", &path, Value::Null).await.expect_error(404), "not_found");
    calls.create(&uploads, plan(Value::Null)).await;
    calls.market.run_background();
}
