//! Answers of faults: all documented ones, and refusals.

use marketplace::{
    config::Settings,
    rest::App,
    string_enum::StringEnum,
    web::{DocumentedOperation, Outcome},
};
use poem::http::Method;
use serde_json::{Value, json};
use uuid::Uuid;

use super::{BUYER, OPERATOR, add, create_world, market_with_world, sandbox};
use crate::harness::{
    TestMarket, TestResponse,
    documents::{assert_matches_documents, operator_document, vendor_document},
};

/// Returns the operations that worlds have.
pub fn operations() -> Vec<DocumentedOperation> {
    let mut settings = Settings::default();
    (settings.operator.enabled, settings.sandbox.enabled) = (true, true);
    let app = App::new(&settings, false);
    app.operations().iter().filter(|operation| operation.api != "sandbox").cloned().collect()
}

/// Returns a path of an operation.
fn path_of(operation: &DocumentedOperation) -> String {
    let segments = operation.path.split('/');
    let value =
        |segment: &str| if segment.starts_with('{') { Uuid::nil().to_string() } else { segment.to_owned() };
    segments.map(value).collect::<Vec<_>>().join("/")
}

fn effect(Outcome { status, code }: Outcome) -> Value {
    json!({"status": status, "code": code.map(StringEnum::as_str)})
}

/// Asserts that a response is the outcome of an operation, with the body and the headers of the documents.
fn assert_outcome(operation: &DocumentedOperation, path: &str, outcome: Outcome, response: &TestResponse) {
    let Outcome { status, code } = outcome;
    let name = format!("{} {status} {code:?}", operation.id);
    assert_eq!(response.status, status, "{name}");
    assert!(response.header("x-sandbox-fault").starts_with("fault-"), "{name}");
    assert!(!response.header("x-request-id").is_empty(), "{name}");
    if let Some(code) = code {
        assert_eq!(response.json()["error"]["code"], code.as_str(), "{name}");
    }
    assert_eq!(!response.header("retry-after").is_empty(), matches!(status, 429 | 503), "{name}");
    assert_eq!(!response.header("www-authenticate").is_empty(), status == 401, "{name}");
    let limits = [response.header("ratelimit"), response.header("ratelimit-policy")];
    if status == 429 {
        let budget = operation.budget.as_str();
        assert_eq!(limits[0], format!("\"{budget}\";r=0;t=60"), "{name}");
        assert!(limits[1].starts_with(&format!("\"{budget}\";q=")), "{name}");
    } else {
        assert_eq!(limits, ["", ""], "{name}");
    }
    assert_matches_documents(operation.method.as_str(), path, response);
}

