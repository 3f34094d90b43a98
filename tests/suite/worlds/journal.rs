//! Journals: what they have of each request, and their other formats.

use std::{
    fs,
    io::Write,
    os::unix::fs::PermissionsExt,
    path::Path,
    process::{Command, Stdio},
};

use marketplace::{domain::time::Timestamp, worlds::journal::INLINE_BYTES};
use poem::http::Method;
use serde_json::{Value, json};

use super::journal_story::{BUYER, OPERATOR, VENDOR, WorldCaller};

/// Returns a field of each entry.
fn field<'a>(entries: &'a [Value], name: &str) -> Vec<&'a Value> {
    entries.iter().map(|entry| &entry[name]).collect()
}

/// Returns the value of a header of an entry.
fn header<'a>(entry: &'a Value, list: &str, name: &str) -> Option<&'a str> {
    let headers = entry[list].as_array().unwrap();
    headers.iter().find(|header| header["name"] == name).map(|header| header["value"].as_str().unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn journal_has_every_request_with_its_answer() {
    let world = WorldCaller::new("one", json!({})).await;
    world.call(BUYER, "GET", "/v2/wallet?", &Value::Null).await.ok();
    let group = json!({"name": "Tides"});
    let created = world.call(VENDOR, "POST", "/v2/asset-groups", &group).await.expect_status(201);
    world.call("mkt_nobody", "GET", "/v2/wallet", &Value::Null).await.expect_status(401);
    assert_eq!(world.market.get(VENDOR, "/w/one/v2/nowhere?a=%20b").await.status, 404);
    world.call(VENDOR, "POST", "/v2/asset-groups", &json!({})).await.expect_status(422);
    world.sandbox("POST", "/clock", &json!({"advance": "1d"})).await.ok();
    world.sandbox("GET", "/clock", &Value::Null).await.ok();
    world.call(OPERATOR, "GET", "/operator/v1/teams?limit=1", &Value::Null).await.ok();
    let entries = world.journal("").await;
    assert_eq!(field(&entries, "number"), [1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(
        field(&entries, "operation"),
        [
            &json!("get_wallet"),
            &json!("create_asset_group"),
            &json!("get_wallet"),
            &Value::Null,
            &json!("create_asset_group"),
            &json!("change_world_clock"),
            &json!("list_teams"),
        ]
    );
    assert_eq!(field(&entries, "status"), [200, 201, 401, 404, 422, 200, 200]);
    assert_eq!(
        field(&entries, "code"),
        [
            &Value::Null,
            &Value::Null,
            &json!("unauthorized"),
            &json!("not_found"),
            &Value::Null,
            &Value::Null,
            &Value::Null
        ]
    );
    let post = &entries[1];
    assert_eq!(
        (&post["method"], &post["path"], &post["query"]),
        (&json!("POST"), &json!("/v2/asset-groups"), &Value::Null)
    );
    assert_eq!(post["request_body"]["text"], group.to_string());
    let response: Value = serde_json::from_str(post["response_body"]["text"].as_str().unwrap()).unwrap();
    assert_eq!(response, created);
    for body in ["request_body", "response_body"] {
        assert_eq!((&post[body]["is_complete"], &post[body]["is_cut"]), (&json!(true), &json!(false)));
    }
    assert_eq!(post["at"], "2026-03-01T09:00:00.000Z");
    assert_eq!(post["request_id"], header(post, "response_headers", "x-request-id").unwrap());
    assert_eq!(header(post, "request_headers", "authorization"), Some("Bearer ********"));
    assert_eq!(entries[3]["query"], "a=%20b");
    assert_eq!(entries[6]["at"], "2026-03-02T09:00:00.001Z", "after the advance and one write");
    assert_eq!(field(&entries, "origin")[4..6], ["world", "sandbox"]);
    // Keys and teams by their names.
    let teams: Vec<_> = entries.iter().map(|entry| &entry["team"]["name"]).collect();
    assert_eq!(teams[..2], [&json!("Aurora Frontier"), &json!("Lumen Codeworks")]);
    assert_eq!((teams[2], &entries[2]["key"], teams[6]), (&Value::Null, &Value::Null, &Value::Null));
    assert!(entries[6]["key"]["name"].is_string() && entries[5]["key"]["name"].is_string());
}

#[tokio::test(flavor = "multi_thread")]
async fn entries_are_selected_and_deleted_and_survive_a_reset() {
    let world = WorldCaller::new("one", json!({})).await;
    for key in [BUYER, VENDOR, "mkt_nobody"] {
        world.call(key, "GET", "/v2/wallet", &Value::Null).await;
    }
    world.sandbox("POST", "/reset", &Value::Null).await.ok();
    world.call(VENDOR, "GET", "/v2/asset-groups", &Value::Null).await.ok();
    let numbers = async |query: &str| -> Vec<u64> {
        world.journal(query).await.iter().map(|entry| entry["number"].as_u64().unwrap()).collect()
    };
    for (query, expected) in [
        ("", vec![1, 2, 3, 4, 5]),
        ("after=3", vec![4, 5]),
        ("limit=2", vec![1, 2]),
        ("operation=get_wallet", vec![1, 2, 3]),
        ("method=post", vec![4]),
        ("path=/v2/*", vec![1, 2, 3, 5]),
        ("path=*/asset-groups", vec![5]),
        ("team=lumen%20codeworks", vec![2, 5]),
        ("status=401", vec![3]),
        ("code=unauthorized", vec![3]),
        ("from=2026-03-01T09:00:00Z&status=200&method=GET", vec![1, 2, 5]),
        ("until=2026-03-01T09:00:00Z", vec![]),
    ] {
        assert_eq!(numbers(query).await, expected, "{query}");
    }
    for (query, problem) in [
        ("from=yesterday", "query.from datetime_parsing"),
        ("until=", "query.until datetime_parsing"),
        ("from=2026-02-30T00:00:00Z", "query.from datetime_parsing"),
        ("status=99", "query.status greater_than_equal"),
        ("format=xml", "query.format enum"),
        ("code=nothing", "query.code enum"),
    ] {
        let response = world.sandbox("GET", &format!("/journal?{query}"), &Value::Null).await;
        assert_eq!(response.problems(), [problem]);
    }
    world.sandbox("DELETE", "/journal", &Value::Null).await.expect_status(204);
    assert!(numbers("").await.is_empty());
    world.call(VENDOR, "GET", "/v2/wallet", &Value::Null).await.ok();
    assert_eq!(numbers("").await, [6], "numbers are not given again");
    let other = world.market.call(VENDOR, "GET", "/sandbox/v1/worlds/one/journal", &Value::Null).await;
    assert_eq!(other.expect_error(403), "operator_required");
}

#[tokio::test(flavor = "multi_thread")]
async fn bodies_that_are_long_binary_or_compressed_are_shown() {
    let world = WorldCaller::new("one", json!({})).await;
    let (team, key) = world.create_team("Harbor Works").await;
    world.upload(&team, &key, 100_000).await;
    world.put_repository().await;
    let part = &world.journal("path=*/blobs/*").await[0]["request_body"];
    assert!(part["size_bytes"].as_u64().unwrap() > 64 * 1024);
    assert_eq!(
        (&part["is_complete"], &part["is_cut"], &part["text"]),
        (&json!(true), &json!(true), &Value::Null)
    );
    assert_eq!(part["base64"].as_str().unwrap().len(), INLINE_BYTES.div_ceil(3) * 4);
    let bundle = &world.journal("operation=put_world_repository").await[0]["request_body"];
    assert_eq!(bundle["is_complete"], true);
    let headers = [("accept-encoding", "zstd"), ("authorization", "Bearer mkt_demo_vendor")];
    let raw = world.market.send(Method::GET, "/w/one/v2/listings/browse?limit=5", &headers).await;
    let plain = world.call(VENDOR, "GET", "/v2/listings/browse?limit=5", &Value::Null).await;
    let entries = world.journal("operation=browse_listings").await;
    let (compressed, uncompressed) = (&entries[0]["response_body"], &entries[1]["response_body"]);
    assert_eq!(compressed["size_bytes"], raw.bytes.len());
    assert!(raw.bytes.len() < plain.bytes.len());
    assert_eq!(compressed["text"], uncompressed["text"]);
    // A page that is longer than what is shown.
    world.market.send(Method::GET, "/w/one/vendor/docs", &[]).await;
    let page = &world.journal("path=/vendor/docs").await[0]["response_body"];
    assert!(page["size_bytes"].as_u64().unwrap() > 1_000_000);
    assert_eq!(page["text"].as_str().unwrap().len(), INLINE_BYTES);
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_are_those_of_the_teams_that_had_them_at_the_request() {
    let world = WorldCaller::new("one", json!({})).await;
    let (team, key) = world.create_team("Harbor Works").await;
    world.call(&key, "GET", "/v2/asset-groups", &Value::Null).await.ok();
    let path = format!("/operator/v1/teams/{team}");
    world.call(OPERATOR, "PATCH", &path, &json!({"name": "Renamed Works"})).await.ok();
    world.call(&key, "GET", "/v2/asset-groups", &Value::Null).await.ok();
    world.sandbox("POST", "/reset", &Value::Null).await.ok();
    let (_, same_key) = world.create_team("Kestrel Works").await;
    assert_eq!(same_key, key, "secrets follow from the seed");
    world.call(&key, "GET", "/v2/asset-groups", &Value::Null).await.ok();
    let expected = ["Harbor Works", "Renamed Works", "Kestrel Works"];
    let entries = world.journal("path=/v2/asset-groups").await;
    let teams: Vec<_> = entries.iter().map(|entry| entry["team"]["name"].as_str().unwrap()).collect();
    assert_eq!(teams, expected);
    for team in expected {
        let expectation = json!({"match": {"team": team}, "times": 1});
        world.sandbox("POST", "/expectations", &expectation).await.ok();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn encoded_name_of_a_world_is_the_same_name() {
    let world = WorldCaller::new("one", json!({})).await;
    // Also for a key of the world, and for routes with files.
    let encoded = "/sandbox/v1/worlds/%6fne";
    let body = json!({"advance": "1d"});
    world.market.call(OPERATOR, "POST", &format!("{encoded}/clock"), &body).await.ok();
    assert_eq!(world.market.get(OPERATOR, &format!("{encoded}/replay")).await.status, 200);
    let entries = world.journal("").await;
    assert_eq!(field(&entries, "operation"), ["change_world_clock"]);
    assert_eq!(field(&entries, "path"), ["/sandbox/v1/worlds/one/clock"]);
}

/// Checks that a value has exactly these fields, some of which are optional, besides those that begin with `_`.
fn assert_fields(value: &Value, required: &[&str], optional: &[&str]) {
    let names: Vec<&str> = value.as_object().unwrap().keys().map(String::as_str).collect();
    for name in required {
        assert!(names.contains(name), "{name} is missing: {value}");
    }
    for name in names {
        assert!(
            required.contains(&name) || optional.contains(&name) || name.starts_with('_'),
            "{name}: {value}"
        );
    }
}

/// Checks what HAR 1.2 says of an archive.
fn assert_valid_har(har: &Value) {
    assert_fields(har, &["log"], &[]);
    let log = &har["log"];
    assert_fields(log, &["version", "creator", "entries"], &["browser", "pages", "comment"]);
    assert_fields(&log["creator"], &["name", "version"], &["comment"]);
    assert_eq!(log["version"], "1.2");
    for entry in log["entries"].as_array().unwrap() {
        let required = ["startedDateTime", "time", "request", "response", "cache", "timings"];
        assert_fields(entry, &required, &["pageref", "serverIPAddress", "connection", "comment"]);
        assert!(Timestamp::parse(entry["startedDateTime"].as_str().unwrap()).is_some());
        let timings = &entry["timings"];
        assert_fields(
            timings,
            &["send", "wait", "receive"],
            &["blocked", "dns", "connect", "ssl", "comment"],
        );
        let sum: f64 = timings.as_object().unwrap().values().map(|time| time.as_f64().unwrap()).sum();
        assert!((sum - entry["time"].as_f64().unwrap()).abs() < 0.01);
        let request = &entry["request"];
        let required =
            ["method", "url", "httpVersion", "cookies", "headers", "queryString", "headersSize", "bodySize"];
        assert_fields(request, &required, &["postData", "comment"]);
        assert!(request["url"].as_str().unwrap().starts_with("http://market.test/"));
        if let Some(data) = request.get("postData") {
            assert_fields(data, &["mimeType", "text"], &["params", "comment"]);
        }
        let response = &entry["response"];
        let required = [
            "status",
            "statusText",
            "httpVersion",
            "cookies",
            "headers",
            "content",
            "redirectURL",
            "headersSize",
            "bodySize",
        ];
        assert_fields(response, &required, &["comment"]);
        assert_fields(
            &response["content"],
            &["size", "mimeType"],
            &["compression", "text", "encoding", "comment"],
        );
        for list in [&request["headers"], &request["queryString"], &response["headers"]] {
            for item in list.as_array().unwrap() {
                assert_fields(item, &["name", "value"], &["comment"]);
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn archive_has_the_structure_of_har() {
    let world = WorldCaller::new("one", json!({})).await;
    let (team, key) = world.create_team("Harbor Works").await;
    world.upload(&team, &key, 100_000).await;
    world.call(VENDOR, "GET", "/v2/listings/browse?limit=2&query=a%20b", &Value::Null).await.ok();
    world.sandbox("POST", "/clock", &json!({"advance": "1d"})).await.ok();
    let response = world.sandbox("GET", "/journal?format=har", &Value::Null).await;
    assert_eq!(response.header("content-type"), "application/har+json");
    let har = response.ok();
    assert_valid_har(&har);
    let entries = har["log"]["entries"].as_array().unwrap();
    assert_eq!(entries.len(), world.journal("").await.len());
    let browse = entries.iter().find(|entry| entry["_operation"] == "browse_listings").unwrap();
    assert_eq!(browse["request"]["url"], "http://market.test/w/one/v2/listings/browse?limit=2&query=a%20b");
    assert_eq!(browse["request"]["queryString"][1], json!({"name": "query", "value": "a b"}));
    let clock = entries.last().unwrap();
    assert_eq!(clock["request"]["url"], "http://market.test/sandbox/v1/worlds/one/clock");
    assert_eq!(clock["request"]["postData"]["text"], r#"{"advance":"1d"}"#);
}

/// A program in place of curl, which writes its arguments and its input to files of the directory.
const FAKE_CURL: &str = r#"#!/bin/bash
directory=${0%/*}; number=$(cat "$directory/count" 2>/dev/null || echo 0); echo $((number + 1)) > "$directory/count"
printf '%s\0' "$@" > "$directory/arguments.$number"
for argument in "$@"; do [ "$argument" != "@-" ] || cat > "$directory/input.$number"; done
"#;

/// Runs a script with a program in place of curl. Returns the arguments and the input of each call.
fn run_script(
    directory: &Path,
    script: &[u8],
    variables: &[(&str, &str)],
) -> Vec<(Vec<String>, Option<Vec<u8>>)> {
    let curl = directory.join("curl");
    fs::write(&curl, FAKE_CURL).unwrap();
    fs::set_permissions(&curl, fs::Permissions::from_mode(0o700)).unwrap();
    let path = format!("{}:{}", directory.display(), std::env::var("PATH").unwrap());
    let mut bash = Command::new("bash")
        .env("PATH", path)
        .env("LC_ALL", "C")
        .envs(variables.iter().copied())
        .current_dir(directory)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    bash.stdin.take().unwrap().write_all(script).unwrap();
    assert!(bash.wait().unwrap().success(), "{}", String::from_utf8_lossy(script));
    let read = |number: usize| {
        let arguments = fs::read(directory.join(format!("arguments.{number}"))).ok()?;
        let mut arguments: Vec<String> =
            arguments.split(|byte| *byte == 0).map(|bytes| bytes.escape_ascii().to_string()).collect();
        arguments.pop();
        Some((arguments, fs::read(directory.join(format!("input.{number}"))).ok()))
    };
    (0..).map_while(read).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn script_sends_the_same_requests() {
    let world = WorldCaller::new("one", json!({})).await;
    let (team, key) = world.create_team("Harbor `Works` $(x)").await;
    let nasty = json!({"name": "It's \"$HOME\" `id`\\ \n!{}"});
    world.call(VENDOR, "POST", "/v2/asset-groups", &nasty).await;
    world.call(VENDOR, "GET", "/v2/listings/browse?query=a'b%20[1-3]{x,y}&limit=1", &Value::Null).await;
    world.upload(&team, &key, 10).await;
    world.sandbox("POST", "/clock", &json!({"advance": "1d"})).await.ok();
    let binary: Vec<u8> = (0..=255).cycle().take(20_000).collect();
    world
        .market
        .send_body(
            Method::POST,
            "/w/one/v2/asset-groups",
            &[("content-type", "application/json"), ("authorization", &format!("Bearer {VENDOR}"))],
            binary.clone(),
        )
        .await;
    let head = [("x-latin", "caf\u{e9}"), ("x-empty", "")];
    world.market.send(Method::HEAD, "/w/one/v2/wallet", &head).await;
    let script = world.sandbox("GET", "/journal?format=curl", &Value::Null).await;
    assert_eq!(script.header("content-type"), "text/x-shellscript");
    let directory = tempfile::tempdir().unwrap();
    let text = String::from_utf8(script.bytes.clone()).unwrap();
    let token = text
        .lines()
        .filter_map(|line| line.split_once('='))
        .find(|(name, _)| name.starts_with("SECRET_"))
        .unwrap()
        .0;
    let variables = [
        ("BASE", "http://base"),
        ("SERVER", "http://server"),
        ("WORLD", "other"),
        ("KEY_OPERATOR", "k-operator"),
        ("KEY_SERVER", "k-server"),
        ("KEY_LUMEN_CODEWORKS", "k-lumen"),
        ("KEY_HARBOR__WORKS____X_", "k-harbor"),
        (token, "the-token"),
    ];
    let calls = run_script(directory.path(), &script.bytes, &variables);
    let entries = world.journal("").await;
    assert_eq!(calls.len(), entries.len(), "{text}");
    for ((arguments, input), entry) in calls.iter().zip(&entries) {
        let argument = |name: &str| {
            let at = arguments.iter().position(|argument| argument == name)?;
            Some(arguments[at + 1].clone())
        };
        let method = argument("-X").unwrap_or_else(|| "HEAD".to_owned());
        assert_eq!(method, entry["method"], "{arguments:?}");
        let url = arguments.iter().find(|argument| argument.starts_with("http://")).unwrap();
        let (path, query) = (entry["path"].as_str().unwrap(), entry["query"].as_str());
        let expected = match entry["origin"].as_str() {
            Some("sandbox") => format!("http://server{}", path.replace("/one/", "/other/")),
            _ => format!("http://base{path}"),
        };
        let expected = query.map_or(expected.clone(), |query| format!("{expected}?{query}"));
        let expected = expected.escape_default().to_string().replace("\\'", "'").replace("\\\"", "\"");
        let url = url.replace("\\'", "'");
        if expected.contains("********") {
            assert!(
                url.starts_with(expected.split("********").next().unwrap()) && !url.contains('*'),
                "{url}"
            );
        } else {
            assert_eq!(url, expected);
        }
        let key = arguments.iter().find(|argument| argument.starts_with("authorization: Bearer k-"));
        assert_eq!(key.is_some(), entry["key"].is_object(), "{arguments:?}");
        if let Some(text) = entry["request_body"]["text"].as_str().filter(|text| !text.is_empty()) {
            assert_eq!(argument("--data-raw").unwrap(), text.as_bytes().escape_ascii().to_string());
        }
        assert!(input.as_ref().is_none_or(|input| *input == binary || !input.is_empty()));
    }
    assert!(
        calls.iter().any(|(_, input)| input.as_deref() == Some(&binary[..])),
        "the bytes that are no text"
    );
    assert!(calls[0].0.contains(&"authorization: Bearer k-operator".to_owned()));
    let url = &calls
        .iter()
        .find(|(arguments, _)| arguments.iter().any(|argument| argument.contains("the-token")))
        .unwrap()
        .0;
    assert!(url.iter().any(|argument| argument == "http://base/v2/vendor/uploads/grants/the-token"));
    let head = &calls.last().unwrap().0;
    assert!(head.contains(&"--head".to_owned()) && head.contains(&"x-empty;".to_owned()));
    assert!(head.contains(&"x-latin: caf\\xc3\\xa9".to_owned()), "{head:?}");
    assert!(head.contains(&"accept:".to_owned()), "curl sends no header of its own");
}
