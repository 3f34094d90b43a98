//! Maintenance: changes by teams are refused, and everything else continues.

use marketplace::{
    domain::principals::{KeyScope, PrincipalKind},
    operations::{grants, webhook_sender::WebhookSender},
    worlds::NewWorld,
};
use serde_json::{Value, json};
use tokio::runtime::Handle;

use super::{
    cases::{BUYER, Case, OPERATOR, READING_OPERATOR, VENDOR, cases},
    operator_operations::call_operator_operations_on,
    write_operations::call_write_operations_on,
};
use crate::{
    harness::{
        TestMarket, TestResponse, backups, grant_input,
        receiver::{Receiver, Reply},
        records::{self, demo_records},
    },
    mcp,
};

const PATH: &str = "/operator/v1/maintenance";

/// The message to teams.
const TEXT: &str = "We move to another server.\nBack at 09:00 UTC.";

/// Number of requests to each operation that reads.
const READS: usize = 3;

async fn switch_on(market: &TestMarket) {
    let maintenance = market.call(OPERATOR, "PUT", PATH, &json!({"text": TEXT})).await.ok();
    assert_eq!((&maintenance["enabled"], &maintenance["text"]), (&json!(true), &json!(TEXT)));
}

async fn switch_off(market: &TestMarket) {
    market.call(OPERATOR, "DELETE", PATH, &Value::Null).await.expect_status(204);
    let off = json!({"enabled": false, "text": null, "started_at": null});
    assert_eq!(market.get(OPERATOR, PATH).await.ok(), off);
}

#[track_caller]
fn assert_refused(response: &TestResponse) {
    let error = &response.expect_status(503)["error"];
    assert_eq!(error["code"], "at_capacity");
    assert_eq!(error["message"], TEXT);
    assert_eq!(error["details"], json!({"reason": "maintenance"}));
    assert_eq!(response.header("retry-after"), "60");
}

/// Creates a group of a vendor, which only names it.
async fn create_group(market: &TestMarket, name: &str) -> TestResponse {
    market.call(VENDOR, "POST", "/v2/asset-groups", &json!({"name": name})).await
}

/// Returns the last event and the entries of the audit.
async fn changes(market: &TestMarket) -> (Value, Value) {
    let last_event = market.get(OPERATOR, "/operator/v1/market").await.ok()["last_event_id"].clone();
    (last_event, market.get(OPERATOR, "/operator/v1/audit?limit=100").await.ok()["items"].clone())
}

#[tokio::test]
async fn every_change_of_teams_is_refused_and_every_read_works() {
    let market = TestMarket::demo();
    switch_on(&market).await;
    let before = changes(&market).await;
    let (mut refused, mut served) = (0, Vec::new());
    for row in cases().filter(|row| row.access.key_kind() == PrincipalKind::Team) {
        let method = &row.documented().method;
        if method == "GET" {
            for (key, path) in row.ok_requests().into_iter().take(READS) {
                let response = market.get(key, &path).await;
                assert_eq!(response.status, 200, "{path}: {}", String::from_utf8_lossy(&response.bytes));
            }
            continue;
        }
        let (key, path) = row.first_request();
        // Neither the body nor the record in the path matters.
        for body in [row.body(), json!({"zzz": 1})] {
            let response = market.call(key, method, &path, &body).await;
            if row.route.is_change() {
                assert_refused(&response);
                row.assert_matches_documents(&response);
                refused += 1;
            } else {
                assert_ne!(response.status, 503, "{path}");
                served.push(row.operation);
            }
        }
        let other_key = market.call("mkt_demo_no_nda", method, &path, &row.body()).await;
        assert_eq!(other_key.status, 403, "access comes first: {path}");
    }
    assert!(refused > 40, "{refused}");
    assert_eq!(served, ["get_upload_parts"; 2], "it changes nothing");
    assert_eq!(changes(&market).await, before);
    switch_off(&market).await;
    call_write_operations_on(&market).await;
}

#[tokio::test]
async fn operators_do_everything_meanwhile() {
    let market = TestMarket::demo();
    switch_on(&market).await;
    let reading = market.call(READING_OPERATOR, "PUT", PATH, &json!({})).await;
    assert_eq!(reading.expect_error(403), "forbidden");
    assert_eq!(market.call(VENDOR, "PUT", PATH, &json!({})).await.expect_error(403), "operator_required");
    call_operator_operations_on(&market).await;
}

