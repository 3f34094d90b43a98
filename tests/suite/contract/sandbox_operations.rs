//! Runs every operation of the sandbox API that changes something once, on one demo market.

use poem::http::Method;
use serde_json::{Map, Value};

use super::cases::{Case, OPERATOR, RequiredAccess, cases};
use crate::harness::{TestMarket, TestResponse, worlds};

/// Operations that end what others need, so they come last.
const LAST: [&str; 4] = ["delete_fault", "delete_faults", "delete_snapshot", "delete_world"];

/// A repository for a world.
const EXAMPLE_BUNDLE: &[u8] = include_bytes!("../../../fixtures/bundles/tideclock/harbour.bundle");

async fn put_file(market: &TestMarket, path: &str, file: &'static [u8]) -> TestResponse {
    let key = format!("Bearer {OPERATOR}");
    let headers = [("authorization", key.as_str()), ("content-type", "application/octet-stream")];
    market.send_body(Method::PUT, path, &headers, file).await
}

/// Returns the response of every operation that changes something, by operation ID, `Null` if it has no body.
pub async fn call_sandbox_operations() -> Map<String, Value> {
    let market = TestMarket::demo();
    worlds::create_examples(market.worlds());
    let mut rows: Vec<&Case> =
        cases().filter(|row| row.is_of_sandbox() && row.access == RequiredAccess::ActingOperator).collect();
    rows.sort_by_key(|row| LAST.iter().position(|last| *last == row.operation));
    let mut responses = Map::new();
    for row in rows {
        let (_, path) = row.requests_for_all_records().swap_remove(0);
        let mut body = row.body();
        if row.operation == "create_snapshot" {
            body["name"] = "another".into();
        }
        let method = &row.documented().method;
        let response = if row.operation == "put_world_repository" {
            put_file(&market, &path, EXAMPLE_BUNDLE).await
        } else {
            market.call(OPERATOR, method, &path, &body).await
        };
        assert!(response.status < 300, "{}: {}", row.operation, String::from_utf8_lossy(&response.bytes));
        responses.insert(row.operation.to_owned(), response.expect_status(response.status));
    }
    responses
}

#[tokio::test(flavor = "multi_thread")]
async fn every_operation_of_the_sandbox_succeeds_on_the_demo() {
    call_sandbox_operations().await;
}
