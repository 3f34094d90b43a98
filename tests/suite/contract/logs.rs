//! Log lines of requests, tool calls, and jobs: they contain waiting times, but never a path, which may contain a
//! secret.

use std::{
    io,
    sync::{Arc, LazyLock, Mutex, mpsc},
};

use marketplace::{
    domain::principals::KeyOwner,
    error::Error,
    market::{self, Reader, Requester, Writer},
    operations::cleanup,
    store,
};
use poem::http::Method;
use serde_json::json;
use tracing::level_filters::LevelFilter;
use uuid::Uuid;

use super::cases::{BUYER, OPERATOR, VENDOR};
use crate::{
    harness::{TestMarket, demo},
    vendor_api::seller_market::{SELLER, create_grant, empty_market},
};

/// A grant's token, and any other secret that a client may put into a path.
const TOKEN: &str = "q1w2e3r4t5y6u7i8o9p0";

#[derive(Clone, Default)]
struct Output(Arc<Mutex<Vec<u8>>>);

impl io::Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A subscriber that logs nothing. While there is only one, tracing asks the thread that reaches a line first whether it is
/// logged, and keeps the answer for all threads.
static OTHER: LazyLock<tracing::Dispatch> = LazyLock::new(|| {
    tracing::Dispatch::new(tracing_subscriber::fmt().with_max_level(LevelFilter::OFF).finish())
});

/// Logs everything on this thread until the returned guard is dropped.
fn capture() -> (Output, tracing::subscriber::DefaultGuard) {
    LazyLock::force(&OTHER);
    let output = Output::default();
    let writer = output.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_ansi(false)
        .with_writer(move || writer.clone())
        .finish();
    (output, tracing::subscriber::set_default(subscriber))
}

impl Output {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }

    /// Returns the only line with this message.
    fn line(&self, message: &str) -> String {
        let text = self.text();
        let lines: Vec<&str> = text.lines().filter(|line| line.contains(message)).collect();
        assert_eq!(lines.len(), 1, "{text}");
        lines[0].to_owned()
    }
}

/// Returns the text of the number in a field of a log line.
fn number<'l>(line: &'l str, field: &str) -> &'l str {
    let start = format!(" {field}=");
    let value = line.split(&start).nth(1).unwrap_or_else(|| panic!("{line}"));
    value.split_whitespace().next().unwrap()
}

async fn log_of(market: &TestMarket, method: &str, path: &str) -> String {
    let (output, guard) = capture();
    let method = Method::from_bytes(method.as_bytes()).unwrap();
    market.send(method, path, &[("authorization", &format!("Bearer {TOKEN}"))]).await;
    drop(guard);
    output.text()
}

#[tokio::test]
async fn log_names_routes_and_no_paths() {
    let token = TOKEN;
    for (method, path, route) in [
        ("GET", format!("//{token}"), "none"),
        ("GET", format!("/{token}"), "none"),
        ("POST", format!("/v2/upload-grants/{token}/oops"), "none"),
        ("POST", format!("//v2/vendor/uploads/grants/{token}"), "none"),
        ("POST", format!("/v2/vendor/uploads/grants/{token}/{token}"), "none"),
        ("POST", format!("/v2/vendor/uploads/grants/{token}"), "/v2/vendor/uploads/grants/{token}"),
        ("GET", format!("/v2/vendor/uploads/grants/{token}"), "/v2/vendor/uploads/grants/{token}"),
        (
            "POST",
            format!("/v2/vendor/uploads/grants/{token}/parts"),
            "/v2/vendor/uploads/grants/{token}/parts",
        ),
        ("GET", format!("/v2/listings/{token}?query={token}"), "/v2/listings/{listing_id}"),
        ("PUT", format!("/v2/blobs/uploads/{token}/1?signature={token}"), "/v2/blobs/uploads/:upload/:part"),
        ("GET", "/vendor/openapi.json".to_owned(), "/vendor/openapi.json"),
        (token, "/vendor/openapi.json".to_owned(), "/vendor/openapi.json"),
        ("POST", format!("/v2/mcp/?token={token}"), "/v2/mcp/"),
    ] {
        let log = log_of(demo(), method, &path).await;
        assert!(!log.contains(token), "{method} {path}: {log}");
        assert!(log.contains(&format!("route=\"{route}\"")), "{method} {path}: {log}");
    }
}

