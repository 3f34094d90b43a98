//! Whether a server is alive and ready: the effect of each failed condition, and access without a key.

use std::{os::unix::fs::FileExt, path::PathBuf};

use marketplace::{market::DATABASE_FILE, mcp, rest};
use poem::{Endpoint, Request, http::Method};
use rusqlite::Connection;
use serde_json::{Value, json};

use crate::harness::{BASE, TestMarket, worlds::EXAMPLE};

/// Microseconds for which a server remembers whether it is ready.
const REMEMBERED: i64 = 1_000_000;

/// Returns the status and the failed conditions of a server.
async fn state(market: &TestMarket) -> (u16, Value) {
    market.clock().advance(REMEMBERED);
    let response = market.send(Method::GET, "/readyz", &[]).await;
    assert_eq!(response.header("cache-control"), "no-store");
    let body = response.json();
    let is_ready = body["failed"] == json!([]);
    assert_eq!(body["status"], if is_ready { "ready" } else { "not_ready" });
    (response.status, body["failed"].clone())
}

fn connect(market: &TestMarket) -> Connection {
    Connection::open(market.market().data_dir().join(DATABASE_FILE)).unwrap()
}

#[tokio::test]
async fn anybody_may_ask_and_as_often_as_they_want() {
    let market = TestMarket::with_settings(|settings| {
        (settings.limits.address, settings.limits.other) = (1, 1);
        settings.keys.allow_fixture_keys = true;
    });
    for _ in 0..3 {
        let alive = market.send(Method::GET, "/healthz", &[("host", "elsewhere.test")]).await;
        assert_eq!(alive.ok(), json!({"status": "alive", "failed": []}));
        let ready = market.send(Method::GET, "/readyz", &[("origin", "https://elsewhere.test")]).await;
        assert_eq!(ready.ok(), json!({"status": "ready", "failed": []}));
        assert_eq!(ready.header("ratelimit"), "", "it is not counted");
    }
    for path in ["/healthz", "/readyz"] {
        assert_eq!(market.send(Method::HEAD, path, &[]).await.status, 200);
        let refused = market.send(Method::POST, path, &[]).await;
        assert_eq!(refused.expect_error(405), "method_not_allowed");
        assert_eq!(refused.header("allow"), "GET, HEAD");
    }
}

#[tokio::test]
async fn many_requests_at_once_check_once() {
    let market = TestMarket::empty();
    let count = || market.market().statement_count();
    let before = count();
    state(&market).await;
    let once = count() - before;
    market.clock().advance(REMEMBERED);
    let before = count();
    let requests = (0..1_000).map(|_| market.send(Method::GET, "/readyz", &[]));
    let responses = futures_util::future::join_all(requests).await;
    assert!(responses.iter().all(|response| response.status == 200));
    assert_eq!(count() - before, once);
}

#[tokio::test]
async fn worlds_are_not_watched() {
    let market = crate::harness::demo();
    for path in ["healthz", "readyz", "metrics"] {
        let response = market.get("mkt_demo_operator", &format!("/w/{EXAMPLE}/{path}")).await;
        assert_eq!(response.expect_error(404), "not_found", "{path}");
    }
}

#[tokio::test]
async fn full_disk_fails() {
    let market = TestMarket::with_settings(|settings| settings.data.reserve_mb = 1_000_000_000);
    assert_eq!(state(&market).await, (503, json!(["reserve_free"])));
    let alive = market.send(Method::GET, "/healthz", &[]).await;
    assert_eq!(alive.ok()["status"], "alive");
}

/// The data directory is moved away, since root can write whatever the permissions are.
#[tokio::test]
async fn disk_that_cannot_be_written_to_fails() {
    let market = TestMarket::empty();
    let directory = market.market().data_dir().to_owned();
    let elsewhere = PathBuf::from(format!("{}-elsewhere", directory.display()));
    std::fs::rename(&directory, &elsewhere).unwrap();
    let (status, failed) = state(&market).await;
    std::fs::rename(&elsewhere, &directory).unwrap();
    assert_eq!(status, 503);
    assert!(failed.as_array().unwrap().contains(&json!("disk_writable")), "{failed}");
    assert_eq!(state(&market).await, (200, json!([])));
}

