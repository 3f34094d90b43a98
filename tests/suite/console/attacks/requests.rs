//! Requests that no page makes: from other sites, by other methods, and for addresses that lead elsewhere.

use marketplace::console::{self, PREFIX};
use poem::http::Method;

use super::{super::path_of, BOTH, BUYER};
use crate::harness::{
    self, TestMarket,
    browser::{Browser, Page},
};

/// Fails if a response can be shown in a frame, or if browsers may guess its type.
#[track_caller]
fn assert_is_guarded(what: &str, page: &Page) {
    let header = |name: &str| page.response.header(name);
    let policy = header("content-security-policy");
    assert!(
        policy.contains("frame-ancestors 'none'") && policy.contains("default-src 'none'"),
        "{what}: {policy:?}"
    );
    assert_eq!(header("x-content-type-options"), "nosniff", "{what}");
    assert_eq!(header("referrer-policy"), "same-origin", "{what}");
    assert!(header("cache-control").contains("no-store") || what.contains("/assets/"), "{what}");
    for name in ["access-control-allow-origin", "access-control-allow-credentials"] {
        assert_eq!(header(name), "", "{what}");
    }
}

#[tokio::test]
async fn every_answer_is_guarded() {
    let market = harness::demo();
    let (browser, stranger) = (Browser::signed_in(market, BOTH).await, Browser::new(market));
    for row in console::pages() {
        let path = path_of(&row);
        for method in [Method::GET, Method::HEAD, Method::POST, Method::PUT, Method::DELETE, Method::OPTIONS]
        {
            if path.ends_with("/sign-out") && method == Method::POST {
                continue;
            }
            for (who, browser) in [("stranger", &stranger), ("team", &browser)] {
                for headers in
                    [&[("sec-fetch-site", "cross-site")][..], &[("origin", "https://evil.example")]]
                {
                    let page = browser.send(method.clone(), &path, headers, String::new()).await;
                    assert_is_guarded(&format!("{who} {method} {path} {}", page.status()), &page);
                }
            }
        }
        assert_is_guarded(&path, &browser.get(&format!("{path}?format=csv")).await);
    }
    let page = browser.open("/console").await;
    let asset = page.text.split("href=\"").find(|text| text.starts_with("/console/assets/")).unwrap();
    let asset = asset.split('"').next().unwrap();
    assert_is_guarded(asset, &browser.get(asset).await);
    for path in [
        "/console/",
        "/console/nowhere",
        "/console/%ff",
        "/console/assets/x.js",
        "/console/..%2f",
        "/console//x",
    ] {
        assert_is_guarded(path, &browser.get(path).await);
        assert_is_guarded(path, &stranger.send(Method::POST, path, &[], "x".repeat(300_000)).await);
    }
}

#[tokio::test]
async fn other_methods_do_nothing() {
    let browser = Browser::signed_in(harness::demo(), BOTH).await;
    for row in console::pages() {
        for method in
            [Method::PUT, Method::DELETE, Method::PATCH, Method::OPTIONS, Method::TRACE, Method::CONNECT]
        {
            if method == Method::PUT && !row.is_shown && !row.has_form {
                continue;
            }
            let page = browser.send(method.clone(), &path_of(&row), &[], String::new()).await;
            assert_eq!(page.status(), 405, "{method} {}", row.path);
            let allowed = page.response.header("allow");
            assert_eq!(allowed.contains("POST"), row.has_form, "{}: {allowed}", row.path);
            assert_eq!(allowed.contains("GET"), row.is_shown, "{}: {allowed}", row.path);
        }
        if !row.has_form {
            let page = browser.post(&path_of(&row), &[]).await;
            assert_eq!(page.status(), 405, "{}", row.path);
        }
        if !row.is_shown {
            assert_eq!(browser.get(&path_of(&row)).await.status(), 405, "{}", row.path);
        }
    }
}

