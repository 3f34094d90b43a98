//! Properties of every HTTP response: request ID, ETag, content encoding, CORS headers, and JSON errors.

use std::io::Read;

use marketplace::{
    config::ContactSettings,
    rest::{self, APIS},
};
use poem::http::Method;
use serde_json::{Value, json};
use uuid::Uuid;

use super::cases::{BUYER, cases};
use crate::harness::{TestMarket, TestResponse, demo};

const PAGE: &str = "/v2/listings/browse?limit=50";

async fn get(path: &str, headers: &[(&str, &str)]) -> TestResponse {
    let token = format!("Bearer {BUYER}");
    let mut all = vec![("authorization", token.as_str())];
    all.extend_from_slice(headers);
    demo().send(Method::GET, path, &all).await
}

/// Requests with every outcome that needs no state: success, validation error, bad request, not found, wrong
/// method.
const OUTCOMES: [(&str, &str, u16); 7] = [
    ("GET", PAGE, 200),
    ("GET", "/v2/listings/browse?limit=0", 422),
    ("GET", "/v2/listings/browse?cursor=x", 400),
    ("GET", "/v2/listings/browse/00000000-0000-0000-0000-000000000000", 404),
    ("GET", "/v2/nothing/here", 404),
    ("POST", "/v2/wallet", 405),
    ("HEAD", PAGE, 200),
];

async fn request_with_id(method: &str, path: &str, id: Option<&str>) -> TestResponse {
    let token = format!("Bearer {BUYER}");
    let mut headers = vec![("authorization", token.as_str())];
    headers.extend(id.map(|id| ("x-request-id", id)));
    demo().send(Method::from_bytes(method.as_bytes()).unwrap(), path, &headers).await
}

#[tokio::test]
async fn valid_request_id_is_returned_and_invalid_one_is_replaced() {
    let (longest, longer) = ("a".repeat(128), "a".repeat(129));
    for (method, path, status) in OUTCOMES {
        for id in ["x", "A.b_c-9", "0d5c1c52-3f0e-4d0b-9a54-8d7a1b6f2c11", &longest] {
            let response = request_with_id(method, path, Some(id)).await;
            assert_eq!(response.status, status, "{method} {path}");
            assert_eq!(response.header("x-request-id"), id, "{method} {path}");
            if status >= 400 && status != 422 {
                assert_eq!(response.json()["error"]["request_id"], id, "{method} {path}");
            }
        }
        for id in [
            None,
            Some(""),
            Some(longer.as_str()),
            Some("a b"),
            Some("a/b"),
            Some("a;b"),
            Some("<script>"),
            Some("ü"),
        ] {
            let response = request_with_id(method, path, id).await;
            let fresh = response.header("x-request-id");
            assert!(Uuid::try_parse(fresh).is_ok(), "{method} {path}: {fresh:?} for {id:?}");
            let second = request_with_id(method, path, id).await;
            assert_ne!(fresh, second.header("x-request-id"), "{method} {path}");
            if status >= 400 && status != 422 {
                assert_eq!(response.json()["error"]["request_id"], fresh, "{method} {path}");
            }
        }
    }
    let anonymous = demo().send(Method::GET, "/v2/wallet", &[("x-request-id", "mine")]).await;
    assert_eq!((anonymous.status, anonymous.header("x-request-id")), (401, "mine"));
}

#[tokio::test]
async fn unknown_paths_and_wrong_methods_return_json_without_a_key() {
    for path in [
        "/index.html",
        "/v2",
        "/v2/",
        "/v2/nothing",
        "/v1/domains",
        "/vendor",
        "/v2/listings/browse/a/b/c/d",
        "/%00",
        "/..%2f",
    ] {
        for method in [Method::GET, Method::POST, Method::DELETE] {
            let response = demo().send(method.clone(), path, &[]).await;
            assert_eq!(
                (response.status, response.error_code().as_str()),
                (404, "not_found"),
                "{method} {path}"
            );
            assert_eq!(response.header("content-type"), "application/json", "{method} {path}");
            assert_eq!(response.json()["error"]["details"], Value::Null, "{method} {path}");
        }
    }
    for row in cases() {
        let document = row.documents().find(|document| document.operation(row.operation).is_some());
        let allowed = document.unwrap().methods_of(&row.documented().path);
        for method in [Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE, Method::OPTIONS]
        {
            if allowed.iter().any(|allowed| *allowed == method.as_str()) {
                continue;
            }
            let response = demo().send(method.clone(), &row.path(), &[]).await;
            let description = format!("{method} {}", row.path());
            assert_eq!(
                (response.status, response.error_code().as_str()),
                (405, "method_not_allowed"),
                "{description}"
            );
            assert_eq!(response.header("allow"), allowed.join(", "), "{description}");
            assert_eq!(response.header("content-type"), "application/json", "{description}");
        }
    }
}

