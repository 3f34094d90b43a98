//! Each list endpoint executes a small, constant number of SQL statements, whatever the page size.

use serde_json::Value;

use super::cases::{BUYER, VENDOR};
use crate::harness::TestMarket;

/// Returns the number of statements that a request executes. Background work of the server can only add
/// statements, so the minimum of several measurements is the right number.
async fn count_statements(market: &TestMarket, key: &str, path: &str) -> u64 {
    let mut minimum = u64::MAX;
    for _ in 0..5 {
        let before = market.market().statement_count();
        market.call(key, "GET", path, &Value::Null).await.ok();
        minimum = minimum.min(market.market().statement_count() - before);
    }
    minimum
}

#[tokio::test]
async fn statement_count_does_not_depend_on_page_size() {
    let market = TestMarket::demo();
    for (key, path, short_page, long_page, maximum) in [
        (VENDOR, "assets", "limit=1", "limit=200", 6),
        (VENDOR, "assets/window", "leaf_budget=1", "leaf_budget=200", 6),
        (VENDOR, "codebases", "limit=1", "limit=200", 6),
        (VENDOR, "tasks", "limit=1", "limit=200", 6),
        (VENDOR, "listings", "limit=1", "limit=100", 4),
        (VENDOR, "listings/qc-reports", "limit=1", "limit=200", 4),
        (VENDOR, "wallet/earnings", "limit=1", "limit=200", 4),
        (VENDOR, "opportunities", "limit=1", "limit=100", 3),
        (VENDOR, "project-opportunities/bids/mine", "limit=1", "limit=100", 4),
        (VENDOR, "estimations", "limit=1", "limit=200", 3),
        (BUYER, "buyer/opportunities", "limit=1", "limit=100", 4),
        (BUYER, "buyer/project-opportunities", "limit=1", "limit=100", 4),
    ] {
        // The first request with a key also looks up the key.
        count_statements(&market, key, &format!("/v2/{path}")).await;
        let short = count_statements(&market, key, &format!("/v2/{path}?{short_page}")).await;
        let long = count_statements(&market, key, &format!("/v2/{path}?{long_page}")).await;
        assert_eq!(short, long, "{path}");
        assert!((1..=maximum).contains(&long), "{path} executes {long} statements");
    }
    // Lists without pages: at most one statement, whatever their length.
    for (key, path) in [
        (VENDOR, "listings/sales"),
        (VENDOR, "asset-groups"),
        (BUYER, "listings/browse/purchases"),
        (BUYER, "listings/browse/offers"),
    ] {
        count_statements(&market, key, &format!("/v2/{path}")).await;
        assert!(count_statements(&market, key, &format!("/v2/{path}")).await <= 1, "{path}");
    }
}