#[tokio::test]
async fn forms_of_other_origins_are_refused_for_everybody() {
    let market = harness::demo();
    let (browser, stranger) = (Browser::signed_in(market, BUYER).await, Browser::new(market));
    let host = ("host", "market.test");
    for headers in [
        &[("sec-fetch-site", "cross-site"), ("origin", "http://market.test"), host][..],
        &[("sec-fetch-site", "same-site"), ("origin", "http://shop.market.test"), host],
        &[("sec-fetch-site", "same-origin"), ("sec-fetch-site", "cross-site"), host],
        &[("sec-fetch-site", ""), host],
        &[("sec-fetch-site", "SAME-ORIGIN, none"), host],
        &[("origin", "http://shop.market.test"), host],
        &[("origin", "http://market.test.evil.example"), host],
        &[("origin", "http://market.test:8080"), host],
        &[("origin", "https://evil.example/http://market.test"), host],
        &[("origin", "null"), host],
        &[("origin", "file://"), host],
        &[("origin", "http://market.test"), ("origin", "https://evil.example"), host],
    ] {
        for (path, browser) in [
            ("/console/sign-in", &stranger),
            ("/console/sign-out", &browser),
            ("/console/wallet/buy-credits", &browser),
            ("/console/settings/sessions/end-others", &browser),
        ] {
            let body = format!("key={BUYER}&amount=10&form_key=x");
            let page = browser.send(Method::POST, path, headers, body).await;
            assert_eq!(page.status(), 403, "{headers:?} {path}: {}", page.visible());
            assert!(page.response.headers.get("set-cookie").is_none(), "{path}");
        }
    }
    assert_eq!(browser.get("/console/catalog").await.status(), 200, "nobody was signed out");
}

#[tokio::test]
async fn bodies_of_other_types_are_no_forms() {
    let browser = Browser::signed_in(harness::demo(), BUYER).await;
    for content_type in ["application/json", "text/plain", "multipart/form-data; boundary=x", "text/xml", ""]
    {
        for path in ["/console/wallet/buy-credits", "/console/sign-in"] {
            let headers = [("sec-fetch-site", "same-origin"), ("content-type", content_type)];
            let body = format!("key={BUYER}&amount=10&form_key=x");
            let page = browser.send_typed(path, &headers, body).await;
            assert_eq!(page.status(), 400, "{content_type:?} to {path}: {}", page.visible());
        }
    }
}

#[tokio::test]
async fn no_address_leads_elsewhere() {
    let market = harness::demo();
    let stranger = Browser::new(market);
    for next in [
        "//evil.example",
        "///evil.example",
        "////evil.example",
        "https://evil.example",
        "https:evil.example",
        "\\\\evil.example",
        "/\\evil.example",
        "\t//evil.example",
        "/\t/evil.example",
        "/\n/evil.example",
        "\u{0}//evil.example",
        "javascript:alert(1)",
        "data:text/html,x",
        "/..//evil.example",
        "/%2f%2fevil.example",
        "/@evil.example",
        "@evil.example",
        ".evil.example",
        ":80@evil.example",
        "/\r\nSet-Cookie: a=b",
        "/x?y=\r\nLocation: https://evil.example",
        "/\u{202E}",
        "/\u{2028}x",
    ] {
        let answer = stranger.post("/console/sign-in", &[("key", BUYER), ("next", next)]).await;
        let location = answer.location();
        let rest = location.strip_prefix(PREFIX).unwrap_or_else(|| panic!("{next:?}: {location}"));
        assert!(rest.is_empty() || rest.starts_with('/'), "{next:?}: {location}");
        let base = url::Url::parse("http://market.test/console/sign-in").unwrap();
        let resolved = base.join(location).unwrap();
        assert_eq!(resolved.host_str(), Some("market.test"), "{next:?}");
        assert!(!resolved.path().starts_with("//"), "{next:?}: {resolved}");
        assert!(answer.response.headers.iter().all(|(_, value)| !value.as_bytes().contains(&b'\n')));
    }
    let query =
        |next: &str| form_urlencoded::Serializer::new(String::new()).append_pair("next", next).finish();
    let page = stranger.get(&format!("/console/sign-in?{}", query("//evil.example"))).await;
    assert!(!page.text.contains("evil.example"), "a refused address is not kept");
}

