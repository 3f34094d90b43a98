//! Serves the OpenAPI documents as JSON and as an interactive HTML reference that loads no external
//! resources.

use std::sync::{Arc, LazyLock};

use poem::{Endpoint, Response, endpoint::make_sync, http::header};
use poem_openapi::OpenApiService;
use serde_json::{Value, json};

use crate::{
    http_server::{coding::StaticContent, response_body::SharedBody},
    rest::{
        api::Api,
        page_parts::{PAGE_STYLE, escape_html, icon},
        router,
    },
};

/// The policy of the reference: it loads nothing, and sends requests only to the server that it came from.
const POLICY: &str = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; \
                      connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Serves a document as JSON, which the first request creates.
pub fn json_page(document: Arc<Value>) -> impl Endpoint<Output = Response> + 'static {
    static_page("application/json", None, move || document.to_string())
}

/// Serves the interactive reference of the document of an API, with an API key in its key box, and with links to the
/// references of other APIs. The first request creates it. The address of the server is relative, so the page works by
/// any host name under which it is reached.
pub fn html_page(
    api: &'static Api,
    document: Arc<Value>,
    key: &'static str,
    linked: Vec<&'static Api>,
) -> impl Endpoint<Output = Response> + 'static {
    static_page("text/html; charset=utf-8", Some(POLICY), move || {
        reference_html(&document, key, &api_links(api, &linked))
    })
}

/// Returns the links from the reference of an API to those of all.
fn api_links(from: &Api, linked: &[&Api]) -> String {
    let link = |api: &&Api| {
        let current = if api.name == from.name { " aria-current=\"page\"" } else { "" };
        format!("<a href=\"..{}\"{current}>{}</a>", api.docs_path(), api.display_name())
    };
    linked.iter().map(link).collect::<Vec<_>>().join(" ")
}

/// Removes the examples of parameters that can be left out, since the reference sends them unless a reader removes them:
/// a list begins without filters. Their descriptions state them instead.
fn describe_examples(document: &mut Value) {
    let paths = document.get_mut("paths").and_then(Value::as_object_mut);
    let paths = paths.into_iter().flat_map(|paths| paths.values_mut());
    let operations = paths.filter_map(Value::as_object_mut).flat_map(|path| path.values_mut());
    let parameters = operations.filter_map(|operation| operation.get_mut("parameters")?.as_array_mut());
    for parameter in parameters.flatten().filter(|parameter| parameter["required"] != true) {
        let Some(example) = parameter.as_object_mut().and_then(|fields| fields.remove("example")) else {
            continue;
        };
        let values = example.as_array().map_or_else(|| std::slice::from_ref(&example), Vec::as_slice);
        let values = values.iter().map(|value| match value.as_str() {
            Some(text) => format!("`{text}`"),
            None => format!("`{value}`"),
        });
        let example = values.collect::<Vec<_>>().join(", ");
        let description = parameter["description"].as_str().unwrap_or_default();
        parameter["description"] = json!(format!("{description}\n\nExample: {example}"));
    }
}

fn reference_html(document: &Value, key: &str, api_links: &str) -> String {
    let empty = OpenApiService::new((), "", "").swagger_ui_html();
    let between = |start: &str, end: &str| {
        let (_, rest) = empty.split_once(start).expect("the framework's page has this element");
        rest.split_once(end).map_or(rest, |(content, _)| content)
    };
    let mut document = document.clone();
    document["servers"] = json!([{"url": ".."}]);
    describe_examples(&mut document);
    // The document is embedded in a `<script>` element, which the characters `</` could close.
    let spec = document.to_string().replace("</", "<\\/");
    let values = [
        ("title", escape_html(document["info"]["title"].as_str().unwrap_or_default())),
        ("icon", icon()),
        ("ui_style", between("<style charset=\"UTF-8\">", "</style>").to_owned()),
        ("page_style", PAGE_STYLE.to_owned()),
        ("docs_style", include_str!("docs.css").to_owned()),
        ("api_links", api_links.to_owned()),
        ("demo_key", escape_html(key)),
        ("ui_script", between("<script charset=\"UTF-8\">", "</script>").to_owned()),
        ("spec", spec),
        ("docs_script", include_str!("docs.js").to_owned()),
    ];
    // Each value replaces the first remaining placeholder, so that text in a value is never replaced.
    let mut page = String::new();
    let mut rest = include_str!("docs.html");
    for (name, value) in values {
        let (before, after) = rest.split_once(&format!("{{{name}}}")).expect("the template has this place");
        page.push_str(before);
        page.push_str(&value);
        rest = after;
    }
    page + rest
}

