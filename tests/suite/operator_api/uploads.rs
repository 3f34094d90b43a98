//! Zips that operators upload for teams, in parts.

use marketplace::{
    operations::{access::Platform, team_uploads},
    store,
};
use serde_json::{Value, json};

use super::calls::{Calls, id};
use crate::harness::BASE;

/// Size of a zip in eight parts, of which the last one has a byte.
const EIGHT_PARTS: u64 = 7 * (16 << 20) + 1;

/// An archive without files.
const EMPTY_ZIP: &[u8; 22] = b"PK\x05\x06\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";

/// The SHA-256 digest of [`EMPTY_ZIP`].
const EMPTY_ZIP_SHA256: &str = "8739c76e681f900923b900c9df0ef75cf421d39cabb54650c4b9ad19b6a76d85";

/// Returns the path to plan uploads for the vendor of the demo.
fn uploads() -> String {
    format!("teams/{}/uploads", vendor())
}

fn vendor() -> String {
    id("teams", crate::harness::records::demo_records().team_of("mkt_demo_vendor"))
}

fn plan(size_bytes: u64) -> Value {
    json!({"file_name": "scans.zip", "size_bytes": size_bytes})
}

fn path(upload: &Value) -> String {
    format!("uploads/{}", upload["id"].as_str().unwrap())
}

/// Sends bytes to the URL of a part. Returns the status.
async fn send(calls: &Calls, part: &Value, bytes: &[u8]) -> u16 {
    calls.market.send_part(part, bytes.to_vec()).await.status
}

/// Asserts that the counted bytes of each team are those of its uploads.
fn assert_counted(calls: &Calls) {
    let miscounted = calls.market.read(|reader| store::usage::list_miscounted(reader.rows));
    assert!(miscounted.unwrap().is_empty());
}

#[tokio::test]
async fn zip_is_uploaded_and_attached() {
    let calls = Calls::new();
    let mut body = plan(22);
    body["sha256"] = json!(EMPTY_ZIP_SHA256);
    let upload = calls.create(&uploads(), body).await;
    calls.assert_audited("plan_team_upload", "upload", &upload["id"]).await;
    assert_eq!((&upload["part_count"], &upload["part_size_bytes"]), (&json!(1), &json!(22)));
    let complete = format!("{}/complete", path(&upload));
    assert_eq!(calls.post(&complete, Value::Null).await.expect_error(409), "parts_missing");
    let listed = calls.get(&format!("uploads?team_id={}", vendor())).await;
    assert_eq!((&listed["total"], &listed["items"][0]["id"]), (&json!(1), &upload["id"]));
    assert_eq!(calls.get(&format!("uploads?team_id={}", id("teams", "fathom-archives"))).await["total"], 0);

    assert_eq!(send(&calls, &upload["parts"][0], EMPTY_ZIP).await, 200);
    let found = calls.get(&path(&upload)).await;
    assert_eq!((&found["parts"], &found["received"][0]["size_bytes"]), (&json!([]), &json!(22)));
    let completed = calls.post(&complete, Value::Null).await.ok();
    calls.assert_audited("complete_team_upload", "upload", &upload["id"]).await;
    assert_eq!(calls.last_event(), "upload.completed");
    let url = format!("{BASE}/v2/blobs/uploads/{}.zip", upload["id"].as_str().unwrap());
    assert_eq!((&completed["url"], &completed["sha256"]), (&json!(url), &json!(EMPTY_ZIP_SHA256)));
    // A client that did not see the response repeats the request.
    assert_eq!(calls.post(&complete, Value::Null).await.ok(), completed);
    assert_eq!(calls.call("GET", &path(&upload), Value::Null).await.expect_error(404), "not_found");
    assert_eq!(calls.call("DELETE", &path(&upload), Value::Null).await.expect_error(404), "not_found");
    assert_eq!(calls.get("uploads").await["total"], 0);
    assert_eq!(send(&calls, &upload["parts"][0], EMPTY_ZIP).await, 404, "the upload is complete");

    let data = json!({"title": "Uploaded scans", "data": {"channel": "zip", "url": url}});
    let attached = calls.market.call("mkt_demo_vendor", "POST", "/v2/raw-data", &data).await;
    assert_eq!(attached.expect_status(201)["data"]["archive_bytes"], 22);
    assert_counted(&calls);
    calls.market.run_background();
}

