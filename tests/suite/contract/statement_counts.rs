//! Each list endpoint executes a small, constant number of SQL statements for every page size.

use poem::http::Method;
use serde_json::{Value, json};
use uuid::Uuid;

use super::cases::{VENDOR, cases};
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
    for case in cases() {
        let Some(pages) = &case.route.contract.pages else { continue };
        let (key, path) = case.ok_requests().swap_remove(0);
        let path = path.split('?').next().unwrap();
        // The first request with a key also looks up the key.
        market.get(key, path).await.ok();
        let short = count_statements(&market, key, &format!("{path}?{}", pages.short)).await;
        let long = count_statements(&market, key, &format!("{path}?{}", pages.long)).await;
        assert_eq!(short, long, "{path}");
        assert!((1..=pages.max_statements).contains(&long), "{path} executes {long} statements");
    }
}

/// Sends a body that is rejected, and returns the status and the number of statements of the request.
async fn count_of_rejected(market: &TestMarket, method: &str, path: &str, body: &Value) -> (u16, u64) {
    let headers = [("x-api-key", VENDOR), ("content-type", "application/json")];
    let (mut minimum, mut status) = (u64::MAX, 0);
    for _ in 0..5 {
        let before = market.market().statement_count();
        let method = Method::from_bytes(method.as_bytes()).unwrap();
        let response = market.send_body(method, &format!("/v2/{path}"), &headers, body.to_string()).await;
        minimum = minimum.min(market.market().statement_count() - before);
        status = response.status;
    }
    (status, minimum)
}

#[tokio::test]
async fn statement_count_of_checks_does_not_depend_on_the_body() {
    let market = TestMarket::demo();
    let own = async |collection: &str| {
        let page = market.get(VENDOR, &format!("/v2/{collection}")).await.ok();
        page["items"][0]["id"].as_str().unwrap().to_owned()
    };
    let (codebase, listing) = (own("codebases").await, own("listings").await);
    let absent = |count: u128| (1..=count).map(|number| Uuid::from_u128(number).to_string());
    let tags = |count: usize| [vec!["finance"; count - 1], vec!["nope"]].concat();
    let rows = |rows: usize, tag_count: usize, groups: u128| {
        let mut items = vec![
            json!({"title": "A", "exclusivity": "available", "domain_tags": vec!["finance"; tag_count]});
            rows
        ];
        for (item, group) in items.iter_mut().rev().zip(absent(groups)) {
            item["group_id"] = json!(group);
        }
        json!({"items": items})
    };
    let tasks = |count| json!({"task_type": "coding", "task_ids": absent(count).collect::<Vec<_>>()});
    let matches = |count| {
        let matches: Vec<Value> = absent(count).map(|group| json!({"group_id": group})).collect();
        json!({"matches": matches, "asset_ids": absent(count).collect::<Vec<_>>()})
    };
    let invalid = |mut body: Value| {
        body["x"] = json!(1);
        body
    };
    let (batch, attachment) = ("codebases/batch", format!("listings/{listing}/assets"));
    let patch = format!("codebases/{codebase}");
    let raw = |tags: Vec<&str>| json!({"title": "A", "group_id": Uuid::nil(), "domain_tags": tags});
    let patched = |tags: Vec<&str>| json!({"group_id": Uuid::nil(), "domain_tags": tags});
    let cases = [
        ("POST", batch, rows(1, 1, 1), rows(500, 20, 90), 422),
        ("POST", "raw-data", raw(tags(1)), raw(tags(20)), 422),
        ("PATCH", patch.as_str(), patched(tags(1)), patched(tags(20)), 422),
        ("POST", "tasks/import", tasks(1), tasks(500), 404),
        ("POST", attachment.as_str(), matches(1), matches(20), 422),
    ];
    for (method, path, small, large, status) in cases {
        for (small, large, status) in
            [(&small, &large, status), (&invalid(small.clone()), &invalid(large.clone()), 422)]
        {
            let of_small = count_of_rejected(&market, method, path, small).await;
            let of_large = count_of_rejected(&market, method, path, large).await;
            assert_eq!((of_small, of_large.0), (of_large, status), "{method} {path}");
            assert!(of_large.1 <= 8, "{method} {path} executes {} statements", of_large.1);
        }
    }
}
