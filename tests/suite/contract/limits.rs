//! Rate limits of teams and addresses and their response headers, the body timeout, and the limit of requests
//! in flight.

use marketplace::config::LimitSettings;
use poem::http::Method;
use tokio::io::AsyncWriteExt;

use crate::harness::{
    Answer, TestMarket,
    documents::{Document, documents},
};

const VENDOR: &str = "mkt_demo_vendor";
const BOTH: &str = "mkt_demo_both";

fn market(change: impl FnOnce(&mut LimitSettings)) -> TestMarket {
    let market = TestMarket::with_settings(|settings| change(&mut settings.limits));
    market.seed(&marketplace::fixtures::demo().unwrap());
    market
}

fn told(answer: &Answer) -> (&str, &str) {
    (answer.header("ratelimit-policy"), answer.header("ratelimit"))
}

#[tokio::test]
async fn a_team_spends_its_budget_and_gets_it_back_by_the_clock() {
    let market = market(|limits| limits.catalog = 3);
    let browse = "/v2/listings/browse";
    for (left, whole_in) in [(2, 20), (1, 40), (0, 60)] {
        let answer = market.get(VENDOR, browse).await;
        answer.ok();
        assert_eq!(
            told(&answer),
            (r#""catalog";q=3;w=60"#, format!(r#""catalog";r={left};t={whole_in}"#).as_str())
        );
    }
    let refused = market.get(VENDOR, "/v2/listings/browse/access").await;
    assert_eq!(refused.refused(429), "rate_limited");
    assert_eq!(refused.header("retry-after"), "20");
    assert_eq!(told(&refused), (r#""catalog";q=3;w=60"#, r#""catalog";r=0;t=60"#));
    let message = refused.json()["error"]["message"].as_str().unwrap().to_owned();
    assert!(message.contains("`catalog` budget of 3 requests per minute"), "{message}");
    // Other teams, and other budgets of the same team, are not affected.
    market.get(BOTH, browse).await.ok();
    market.get(VENDOR, "/v2/wallet").await.ok();
    market.clock().advance(19_000_000);
    assert_eq!(market.get(VENDOR, browse).await.refused(429), "rate_limited");
    market.clock().advance(1_000_000);
    market.get(VENDOR, browse).await.ok();
    market.get(VENDOR, browse).await.refused(429);
}

#[tokio::test]
async fn each_budget_bounds_what_it_names() {
    type Choose = fn(&mut LimitSettings) -> &mut u32;
    let listing = TestMarket::demo().get(VENDOR, "/v2/listings?limit=1").await.ok()["items"][0]["id"]
        .as_str()
        .unwrap()
        .to_owned();
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
        let market = market(|limits| *choose(limits) = 1);
        let first = market.call(key, method, path, &serde_json::Value::Null).await;
        assert!(first.status < 300, "{path} {}", first.status);
        assert!(told(&first).1.starts_with(&format!("\"{name}\";r=0")), "{path} {:?}", told(&first));
        let second = market.call(key, method, path, &serde_json::Value::Null).await;
        assert_eq!(second.refused(429), "rate_limited", "{path}");
    }
}

#[tokio::test]
async fn only_who_shows_a_key_spends_a_teams_budget() {
    let market = market(|limits| limits.other = 1);
    for _ in 0..3 {
        let unknown = market.get("mkt_unknown", "/v2/wallet").await;
        unknown.refused(401);
        assert_eq!(told(&unknown), ("", ""));
    }
    // All other errors count: they cost the server something.
    market.get(VENDOR, "/v2/wallet?x=1").await.with(422);
    market.get(VENDOR, "/v2/wallet").await.refused(429);
}

#[tokio::test]
async fn an_address_has_a_budget_of_its_own() {
    let market = market(|limits| {
        limits.address = 2;
        limits.catalog = 10;
        limits.trust_forwarded_for = true;
    });
    let ask = async |address: &str, path: &str, key: &str| {
        let headers = [("x-forwarded-for", address), ("x-api-key", key)];
        market.send(Method::GET, path, &headers).await
    };
    let answer = ask("192.0.2.1", "/v2/listings/browse", VENDOR).await;
    assert_eq!(
        told(&answer),
        (r#""address";q=2;w=60, "catalog";q=10;w=60"#, r#""address";r=1;t=30, "catalog";r=9;t=6"#)
    );
    ask("203.0.113.7, 192.0.2.1", "/nowhere", "").await.refused(404);
    let refused = ask("192.0.2.1", "/vendor/openapi.json", "").await;
    assert_eq!(refused.refused(429), "rate_limited");
    assert_eq!(refused.header("retry-after"), "30");
    assert!(!refused.header("x-request-id").is_empty());
    ask("192.0.2.2", "/vendor/openapi.json", "").await.ok();
    market.clock().advance(30_000_000);
    ask("192.0.2.1", "/vendor/openapi.json", "").await.ok();
}

#[tokio::test]
async fn without_budgets_nothing_is_counted_or_told() {
    let market = TestMarket::demo();
    for _ in 0..5 {
        let answer = market.get(VENDOR, "/v2/wallet").await;
        answer.ok();
        assert_eq!(told(&answer), ("", ""));
    }
}

#[tokio::test(start_paused = true)]
async fn a_body_that_does_not_come_is_waited_for_so_long() {
    let market = market(|_| {});
    let began = tokio::time::Instant::now();
    // Half of a body; the client then sends nothing more but keeps the connection open.
    let (mut sender, receiver) = tokio::io::duplex(64);
    sender.write_all(br#"{"name": "#).await.unwrap();
    let headers = [("x-api-key", VENDOR), ("content-type", "application/json")];
    let body = poem::Body::from_async_read(receiver);
    let answer = market.send_body(Method::POST, "/v2/asset-groups", &headers, body).await;
    assert_eq!(answer.refused(400), "bad_request");
    assert_eq!(began.elapsed().as_secs(), u64::from(market.market().settings().server.body_seconds));
}

#[tokio::test]
async fn the_documents_say_what_each_operation_counts_against() {
    let market = market(|limits| {
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
        let answer = market.send(method, &path, &[("x-api-key", BOTH)]).await;
        let said = operation.budget();
        assert!(told(&answer).1.starts_with(&format!("\"{said}\";")), "{path}: {said}, {:?}", told(&answer));
    }
}

#[tokio::test]
async fn a_full_server_answers_in_the_envelope() {
    let market = TestMarket::with_settings(|settings| {
        settings.limits.in_flight = 1;
        settings.limits.queue = 0;
        settings.limits.address = 10;
    });
    // The only permit is held by a request whose body never arrives.
    let (_sender, receiver) = tokio::io::duplex(64);
    let headers = [("x-api-key", VENDOR), ("content-type", "application/json")];
    market.seed(&marketplace::fixtures::demo().unwrap());
    let body = poem::Body::from_async_read(receiver);
    let mut first = std::pin::pin!(market.send_body(Method::POST, "/v2/asset-groups", &headers, body));
    let second = async {
        loop {
            let body = r#"{"name": "Scans"}"#.as_bytes().to_vec();
            let answer = market.send_body(Method::POST, "/v2/asset-groups", &headers, body).await;
            if answer.status != 201 {
                break answer;
            }
        }
    };
    let answer = tokio::select! {
        biased;
        _ = &mut first => unreachable!("its body never arrives"),
        answer = second => answer,
    };
    assert_eq!(answer.refused(503), "at_capacity");
    assert_eq!((answer.header("retry-after"), told(&answer).0), ("1", r#""address";q=10;w=60"#));
    assert_eq!(answer.json()["error"]["request_id"], answer.header("x-request-id"));
}