#[tokio::test]
async fn openapi_documents_and_docs_pages_need_no_key() {
    for api in APIS {
        let name = api.name;
        let response = demo().send(Method::GET, &format!("/{name}/openapi.json"), &[]).await;
        // The server is where its document is.
        let contact = ContactSettings::default();
        let expected: Value = serde_json::from_str(&rest::openapi_json(api, "..", &contact)).unwrap();
        assert!(
            response.ok() == expected,
            "the served document of the {name} API differs from the generated one"
        );
        let page = demo().send(Method::GET, &format!("/{name}/docs"), &[]).await;
        assert_eq!(page.status, 200);
        assert!(page.header("content-type").starts_with("text/html"), "{}", page.header("content-type"));
        let rejected = demo().send(Method::POST, &format!("/{name}/docs"), &[]).await;
        assert_eq!((rejected.status, rejected.header("allow")), (405, "GET, HEAD"));
    }
}

#[tokio::test]
async fn head_returns_the_headers_of_get_without_a_body() {
    let token = format!("Bearer {BUYER}");
    for path in [PAGE, "/v2/wallet", "/v2/nothing", "/v2/listings/browse?limit=0", "/vendor/openapi.json"] {
        let headers = [("authorization", token.as_str()), ("x-request-id", "same")];
        let full = demo().send(Method::GET, path, &headers).await;
        let head = demo().send(Method::HEAD, path, &headers).await;
        assert_eq!(head.status, full.status, "{path}");
        for name in ["etag", "vary", "content-type", "cache-control", "x-request-id"] {
            assert_eq!(head.header(name), full.header(name), "{path}: {name}");
        }
        assert_eq!(head.status, full.status, "{path}");
        if full.status == 200 {
            assert!(head.bytes.is_empty(), "the response to HEAD {path} has a body");
        }
    }
    let anonymous = demo().send(Method::HEAD, "/v2/wallet", &[]).await;
    assert_eq!((anonymous.status, anonymous.header("www-authenticate")), (401, "Bearer"));
}

#[tokio::test]
async fn matching_if_none_match_returns_304() {
    for coding in ["identity", "gzip", "br", "zstd"] {
        let coding = ("accept-encoding", coding);
        let first = get(PAGE, &[coding]).await;
        let tag = first.header("etag").to_owned();
        let strong = tag.trim_start_matches("W/").to_owned();
        assert!(strong.starts_with('"') && strong.ends_with('"') && strong.len() > 2, "{tag}");
        for client_tag in [
            tag.clone(),
            strong.clone(),
            format!("W/{strong}"),
            format!("\"other\", {tag}"),
            format!("W/\"a\",{tag},\"b\""),
            strong.trim_matches('"').to_owned(),
            "*".to_owned(),
        ] {
            let second = get(PAGE, &[coding, ("if-none-match", &client_tag)]).await;
            assert_eq!(second.status, 304, "{coding:?}: {client_tag}");
            assert!(second.bytes.is_empty(), "{coding:?}: {client_tag}");
            assert_eq!(second.header("etag").trim_start_matches("W/"), strong, "{coding:?}: {client_tag}");
            assert_eq!(second.header("vary"), first.header("vary"), "{coding:?}: {client_tag}");
            assert!(!second.header("x-request-id").is_empty());
        }
        for client_tag in ["\"other\"", "W/\"other\"", "", "other"] {
            let second = get(PAGE, &[coding, ("if-none-match", client_tag)]).await;
            assert_eq!(
                (second.status, second.bytes.len()),
                (200, first.bytes.len()),
                "{coding:?}: {client_tag}"
            );
        }
    }
    // An ETag does not replace a key, and errors have no ETag.
    let rejected = demo().send(Method::GET, PAGE, &[("if-none-match", "*")]).await;
    assert_eq!((rejected.status, rejected.header("etag")), (401, ""));
    let missing = get("/v2/nothing", &[("if-none-match", "*")]).await;
    assert_eq!(missing.status, 404);
    // Different contents have different ETags.
    assert_ne!(
        get(PAGE, &[]).await.header("etag"),
        get("/v2/listings/browse?limit=49", &[]).await.header("etag")
    );
}

#[tokio::test]
async fn changed_response_has_a_new_etag() {
    let market = TestMarket::demo();
    let path = "/v2/listings/browse/access";
    let before = market.get("mkt_demo_locked", path).await;
    let client_tag = before.header("etag").to_owned();
    let token = ("authorization", "Bearer mkt_demo_locked");
    let same = market.send(Method::GET, path, &[token, ("if-none-match", &client_tag)]).await;
    assert_eq!(same.status, 304);
    market.seed_json(&json!({"listings": [{
        "key": "surface-new", "team": "sable-and-finch", "title": "New", "description": "New", "price_usd": 5,
        "assets": ["surface-asset"], "created_at": "-P2D",
        "history": [
            {"event": "submitted", "at": "-PT3H"}, {"event": "approved", "at": "-PT2H"}, {"event": "published", "at": "-PT1H"}
        ],
    }], "assets": [{
        "key": "surface-asset", "team": "sable-and-finch", "sku": "raw_data", "title": "Files", "created_at": "-P2D",
        "raw_data": {"file_count": 1},
    }]}));
    let changed = market.send(Method::GET, path, &[token, ("if-none-match", &client_tag)]).await;
    assert_eq!(changed.status, 200);
    assert_eq!(changed.json()["published_count"], 2);
    assert_ne!(changed.header("etag"), client_tag);
}

