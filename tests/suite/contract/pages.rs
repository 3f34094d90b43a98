//! The pages for people: their links, and the default values of their forms.

use std::collections::BTreeSet;

use marketplace::rest::APIS;
use poem::http::Method;
use serde_json::{Value, json};
use url::Url;

use crate::harness::{TestMarket, demo, patterns::pattern};

const OPERATOR: &str = "mkt_demo_operator";

/// Returns the text of a page.
async fn page(market: &TestMarket, path: &str) -> String {
    let page = market.send(Method::GET, path, &[]).await;
    assert_eq!(page.status, 200, "{path}");
    String::from_utf8(page.bytes).unwrap()
}

/// Returns the paths of the links in a part of a page.
fn links(path: &str, html: &str) -> Vec<String> {
    let here = Url::parse("http://market.test").unwrap().join(path).unwrap();
    let targets = pattern("<a href=\"([^\"]*)\"");
    targets.captures_iter(html).map(|link| here.join(&link[1]).unwrap().path().to_owned()).collect()
}

/// Returns the document in a docs page.
fn document_in(page: &str) -> Value {
    let (_, rest) = page.split_once("<script>const spec = ").unwrap();
    let (document, _) = rest.split_once(";</script>").unwrap();
    serde_json::from_str(document).unwrap()
}

/// Each page of a server, and of a world, links the pages of all APIs that it has, and the landing page, the guides.
#[tokio::test(flavor = "multi_thread")]
async fn pages_link_all_documents_and_guides() {
    let market = TestMarket::demo();
    market.call(OPERATOR, "POST", "/sandbox/v1/worlds", &json!({"name": "one"})).await.expect_status(201);
    for (base, apis) in [("", &APIS[..]), ("/w/one", &APIS[..3])] {
        let docs: Vec<String> = apis.iter().map(|api| format!("{base}/{}/docs", api.name)).collect();
        let mut linked = BTreeSet::new();
        for (api, path) in apis.iter().zip(&docs) {
            let text = page(&market, path).await;
            let (navigation, _) = text.split_once("<nav>").unwrap().1.split_once("</nav>").unwrap();
            let found = links(path, navigation);
            let document = format!("{base}/{}/openapi.json", api.name);
            assert_eq!(found[0], format!("{base}/"), "{path}");
            assert_eq!(found[1..found.len() - 1], docs, "{path}");
            assert_eq!(found.last(), Some(&document), "{path}");
            let current = format!("\" aria-current=\"page\">{}</a>", api.display_name());
            assert_eq!(navigation.matches(" aria-current=").count(), 1, "{path}");
            assert!(navigation.contains(&current), "{path}: {navigation}");
            assert_eq!(document_in(&text)["info"]["version"], api.version, "{path}");
            linked.extend(found);
        }
        let landing_path = format!("{base}/");
        let landing = page(&market, &landing_path).await;
        let found = links(&landing_path, &landing);
        let guides: Vec<&String> = found.iter().filter(|path| path.contains("/guides/")).collect();
        assert!(guides.len() > 10 && guides.contains(&&format!("{base}/guides/start.md")), "{guides:?}");
        let guide = market.send(Method::GET, guides[0], &[]).await;
        assert_eq!(guide.header("content-type"), "text/plain; charset=utf-8");
        assert!(String::from_utf8(guide.bytes).unwrap().starts_with("# "));
        for api in apis {
            let row = format!("{}</a></td><td>Version {}</td>", api.display_name(), api.version);
            assert!(landing.contains(&row), "{row}");
        }
        linked.extend(found);
        for path in linked {
            page(&market, &path).await;
        }
        let json = market.send(Method::GET, &landing_path, &[("accept", "application/json")]).await.ok();
        for (api, shown) in apis.iter().zip(json["apis"].as_array().unwrap()) {
            assert_eq!((&shown["name"], &shown["version"]), (&json!(api.name), &json!(api.version)));
        }
        assert_eq!(json["guides"][0]["title"], "Start");
    }
}

