//! The requests that the documents state by example: every parameter has its example or its default. The docs pages have
//! the key.

use marketplace::{config::ContactSettings, mcp, rest};
use poem::http::Method;
use serde_json::Value;

use crate::harness::{BASE, demo};

/// Operations whose lists are empty in the demo, because fixtures cannot describe the records.
const EMPTY_IN_THE_DEMO: &[&str] = &[];

/// Returns the texts of a parameter's prefilled values; none if it is left out.
fn prefilled_values(parameter: &Value) -> Vec<String> {
    let value = parameter.get("example").or_else(|| parameter["schema"].get("default"));
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    match value {
        Some(Value::Array(values)) => values.iter().map(text).collect(),
        Some(value) => vec![text(value)],
        None => Vec::new(),
    }
}

/// Returns the prefilled path and query of an operation.
fn prefilled_path(path: &str, operation: &Value) -> String {
    let mut path = path.to_owned();
    let mut query = form_urlencoded::Serializer::new(String::new());
    for parameter in operation["parameters"].as_array().into_iter().flatten() {
        let name = parameter["name"].as_str().unwrap();
        for value in prefilled_values(parameter) {
            match parameter["in"].as_str() {
                Some("path") => path = path.replace(&format!("{{{name}}}"), &value),
                Some("query") => _ = query.append_pair(name, &value),
                _ => {}
            }
        }
    }
    assert!(!path.contains('{'), "{path}: a path parameter has no example");
    match query.finish() {
        query if query.is_empty() => path,
        query => format!("{path}?{query}"),
    }
}

/// Whether a response shows something: an element of a list, or a fact if it has no list.
fn has_content(body: &Value) -> bool {
    let fields = body.as_object().unwrap();
    let lists: Vec<&Vec<Value>> = fields.values().filter_map(Value::as_array).collect();
    match fields.get("latest_run") {
        Some(run) => !run.is_null(),
        None => lists.is_empty() || lists.iter().any(|list| !list.is_empty()),
    }
}

#[tokio::test]
async fn every_prefilled_get_has_content_in_the_demo() {
    let mut without_content = Vec::new();
    let mut count = 0;
    for (api, key) in [(&rest::VENDOR, "mkt_demo_vendor"), (&rest::BUYER, "mkt_demo_buyer")] {
        let contact = ContactSettings::default();
        let document: Value = serde_json::from_str(&rest::openapi_json(api, BASE, &contact)).unwrap();
        for (path, item) in document["paths"].as_object().unwrap() {
            let Some(operation) = item.get("get") else { continue };
            let path = prefilled_path(path, operation);
            let response = demo().get(key, &path).await;
            let is_empty = EMPTY_IN_THE_DEMO.iter().any(|id| operation["operationId"] == *id);
            if response.status != 200 || has_content(&response.json()) == is_empty {
                without_content.push(format!("{} {path}", response.status));
            }
            count += 1;
        }
    }
    assert!(count > 60, "{count}");
    assert!(without_content.is_empty(), "{without_content:#?}");
}

#[tokio::test]
async fn pages_of_a_server_without_the_demo_have_no_key() {
    for path in ["/", "/vendor/docs", "/buyer/docs"] {
        let page = demo().send(Method::GET, path, &[]).await;
        assert_eq!(page.status, 200, "{path}");
        let text = String::from_utf8(page.bytes).unwrap();
        // The documents say nothing about the demo either, so that the same binary serves them everywhere.
        assert!(!text.contains("mkt_demo"), "{path}");
    }
}

#[tokio::test]
async fn pages_of_the_demo_have_its_keys() {
    let market = demo().market();
    let app = mcp::App::new(rest::App::new(market.settings(), true)).serve(market.clone(), BASE);
    for (path, key) in
        [("/", "mkt_demo_both"), ("/vendor/docs", "mkt_demo_vendor"), ("/buyer/docs", "mkt_demo_buyer")]
    {
        let page = poem::test::TestClient::new(&app).get(path).send().await;
        page.assert_status_is_ok();
        let text = page.0.into_body().into_string().await.unwrap();
        assert!(text.contains(key), "{path}");
        assert!(path == "/" || text.contains(&format!("data-demo-key=\"{key}\"")), "{path}");
    }
}