/// Returns the IDs of a key and of its team, and the name of the team.
fn owner_of(market: &TestMarket, key: &str) -> (Uuid, Option<(Uuid, String)>) {
    let find = |reader: &Reader| store::keys::find_by_digest(reader.rows, &market::KeyCache::digest(key));
    let (owner, validity) = market.read(find).unwrap().expect("a key");
    match owner {
        KeyOwner::Team(team) => (validity.id, Some((team.id, team.name.clone()))),
        KeyOwner::Operator(_) => (validity.id, None),
    }
}

#[tokio::test]
async fn log_line_of_a_request_says_who_sent_it_and_what_for() {
    let market = TestMarket::demo_with_settings(|settings| settings.limits.trust_forwarded_for = true);
    let id = "6f1f2f9e-0c5b-4a55-8f43-6f2d1f0e9a11";
    for (key, method, path, route, ids) in [
        (VENDOR, "GET", "/v2/wallet".to_owned(), "/v2/wallet", None),
        (VENDOR, "GET", format!("/v2/assets/{id}"), "/v2/assets/{asset_id}", Some(format!("asset_id={id}"))),
        (VENDOR, "GET", format!("/v2/assets/{TOKEN}"), "/v2/assets/{asset_id}", None),
        (
            VENDOR,
            "PUT",
            format!("/v2/asset-groups/{id}/assets/{id}"),
            "/v2/asset-groups/{group_id}/assets/{asset_id}",
            Some(format!("group_id={id} asset_id={id}")),
        ),
        (
            VENDOR,
            "POST",
            format!("/v2/vendor/uploads/grants/{id}"),
            "/v2/vendor/uploads/grants/{token}",
            None,
        ),
        (VENDOR, "POST", "/v2/mcp/".to_owned(), "/v2/mcp/", None),
        (BUYER, "GET", "/v2/assets".to_owned(), "/v2/assets", None),
        (
            OPERATOR,
            "GET",
            "/operator/v1/jobs/17".to_owned(),
            "/operator/v1/jobs/{job_id}",
            Some("job_id=17".to_owned()),
        ),
    ] {
        let (key_id, team) = owner_of(&market, key);
        let (output, guard) = capture();
        let authorization = format!("Bearer {key}");
        let headers = [
            ("authorization", authorization.as_str()),
            ("content-type", "application/json"),
            ("x-forwarded-for", "203.0.113.9"),
        ];
        let sent = Method::from_bytes(method.as_bytes()).unwrap();
        market.send_body(sent, &path, &headers, "{}".to_owned()).await;
        drop(guard);
        let line = output.line("request completed");
        let has =
            |field: String| line.contains(&format!(" {field} ")) || line.ends_with(&format!(" {field}"));
        assert!(has(format!("route=\"{route}\"")) && has("client=203.0.113.9".to_owned()), "{line}");
        assert!(has(format!("key_id={key_id}")) && !line.contains(key), "{line}");
        let caller = if team.is_some() { "team" } else { "operator" };
        assert!(has(format!("caller={caller:?}")), "{line}");
        match team {
            Some((id, name)) => {
                assert!(has(format!("team_id={id}")) && has(format!("team={name:?}")), "{line}");
            }
            None => assert!(!line.contains(" team"), "{line}"),
        }
        match ids {
            Some(ids) => assert!(has(format!("ids={ids:?}")), "{line}"),
            None => assert!(!line.contains(" ids="), "{line}"),
        }
    }
    let (output, guard) = capture();
    let key = ("authorization", "Bearer mkt_unknown_key");
    market.send(Method::GET, "/v2/wallet", &[key, ("x-forwarded-for", "203.0.113.9")]).await;
    drop(guard);
    let line = output.line("request completed");
    assert!(
        line.contains(" client=203.0.113.9") && !line.contains("key_id=") && !line.contains("mkt_"),
        "{line}"
    );
}