#[tokio::test]
async fn parts_that_have_arrived_are_listed_until_the_upload_is_canceled() {
    let calls = Calls::new();
    let upload = calls.create(&uploads(), plan(EIGHT_PARTS)).await;
    assert_eq!((&upload["part_count"], &upload["received"]), (&json!(8), &json!([])));
    assert_eq!(send(&calls, &upload["parts"][7], b"xy").await, 400, "the part has a byte");
    assert_eq!(send(&calls, &upload["parts"][7], b"x").await, 200);
    let found = calls.get(&path(&upload)).await;
    let numbers = |field: &str| -> Vec<u64> {
        let parts = found[field].as_array().unwrap().iter();
        parts.map(|part| part["part_number"].as_u64().unwrap()).collect()
    };
    assert_eq!((numbers("received"), numbers("parts")), (vec![8], (1..=7).collect()));
    let complete = format!("{}/complete", path(&upload));
    let refused = calls.post(&complete, Value::Null).await;
    assert_eq!(refused.expect_error(409), "parts_missing");

    let staged = calls.market.market().data_dir().join("blobs/staged").join(upload["id"].as_str().unwrap());
    assert!(staged.is_dir());
    assert_eq!(calls.call("DELETE", &path(&upload), Value::Null).await.status, 204);
    calls.assert_audited("cancel_team_upload", "upload", &upload["id"]).await;
    for refused in [
        calls.call("GET", &path(&upload), Value::Null).await,
        calls.post(&complete, Value::Null).await,
        calls.call("DELETE", &path(&upload), Value::Null).await,
    ] {
        assert_eq!(refused.expect_error(404), "not_found");
    }
    assert_eq!(send(&calls, &upload["parts"][0], b"x").await, 404);
    calls.market.run_background();
    assert!(!staged.exists(), "what has arrived is deleted");
    assert_counted(&calls);
}

/// The server was killed after it had joined the parts.
#[tokio::test]
async fn joined_upload_has_all_parts_and_accepts_no_other() {
    let calls = Calls::new();
    let upload = calls.create(&uploads(), plan(22)).await;
    assert_eq!(send(&calls, &upload["parts"][0], EMPTY_ZIP).await, 200);
    let id = upload["id"].as_str().unwrap().parse().unwrap();
    drop(team_uploads::join(calls.market.market(), Platform::of_process(), id).unwrap().unwrap());
    let found = calls.get(&path(&upload)).await;
    assert_eq!(found["parts"], json!([]));
    assert_eq!(found["received"], json!([{"part_number": 1, "etag": "", "size_bytes": 22}]));
    assert_eq!(send(&calls, &upload["parts"][0], &[0; 22]).await, 409);
    let completed = calls.post(&format!("{}/complete", path(&upload)), Value::Null).await.ok();
    assert_eq!(completed["sha256"], EMPTY_ZIP_SHA256);
    assert_counted(&calls);
}

/// Others write meanwhile, so what is deleted at once does not depend on how many uploads were canceled.
#[tokio::test]
async fn canceled_uploads_are_forgotten_in_one_transaction() {
    let calls = Calls::new();
    // Deletes what setting up left.
    marketplace::operations::cleanup::sweep(calls.market.market()).unwrap();
    let mut commits = Vec::new();
    for count in [1, 40] {
        for _ in 0..count {
            let upload = calls.create(&uploads(), plan(22)).await;
            assert_eq!(send(&calls, &upload["parts"][0], EMPTY_ZIP).await, 200);
            assert_eq!(calls.call("DELETE", &path(&upload), Value::Null).await.status, 204);
        }
        let before = calls.market.market().commit_count();
        let deleted = marketplace::operations::cleanup::sweep(calls.market.market()).unwrap();
        assert_eq!((deleted.uploads, deleted.in_use), (count, 0));
        commits.push(calls.market.market().commit_count() - before);
    }
    assert_eq!(commits[0], commits[1]);
}