#[tokio::test]
async fn paths_inject_no_headers_and_no_markup() {
    let market = harness::demo();
    let (browser, stranger) = (Browser::signed_in(market, BOTH).await, Browser::new(market));
    for part in [
        "%0d%0aSet-Cookie:%20a=b",
        "%0aLocation:%20https://evil.example",
        "%00",
        "%3Cscript%3E",
        "\"><b>",
        "'",
        "..%2f..%2f",
        "%E2%80%AE",
        "{id}",
        "%7Bid%7D",
        "a;b",
        "%c0%ae%c0%ae/",
    ] {
        for path in [
            "/console/",
            "/console/catalog",
            "/console/purchases/",
            "/console/listings/",
            "/console/catalog?query=",
            "/console/sign-in?next=/",
        ] {
            let address = format!("{path}{part}");
            if address.parse::<poem::http::Uri>().is_err() {
                continue;
            }
            for browser in [&browser, &stranger] {
                let page = browser.get(&address).await;
                assert!([200, 303, 400, 404, 422].contains(&page.status()), "{address}: {}", page.status());
                assert!(page.response.headers.get("set-cookie").is_none(), "{address}");
                assert!(page.location().is_empty() || page.location().starts_with("/console"), "{address}");
                if page.response.header("content-type").starts_with("text/html") {
                    harness::markup::parse(&page.text).unwrap_or_else(|fault| panic!("{address}: {fault}"));
                }
            }
        }
    }
}

#[tokio::test]
async fn pages_are_counted() {
    let market = TestMarket::with_settings(|settings| {
        settings.limits.other = 5;
        settings.limits.address = 40;
    });
    let (team, secret) = ("Tide Tables", market_team(&market, "Tide Tables"));
    let browser = Browser::signed_in(&market, &secret).await;
    let mut statuses = Vec::new();
    for _ in 0..8 {
        statuses.push(browser.get("/console/settings").await.status());
    }
    assert!(statuses.starts_with(&[200]) && statuses.ends_with(&[429]), "{team}: {statuses:?}");
    let refused = browser.get("/console/settings").await;
    refused.expect(429, "<!DOCTYPE html>");
    assert_ne!(refused.response.header("retry-after"), "");
    let mut statuses = Vec::new();
    for _ in 0..40 {
        statuses.push(browser.get("/console/nowhere").await.status());
    }
    assert!(statuses.ends_with(&[429]), "addresses of no page: {statuses:?}");
}

