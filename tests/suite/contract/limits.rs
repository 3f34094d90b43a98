//! Rate limits of teams and addresses and their response headers, the body timeout, and the limit of requests
//! in flight.

use std::sync::mpsc;

use marketplace::{config::LimitSettings, market::Requester};
use poem::http::Method;
use tokio::io::AsyncWriteExt;

use crate::harness::{
    TestMarket, TestResponse, demo,
    documents::{Document, documents},
};

const VENDOR: &str = "mkt_demo_vendor";
const BOTH: &str = "mkt_demo_both";

fn demo_with_limits(change: impl FnOnce(&mut LimitSettings)) -> TestMarket {
    TestMarket::demo_with_settings(|settings| change(&mut settings.limits))
}

fn rate_limit_headers(response: &TestResponse) -> (&str, &str) {
    (response.header("ratelimit-policy"), response.header("ratelimit"))
}

#[tokio::test]
async fn budget_of_one_request_is_named_in_the_singular() {
    let market = demo_with_limits(|limits| limits.catalog = 1);
    let browse = "/v2/listings/browse";
    market.get(VENDOR, browse).await.ok();
    let rejection = market.get(VENDOR, browse).await;
    assert_eq!(rejection.expect_error(429), "rate_limited");
    let message = rejection.json()["error"]["message"].as_str().unwrap().to_owned();
    assert!(message.contains("the `catalog` budget of 1 request per minute is used up"), "{message}");
}

