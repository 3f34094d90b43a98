//! Secrets that requests have, and that no form of a journal shows.

use poem::http::Method;
use serde_json::{Value, json};

use super::journal_story::{OPERATOR, VENDOR, WorldCaller};
use crate::harness::archives::gzip;

/// The decoded body is recorded, so secrets in it are masked, and expectations and replays see what the server saw.
#[tokio::test(flavor = "multi_thread")]
async fn bodies_in_gzip_are_recorded_decoded() {
    let world = WorldCaller::new("one", json!({})).await;
    for (number, coding) in ["gzip", "x-gzip", "identity, GZIP", "gzip"].into_iter().enumerate() {
        let secret = format!("{number}b2c3d4e").repeat(5);
        let body = json!({"name": format!("mkt_{secret}")}).to_string().into_bytes();
        // The last one has two members.
        let (first, second) = body.split_at(if number == 3 { 8 } else { body.len() });
        let more = if second.is_empty() { Vec::new() } else { gzip(second) };
        let sent = [gzip(first), more].concat();
        let headers =
            [("x-api-key", VENDOR), ("content-type", "application/json"), ("content-encoding", coding)];
        let path = "/w/one/v2/asset-groups";
        let response = world.market.send_body(Method::POST, path, &headers, sent).await;
        assert_eq!(response.status, 201, "{coding}: {}", String::from_utf8_lossy(&response.bytes));
        let last = world.journal("operation=create_asset_group").await.pop().unwrap();
        assert_eq!(
            last["request_body"]["text"],
            json!({"name": "mkt_********"}).to_string(),
            "{coding}: {last}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_format_of_a_journal_shows_a_secret() {
    let world = WorldCaller::new("one", json!({})).await;
    let (team, key) = world.create_team("Harbor Works").await;
    let (url, token, _) = world.upload(&team, &key, 10).await;
    let body = json!({"url": "http://127.0.0.1:9/hook", "event_types": ["team.created"]});
    let webhook = world.call(OPERATOR, "POST", "/operator/v1/webhooks", &body).await.expect_status(201);
    // A misspelled path, and cookies.
    let headers =
        [("x-api-key", key.as_str()), ("cookie", "session=s3cret"), ("authorization", "Basic czNjcmV0")];
    let path = format!("/w/one/v2/vendor/upload/grant/{token}");
    world.market.send_body(Method::POST, &path, &headers, "").await;
    let signature = url.split("signature=").nth(1).unwrap();
    let secrets = [
        &key["mkt_".len()..],
        &token,
        signature,
        &webhook["secret"].as_str().unwrap()["whsec_".len()..],
        "s3cret",
        "czNjcmV0",
    ];
    for format in ["json", "har", "curl"] {
        let response = world.sandbox("GET", &format!("/journal?format={format}"), &Value::Null).await;
        let text = String::from_utf8(response.bytes.clone()).unwrap();
        assert_eq!(response.status, 200);
        for secret in secrets {
            assert!(!text.contains(secret), "{format} has {secret}:\n{text}");
        }
    }
    let parts = world.journal("path=*/blobs/*").await;
    assert!(parts[0]["query"].as_str().unwrap().ends_with("&signature=********"));
    assert_eq!((&parts[0]["team"], &parts[0]["status"]), (&Value::Null, &json!(200)));
    let grants = world.journal("operation=complete_upload").await;
    assert_eq!(grants[0]["path"], "/v2/vendor/uploads/grants/********/complete");
    assert_eq!(grants[0]["key"]["name"], "CI");
}

/// Returns text with every character percent-encoded.
fn percent(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02x}")).collect::<Vec<_>>().concat()
}

/// Returns text with every character as an escape of JSON.
fn escaped(text: &str) -> String {
    text.bytes().map(|byte| format!("\\u{byte:04X}")).collect::<Vec<_>>().concat()
}

/// Returns text without escapes of JSON and percent-encoding, also one within the other.
fn decoded(text: &str) -> String {
    let mut text = text.to_owned();
    for _ in 0..5 {
        let escapes = [("%", 2), ("\\u", 4), ("\\", 0)];
        for (start, digits) in escapes {
            let mut parts = text.split(start);
            let mut plain = parts.next().unwrap_or_default().to_owned();
            for part in parts {
                let code = part.get(..digits).and_then(|code| u32::from_str_radix(code, 16).ok());
                match code.and_then(char::from_u32) {
                    Some(character) => plain.extend([character.to_string().as_str(), &part[digits..]]),
                    None if digits == 0 => plain.push_str(part),
                    None => plain.extend([start, part]),
                }
            }
            text = plain;
        }
    }
    text
}

#[test]
fn test_decodes_what_it_encodes() {
    let text = "mkt_aB3-";
    for encoded in [percent(text), escaped(text), percent(&escaped(text)), escaped(&percent(&percent(text)))]
    {
        assert_eq!(decoded(&encoded), text, "{encoded}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_format_of_a_journal_shows_a_secret_that_is_encoded() {
    let world = WorldCaller::new("one", json!({})).await;
    let (team, key) = world.create_team("Harbor Works").await;
    let (url, token, _) = world.upload(&team, &key, 10).await;
    let hook = json!({"url": "http://127.0.0.1:9/hook", "event_types": ["team.created"]});
    let webhook = world.call(OPERATOR, "POST", "/operator/v1/webhooks", &hook).await.expect_status(201);
    let signature = url.split("signature=").nth(1).unwrap();
    let signed = format!("https://a.example/p?signature={signature}");
    let grant = format!("https://a.example/v2/vendor/upload/grant/{token}/x");
    let (hook_secret, bearer) = (webhook["secret"].as_str().unwrap(), format!("Bearer {VENDOR}"));
    // Each secret as it is written down: alone, or in an address.
    for secret in [key.as_str(), hook_secret, &signed, &grant] {
        let in_json = json!({"name": secret}).to_string();
        for (name, value) in [
            ("x-auth-token", secret.to_owned()),
            ("referer", format!("https://a.example/?from={secret}")),
            ("referer", format!("https://a.example/?from={}", percent(secret))),
            ("x-request-id", secret.to_owned()),
            ("idempotency-key", secret.to_owned()),
            ("user-agent", percent(&percent(secret))),
            ("x-context", in_json.clone()),
            ("x-context", format!("{{\"a\": \"{}\"}}", escaped(secret))),
        ] {
            let headers = [("authorization", bearer.as_str()), (name, value.as_str())];
            world.market.send(Method::GET, "/w/one/v2/wallet", &headers).await;
        }
        for path in [
            format!("/v2/teams/{}", percent(secret)),
            format!("/v2/teams/{}", percent(&percent(secret))),
            format!("/v2/wallet?a={}", percent(secret)),
            format!("/v2/wallet?a=1&{}=x", percent(&percent(secret))),
            format!("/v2%2Fteams%2F{}", percent(secret)),
        ] {
            world.market.get(VENDOR, &format!("/w/one{path}")).await;
        }
        for (kind, body) in [
            ("application/json", format!("{{\"name\": \"{}\"}}", escaped(secret))),
            ("application/json", json!({"name": in_json}).to_string()),
            ("application/json", json!({"name": json!({"a": in_json}).to_string()}).to_string()),
            ("application/json", format!("{{\"{}\": 1}}", escaped(secret))),
            ("application/x-www-form-urlencoded", format!("name={}", percent(secret))),
            ("text/plain", secret.replace('/', "\\/")),
        ] {
            let headers = [("authorization", bearer.as_str()), ("content-type", kind)];
            world.market.send_body(Method::POST, "/w/one/v2/asset-groups", &headers, body).await;
        }
    }
    let method = Method::from_bytes(key.as_bytes()).unwrap();
    world.market.send(method, "/w/one/v2/wallet", &[]).await;
    let replay = world.market.get(OPERATOR, "/sandbox/v1/worlds/one/replay").await;
    let files = crate::harness::archives::unzip(&replay.bytes);
    let mut shown = vec![("replay", String::from_utf8(files["requests.jsonl"].clone()).unwrap())];
    for format in ["json&limit=5000", "har", "curl"] {
        let response = world.sandbox("GET", &format!("/journal?format={format}"), &Value::Null).await;
        assert_eq!(response.status, 200);
        shown.push((format, String::from_utf8(response.bytes).unwrap()));
    }
    let expectation =
        json!({"match": {"operation": "create_asset_group", "body": {"name": "x"}}, "times": 1});
    let checked = world.sandbox("POST", "/expectations", &expectation).await;
    shown.push(("expectations", String::from_utf8(checked.bytes).unwrap()));
    for (format, text) in shown {
        let text = decoded(&text);
        for secret in [&key["mkt_".len()..], &hook_secret["whsec_".len()..], signature, &token] {
            if let Some(at) = text.find(secret) {
                panic!("{format} has {secret}: {}", &text[at.saturating_sub(200)..at]);
            }
        }
        // Which calls are the nearest, and so shown, depends on their order.
        assert!(format == "expectations" || text.contains("********"), "{format}: {text}");
    }
}

/// A session of the web app grants the same access as the key that opened it.
#[tokio::test(flavor = "multi_thread")]
async fn no_format_of_a_journal_shows_a_session_of_the_web_app() {
    let world = WorldCaller::new("one", json!({})).await;
    let cookie = world.sign_in().await;
    let (name, token) = cookie.split_once('=').unwrap();
    let cookies = format!("theme=v4lue; {cookie}");
    let headers = [("cookie", cookies.as_str()), ("x-auth-token", "s3cret t0ken")];
    let page = world.market.send(Method::GET, "/w/one/console/inventory", &headers).await;
    assert_eq!(page.status, 200);
    let entries = world.journal("path=/console/*").await;
    let value = |entry: &Value, list: &str, name: &str| {
        let headers = entry[list].as_array().unwrap();
        headers.iter().find(|header| header["name"] == name).unwrap()["value"].as_str().unwrap().to_owned()
    };
    let set = value(&entries[0], "response_headers", "set-cookie");
    assert!(set.starts_with(&format!("{name}=********; Path=/w/one")), "{set}");
    assert_eq!(value(&entries[1], "request_headers", "cookie"), format!("theme=********; {name}=********"));
    let replay = world.market.get(OPERATOR, "/sandbox/v1/worlds/one/replay").await;
    let requests = crate::harness::archives::unzip(&replay.bytes)["requests.jsonl"].clone();
    let mut shown = vec![("replay", String::from_utf8(requests).unwrap())];
    for format in ["json", "har", "curl"] {
        let response = world.sandbox("GET", &format!("/journal?format={format}"), &Value::Null).await;
        shown.push((format, String::from_utf8(response.bytes).unwrap()));
    }
    for (format, text) in shown {
        for secret in [token, "s3cret", "t0ken", "v4lue"] {
            assert!(!text.contains(secret), "{format} has {secret}:\n{text}");
        }
    }
}