#[tokio::test]
async fn nothing_is_left_on_the_disk() {
    let market = TestMarket::empty();
    let list = || std::fs::read_dir(market.market().data_dir()).unwrap().count();
    let before = list();
    assert_eq!(state(&market).await, (200, json!([])));
    assert_eq!(list(), before);
}

#[tokio::test]
async fn schema_of_another_version_fails() {
    let market = TestMarket::empty();
    let rows = connect(&market);
    let version: i64 = rows.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
    rows.pragma_update(None, "user_version", version + 1).unwrap();
    assert_eq!(state(&market).await, (503, json!(["migrated"])));
    rows.pragma_update(None, "user_version", version).unwrap();
    assert_eq!(state(&market).await, (200, json!([])));
}

/// Damage is known once it is read.
#[tokio::test]
async fn damaged_database_fails() {
    let market = TestMarket::demo();
    let path = market.market().data_dir().join(DATABASE_FILE);
    let rows = connect(&market);
    rows.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    let root = "SELECT rootpage FROM sqlite_schema WHERE name = 'announcement'";
    let page: u64 = rows.query_row(root, [], |row| row.get(0)).unwrap();
    let size: u64 = rows.pragma_query_value(None, "page_size", |row| row.get(0)).unwrap();
    let file = std::fs::OpenOptions::new().read(true).write(true).open(path).unwrap();
    let (mut intact, at) = (vec![0; size as usize], (page - 1) * size);
    file.read_exact_at(&mut intact, at).unwrap();
    file.write_all_at(&vec![0x55; size as usize], at).unwrap();
    assert_eq!(state(&market).await, (200, json!([])));
    let response = market.get("mkt_demo_operator", "/operator/v1/announcement").await;
    assert_eq!(response.expect_error(500), "internal_error");
    assert_eq!(state(&market).await, (503, json!(["database_intact"])));
    file.write_all_at(&intact, at).unwrap();
}

/// A change that the server was not notified of is not in its index.
#[tokio::test(start_paused = true)]
async fn index_that_does_not_catch_up_fails() {
    let market = TestMarket::demo();
    let rows = connect(&market);
    let last: i64 = rows.query_row("SELECT max(change) FROM index_queue", [], |row| row.get(0)).unwrap();
    let change = |from: i64, to: i64| {
        rows.execute("UPDATE index_queue SET change = ?2 WHERE change = ?1", (from, to)).unwrap()
    };
    assert_eq!(change(last, last + 1), 1);
    assert_eq!(state(&market).await, (503, json!(["index_in_step"])));
    change(last + 1, last);
    assert_eq!(state(&market).await, (200, json!([])));
}

#[tokio::test]
async fn what_was_found_is_valid_for_a_second() {
    let market = TestMarket::empty();
    assert_eq!(state(&market).await, (200, json!([])));
    let rows = connect(&market);
    let version: i64 = rows.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
    rows.pragma_update(None, "user_version", version + 1).unwrap();
    assert_eq!(market.send(Method::GET, "/readyz", &[]).await.status, 200, "it is not checked again");
    market.clock().advance(REMEMBERED);
    assert_eq!(market.send(Method::GET, "/readyz", &[]).await.status, 503);
    rows.pragma_update(None, "user_version", version).unwrap();
}

#[tokio::test]
async fn server_that_stops_is_not_ready() {
    let market = TestMarket::empty();
    let app = mcp::App::new(rest::App::new(market.market().settings(), false));
    let server = app.watched(market.market().clone(), BASE, None);
    let get = async |path: &str| {
        let response =
            server.endpoint.get_response(Request::builder().uri(path.parse().unwrap()).finish()).await;
        let status = response.status().as_u16();
        let body: Value = serde_json::from_slice(&response.into_body().into_vec().await.unwrap()).unwrap();
        (status, body["failed"].clone())
    };
    assert_eq!(get("/readyz").await, (200, json!([])));
    server.monitor.begin_draining();
    assert_eq!(get("/readyz").await, (503, json!(["not_draining"])));
    assert_eq!(get("/healthz").await.0, 200);
}
