//! The server's description of itself, before and after a connection.

use base64::{Engine, engine::general_purpose::STANDARD};
use poem::http::Method;
use serde_json::{Value, json};

use super::{initialize, result};
use crate::{
    contract::cases::{BOTH, BUYER, VENDOR},
    harness::{BASE, TestResponse, demo},
};

const CARD: &str = "/v2/mcp/server-card";
const CATALOG: &str = "/.well-known/mcp/catalog.json";

async fn get(path: &str, host: &str) -> TestResponse {
    demo().send(Method::GET, path, &[("host", host)]).await
}

#[tokio::test]
async fn server_card_is_public_and_says_how_to_connect() {
    let response = get(CARD, "market.test").await;
    assert_eq!(response.header("content-type"), "application/mcp-server-card+json");
    assert_eq!(response.header("cache-control"), "public, max-age=3600");
    assert!(!response.header("etag").is_empty());
    let card = response.ok();
    let required = ["$schema", "name", "version", "description"];
    assert!(required.iter().all(|field| card[field].as_str().is_some_and(|text| !text.is_empty())), "{card}");
    assert_eq!(card["name"], "test.market/marketplace");
    let remote = &card["remotes"][0];
    assert_eq!(remote["url"], format!("{BASE}/v2/mcp/"));
    assert_eq!(remote["headers"][0]["isSecret"], true);
    assert!(remote["supportedProtocolVersions"].as_array().unwrap().contains(&json!("2026-07-28")));
    assert_eq!(get("/.well-known/mcp/server-card.json", "localhost:1").await.ok(), card);
    let catalog = get(CATALOG, "market.test").await;
    assert_eq!(catalog.header("content-type"), "application/json");
    let entry = catalog.ok()["entries"][0].clone();
    assert_eq!(entry["url"], format!("{BASE}{CARD}"));
    assert_eq!(entry["type"], "application/mcp-server-card+json");
    assert_eq!(entry["identifier"], "urn:air:market.test:marketplace");
}

#[tokio::test]
async fn server_card_has_the_rules_of_the_agent_server() {
    for path in [CARD, CATALOG] {
        assert_eq!(get(path, "evil.example").await.expect_error(421), "bad_request");
        assert_eq!(get(path, "[::1]:80").await.status, 200);
        let posted = demo().send(Method::POST, path, &[("host", "market.test")]).await;
        assert_eq!(
            (posted.expect_error(405).as_str(), posted.header("allow")),
            ("method_not_allowed", "GET")
        );
        let head = demo().send(Method::HEAD, path, &[("host", "market.test")]).await;
        assert_eq!((head.status, head.bytes.len()), (200, 0));
    }
}

#[tokio::test]
async fn server_has_an_icon_and_a_page() {
    let server = initialize(BUYER).await["serverInfo"].clone();
    assert_eq!(server["title"], "Data marketplace");
    assert_eq!(server["websiteUrl"], BASE);
    let icon = &server["icons"][0];
    assert_eq!((&icon["mimeType"], &icon["sizes"]), (&json!("image/svg+xml"), &json!(["any"])));
    let data = icon["src"].as_str().unwrap().strip_prefix("data:image/svg+xml;base64,").unwrap();
    let svg = String::from_utf8(STANDARD.decode(data).unwrap()).unwrap();
    assert!(svg.starts_with("<svg") && !svg.contains("script"), "{svg}");
}

#[tokio::test]
async fn everything_has_a_title() {
    for key in [BOTH, BUYER, VENDOR] {
        for (method, list) in [
            ("tools/list", "tools"),
            ("prompts/list", "prompts"),
            ("resources/list", "resources"),
            ("resources/templates/list", "resourceTemplates"),
        ] {
            let listed = result(demo(), key, method, json!({})).await;
            let entries: &Vec<Value> = listed[list].as_array().unwrap();
            assert!(!entries.is_empty());
            for entry in entries {
                assert!(entry["title"].as_str().is_some_and(|title| !title.is_empty()), "{entry}");
            }
        }
    }
}