#[tokio::test]
async fn uploads_have_the_limits_of_vendors() {
    let calls = Calls::with_settings(|settings| {
        settings.blobs.max_upload_bytes = 900_000_000;
        settings.quotas.upload_gb = 1;
    });
    let uploads = uploads();
    assert_eq!(calls.post(&uploads, plan(21)).await.problems(), ["body.size_bytes greater_than_equal"]);
    let too_large = calls.post(&uploads, plan(900_000_001)).await;
    assert_eq!(too_large.problems(), ["body.size_bytes less_than_equal"]);
    let large = calls.create(&uploads, plan(900_000_000)).await;
    let refused = calls.post(&uploads, plan(200_000_000)).await;
    assert_eq!(refused.expect_error(409), "quota_exceeded");
    assert_eq!(refused.json()["error"]["details"]["quota"], "upload_bytes");
    assert_eq!(calls.call("DELETE", &path(&large), Value::Null).await.status, 204);
    let mut last = Value::Null;
    for _ in 0..10 {
        last = calls.create(&uploads, plan(22)).await;
    }
    let refused = calls.post(&uploads, plan(22)).await;
    assert_eq!(refused.expect_error(409), "quota_exceeded");
    assert_eq!(refused.json()["error"]["details"]["quota"], "operator_uploads");
    let absent = calls.post(&format!("teams/{}/uploads", uuid::Uuid::nil()), plan(22)).await;
    assert_eq!(absent.expect_error(404), "not_found");
    // After a day, uploads have expired, and others can be planned.
    calls.market.clock().advance(24 * 3_600 * 1_000_000);
    assert_eq!(calls.call("GET", &path(&last), Value::Null).await.expect_error(404), "not_found");
    assert_eq!(calls.get("uploads").await["total"], 0);
    calls.create(&uploads, plan(22)).await;
    calls.market.run_background();
    assert_counted(&calls);
}

#[tokio::test]
async fn zip_with_another_digest_is_discarded() {
    let calls = Calls::new();
    let mut body = plan(22);
    body["sha256"] = json!("0".repeat(64));
    let upload = calls.create(&uploads(), body).await;
    assert_eq!(send(&calls, &upload["parts"][0], EMPTY_ZIP).await, 200);
    let refused = calls.post(&format!("{}/complete", path(&upload)), Value::Null).await;
    assert_eq!(refused.expect_error(409), "conflict");
    let message = refused.json()["error"]["message"].as_str().unwrap().to_owned();
    assert!(message.contains(EMPTY_ZIP_SHA256), "{message}");
    assert_eq!(calls.call("GET", &path(&upload), Value::Null).await.expect_error(404), "not_found");
    assert_counted(&calls);
}

/// Uploads of traces are not zips of teams.
#[tokio::test]
async fn uploads_of_traces_are_separate() {
    let calls = Calls::new();
    let taskset = id("tasksets", "boreal-triage-notes");
    let traces = calls.create(&format!("tasksets/{taskset}/trace-uploads"), plan(22)).await;
    let zip = calls.create(&uploads(), plan(22)).await;
    assert_eq!(calls.get("uploads").await["total"], 1);
    for (method, path) in [
        ("GET", path(&traces)),
        ("DELETE", path(&traces)),
        ("POST", format!("{}/complete", path(&traces))),
        ("GET", format!("trace-{}", path(&zip))),
    ] {
        assert_eq!(calls.call(method, &path, Value::Null).await.expect_error(404), "not_found", "{path}");
    }
    let import = calls.post(&format!("tasksets/{taskset}/traces"), json!({"upload_id": zip["id"]})).await;
    assert_eq!(import.problems(), ["body.upload_id unknown_reference"]);
}