#[tokio::test(flavor = "multi_thread")]
async fn every_documented_answer_can_be_produced() {
    let market = market_with_world().await;
    let operations = operations();
    assert!(operations.len() > 200, "{}", operations.len());
    for operation in &operations {
        let path = path_of(operation);
        for (outcome, number) in operation.outcomes.iter().zip(1..) {
            let cases = json!({"operation": operation.id, "path": path, "nth": number});
            add(&market, cases, effect(*outcome)).await;
        }
        for outcome in &operation.outcomes {
            let headers = [("authorization", "Bearer mkt_demo_buyer")];
            let response = market.send(operation.method.clone(), &format!("/w/one{path}"), &headers).await;
            assert_outcome(operation, &path, *outcome, &response);
        }
        sandbox(&market, "DELETE", "one/faults", Value::Null).await.expect_status(204);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_pass_through_the_middleware_of_the_server() {
    let market = market_with_world().await;
    let operation = vendor_document().operation("get_wallet").unwrap();
    add(&market, json!({"operation": "get_wallet", "nth": 1}), json!({"status": 200})).await;
    add(&market, json!({"operation": "get_wallet"}), json!({"status": 404})).await;
    let send = async |method: Method, path: &str| {
        let headers =
            [("x-request-id", "mine"), ("accept-encoding", "gzip"), ("origin", "http://localhost:3000")];
        market.send(method, path, &headers).await
    };
    let success = send(Method::GET, "/w/one/v2/wallet").await;
    vendor_document().assert_valid(operation, &success);
    assert!(!success.header("etag").is_empty());
    let failure = send(Method::GET, "/w/one/v2/wallet").await;
    assert_eq!((failure.header("x-request-id"), failure.expect_error(404)), ("mine", "not_found".to_owned()));
    assert_eq!(failure.json()["error"]["request_id"], "mine");
    let head = send(Method::HEAD, "/w/one/v2/wallet").await;
    assert_eq!((head.status, head.bytes.len()), (404, 0));
    assert_eq!(head.header("content-length"), failure.bytes.len().to_string());
    // The only trace of a fault is its header.
    create_world(&market, json!({"name": "two"})).await;
    let missing = market.get(BUYER, "/w/two/v2/listings/browse/00000000-0000-0000-0000-000000000000").await;
    let names = |response: &TestResponse| {
        let names = response.headers.keys().map(|name| name.as_str().to_owned());
        names.filter(|name| name != "x-sandbox-fault").collect::<std::collections::BTreeSet<_>>()
    };
    assert_eq!(names(&missing), names(&market.get(BUYER, "/w/one/v2/wallet").await));
}

#[tokio::test(flavor = "multi_thread")]
async fn budgets_of_a_world_are_reported_as_used_up() {
    let market = TestMarket::demo();
    create_world(&market, json!({"name": "one", "settings": {"limits.other": 50, "limits.address": 100}}))
        .await;
    add(&market, json!({"operation": "get_wallet"}), json!({"status": 429})).await;
    let response = market.get(BUYER, "/w/one/v2/wallet").await;
    assert_eq!(response.expect_error(429), "rate_limited");
    let limits = response.header("ratelimit");
    assert!(limits.starts_with("\"address\";r=") && limits.contains("\"other\";r=0;t=60"), "{limits}");
    assert!(response.json()["error"]["message"].as_str().unwrap().contains("`other` budget of 50 requests"));
}

/// Adds a fault that must be refused, and returns the problems.
async fn refused(market: &TestMarket, cases: Value, then: Value) -> Vec<String> {
    sandbox(market, "POST", "one/faults", json!({"match": cases, "then": then})).await.problems()
}

#[tokio::test(flavor = "multi_thread")]
async fn faults_that_cannot_be_are_refused_by_their_fields() {
    let market = market_with_world().await;
    for (cases, then, expected) in [
        (json!({}), json!({}), vec!["body.then value_error"]),
        (json!({"operation": "get_walet"}), json!({"delay_ms": 1}), vec!["body.match.operation value_error"]),
        (
            json!({"operation": "create_world"}),
            json!({"delay_ms": 1}),
            vec!["body.match.operation value_error"],
        ),
        (json!({"operation": "get_wallet"}), json!({"status": 410}), vec!["body.then.status value_error"]),
        (json!({"operation": "get_wallet"}), json!({"status": 201}), vec!["body.then.status value_error"]),
        (json!({"operation": "get_wallet"}), json!({"status": 403}), vec!["body.then.code value_error"]),
        (
            json!({"operation": "get_wallet"}),
            json!({"status": 404, "code": "conflict"}),
            vec!["body.then.code value_error"],
        ),
        (
            json!({"operation": "get_wallet"}),
            json!({"status": 422, "code": "conflict"}),
            vec!["body.then.code value_error"],
        ),
        (json!({"path": "/v2/*"}), json!({"status": 408}), vec!["body.then.status value_error"]),
        (json!({"path": "/v2/mcp/"}), json!({"status": 500}), vec!["body.then.status value_error"]),
        (json!({}), json!({"code": "conflict"}), vec!["body.then.code value_error"]),
        (json!({}), json!({"cut": "body", "status": 500}), vec!["body.then.cut value_error"]),
        (json!({}), json!({"cut": "body", "stall": true}), vec!["body.then.stall value_error"]),
        (
            json!({}),
            json!({"cut": "before", "body_bytes_per_second": 9}),
            vec!["body.then.body_bytes_per_second value_error"],
        ),
        (json!({}), json!({"delay_ms": 60_001}), vec!["body.then.delay_ms value_error"]),
        (json!({}), json!({"delay_ms": [2, 1]}), vec!["body.then.delay_ms value_error"]),
        (json!({}), json!({"delay_ms": "1s"}), vec!["body.then.delay_ms value_error"]),
        (json!({}), json!({"fail": true}), vec!["body.then.fail value_error"]),
        (json!({"job": "*"}), json!({"delay_ms": 1}), vec!["body.then.delay_ms value_error"]),
        (json!({"job": "sleep"}), json!({"fail": true}), vec!["body.match.job enum"]),
        (json!({"job": "*", "path": "/v2"}), json!({"delay_ms": 1}), vec!["body.match.job value_error"]),
        (json!({"host": "github.com"}), json!({"status": 500}), vec!["body.then.status value_error"]),
        (json!({"webhook": "*"}), json!({"status": 500, "lost": true}), vec!["body.then value_error"]),
        (json!({"nth": 1, "next": 2}), json!({"delay_ms": 1}), vec!["body.match.next value_error"]),
        (
            json!({"from": "2026-03-02T00:00:00Z", "until": "2026-03-02T00:00:00Z"}),
            json!({"delay_ms": 1}),
            vec!["body.match.until value_error"],
        ),
        (
            json!({"share": 1.5, "nth": 0, "color": 1}),
            json!({"cut": "middle"}),
            vec![
                "body.match.share less_than_equal",
                "body.match.nth greater_than_equal",
                "body.match.color extra_forbidden",
                "body.then.cut enum",
            ],
        ),
    ] {
        let mut problems = refused(&market, cases.clone(), then.clone()).await;
        let mut expected = expected;
        problems.sort();
        expected.sort_unstable();
        assert_eq!(problems, expected, "{cases} {then}");
    }
    let body = json!({"match": {"path": "v2"}, "then": {"delay_ms": 1}, "forced": true});
    assert_eq!(
        sandbox(&market, "POST", "one/faults", body).await.problems(),
        ["body.forced extra_forbidden", "body.match.path string_pattern_mismatch"]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn forced_answers_need_no_document() {
    let market = market_with_world().await;
    for (status, code, path, expected) in [
        (418, "short_and_stout", "/v2/wallet", "short_and_stout"),
        (404, "conflict", "/v2/wallet", "conflict"),
        (599, "at_capacity", "/v2/mcp/", "at_capacity"),
        (429, "slow_down", "/anything", "slow_down"),
    ] {
        let then = json!({"status": status, "code": code});
        let body = json!({"match": {"path": path, "next": 1}, "then": then, "force": true});
        sandbox(&market, "POST", "one/faults", body).await.expect_status(201);
        let response = market.get(BUYER, &format!("/w/one{path}")).await;
        assert_eq!(response.expect_error(status), expected);
        let error = &response.json()["error"];
        assert_eq!(error["request_id"], response.header("x-request-id"), "{error}");
        assert!(!error["message"].as_str().unwrap().is_empty());
        if status == 429 {
            assert!(!response.header("retry-after").is_empty());
        }
    }
    for (cases, then) in [
        (json!({}), json!({"status": 302})),
        (json!({"operation": "get_wallet"}), json!({"status": 204, "code": "x"})),
        (json!({"path": "/anything"}), json!({"status": 200})),
    ] {
        let body = json!({"match": cases, "then": then, "force": true});
        let response = sandbox(&market, "POST", "one/faults", body).await;
        assert_eq!(response.problems(), ["body.then.status value_error"]);
        let detail = response.json()["detail"][0]["msg"].as_str().unwrap().to_owned();
        assert!(detail.ends_with("Only statuses from 400 to 599 can be forced."), "{detail}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn operations_with_one_id_are_told_apart_by_their_paths() {
    let market = market_with_world().await;
    assert!(operator_document().operation("get_listing").is_some());
    add(&market, json!({"operation": "get_listing", "path": "/operator/*"}), json!({"status": 500})).await;
    let id = Uuid::nil();
    assert_eq!(market.get(OPERATOR, &format!("/w/one/operator/v1/listings/{id}")).await.status, 500);
    assert_ne!(market.get(OPERATOR, &format!("/w/one/v2/listings/browse/{id}")).await.status, 500);
}