#[tokio::test]
async fn agents_read_meanwhile() {
    let market = TestMarket::demo();
    switch_on(&market).await;
    let call = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "browse_listings", "arguments": {}},
    });
    let answer = mcp::post(&market, VENDOR, &call).await.ok();
    assert!(answer["result"]["structuredContent"]["items"].is_array(), "{answer}");
    // There is no tool that changes something, also not under the name of an operation that does.
    let call = json!({
        "jsonrpc": "2.0", "id": 2, "method": "tools/call",
        "params": {"name": "create_asset_group", "arguments": {"name": "Agents"}},
    });
    let answer = mcp::post(&market, VENDOR, &call).await.ok();
    assert!(answer["error"].is_object() || answer["result"]["isError"] == true, "{answer}");
}

#[tokio::test]
async fn due_steps_jobs_and_webhooks_go_on() {
    let market = TestMarket::demo();
    switch_on(&market).await;
    let receiver = Receiver::start(Reply::status(200));
    let team = records::id("teams", demo_records().find("teams", demo_records().team_of(VENDOR)));
    let webhook = json!({"team_id": team, "url": receiver.url, "event_types": ["key.created"]});
    market.call(OPERATOR, "POST", "/operator/v1/webhooks", &webhook).await.expect_status(201);
    let _sender = WebhookSender::start(market.market(), &Handle::current()).unwrap();
    let key = json!({"team_id": team, "name": "CI"});
    market.call(OPERATOR, "POST", "/operator/v1/keys", &key).await.expect_status(201);
    assert_eq!(receiver.wait_for(1).await[0].event_type(), "key.created");
    market.run_background();
    let open = "/operator/v1/offers?status=submitted&limit=100";
    let offers = market.get(OPERATOR, open).await.ok()["items"].as_array().unwrap().clone();
    assert!(!offers.is_empty());
    market.clock().advance(400 * 86_400_000_000);
    market.write(|_| Ok(())).unwrap();
    assert_eq!(market.get(OPERATOR, open).await.ok()["items"], json!([]));
    let offer = format!("/operator/v1/offers/{}", offers[0]["id"].as_str().unwrap());
    assert_eq!(market.get(OPERATOR, &offer).await.ok()["status"], "expired");
}

#[tokio::test]
async fn upload_continues_after_maintenance() {
    let market = TestMarket::demo();
    let team = demo_records().find("teams", demo_records().team_of(VENDOR));
    let grant = grant_input(team["name"].as_str().unwrap(), "Billing");
    let (_, token) = market.write(|writer| grants::create(writer, &grant)).unwrap();
    let path = format!("/v2/vendor/uploads/grants/{token}");
    let bytes = [&b"PK\x05\x06"[..], &[0; 18]].concat();
    let file = json!({"file_name": "a.zip", "size_bytes": bytes.len(), "content_type": "application/zip"});
    let plan = market.call(VENDOR, "POST", &path, &file).await.ok();
    switch_on(&market).await;
    assert_refused(&market.send_part(&plan, bytes.clone()).await);
    let parts = json!({"upload_id": plan["upload_id"], "part_numbers": [1]});
    let found = market.call(VENDOR, "POST", &format!("{path}/parts"), &parts).await.ok();
    assert_eq!(found["received"], json!([]));
    // Uploads of operators for a team continue.
    let upload = format!("/operator/v1/teams/{}/uploads", records::id("teams", team));
    let file = json!({"file_name": "b.zip", "size_bytes": bytes.len()});
    let planned = market.call(OPERATOR, "POST", &upload, &file).await.expect_status(201);
    assert_eq!(market.send_part(&planned["parts"][0], bytes.clone()).await.status, 200);
    switch_off(&market).await;
    let sent = market.send_part(&plan, bytes).await;
    assert_eq!(sent.status, 200);
    let part = json!({"part_number": 1, "etag": sent.header("etag")});
    let completion = json!({"upload_id": plan["upload_id"], "parts": [part]});
    market.call(VENDOR, "POST", &format!("{path}/complete"), &completion).await.ok();
}

#[tokio::test]
async fn maintenance_is_stored_and_audited() {
    let market = TestMarket::demo();
    switch_on(&market).await;
    let started_at = market.get(OPERATOR, PATH).await.ok()["started_at"].clone();
    market.clock().advance(60_000_000);
    let changed = market.call(OPERATOR, "PUT", PATH, &json!({"text": "Later."})).await.ok();
    assert_eq!((&changed["text"], &changed["started_at"]), (&json!("Later."), &started_at));
    for text in [json!(""), json!(" \n"), json!("x".repeat(1_001)), json!("a\u{7}"), json!(null), json!(7)] {
        let refused = market.call(OPERATOR, "PUT", PATH, &json!({"text": text})).await;
        assert_eq!(refused.status, 422, "{text}");
    }
    let directory = backups::temp_dir();
    backups::back_up(market.market(), directory.path()).unwrap();
    let restored = backups::open_restored(directory.path());
    assert_eq!(restored.get(OPERATOR, PATH).await.ok(), changed, "it survives a restart");
    assert_eq!(create_group(&restored, "Later").await.status, 503);
    switch_off(&market).await;
    market.call(OPERATOR, "DELETE", PATH, &Value::Null).await.expect_status(204);
    create_group(&market, "Later").await.expect_status(201);
    let audit = changes(&market).await.1;
    let entries = audit.as_array().unwrap().iter().filter(|entry| entry["subject"]["kind"] == "maintenance");
    let operations: Vec<&str> = entries.map(|entry| entry["operation"].as_str().unwrap()).collect();
    assert_eq!(operations, ["end_maintenance", "end_maintenance", "start_maintenance", "start_maintenance"]);
    let standard = market.call(OPERATOR, "PUT", PATH, &json!({})).await.ok();
    assert_eq!(standard["text"], market.market().settings().maintenance.text);
}