/// Requests for worlds have the name of the world, and those with a signed link the team that it is for.
#[tokio::test]
async fn log_line_names_world_and_team_of_a_signed_link() {
    let market = empty_market();
    let new = marketplace::worlds::NewWorld { name: Some("one".to_owned()), ..Default::default() };
    market.worlds().create(&new, None).unwrap();
    let (output, guard) = capture();
    market.get("mkt_demo_vendor", "/w/one/v2/wallet").await.ok();
    drop(guard);
    assert!(output.line("request completed").contains(" world=\"one\" team_id="));
    let (_, token) = create_grant(market.market(), None);
    let (_, team) = owner_of(&market, SELLER);
    let path = format!("/v2/vendor/uploads/grants/{token}");
    let file = json!({"file_name": "a.zip", "size_bytes": 22, "content_type": "application/zip"});
    let plan = market.call(SELLER, "POST", &path, &file).await.ok();
    let (output, guard) = capture();
    market.send_part(&plan, "abcdefghijklmnopqrstuv".to_owned()).await.expect_status(200);
    drop(guard);
    let (line, (id, name)) = (output.line("request completed"), team.unwrap());
    let upload = plan["upload_id"].as_str().unwrap();
    assert!(line.contains(" caller=\"link\" "), "{line}");
    assert!(line.contains(&format!(" ids=\"upload={upload}\" ")), "{line}");
    assert!(line.contains(&format!(" team_id={id} team={name:?}")) && !line.contains("key_id"), "{line}");
    assert!(!line.contains("signature"), "{line}");
}

/// The time of a stopped clock passes only while the request waits.
#[tokio::test]
async fn log_line_states_the_wait_for_the_writer() {
    let market = empty_market();
    market.get("mkt_seller", "/v2/asset-groups").await.ok();
    let (started, has_started) = tokio::sync::oneshot::channel();
    let (release, released) = mpsc::channel();
    let holding = market.market().clone();
    let holder = tokio::spawn(async move {
        let hold = move |_: &mut Writer| {
            started.send(()).unwrap();
            released.recv().map_err(Error::internal)
        };
        holding.write(Requester::process(), hold).await
    });
    has_started.await.unwrap();
    let (output, guard) = capture();
    let body = json!({"name": "New"});
    let mut request = Box::pin(market.call("mkt_seller", "POST", "/v2/asset-groups", &body));
    assert!(futures_util::poll!(&mut request).is_pending());
    market.clock().advance(70_000);
    release.send(()).unwrap();
    request.await.expect_status(201);
    holder.await.unwrap().unwrap();
    drop(guard);
    let line = output.line("request completed");
    assert_eq!((number(&line, "write_wait_ms"), number(&line, "write_ms")), ("70.0", "0.0"), "{line}");
    for field in ["slot_wait_ms", "compute_wait_ms", "read_wait_ms", "read_ms", "index_wait_ms"] {
        assert_eq!(number(&line, field), "0.0", "{line}");
    }
}

#[tokio::test]
async fn log_line_of_a_tool_call_has_its_times() {
    let (output, guard) = capture();
    let call = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "get_wallet", "arguments": {}}});
    let headers = [
        ("host", "market.test"),
        ("content-type", "application/json"),
        ("accept", "application/json"),
        ("authorization", "Bearer mkt_demo_vendor"),
    ];
    demo().send_body(Method::POST, "/v2/mcp/", &headers, call.to_string()).await.ok();
    drop(guard);
    let line = output.line("tool called");
    assert!(line.contains("tool=\"get_wallet\"") && line.contains("outcome=\"answered\""), "{line}");
    for field in ["compute_wait_ms", "read_wait_ms", "read_ms"] {
        assert_eq!(number(&line, field), "0.0", "{line}");
    }
}

#[test]
fn log_line_of_a_job_has_its_wait() {
    let market = empty_market();
    market.run_background();
    market.write(|writer| cleanup::enqueue(writer)).unwrap();
    market.clock().advance(3_000_000);
    let (output, guard) = capture();
    market.run_background();
    drop(guard);
    let line = output.line("job ended");
    assert!(line.contains("kind=\"sweep\"") && line.contains("outcome=\"completed\""), "{line}");
    assert_eq!((number(&line, "wait_ms"), number(&line, "attempts")), ("3000.0", "1"), "{line}");
    assert!(!line.contains("team"), "{line}");
}

#[tokio::test]
async fn log_line_of_a_job_has_the_id_of_its_team() {
    let market = TestMarket::demo();
    market.run_background();
    let (_, team) = owner_of(&market, VENDOR);
    market.call(VENDOR, "POST", "/v2/tasks/refresh-qc", &json!(null)).await.expect_status(202);
    let (output, guard) = capture();
    market.run_background();
    drop(guard);
    let line = output.line("job ended");
    assert!(line.contains(&format!(" team_id={} ", team.unwrap().0)), "{line}");
}
