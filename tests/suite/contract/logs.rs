//! What requests, tool calls, and jobs leave in the log: what they waited for, and never a path, which may
//! contain a secret.

use std::{
    io,
    sync::{Arc, Mutex, mpsc},
};

use marketplace::{
    error::Error,
    market::{Requester, Writer},
    operations::cleanup,
};
use poem::http::Method;
use serde_json::json;

use crate::{
    harness::{TestMarket, demo},
    vendor_api::seller_market::empty_market,
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

/// Logs everything on this thread until the returned guard is dropped.
fn capture() -> (Output, tracing::subscriber::DefaultGuard) {
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
    market.market().write_blocking(|writer| cleanup::enqueue(writer)).unwrap();
    market.clock().advance(3_000_000);
    let (output, guard) = capture();
    market.run_background();
    drop(guard);
    let line = output.line("job ended");
    assert!(line.contains("kind=\"sweep\"") && line.contains("outcome=\"completed\""), "{line}");
    assert_eq!((number(&line, "wait_ms"), number(&line, "attempts")), ("3000.0", "1"), "{line}");
}