/// Returns the decoded bytes of a response.
fn decoded(response: &TestResponse) -> Vec<u8> {
    let mut plain = Vec::new();
    match response.header("content-encoding") {
        "" => plain.clone_from(&response.bytes),
        "gzip" => drop(flate2::read::GzDecoder::new(&*response.bytes).read_to_end(&mut plain).unwrap()),
        "br" => drop(brotli::Decompressor::new(&*response.bytes, 4096).read_to_end(&mut plain).unwrap()),
        "zstd" => plain = zstd::stream::decode_all(&*response.bytes).unwrap(),
        other => panic!("the content encoding {other} was not requested"),
    }
    plain
}

#[tokio::test]
async fn every_content_encoding_decodes_to_the_same_bytes() {
    for path in [PAGE, "/v2/inventory-tags", "/buyer/openapi.json"] {
        let plain = get(path, &[]).await;
        assert_eq!(plain.header("content-encoding"), "", "{path}");
        for (accepted, expected) in [
            ("gzip", "gzip"),
            ("br", "br"),
            ("zstd", "zstd"),
            ("GZIP", "gzip"),
            ("gzip;q=1.0, br;q=0", "gzip"),
            ("br;q=0.1, gzip;q=0.9", "gzip"),
            ("deflate, gzip;q=0.5", "gzip"),
            ("identity", ""),
            ("deflate", ""),
            ("gzip;q=0", ""),
            ("", ""),
            ("*;q=0", ""),
            (";;;,,q=1", ""),
        ] {
            let response = get(path, &[("accept-encoding", accepted)]).await;
            assert_eq!(response.status, 200, "{path}: {accepted}");
            assert_eq!(response.header("content-encoding"), expected, "{path}: {accepted}");
            assert!(decoded(&response) == plain.bytes, "{path}: {accepted} decodes to other bytes");
            assert!(expected.is_empty() || response.bytes.len() < plain.bytes.len(), "{path}: {accepted}");
            assert!(response.header("vary").to_lowercase().contains("accept-encoding"), "{path}: {accepted}");
        }
        let any = get(path, &[("accept-encoding", "gzip, deflate, br, zstd")]).await;
        assert_ne!(any.header("content-encoding"), "", "{path}");
        assert!(decoded(&any) == plain.bytes, "{path}");
    }
    // Small responses are not compressed.
    assert_eq!(get("/v2/wallet", &[("accept-encoding", "gzip")]).await.header("content-encoding"), "");
}

#[tokio::test]
async fn cors_headers_are_sent_only_for_configured_origins() {
    let (origin, own_page) = (("origin", "https://app.example"), ("origin", "http://localhost:3000"));
    let requested_method = ("access-control-request-method", "GET");
    for response in [
        demo().send(Method::GET, "/v2/domains", &[own_page, ("x-api-key", BUYER)]).await,
        demo().send(Method::OPTIONS, "/v2/domains", &[own_page, requested_method]).await,
    ] {
        let has_cors_headers =
            response.headers.keys().any(|name| name.as_str().starts_with("access-control-"));
        assert!(!has_cors_headers, "{:?}", response.headers);
    }
    let market = TestMarket::with_settings(|settings| {
        settings.server.cors_origins = vec!["https://app.example".to_owned()];
        settings.keys.allow_fixture_keys = false;
    });
    for (path, status) in [("/v2/domains", 401), ("/v2/nothing", 404), ("/vendor/openapi.json", 200)] {
        let response = market.send(Method::GET, path, &[origin]).await;
        assert_eq!(response.status, status, "{path}");
        assert_eq!(response.header("access-control-allow-origin"), "https://app.example", "{path}");
        let varies = response
            .headers
            .get_all("vary")
            .iter()
            .any(|value| value.to_str().unwrap().to_lowercase().contains("origin"));
        assert!(varies, "{path}: {:?}", response.headers);
        let other = market.send(Method::GET, path, &[("origin", "https://evil.example")]).await;
        assert_eq!(other.status, status, "{path}: an origin is not a credential");
        assert_eq!(other.header("access-control-allow-origin"), "", "{path}");
    }
    let preflight = market.send(Method::OPTIONS, "/v2/domains", &[origin, requested_method]).await;
    assert!((200..300).contains(&preflight.status), "{}", preflight.status);
    assert!(preflight.header("access-control-allow-methods").contains("GET"));
    assert_eq!(preflight.header("access-control-allow-origin"), "https://app.example");
    // A page reads what it has written, at a replica, too.
    for name in ["access-control-allow-headers", "access-control-expose-headers"] {
        assert!(preflight.header(name).split(", ").any(|header| header == "market-position"), "{name}");
    }
    // It learns the name of a file, and what to send after a refusal.
    let response = market.send(Method::GET, "/v2/wallet", &[origin]).await;
    let exposed: Vec<&str> = response.header("access-control-expose-headers").split(", ").collect();
    for name in ["content-disposition", "www-authenticate", "allow"] {
        assert!(exposed.contains(&name), "{name}: {exposed:?}");
    }
}
