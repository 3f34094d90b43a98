//! Every list costs the same few statements, however long its page is.

use serde_json::Value;

use super::rows::{BUYER, VENDOR};
use crate::harness::TestMarket;

/// Statements that a request costs. The server looks after itself beside it now and then, which can only add some, so the
/// least of several counts is the true one.
async fn cost(market: &TestMarket, key: &str, path: &str) -> u64 {
    let mut least = u64::MAX;
    for _ in 0..5 {
        let before = market.market().statements();
        market.call(key, "GET", path, &Value::Null).await.ok();
        least = least.min(market.market().statements() - before);
    }
    least
}

#[tokio::test]
async fn a_list_costs_the_same_statements_however_long_its_page_is() {
    let market = TestMarket::demo();
    for (key, path, few, many, most) in [
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
        // The first request of a key looks the key up.
        cost(&market, key, &format!("/v2/{path}")).await;
        let short = cost(&market, key, &format!("/v2/{path}?{few}")).await;
        let long = cost(&market, key, &format!("/v2/{path}?{many}")).await;
        assert_eq!(short, long, "{path}");
        assert!((1..=most).contains(&long), "{path} costs {long} statements");
    }
    // Lists without pages: one statement, whatever they hold.
    for (key, path) in [
        (VENDOR, "listings/sales"),
        (VENDOR, "asset-groups"),
        (BUYER, "listings/browse/purchases"),
        (BUYER, "listings/browse/offers"),
    ] {
        cost(&market, key, &format!("/v2/{path}")).await;
        assert!(cost(&market, key, &format!("/v2/{path}")).await <= 1, "{path}");
    }
}