#[tokio::test]
async fn team_budget_is_spent_and_refills_over_time() {
    let market = demo_with_limits(|limits| limits.catalog = 3);
    let browse = "/v2/listings/browse";
    for (left, full_in_seconds) in [(2, 20), (1, 40), (0, 60)] {
        let response = market.get(VENDOR, browse).await;
        response.ok();
        assert_eq!(
            rate_limit_headers(&response),
            (r#""catalog";q=3;w=60"#, format!(r#""catalog";r={left};t={full_in_seconds}"#).as_str())
        );
    }
    let rejection = market.get(VENDOR, "/v2/listings/browse/access").await;
    assert_eq!(rejection.expect_error(429), "rate_limited");
    assert_eq!(rejection.header("retry-after"), "20");
    assert_eq!(rate_limit_headers(&rejection), (r#""catalog";q=3;w=60"#, r#""catalog";r=0;t=60"#));
    let message = rejection.json()["error"]["message"].as_str().unwrap().to_owned();
    assert!(message.contains("`catalog` budget of 3 requests per minute"), "{message}");
    // Other teams, and other budgets of the same team, are not affected.
    market.get(BOTH, browse).await.ok();
    market.get(VENDOR, "/v2/wallet").await.ok();
    market.clock().advance(19_000_000);
    assert_eq!(market.get(VENDOR, browse).await.expect_error(429), "rate_limited");
    market.clock().advance(1_000_000);
    market.get(VENDOR, browse).await.ok();
    market.get(VENDOR, browse).await.expect_error(429);
}

#[tokio::test]
async fn each_budget_limits_its_own_operations() {
    type Choose = fn(&mut LimitSettings) -> &mut u32;
    let listing =
        demo().get(VENDOR, "/v2/listings?limit=1").await.ok()["items"][0]["id"].as_str().unwrap().to_owned();
    let history = format!("/v2/listings/{listing}/history");
    let budgets: [(Choose, &str, &str, &str); 6] = [
        (|limits| &mut limits.catalog, "GET", "/v2/listings/browse?query=cobol", "catalog"),
        (|limits| &mut limits.history, "GET", &history, "history"),
        (|limits| &mut limits.sales, "GET", "/v2/listings/sales", "sales"),
        (|limits| &mut limits.purchases, "GET", "/v2/listings/browse/offers", "purchases"),
        (|limits| &mut limits.quality_checks, "POST", "/v2/tasks/refresh-qc", "quality_checks"),
        (|limits| &mut limits.other, "GET", "/v2/wallet", "other"),
    ];
    for (choose, method, path, name) in budgets {
        let key = if name == "purchases" { BOTH } else { VENDOR };
        let market = demo_with_limits(|limits| *choose(limits) = 1);
        let first = market.call(key, method, path, &serde_json::Value::Null).await;
        assert!(first.status < 300, "{path} {}", first.status);
        assert!(
            rate_limit_headers(&first).1.starts_with(&format!("\"{name}\";r=0")),
            "{path} {:?}",
            rate_limit_headers(&first)
        );
        let second = market.call(key, method, path, &serde_json::Value::Null).await;
        assert_eq!(second.expect_error(429), "rate_limited", "{path}");
    }
}

#[tokio::test]
async fn requests_without_a_valid_key_spend_no_team_budget() {
    let market = demo_with_limits(|limits| limits.other = 1);
    for _ in 0..3 {
        let unknown = market.get("mkt_unknown", "/v2/wallet").await;
        unknown.expect_error(401);
        assert_eq!(rate_limit_headers(&unknown), ("", ""));
    }
    // All other errors count: they cost the server something.
    market.get(VENDOR, "/v2/wallet?x=1").await.expect_status(422);
    market.get(VENDOR, "/v2/wallet").await.expect_error(429);
}

#[tokio::test]
async fn address_budget_is_separate_from_team_budgets() {
    let market = demo_with_limits(|limits| {
        limits.address = 2;
        limits.catalog = 10;
        limits.trust_forwarded_for = true;
    });
    let send = async |address: &str, path: &str, key: &str| {
        let headers = [("x-forwarded-for", address), ("x-api-key", key)];
        market.send(Method::GET, path, &headers).await
    };
    let response = send("192.0.2.1", "/v2/listings/browse", VENDOR).await;
    assert_eq!(
        rate_limit_headers(&response),
        (r#""address";q=2;w=60, "catalog";q=10;w=60"#, r#""address";r=1;t=30, "catalog";r=9;t=6"#)
    );
    send("203.0.113.7, 192.0.2.1", "/nowhere", "").await.expect_error(404);
    let rejection = send("192.0.2.1", "/vendor/openapi.json", "").await;
    assert_eq!(rejection.expect_error(429), "rate_limited");
    assert_eq!(rejection.header("retry-after"), "30");
    assert!(!rejection.header("x-request-id").is_empty());
    send("192.0.2.2", "/vendor/openapi.json", "").await.ok();
    market.clock().advance(30_000_000);
    send("192.0.2.1", "/vendor/openapi.json", "").await.ok();
}

#[tokio::test]
async fn without_limits_there_are_no_ratelimit_headers() {
    for _ in 0..5 {
        let response = demo().get(VENDOR, "/v2/wallet").await;
        response.ok();
        assert_eq!(rate_limit_headers(&response), ("", ""));
    }
}

#[tokio::test(start_paused = true)]
async fn incomplete_body_times_out_after_body_seconds() {
    let market = TestMarket::demo_with_settings(|settings| settings.server.min_bytes_per_second = 0);
    let start = tokio::time::Instant::now();
    // Half of a body; the client then sends nothing more but keeps the connection open.
    let (mut sender, receiver) = tokio::io::duplex(64);
    sender.write_all(br#"{"name": "#).await.unwrap();
    let headers = [("x-api-key", VENDOR), ("content-type", "application/json")];
    let body = poem::Body::from_async_read(receiver);
    let response = market.send_body(Method::POST, "/v2/asset-groups", &headers, body).await;
    assert_eq!(response.expect_error(408), "request_timeout");
    assert_eq!(start.elapsed().as_secs(), u64::from(market.market().settings().server.body_seconds));
}

#[tokio::test]
async fn documented_budget_is_the_one_charged() {
    let market = demo_with_limits(|limits| {
        for quota in [
            &mut limits.catalog,
            &mut limits.history,
            &mut limits.sales,
            &mut limits.purchases,
            &mut limits.quality_checks,
            &mut limits.uploads,
            &mut limits.other,
        ] {
            *quota = 1_000_000;
        }
    });
    for operation in documents().iter().flat_map(Document::operations) {
        let path = operation.path.replace(['{', '}'], "");
        let method = Method::from_bytes(operation.method.as_bytes()).unwrap();
        let response = market.send(method, &path, &[("x-api-key", BOTH)]).await;
        let documented_budget = operation.budget();
        assert!(
            rate_limit_headers(&response).1.starts_with(&format!("\"{documented_budget}\";")),
            "{path}: {documented_budget}, {:?}",
            rate_limit_headers(&response)
        );
    }
}

#[tokio::test]
async fn server_at_capacity_returns_503_with_error_body() {
    let market = demo_with_limits(|limits| (limits.bodies, limits.address) = (1, 10));
    // The only slot for receiving a body is held by a request whose body never arrives.
    let (_sender, receiver) = tokio::io::duplex(64);
    let headers = [("x-api-key", VENDOR), ("content-type", "application/json")];
    let body = poem::Body::from_async_read(receiver);
    let mut first = std::pin::pin!(market.send_body(Method::POST, "/v2/asset-groups", &headers, body));
    let second = async {
        loop {
            let body = r#"{"name": "Scans"}"#.as_bytes().to_vec();
            let response = market.send_body(Method::POST, "/v2/asset-groups", &headers, body).await;
            if response.status != 201 {
                break response;
            }
        }
    };
    let response = tokio::select! {
        biased;
        _ = &mut first => unreachable!("its body never arrives"),
        response = second => response,
    };
    assert_eq!(response.expect_error(503), "at_capacity");
    assert_eq!(
        (response.header("retry-after"), rate_limit_headers(&response).0),
        ("1", r#""address";q=10;w=60"#)
    );
    assert_eq!(response.json()["error"]["request_id"], response.header("x-request-id"));
}

/// Columns take many times their bytes in memory, which counts for the team while the request is in progress.
#[tokio::test]
async fn memory_of_columns_is_limited_for_a_team() {
    let market = demo_with_limits(|limits| limits.memory_mb = 1);
    let columns = format!("[{}0]", "0,".repeat(5_000));
    let row = format!(r#"{{"title":"a","exclusivity":"available","extra_columns":{{"a":{columns}}}}}"#);
    let body = format!(r#"{{"items":[{row}]}}"#).into_bytes();
    let headers = [("x-api-key", VENDOR), ("content-type", "application/json")];
    let (release, released) = mpsc::channel::<()>();
    let mut writing = std::pin::pin!(market.market().write(Requester::process(), move |_| {
        released.recv().ok();
        Ok(())
    }));
    assert!(futures_util::poll!(&mut writing).is_pending());
    let send = || Box::pin(market.send_body(Method::POST, "/v2/codebases/batch", &headers, body.clone()));
    // The writer is busy, so a request that is not rejected does not end.
    let rejected = futures_util::future::select(send(), send());
    let rejected = tokio::time::timeout(std::time::Duration::from_secs(10), rejected).await.ok();
    release.send(()).unwrap();
    let (response, other) = rejected.expect("one of them is rejected").factor_first();
    assert_eq!(response.expect_error(503), "at_capacity");
    other.await.expect_status(201);
    writing.await.unwrap();
}