#[tokio::test]
async fn settings_switch_maintenance_on_for_as_long_as_the_server_runs() {
    let market = TestMarket::with_settings(|settings| {
        settings.maintenance.enabled = true;
        settings.maintenance.text = "Closed for today.".to_owned();
    });
    let operator = market.operator_key("Ada", KeyScope::All);
    let maintenance = market.get(&operator, PATH).await.ok();
    let expected = json!({"enabled": true, "text": "Closed for today.", "started_at": null});
    assert_eq!(maintenance, expected);
    assert_eq!(market.call(&operator, "DELETE", PATH, &Value::Null).await.expect_error(409), "conflict");
    let changed = market.call(&operator, "PUT", PATH, &json!({"text": TEXT})).await.ok();
    assert_eq!(changed["text"], TEXT);
}

#[tokio::test]
async fn worlds_have_switches_of_their_own() {
    let market = TestMarket::demo();
    switch_on(&market).await;
    let announcement = json!({"text": "Not for worlds."});
    market.call(OPERATOR, "PUT", "/operator/v1/announcement", &announcement).await.ok();
    let new = NewWorld { name: Some("one".to_owned()), source: "market".to_owned(), ..NewWorld::default() };
    market.worlds().create(&new, None).unwrap();
    let group = json!({"name": "In a world"});
    market.call(VENDOR, "POST", "/w/one/v2/asset-groups", &group).await.expect_status(201);
    let found = market.get(OPERATOR, "/w/one/operator/v1/announcement").await.ok();
    assert_eq!((&found["text"], &found["shown"]), (&Value::Null, &json!(false)));
    switch_off(&market).await;
    market.call(OPERATOR, "PUT", &format!("/w/one{PATH}"), &json!({"text": TEXT})).await.ok();
    let group = json!({"name": "In another state"});
    assert_refused(&market.call(VENDOR, "POST", "/w/one/v2/asset-groups", &group).await);
    create_group(&market, "Outside").await.expect_status(201);
}

#[tokio::test]
async fn announcement_has_one_state() {
    const PATH: &str = "/operator/v1/announcement";
    let market = TestMarket::demo();
    let none = json!({
        "text": null, "level": null, "starts_at": null, "ends_at": null, "changed_at": null, "shown": false,
    });
    assert_eq!(market.get(OPERATOR, PATH).await.ok(), none);
    let body = json!({"text": "On Sunday.", "level": "warning", "ends_at": "2026-03-01T10:00:00Z"});
    let set = market.call(OPERATOR, "PUT", PATH, &body).await.ok();
    assert_eq!((&set["level"], &set["shown"]), (&json!("warning"), &json!(true)));
    assert_eq!(market.get(READING_OPERATOR, PATH).await.ok(), set);
    for (body, problem) in [
        (json!({"text": "x", "ends_at": "2026-03-01T09:00:00Z"}), "body.ends_at value_error"),
        (
            json!({"text": "x", "starts_at": "2026-04-01T00:00:00Z", "ends_at": "2026-03-31T00:00:00Z"}),
            "body.ends_at value_error",
        ),
        (json!({"text": ""}), "body.text string_too_short"),
        (json!({}), "body.text missing"),
        (json!({"text": "x", "level": "alarm"}), "body.level enum"),
    ] {
        assert_eq!(market.call(OPERATOR, "PUT", PATH, &body).await.problems(), [problem], "{body}");
    }
    market.clock().advance(3_600_000_000);
    assert_eq!(market.get(OPERATOR, PATH).await.ok()["shown"], false);
    market.call(OPERATOR, "PUT", PATH, &json!({"text": "Now."})).await.ok();
    for _ in 0..2 {
        market.call(OPERATOR, "DELETE", PATH, &Value::Null).await.expect_status(204);
        assert_eq!(market.get(OPERATOR, PATH).await.ok(), none);
    }
    assert_eq!(market.get(BUYER, PATH).await.expect_error(403), "operator_required");
    assert!(!Case::for_operation("get_upload_parts").route.is_change());
}
