//! The rules of the interface that a client can see: `marketplace check`, in process, finds no differences. The tests of
//! `cli/check` show that it finds each kind of difference.

use std::{collections::BTreeSet, time::Duration};

use marketplace::cli::check::documents;
use marketplace_check::{Bounds, Key};
use serde_json::{Value, json};
use url::Url;

use super::cases::{BOTH, BUYER, LOCKED_VENDOR, OPERATOR, VENDOR};
use crate::harness::{TestMarket, complete_demo};

/// Bounds that no check of a market in memory reaches.
const BOUNDS: Bounds = Bounds {
    max_requests: 100_000,
    response_time: Duration::from_mins(1),
    total_time: Duration::from_mins(10),
};

/// Operations on records that the demo market does not have.
const NOT_IN_THE_DEMO: [&str; 4] = [
    "GET /operator/v1/jobs/{job_id}",
    "GET /operator/v1/trace-imports/{trace_import_id}",
    "GET /operator/v1/trace-uploads/{upload_id}",
    "GET /operator/v1/uploads/{upload_id}",
];

/// Checks a market, or what is below a path of its server, with keys. Returns the report, and asserts that it has no
/// differences.
async fn check(market: &TestMarket, path: &str, keys: &'static [&'static str], may_write: bool) -> Value {
    let (address, _stop) = market.listen();
    let url = Url::parse(&format!("http://{address}{path}")).unwrap();
    let report = tokio::task::spawn_blocking(move || {
        let key = |secret: &&str| Key { name: (*secret).to_owned(), secret: (*secret).to_owned() };
        let keys = keys.iter().map(key).collect();
        let outcome = marketplace_check::check(&url, keys, BOUNDS, &documents(), may_write).unwrap();
        assert_eq!(outcome.incomplete, None);
        outcome.report.to_json(outcome.sent)
    });
    let report = report.await.unwrap();
    assert_eq!(report["differences"], json!([]), "{path} {keys:?}");
    report
}

#[tokio::test(flavor = "multi_thread")]
async fn demo_market_conforms_to_the_interface() {
    let report = check(&complete_demo(), "", &[VENDOR, BUYER, OPERATOR], true).await;
    let documents = documents();
    let operations = documents.iter().flat_map(|document| &document.operations);
    let operations: BTreeSet<String> =
        operations.map(|operation| format!("{} {}", operation.method, operation.path)).collect();
    let checked: BTreeSet<String> = serde_json::from_value(report["checked_operations"].clone()).unwrap();
    let unchecked = operations.difference(&checked).filter(|operation| operation.starts_with("GET "));
    assert_eq!(unchecked.collect::<Vec<_>>(), NOT_IN_THE_DEMO, "{:#}", report["not_checked"]);
    // Each operation is refused twice: without a valid key, and with each key of a role that may not call it.
    for rule in ["access.unauthorized", "access.role"] {
        let count = report["checked_rules"][rule].as_u64().unwrap() as usize;
        assert!(count >= 2 * operations.len(), "{rule}: {count}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn team_with_both_roles_locked_vendor_and_world_see_no_differences() {
    let market = TestMarket::demo();
    for (keys, least) in [(&[BOTH][..], 50), (&[LOCKED_VENDOR], 20)] {
        let report = check(&market, "", keys, false).await;
        let checked = report["checked_operations"].as_array().unwrap().len();
        assert!(checked > least, "{keys:?}: {checked} operations");
    }
    let body = json!({"name": "checked"});
    market.call(OPERATOR, "POST", "/sandbox/v1/worlds", &body).await.expect_status(201);
    check(&market, "/w/checked", &[BUYER], false).await;
}
