//! The counts of the metrics, and names that they never contain.

use std::collections::BTreeSet;

use marketplace::{
    domain::{events::EventType, jobs::JobKind},
    operations::{
        access::Platform,
        cleanup,
        webhook_sender::WebhookSender,
        webhooks::{self, CheckedUrl, WebhookInput},
    },
    string_enum::StringEnum,
};
use poem::http::Method;
use serde_json::{Value, json};
use tokio::runtime::Handle;

use super::samples::{Scrape, scrape};
use crate::{
    contract::cases::{BUYER, OPERATOR, READING_OPERATOR, VENDOR},
    harness::{
        TestMarket, complete_demo, demo,
        documents::{self, Document},
        receiver::{Receiver, Reply},
        worlds::EXAMPLE,
    },
};

/// Maximum size of the metrics in bytes, with everything in them that there can be.
const MAX_BYTES: usize = 150_000;

fn requests(api: &str, operation: &str, status: &str) -> String {
    format!(r#"marketplace_http_requests_total{{api="{api}",operation="{operation}",status="{status}"}}"#)
}

#[tokio::test]
async fn only_operators_see_metrics() {
    for key in [OPERATOR, READING_OPERATOR] {
        assert_eq!(demo().get(key, "/metrics").await.status, 200, "{key}");
    }
    for key in [VENDOR, BUYER] {
        assert_eq!(demo().get(key, "/metrics").await.expect_error(403), "operator_required", "{key}");
    }
    assert_eq!(demo().send(Method::GET, "/metrics", &[]).await.expect_error(401), "unauthorized");
    let key = format!("Bearer {OPERATOR}");
    let post = demo().send(Method::POST, "/metrics", &[("authorization", &key)]).await;
    assert_eq!((post.expect_error(405).as_str(), post.header("allow")), ("method_not_allowed", "GET, HEAD"));
    let without_operators = TestMarket::with_settings(|settings| settings.operator.enabled = false);
    assert_eq!(without_operators.get(OPERATOR, "/metrics").await.status, 404);
}

#[tokio::test]
async fn programs_that_accept_only_plain_text_get_the_older_format() {
    let market = TestMarket::demo();
    let key = format!("Bearer {OPERATOR}");
    let accept = "text/plain;version=0.0.4";
    let plain =
        market.send(Method::GET, "/metrics", &[("authorization", key.as_str()), ("accept", accept)]).await;
    assert_eq!(plain.header("content-type"), "text/plain; version=0.0.4; charset=utf-8");
    let text = String::from_utf8(plain.bytes).unwrap();
    for line in [
        "# TYPE marketplace_build_info gauge",
        "# TYPE marketplace_http_requests_total counter",
        "# TYPE marketplace_http_request_duration_seconds histogram",
        "# TYPE marketplace_ready gauge",
        r#"marketplace_ready{condition="migrated"} 1.0"#,
    ] {
        assert!(text.lines().any(|found| found == line), "{line} is missing in {text}");
    }
    let is_newer = |line: &str| line.starts_with("# UNIT ") || line == "# EOF";
    assert_eq!(text.lines().find(|line| is_newer(line)), None);
    let accept = "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5";
    let both =
        market.send(Method::GET, "/metrics", &[("authorization", key.as_str()), ("accept", accept)]).await;
    Scrape::of_response(&both);
}

#[tokio::test]
async fn requests_are_counted_by_operation_and_status() {
    let market = TestMarket::demo();
    for (key, method, path, name) in [
        (BUYER, "GET", "/v2/wallet", requests("catalog", "get_wallet", "2xx")),
        (VENDOR, "GET", "/v2/wallet", requests("catalog", "get_wallet", "2xx")),
        ("nobody", "GET", "/v2/wallet", requests("catalog", "get_wallet", "4xx")),
        (OPERATOR, "GET", "/operator/v1/market", requests("operator", "get_market", "2xx")),
        (BUYER, "GET", "/v2/unheard-of", requests("none", "unknown", "4xx")),
        (BUYER, "GET", "/", requests("pages", "get_page", "2xx")),
        (BUYER, "GET", "/console/sign-in", requests("console", "get_page", "2xx")),
    ] {
        let before = scrape(&market).await.value(&name);
        let method = Method::from_bytes(method.as_bytes()).unwrap();
        market.send(method, path, &[("authorization", &format!("Bearer {key}"))]).await;
        assert_eq!(scrape(&market).await.value(&name), before + 1, "{key} {path}");
    }
    let found = scrape(&market).await;
    let count = |access| {
        found.value(&format!(
            r#"marketplace_http_request_duration_seconds_count{{api="catalog",access="{access}"}}"#
        ))
    };
    assert_eq!((count("read"), count("write")), (3, 0));
    assert_eq!(found.value("marketplace_http_running_requests"), 1, "this one");
}

#[tokio::test]
async fn requests_to_worlds_are_counted_together() {
    let market = complete_demo();
    let world = EXAMPLE;
    for path in ["/v2/wallet", "/v2/wallet", "/v2/unheard-of"] {
        market.get(BUYER, &format!("/w/{world}{path}")).await;
    }
    let found = scrape(&market).await;
    assert_eq!(found.value(&requests("worlds", "any", "2xx")), 2);
    assert_eq!(found.value(&requests("worlds", "any", "4xx")), 1);
    assert_eq!(found.value("marketplace_worlds"), 1);
    assert!(!found.text.contains(&format!("\"{world}\"")));
}

#[tokio::test]
async fn rejections_are_counted_by_limit() {
    let market = TestMarket::demo_with_settings(|settings| settings.limits.other = 3);
    let rejected = r#"marketplace_http_rejected_requests_total{limit="rate"}"#;
    for _ in 0..5 {
        market.get(BUYER, "/v2/wallet").await;
    }
    let found = scrape(&market).await;
    assert_eq!(found.value(rejected), 2);
    assert_eq!(found.value(&requests("catalog", "get_wallet", "4xx")), 2);
    for limit in ["requests", "changes", "held_requests", "bodies", "downloads", "memory", "temporary_files"]
    {
        let name = format!(r#"marketplace_http_rejected_requests_total{{limit="{limit}"}}"#);
        assert_eq!(found.value(&name), 0, "{limit}");
    }
}

#[tokio::test]
async fn jobs_are_counted_by_kind() {
    let market = TestMarket::demo();
    market.write(|writer| cleanup::enqueue(writer)).unwrap();
    let waiting = scrape(&market).await;
    assert_eq!(waiting.value(r#"marketplace_jobs{kind="sweep",state="waiting"}"#), 1);
    market.clock().advance(90_000_000);
    let late = scrape(&market).await;
    let due = market.read(|reader| {
        let jobs = marketplace::store::market_facts::count_jobs_by_kind(reader.rows)?;
        Ok((reader.now.0 - jobs[0].counted.oldest_at.0).max(0) as u64 / 1_000_000)
    });
    assert_eq!(late.value(r#"marketplace_job_oldest_wait_seconds{kind="sweep"}"#), due.unwrap());
    // A cleanup is due later.
    market.clock().advance(86_400_000_000);
    market.run_background();
    let name = r#"marketplace_job_attempts_total{kind="sweep",outcome="completed"}"#;
    assert!(scrape(&market).await.value(name) >= 1);
}

/// Prometheus sees no increase in the first value of a series, so alerts would miss the first failures.
#[tokio::test]
async fn failures_of_jobs_are_counted_from_zero() {
    let found = scrape(&TestMarket::demo()).await;
    for kind in JobKind::ALL {
        let name = format!(r#"marketplace_job_attempts_total{{kind="{}",outcome="failed"}}"#, kind.as_str());
        assert!(found.samples.contains_key(&name) && found.value(&name) == 0, "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn attempts_to_send_to_webhooks_are_counted_by_outcome() {
    let market = TestMarket::demo();
    let receiver = Receiver::start(Reply::status(500));
    let url = CheckedUrl::resolve(&market.market().settings().webhooks, &receiver.url).unwrap();
    let create = |writer: &mut marketplace::market::Writer| {
        let input = WebhookInput {
            team: None,
            url: &url,
            description: "Test",
            event_types: &[EventType::TeamCreated],
        };
        webhooks::create(writer, Platform::of_process(), &input)
    };
    market.write(create).unwrap();
    let body = json!({"name": "Watched house", "roles": ["vendor"]});
    assert_eq!(market.call(OPERATOR, "POST", "/operator/v1/teams", &body).await.status, 201);
    assert_eq!(scrape(&market).await.value("marketplace_webhook_pending_deliveries"), 1);
    let sender = WebhookSender::start(market.market(), &Handle::current()).unwrap();
    let rejected = r#"marketplace_webhook_attempts_total{outcome="rejected"}"#;
    let is_counted =
        || market.market().attempts().webhooks().any(|(name, count)| name == "rejected" && count > 0);
    while !is_counted() {
        tokio::task::yield_now().await;
    }
    drop(sender);
    let found = scrape(&market).await;
    assert_eq!(found.value(rejected), 1);
    assert_eq!(found.value("marketplace_webhook_pending_deliveries"), 1, "it is tried again");
    assert!(!found.text.contains("Watched house"));
}

/// Labels are known in advance: no request adds one, and none contains data of a request or a team.
#[tokio::test]
async fn nothing_of_requests_and_teams_is_in_the_metrics() {
    let market = TestMarket::demo();
    let secret = "q1w2e3r4t5y6u7i8o9p0";
    let send_others = async |numbers: std::ops::Range<u128>| {
        for number in numbers {
            let path = format!("/v2/listings/{}?query={secret}", uuid::Uuid::from_u128(number));
            market.get(BUYER, &path).await;
            market.get(secret, &path).await;
            market.get(BUYER, &format!("/{secret}/{number}")).await;
            market.send(Method::from_bytes(b"BREW").unwrap(), &format!("/v2/{secret}"), &[]).await;
        }
    };
    send_others(0..1).await;
    scrape(&market).await;
    let before = scrape(&market).await;
    send_others(1..50).await;
    let after = scrape(&market).await;
    let names = |found: &super::samples::Scrape| found.samples.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&before), names(&after));
    let teams = market.call(OPERATOR, "GET", "/operator/v1/teams?limit=100", &Value::Null).await.ok();
    let teams = teams["items"].as_array().unwrap();
    assert!(teams.len() > 3);
    let of_teams = teams.iter().flat_map(|team| ["name", "id"].map(|field| team[field].as_str().unwrap()));
    for hidden in of_teams.chain([secret, "mkt_", "://", "/v2", "/operator"]) {
        assert!(!after.text.contains(hidden), "{hidden}");
    }
}

#[tokio::test]
async fn every_family_says_what_it_is() {
    let found = scrape(demo()).await;
    assert!(found.families.len() > 30, "{}", found.families.len());
    for (name, family) in &found.families {
        assert!(family.help.ends_with('.') && family.help.len() > 10, "{name}: {}", family.help);
        assert!(!family.kind.is_empty(), "{name}");
        let states = [
            "build",
            "ready",
            "measured",
            "replica_current",
            "replica_primary_reachable",
            "replication_running",
        ];
        let is_state = states.iter().any(|state| *name == format!("marketplace_{state}"));
        assert_eq!(family.unit.is_empty(), is_state, "{name}: {}", family.unit);
        assert!(is_state || name.ends_with(&format!("_{}", family.unit)), "{name}: {}", family.unit);
    }
    for condition in
        ["migrated", "index_in_step", "disk_writable", "reserve_free", "is_primary", "not_draining"]
    {
        assert_eq!(
            found.value(&format!(r#"marketplace_ready{{condition="{condition}"}}"#)),
            1,
            "{condition}"
        );
    }
    assert_eq!(found.value("marketplace_measured"), 1);
    assert!(found.value(r#"marketplace_stored_bytes{kind="database"}"#) > 0);
    assert_eq!(found.value("marketplace_index_lag_changes"), 0);
    assert!(found.value("process_resident_memory_bytes") > 1_000_000);
}

/// With three classes of status for each operation, metrics are still small. Requests without a key bring one class.
#[tokio::test]
async fn size_is_bounded() {
    let market = TestMarket::demo();
    let before = scrape(&market).await.text.len();
    let mut operations = BTreeSet::new();
    for operation in documents::documents().iter().flat_map(Document::operations) {
        operations.insert((&operation.method, &operation.path));
    }
    let count = operations.len();
    for (method, path) in operations {
        let method = Method::from_bytes(method.as_bytes()).unwrap();
        market.send(method, &path.replace(['{', '}'], ""), &[]).await;
    }
    let after = scrape(&market).await.text.len();
    assert!(count > 200, "{count}");
    let bytes = before + 3 * (after - before);
    assert!(bytes <= MAX_BYTES, "{count} operations take {bytes} bytes");
}
