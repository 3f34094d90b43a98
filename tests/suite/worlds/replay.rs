//! Replays: the requests of a world in another process, and refusals.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    fs,
    path::Path,
    process::{Command, Output},
};

use marketplace::artifacts::file_sets::FileSetWriter;
use poem::http::Method;
use serde_json::{Value, json};

use super::journal_story::{BUYER, OPERATOR, VENDOR, WorldCaller};
use crate::harness::archives::unzip;

/// The files of an archive, by path.
type Files = BTreeMap<String, Vec<u8>>;

/// Returns the file of a world's replay.
async fn replay_of(world: &WorldCaller) -> Vec<u8> {
    let path = format!("/sandbox/v1/worlds/{}/replay", world.name);
    let response = world.market.get(OPERATOR, &path).await;
    assert_eq!(response.status, 200, "{}", String::from_utf8_lossy(&response.bytes));
    response.bytes
}

/// Replays a file. Returns the output and the exit code.
fn replay(file: &[u8], arguments: &[&str]) -> (i32, String, String) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("one.replay.zip");
    fs::write(&path, file).unwrap();
    let Output { status, stdout, stderr } = Command::new(env!("CARGO_BIN_EXE_marketplace"))
        .arg("replay")
        .args(arguments)
        .arg(&path)
        .env("TMPDIR", directory.path())
        .current_dir(directory.path())
        .output()
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (status.code().unwrap(), text(stdout), text(stderr))
}

/// Packs files again.
fn pack(files: &Files) -> Vec<u8> {
    use std::io::Write;
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("file.zip");
    let mut archive = FileSetWriter::new(fs::File::create(&path).unwrap());
    for (name, bytes) in files {
        archive.start(name, bytes.len() as u64).unwrap();
        archive.write_all(bytes).unwrap();
    }
    archive.finish().unwrap();
    fs::read(Path::new(&path)).unwrap()
}

/// Changes a line of the requests.
fn with_request(file: &[u8], number: u64, change: impl Fn(&mut Value)) -> Vec<u8> {
    let mut files = unzip(file);
    let lines = String::from_utf8(files["requests.jsonl"].clone()).unwrap();
    let mut changed = String::new();
    for line in lines.lines() {
        let mut request: Value = serde_json::from_str(line).unwrap();
        if request["number"] == number {
            change(&mut request);
        }
        // Writing to a `String` does not fail.
        let _ = writeln!(changed, "{request}");
    }
    files.insert("requests.jsonl".to_owned(), changed.into_bytes());
    pack(&files)
}