/// Serves content that the first request creates.
pub fn static_page(
    content_type: &'static str,
    policy: Option<&'static str>,
    create: impl FnOnce() -> String + Send + 'static,
) -> impl Endpoint<Output = Response> + 'static {
    let content = LazyLock::new(move || StaticContent::new(create()));
    router::get_only(make_sync(move |_| {
        let response = Response::builder().header(header::CONTENT_TYPE, content_type);
        let mut response = match policy {
            Some(policy) => response.header(header::CONTENT_SECURITY_POLICY, policy).body(content.bytes()),
            None => response.body(content.bytes()),
        };
        response.set_data(StaticContent::clone(&content));
        response.set_data(SharedBody);
        response
    }))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use poem::{EndpointExt, IntoResponse, http::StatusCode, test::TestClient};
    use tokio::time::timeout;

    use super::*;
    use crate::{
        rest::{APIS, VENDOR},
        web::{
            responses::{compression, etag},
            shares::transfer_limits::tests::{get, with_memory},
        },
    };

    #[tokio::test]
    async fn reference_embeds_document_and_loads_nothing_external() {
        let document =
            json!({"info": {"title": "Things {spec}"}, "x": "</script>", "servers": [{"url": "http://a"}]});
        let page = html_page(&VENDOR, Arc::new(document), "mkt_demo_a\"b", APIS.to_vec());
        let response = TestClient::new(page).get("/").send().await;
        response.assert_content_type("text/html; charset=utf-8");
        let policy = response.0.headers()["content-security-policy"].to_str().unwrap().to_owned();
        assert!(policy.contains("connect-src 'self';"), "{policy}");
        let page = response.0.into_body().into_string().await.unwrap();
        assert!(page.starts_with("<!doctype html>"));
        assert!(
            page.contains("<title>Things {spec}</title>")
                && page.contains("data-demo-key=\"mkt_demo_a&quot;b\"")
        );
        let spec = r#"{"info":{"title":"Things {spec}"},"servers":[{"url":".."}],"x":"<\/script>"}"#;
        assert!(page.contains(&format!("const spec = {spec};")), "the server's address is relative");
        for external in ["<script src", "<link rel=\"stylesheet", "@import", "url(http", "href=\"http"] {
            assert!(!page.contains(external), "{external}");
        }
        assert!(page.contains("<link rel=\"icon\" href=\"data:image/svg+xml,%3Csvg"));
        assert!(page.contains("prefers-color-scheme: dark"));
    }

    #[tokio::test]
    async fn document_is_compressed_and_hashed_once() {
        let page = json_page(Arc::new(json!({"info": "some words that come again and again ".repeat(100)})));
        let client = TestClient::new(page.around(etag::layer).around(compression::layer));
        for coding in ["zstd", "br", "gzip"] {
            let get = || client.get("/").header(header::ACCEPT_ENCODING, coding);
            let first = get().send().await.0;
            let tag = first.headers()[header::ETAG].clone();
            assert_eq!(first.headers()[header::CONTENT_ENCODING], coding);
            let first = first.into_body().into_bytes().await.unwrap();
            let second = get().send().await.0.into_body().into_bytes().await.unwrap();
            assert_eq!(first.as_ptr(), second.as_ptr(), "the same bytes in memory");
            let response = get().header(header::IF_NONE_MATCH, tag).send().await;
            response.assert_status(StatusCode::NOT_MODIFIED);
        }
    }

    /// Content that is the same in all responses takes no memory per response, whether compressed or not.
    #[tokio::test(start_paused = true)]
    async fn static_pages_do_not_take_the_memory_of_others() {
        let (_, transfers) = with_memory(1);
        // Does not become shorter than what is counted when it is compressed.
        let random: Vec<u64> =
            (0..100_000_u64).map(|number| number.wrapping_mul(number) << 40 ^ number).collect();
        let page = json_page(Arc::new(json!(random)));
        let app = page
            .around(compression::layer)
            .around(move |inner, request| Arc::clone(&transfers).layer(inner, request));
        let mut unread = Vec::new();
        for network in 0..20 {
            for coding in ["", "br"] {
                let response = get(&app, network, coding).await;
                assert_eq!(response.status(), StatusCode::OK);
                unread.push(response);
            }
        }
    }

    /// Also a response that is not in a temporary file is compressed as heavy work, if it is large.
    #[tokio::test(start_paused = true)]
    async fn compressing_a_large_response_is_heavy_work() {
        let (_, transfers) = with_memory(64);
        let shared = Arc::clone(&transfers);
        let body = || "some words ".repeat(30_000).with_content_type("application/json").into_response();
        let app = make_sync(move |_| body())
            .around(compression::layer)
            .around(move |inner, request| Arc::clone(&shared).layer(inner, request));
        let permits = [0, 1].map(|_| transfers.take_heavy_permit());
        let mut response = Box::pin(get(&app, 1, "br"));
        assert!(timeout(Duration::from_secs(1), &mut response).await.is_err(), "it waits for a permit");
        drop(permits);
        assert_eq!(response.await.header(header::CONTENT_ENCODING), Some("br"));
    }
}