/// Links of the page are relative, so it must not be at the base address of a world, which ends without a slash.
#[tokio::test(flavor = "multi_thread")]
async fn base_address_of_a_world_leads_to_its_landing_page() {
    let market = TestMarket::demo();
    let body = json!({"name": "one"});
    let world = market.call(OPERATOR, "POST", "/sandbox/v1/worlds", &body).await.expect_status(201);
    let base_url = Url::parse(world["base_url"].as_str().unwrap()).unwrap();
    for method in [Method::GET, Method::HEAD] {
        let response = market.send(method, base_url.path(), &[]).await;
        assert_eq!(response.status, 308);
        let target = base_url.join(response.header("location")).unwrap();
        assert_eq!(target.path(), "/w/one/");
        let with_query = market.send(Method::GET, &format!("{}?a=b", base_url.path()), &[]).await;
        assert_eq!((with_query.status, with_query.header("location")), (308, "one/?a=b"));
        assert_eq!(with_query.header("cache-control"), "no-cache", "as on all responses");
        assert!(
            links(target.path(), &page(&market, target.path()).await)
                .contains(&"/w/one/console/sign-in".to_owned())
        );
    }
    let response = market.send(Method::POST, base_url.path(), &[]).await;
    assert_eq!(response.expect_error(405), "method_not_allowed");
}

#[test]
fn version_of_each_api_is_that_of_its_prefix() {
    let versions: Vec<_> = APIS.iter().map(|api| (api.prefix, api.version)).collect();
    assert_eq!(
        versions,
        [("/v2", "2.0.0"), ("/v2", "2.0.0"), ("/operator/v1", "1.0.0"), ("/sandbox/v1", "1.0.0")]
    );
}

/// A reader who changes nothing sees a list without filters. The examples of the document are in the descriptions.
#[tokio::test]
async fn forms_of_docs_pages_begin_without_optional_parameters() {
    let mut described = 0;
    for api in APIS {
        let path = format!("/{}", api.name);
        let shown = document_in(&page(demo(), &format!("{path}/docs")).await);
        let document = demo().send(Method::GET, &format!("{path}/openapi.json"), &[]).await.ok();
        for (path, item) in document["paths"].as_object().unwrap() {
            for (method, operation) in item.as_object().unwrap() {
                let of_page = &shown["paths"][path][method]["parameters"];
                for (index, parameter) in operation["parameters"].as_array().into_iter().flatten().enumerate()
                {
                    let (shown, name) = (&of_page[index], format!("{method} {path}: {}", parameter["name"]));
                    if parameter["required"] == true || parameter["example"].is_null() {
                        assert_eq!(shown, parameter, "{name}");
                        continue;
                    }
                    assert!(shown.get("example").is_none(), "{name}");
                    let description = shown["description"].as_str().unwrap();
                    assert!(description.contains("\n\nExample: `"), "{name}: {description}");
                    described += 1;
                }
            }
        }
        if let Some(browse) = shown["paths"].get("/v2/listings/browse") {
            let parameters = browse["get"]["parameters"].as_array().unwrap();
            let filled = parameters.iter().filter(|parameter| !parameter["schema"]["default"].is_null());
            let query: Vec<String> = filled
                .map(|of| {
                    format!("{}={}", of["name"].as_str().unwrap(), form_value(&of["schema"]["default"]))
                })
                .collect();
            let sent =
                demo().get("mkt_demo_buyer", &format!("/v2/listings/browse?{}", query.join("&"))).await.ok();
            let all = demo().get("mkt_demo_buyer", "/v2/listings/browse").await.ok();
            assert_eq!(sent["counts"], all["counts"], "{query:?}");
        }
    }
    assert!(described > 10, "{described}");
}

/// Returns a value as a form sends it.
fn form_value(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