/// Requests of every kind: keys, tokens, and signed addresses of the world, steps of the clock, repositories, faults, repeated
/// requests, errors, long and compressed bodies, agents, and a reset.
async fn play(world: &WorldCaller) {
    let (team, key) = world.create_team("Harbor Works").await;
    world.upload(&team, &key, 100_000).await;
    world.sandbox("POST", "/clock", &json!({"advance": "1d"})).await.ok();
    world.put_repository().await;
    let group = json!({"name": "Tides"});
    for _ in 0..2 {
        let path = format!("/w/{}/v2/asset-groups", world.name);
        let headers = [("idempotency-key", "k1")];
        world.market.call_with(VENDOR, "POST", &path, &group, &headers).await.expect_status(201);
    }
    let fault = json!({"match": {"operation": "get_wallet", "next": 1}, "then": {"status": 503, "code": "at_capacity"}});
    world.sandbox("POST", "/faults", &fault).await.expect_status(201);
    assert_eq!(world.call(BUYER, "GET", "/v2/wallet", &Value::Null).await.status, 503);
    world.call(BUYER, "GET", "/v2/wallet", &Value::Null).await.ok();
    let cut = json!({"match": {"operation": "create_asset_group", "next": 1}, "then": {"cut": "before"}});
    world.sandbox("POST", "/faults", &cut).await.expect_status(201);
    cut_request(world, "Locks").await;
    world.call("mkt_nobody", "GET", "/v2/wallet", &Value::Null).await.expect_status(401);
    world.call(VENDOR, "POST", "/v2/asset-groups", &json!({})).await.expect_status(422);
    world.sandbox("POST", "/clock", &json!({"advance": "-1d"})).await.expect_status(422);
    world.call("mkt_demo_operator_read", "GET", "/operator/v1/teams?limit=100", &Value::Null).await.ok();
    let webhook = json!({"url": "http://127.0.0.1:9/hook", "event_types": ["team.created"]});
    world.call(OPERATOR, "POST", "/operator/v1/webhooks", &webhook).await.expect_status(201);
    let path = format!("/w/{}/v2/listings/browse?limit=20", world.name);
    let headers = [("accept-encoding", "zstd"), ("authorization", "Bearer mkt_demo_vendor")];
    world.market.send(Method::GET, &path, &headers).await;
    for page in ["/vendor/openapi.json", "/buyer/docs", "/nowhere"] {
        world.market.send(Method::GET, &format!("/w/{}{page}", world.name), &[]).await;
    }
    let headers = [
        ("host", "market.test"),
        ("authorization", "Bearer mkt_demo_buyer"),
        ("content-type", "application/json"),
    ];
    let tools = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "browse_listings", "arguments": {"limit": 2}}});
    let path = format!("/w/{}/v2/mcp/", world.name);
    world.market.send_body(Method::POST, &path, &headers, tools.to_string()).await;
    world.sandbox("POST", "/reset", &Value::Null).await.ok();
    let (_, key) = world.create_team("After the reset").await;
    world.call(&key, "GET", "/v2/asset-groups", &Value::Null).await.ok();
    world.sandbox("POST", "/clock", &json!({"set": "2026-06-01T00:00:00Z"})).await.ok();
    world.call(OPERATOR, "GET", "/operator/v1/audit?limit=100", &Value::Null).await.ok();
    world.call(OPERATOR, "GET", "/operator/v1/settings", &Value::Null).await.ok();
    let path = format!("/sandbox/v1/worlds/%{:02x}{}/clock", world.name.as_bytes()[0], &world.name[1..]);
    world.market.call(OPERATOR, "POST", &path, &json!({"advance": "1d"})).await.ok();
    world.call(VENDOR, "GET", "/v2/wallet", &Value::Null).await.ok();
    world.sign_in().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn another_process_gets_the_same_answers() {
    let new = json!({"seed": 7, "now": "2026-03-01T10:00:00Z", "settings": {"offers.expire_days": 3}});
    let world = WorldCaller::new("one", new).await;
    play(&world).await;
    let file = replay_of(&world).await;
    let files = unzip(&file);
    let head: Value = serde_json::from_slice(&files["replay.json"]).unwrap();
    assert_eq!((&head["complete"], &head["missing"]), (&json!(true), &json!([])));
    assert_eq!((&head["world"]["seed"], &head["world"]["has_start"]), (&json!(7), &json!(false)));
    assert_eq!(head["world"]["settings"], json!({"offers.expire_days": 3}));
    let names: Vec<&Value> = head["keys"].as_array().unwrap().iter().map(|key| &key["team"]).collect();
    // After the reset, the key of the new team has the ID that the key of Harbor Works had.
    assert!(
        names.contains(&&json!("After the reset")) && names.contains(&&json!("Lumen Codeworks")),
        "{names:?}"
    );
    assert!(files.keys().any(|name| name.ends_with(".request")), "the upload is too long for a line");
    let (code, output, errors) = replay(&file, &[]);
    assert_eq!((code, errors.as_str()), (0, ""), "{output}");
    assert!(output.contains("answers are the same."), "{output}");
    let (code, output, _) = replay(&file, &["--json"]);
    let outcome: Value = serde_json::from_str(&output).unwrap();
    assert_eq!((code, &outcome["outcome"]["difference"]), (0, &Value::Null));
    let sent = outcome["outcome"]["requests"].as_u64().unwrap();
    assert_eq!(
        sent + 1,
        head["requests"].as_u64().unwrap(),
        "the clock was not changed by the call that failed"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn first_difference_is_shown() {
    let world = WorldCaller::new("one", json!({})).await;
    for name in ["Tides", "Berths"] {
        world.call(VENDOR, "POST", "/v2/asset-groups", &json!({"name": name})).await.expect_status(201);
    }
    world.call(VENDOR, "GET", "/v2/asset-groups", &Value::Null).await.ok();
    let file = replay_of(&world).await;
    let renamed = with_request(&file, 2, |request| request["body"]["text"] = json!(r#"{"name":"Piers"}"#));
    let (code, output, errors) = replay(&renamed, &[]);
    assert_eq!(code, 1);
    assert_eq!(
        output,
        "Request 2: POST /v2/asset-groups (create_asset_group), at 2026-03-01T09:00:00.001Z\n\
         body.name:\n- \"Berths\"\n+ \"Piers\"\n"
    );
    assert_eq!(errors, "error: the answer to request 2 differs: body.name\n");
    let (code, output, _) = replay(&renamed, &["--json"]);
    let outcome: Value = serde_json::from_str(&output).unwrap();
    assert_eq!((code, &outcome["outcome"]["difference"]["place"]), (1, &json!("body.name")));
    for (change, place) in [
        (json!({"status": 200}), "status:\n- 200\n+ 201\n"),
        (json!({"headers": []}), "header cache-control:\n- (nothing)\n+ private, no-cache\n"),
    ] {
        let changed = with_request(&file, 1, |request| {
            for (name, value) in change.as_object().unwrap() {
                request["answer"][name] = value.clone();
            }
        });
        let (code, output, _) = replay(&changed, &[]);
        assert!(code == 1 && output.contains(place), "{code} {output}");
    }
}

/// Requests the creation of a group, but a fault closes the connection before the request is executed. The document has no such
/// answer, so the answer is not compared with it.
async fn cut_request(world: &WorldCaller, name: &str) {
    let key = format!("Bearer {VENDOR}");
    let headers = [("authorization", key.as_str()), ("content-type", "application/json")];
    let (path, body) = (format!("/w/{}/v2/asset-groups", world.name), json!({"name": name}).to_string());
    assert_eq!(world.market.send_body(Method::POST, &path, &headers, body).await.status, 444);
}

#[tokio::test(flavor = "multi_thread")]
async fn request_that_is_executed_instead_of_cut_is_a_difference() {
    let world = WorldCaller::new("one", json!({})).await;
    let cut = json!({"match": {"operation": "create_asset_group", "next": 1}, "then": {"cut": "before"}});
    world.sandbox("POST", "/faults", &cut).await.expect_status(201);
    cut_request(&world, "Tides").await;
    world.call(VENDOR, "GET", "/v2/asset-groups", &Value::Null).await.ok();
    let file = replay_of(&world).await;
    let requests = String::from_utf8(unzip(&file)["requests.jsonl"].clone()).unwrap();
    let request: Value = serde_json::from_str(requests.lines().nth(1).unwrap()).unwrap();
    assert_ne!(request["overlaps"], true, "the next request came later");
    assert_eq!(request["answer"]["status"], 444);
    // The fault applies to another operation, so the request is executed.
    let other = r#"{"match": {"operation": "get_wallet", "next": 1}, "then": {"cut": "before"}}"#;
    let executed = with_request(&file, 1, |request| request["body"]["text"] = json!(other));
    let (code, output, _) = replay(&executed, &[]);
    assert_eq!(code, 1, "{output}");
    assert!(output.contains("Request 2:") && output.contains("status:\n- 444\n+ 201\n"), "{output}");
    let shown = world.journal("operation=create_asset_group").await.pop().unwrap();
    assert_eq!((&shown["status"], &shown["duration_ms"]), (&Value::Null, &Value::Null));
}

#[tokio::test(flavor = "multi_thread")]
async fn world_that_was_forked_from_another_one_begins_with_its_state() {
    let setup = WorldCaller::new("setup", json!({"from": "empty"})).await;
    let server_key = setup.server_key();
    let world = setup.market.get(&server_key, "/sandbox/v1/worlds/setup").await.ok();
    let operator = world["keys"][0]["key"].as_str().unwrap().to_owned();
    let post = async |world: &str, key: &str, path: &str, body: Value| {
        let path = format!("/w/{world}{path}");
        setup.market.call(key, "POST", &path, &body).await.expect_status(201)
    };
    let team = json!({"name": "Prepared", "roles": ["vendor"], "tier": 1, "nda_accepted": true});
    let team = post("setup", &operator, "/operator/v1/teams", team).await;
    let key =
        post("setup", &operator, "/operator/v1/keys", json!({"team_id": team["id"], "name": "CI"})).await;
    // A key that no answer in the journal of the fork has.
    let key = key["secret"].as_str().unwrap();
    let snapshot = "/sandbox/v1/worlds/setup/snapshots";
    setup.market.call(&server_key, "POST", snapshot, &json!({"name": "ready"})).await.expect_status(201);
    let fork = json!({"name": "fork", "from": "ready", "now": "2026-03-05T00:00:00Z"});
    setup.market.call(&server_key, "POST", "/sandbox/v1/worlds", &fork).await.expect_status(201);
    post("fork", key, "/v2/asset-groups", json!({"name": "Tides"})).await;
    post("fork", &operator, "/operator/v1/teams", json!({"name": "Other", "roles": ["buyer"], "tier": 1}))
        .await;
    setup.market.call(&server_key, "POST", "/sandbox/v1/worlds/fork/reset", &Value::Null).await.ok();
    post("fork", key, "/v2/asset-groups", json!({"name": "Berths"})).await;
    let file = setup.market.get(&server_key, "/sandbox/v1/worlds/fork/replay").await.bytes;
    assert!(unzip(&file).contains_key("start.zip"));
    let (code, output, errors) = replay(&file, &[]);
    assert_eq!((code, errors.as_str()), (0, ""), "{output}");
    // Only operators who may change the world get its secrets.
    let path = "/sandbox/v1/worlds/fork/replay";
    assert_eq!(setup.market.get("mkt_nobody", path).await.status, 401);
}

#[tokio::test(flavor = "multi_thread")]
async fn file_without_the_session_of_the_web_app_says_so() {
    let world = WorldCaller::new("one", json!({})).await;
    let cookie = world.sign_in().await;
    for page in ["/vendor/docs", "/console/inventory", "/console/catalog"] {
        world.market.send(Method::GET, &format!("/w/one{page}"), &[("cookie", &cookie)]).await;
    }
    let file = replay_of(&world).await;
    let head: Value = serde_json::from_slice(&unzip(&file)["replay.json"]).unwrap();
    let missing = "Request 3 needs a session of the web app, which no file has.";
    assert_eq!((&head["complete"], &head["missing"]), (&json!(false), &json!([missing])));
    let (code, _, errors) = replay(&file, &[]);
    assert!(code == 2 && errors.contains(missing), "{code} {errors}");
}

#[tokio::test(flavor = "multi_thread")]
async fn incomplete_and_invalid_files_are_refused() {
    let world = WorldCaller::new("one", json!({})).await;
    world.call(VENDOR, "GET", "/v2/wallet", &Value::Null).await.ok();
    let file = replay_of(&world).await;
    let refused = |file: &[u8], reason: &str| {
        let (code, output, errors) = replay(file, &[]);
        assert!(
            code == 2 && output.is_empty() && errors.contains(reason),
            "{reason}: {code} {output} {errors}"
        );
    };
    let changed = |change: &dyn Fn(&mut Files)| {
        let mut files = unzip(&file);
        change(&mut files);
        pack(&files)
    };
    let with_head = |name: &str, value: Value| {
        changed(&|files| {
            let mut head: Value = serde_json::from_slice(&files["replay.json"]).unwrap();
            head[name] = value.clone();
            files.insert("replay.json".to_owned(), head.to_string().into_bytes());
        })
    };
    for no_replay in [&b"PK"[..], b"", b"a text", &file[..file.len() - 40]] {
        refused(no_replay, "The file is not a replay, or it is damaged or too large.");
    }
    refused(&with_head("format_version", json!(2)), "version 1");
    refused(&with_head("color", json!(2)), "`replay.json` is not valid");
    refused(&with_head("requests", json!(2)), "names 2 requests");
    refused(&changed(&|files| drop(files.remove("replay.json"))), "no `replay.json`");
    refused(&changed(&|files| drop(files.insert("other".to_owned(), vec![]))), "no file \"other\"");
    refused(&changed(&|files| files.get_mut("requests.jsonl").unwrap().extend(b"{}\n")), "Line 2");
    let in_file =
        |request: &mut Value| request["body"] = json!({"size": 1, "is_complete": true, "is_in_file": true});
    refused(&with_request(&file, 1, in_file), "`bodies/1.request` is missing");
    let later = |request: &mut Value| request["path"] = json!(["/", {"request": 1, "secret": 0}]);
    refused(&with_request(&file, 1, later), "refers to a later answer");
    refused(&with_request(&file, 1, |request| request["method"] = json!("A B")), "its method is not valid");
    refused(
        &with_request(&file, 1, |request| request["path"] = json!(["/\u{7f}"])),
        "its address is not valid",
    );
    // Deleted entries of the journal are missing.
    world.sandbox("DELETE", "/journal", &Value::Null).await.expect_status(204);
    world.call(VENDOR, "GET", "/v2/wallet", &Value::Null).await.ok();
    refused(
        &replay_of(&world).await,
        "The file is not complete, so it cannot be replayed. 0 requests were dropped, and 1 was deleted.",
    );
}
