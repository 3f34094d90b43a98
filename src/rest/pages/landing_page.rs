//! The landing page at `/`: a description of the market, links to the sign-in page and to its parts, and the demo keys. As
//! HTML, or as JSON for clients that request it.

use std::fmt::Write;

use poem::{Endpoint, Request, Response, endpoint::make_sync, http::header};
use serde_json::{Value, json};

use crate::{
    domain::principals::PrincipalKind,
    fixtures::{DEMO_KEYS, DEMO_OPERATOR_KEY},
    rest::{api::Api, page_parts, pages::guides::GUIDES, router},
    web::{accept, link_base::LinkBase},
};

const TEMPLATE: &str = include_str!("landing.html");

/// The demo key in the example of a request.
const EXAMPLE_KEY: &str = DEMO_KEYS[1].0;

/// What people sign in to, below the path of the web app.
const SIGN_IN: &str = "/sign-in";

/// Serves the landing page, with the demo keys if the server has the demo market. `console` is the path of the web app, if the
/// market has one.
pub fn landing_page(
    apis: Vec<&'static Api>,
    link_base: LinkBase,
    console: Option<&'static str>,
    is_demo: bool,
) -> impl Endpoint<Output = Response> + 'static {
    router::get_only(make_sync(move |request: Request| {
        let base_url = link_base.for_request(&request);
        let response = Response::builder().header(header::VARY, "Accept");
        if accept::prefers_json(request.headers()) {
            let body = landing_json(&apis, &base_url, console, is_demo).to_string();
            response.content_type("application/json").body(body)
        } else {
            let response = response.header(header::CONTENT_SECURITY_POLICY, page_parts::POLICY);
            let page = landing_html(&apis, &base_url, console, is_demo);
            response.content_type("text/html; charset=utf-8").body(page)
        }
    }))
}

fn landing_json(apis: &[&Api], base_url: &str, console: Option<&str>, is_demo: bool) -> Value {
    let demo_keys = demo_keys(apis).filter(|_| is_demo);
    let apis = apis.iter().map(|api| {
        json!({
            "name": api.name,
            "version": api.version,
            "docs": format!("{base_url}{}", api.docs_path()),
            "openapi": format!("{base_url}{}", api.document_path()),
        })
    });
    let guides = GUIDES
        .iter()
        .map(|guide| json!({"title": guide.title(), "url": format!("{base_url}{}", guide.path())}));
    let demo_keys = demo_keys.map(|(key, meaning)| json!({"key": key, "description": meaning}));
    json!({
        "name": "Data marketplace",
        "version": env!("CARGO_PKG_VERSION"),
        "console": console.map(|path| format!("{base_url}{path}")),
        "apis": apis.collect::<Vec<_>>(),
        "agent_server": format!("{base_url}/v2/mcp/"),
        "guides": guides.collect::<Vec<_>>(),
        "demo_keys": demo_keys.collect::<Vec<_>>(),
    })
}

/// Builds the page. `base_url` has only characters that host names and the settings allow.
fn landing_html(apis: &[&Api], base_url: &str, console: Option<&str>, is_demo: bool) -> String {
    let mut rows = String::new();
    for api in apis {
        let (name, docs, document) = (api.display_name(), api.docs_path(), api.document_path());
        // Writing to a `String` does not fail.
        let _ = writeln!(
            rows,
            "<tr><td><a href=\"{}\">{name}</a></td><td>Version {}</td><td>Interactive reference, <a href=\"{}\">OpenAPI \
             document</a></td></tr>",
            docs.trim_start_matches('/'),
            api.version,
            document.trim_start_matches('/'),
        );
    }
    let guides = GUIDES
        .iter()
        .map(|guide| format!("<a href=\"{}\">{}</a>", guide.path().trim_start_matches('/'), guide.title()));
    let mut demo_keys = "<p>Keys of this demo market:</p>\n<table>\n".to_owned();
    for (key, meaning) in self::demo_keys(apis) {
        let _ = writeln!(demo_keys, "<tr><td><code>{key}</code></td><td>{meaning}</td></tr>");
    }
    demo_keys.push_str("</table>");
    let door = console.map_or_else(String::new, |path| door(path, is_demo));
    let (key, demo_keys) = if is_demo { (EXAMPLE_KEY, demo_keys.as_str()) } else { ("&lt;API_KEY&gt;", "") };
    TEMPLATE
        .replace("{icon}", &page_parts::icon())
        .replace("{page_style}", page_parts::PAGE_STYLE)
        .replace("{door}", &door)
        .replace("{apis}", rows.trim_end())
        .replace("{guides}", &guides.collect::<Vec<_>>().join(",\n"))
        .replace("{key}", key)
        .replace("{demo_keys}", demo_keys)
        .replace("{version}", env!("CARGO_PKG_VERSION"))
        .replace("{base_url}", &page_parts::escape_html(base_url))
}