/// How browsers ask for a page.
const ACCEPT: (&str, &str) = ("accept", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8");

#[tokio::test]
async fn refusals_of_all_requests_are_pages_for_people() {
    let market = TestMarket::with_settings(|settings| settings.limits.address = 3);
    let stranger = Browser::new(&market);
    let open = async |headers: &[(&str, &str)]| {
        stranger.send(Method::GET, "/console/sign-in", headers, String::new()).await
    };
    let mut page = open(&[ACCEPT]).await;
    page.expect(200, "<!DOCTYPE html>");
    for _ in 0..3 {
        page = open(&[ACCEPT]).await;
    }
    page.expect(429, "<!DOCTYPE html>").expect(429, "the address budget of 3 requests per minute is used up");
    assert!(page.response.header("content-type").starts_with("text/html"));
    harness::markup::parse(&page.text).unwrap_or_else(|fault| panic!("{fault}"));
    let id = page.response.header("x-request-id");
    assert!(!id.is_empty() && page.text.contains(id), "{}", page.visible());
    assert_ne!(page.response.header("retry-after"), "");
    assert_is_guarded("refused", &page);
    // Scripts read the error as programs do.
    for headers in [&[][..], &[("accept", "*/*")], &[ACCEPT, ("hx-request", "true")]] {
        let refused = open(headers).await;
        assert_eq!(refused.response.header("content-type"), "application/json", "{headers:?}");
        refused.expect(429, "\"code\":\"rate_limited\"");
    }
}

/// Pages outside of the web app have no frame of their own, so a refusal looks like one of the web app.
#[tokio::test]
async fn refusals_of_the_other_pages_are_pages_for_people() {
    for path in ["/", "/buyer/docs", "/guides/start.md"] {
        let market = TestMarket::with_settings(|settings| settings.limits.address = 2);
        let stranger = Browser::new(&market);
        let open =
            async |headers: &[(&str, &str)]| stranger.send(Method::GET, path, headers, String::new()).await;
        for _ in 0..2 {
            assert_eq!(open(&[ACCEPT]).await.status(), 200, "{path}");
        }
        let page = open(&[ACCEPT]).await;
        page.expect(429, "<!DOCTYPE html>")
            .expect(429, "the address budget of 2 requests per minute is used up");
        page.expect(429, &format!("<dd class=\"mono long\">{path}</dd>"));
        assert!(page.response.header("content-type").starts_with("text/html"), "{path}");
        assert_ne!(page.response.header("retry-after"), "", "{path}");
        harness::markup::parse(&page.text).unwrap_or_else(|fault| panic!("{path}: {fault}"));
        assert_is_guarded(path, &page);
        for accept in ["*/*", "application/json", "application/json, text/html;q=0.5"] {
            let refused = open(&[("accept", accept)]).await;
            assert_eq!(refused.response.header("content-type"), "application/json", "{path} {accept}");
        }
    }
}

#[tokio::test]
async fn worlds_that_do_not_exist_have_a_page_that_says_so() {
    let market = harness::demo();
    let stranger = Browser::new(market);
    for path in [
        "/w/nowhere",
        "/w/nowhere/",
        "/w/nowhere/console",
        "/w/nowhere/console/catalog?query=a",
        "/w/nowhere/buyer/docs",
    ] {
        let page = stranger.send(Method::GET, path, &[ACCEPT], String::new()).await;
        page.expect(404, "This world is not here").expect(404, "href=\"/console\"");
        let shown = path.split('?').next().unwrap();
        page.expect(404, &format!("<dd class=\"mono long\">{shown}</dd>"));
        harness::markup::parse(&page.text).unwrap_or_else(|fault| panic!("{path}: {fault}"));
        assert!(
            !page.text.contains("/sandbox/v1"),
            "nobody needs the API to read {path}: {}",
            page.visible()
        );
        assert_is_guarded(path, &page);
    }
    // Programs get the error of the API, and its routes always do.
    for (path, accept) in [("/w/nowhere/console", "*/*"), ("/w/nowhere/v2/wallet", ACCEPT.1)] {
        let refused = stranger.send(Method::GET, path, &[("accept", accept)], String::new()).await;
        assert_eq!(refused.response.header("content-type"), "application/json", "{path}");
        refused.expect(404, "\"code\":\"world_not_found\"");
    }
}

/// Creates a team with the role of a buyer, and returns a key of it that opens the web app.
fn market_team(market: &TestMarket, name: &str) -> String {
    use marketplace::fixtures::FixtureSet;
    let secret = "mkt_test_tide_tables_key";
    let set = serde_json::json!({
        "teams": [{"key": "tides", "name": name, "roles": ["buyer"], "tier": 1, "created_at": "-P9D", "nda_accepted_at": "-P8D"}],
        "keys": [{"key": "tides-key", "team": "tides", "name": "Test", "scope": "all", "secret": secret, "created_at": "-P8D"}],
    });
    market.seed(&FixtureSet::parse("tides", &[("tides.json".to_owned(), set.to_string())]).unwrap());
    secret.to_owned()
}