/// Returns where people sign in.
fn door(console: &str, is_demo: bool) -> String {
    let note = if is_demo {
        "Look around as one of the demo teams, without a key of your own."
    } else {
        "You need a key of your team for the web app. The first one comes from the market."
    };
    let address = format!("{}{SIGN_IN}", console.trim_start_matches('/'));
    format!("<p class=\"door\"><a href=\"{address}\" class=\"button\">Sign in</a> <span>{note}</span></p>")
}

/// Returns the keys of the demo market that these APIs take.
fn demo_keys(apis: &[&Api]) -> impl Iterator<Item = &'static (&'static str, &'static str)> {
    let has_operators = apis.iter().any(|api| api.keys == PrincipalKind::Operator);
    DEMO_KEYS.iter().chain(has_operators.then_some(&DEMO_OPERATOR_KEY))
}

#[cfg(test)]
mod tests {
    use poem::test::TestClient;

    use super::*;
    use crate::config::Settings;

    fn client(is_demo: bool) -> TestClient<impl Endpoint<Output = Response>> {
        let link_base = LinkBase::new(&Settings::default(), "http://192.0.2.7:8080");
        TestClient::new(landing_page(crate::rest::APIS.to_vec(), link_base, Some("/console"), is_demo))
    }

    #[tokio::test]
    async fn landing_page_is_html_or_json() {
        for (accept, content_type) in [
            ("text/html,application/xhtml+xml,*/*;q=0.8", "text/html; charset=utf-8"),
            ("*/*", "text/html; charset=utf-8"),
            ("application/json", "application/json"),
            ("application/json, text/plain, */*", "application/json"),
            ("text/html;q=0.5, application/json", "application/json"),
            ("text/html, application/json;q=0.5", "text/html; charset=utf-8"),
        ] {
            let response = client(true).get("/").header("accept", accept).send().await;
            response.assert_status_is_ok();
            response.assert_content_type(content_type);
            response.assert_header("vary", "Accept");
        }
    }

    #[tokio::test]
    async fn landing_page_links_to_everything_on_the_host_of_the_request() {
        let json = client(true)
            .get("/")
            .header("accept", "application/json")
            .header("host", "localhost:9000")
            .send()
            .await
            .0
            .into_body()
            .into_string()
            .await
            .unwrap();
        let json: Value = serde_json::from_str(&json).unwrap();
        assert_eq!(json["apis"][1]["docs"], "http://localhost:9000/buyer/docs");
        assert_eq!(json["agent_server"], "http://localhost:9000/v2/mcp/");
        assert_eq!(json["console"], "http://localhost:9000/console");
        assert_eq!(json["version"], env!("CARGO_PKG_VERSION"));
        assert_eq!(json["demo_keys"].as_array().unwrap().len(), DEMO_KEYS.len() + 1);
        let html = |is_demo| async move {
            let response = client(is_demo).get("/").header("host", "evil.example").send().await;
            response.0.into_body().into_string().await.unwrap()
        };
        let demo = html(true).await;
        assert!(demo.contains("http://192.0.2.7:8080/v2/mcp/") && demo.contains("mkt_demo_buyer"));
        assert!(!demo.contains("evil.example") && !demo.contains("<script"));
        assert!(!html(false).await.contains("mkt_demo"));
    }

    #[tokio::test]
    async fn only_a_market_with_a_web_app_has_a_door() {
        for (console, is_there) in [(Some("/console"), true), (None, false)] {
            let link_base = LinkBase::new(&Settings::default(), "http://192.0.2.7:8080");
            let client = TestClient::new(landing_page(crate::rest::APIS.to_vec(), link_base, console, false));
            let html = client.get("/").send().await.0.into_body().into_string().await.unwrap();
            assert_eq!(html.contains("href=\"console/sign-in\""), is_there);
            assert!(!html.contains("{door}"));
        }
    }
}
