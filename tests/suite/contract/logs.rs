//! What a request leaves in the log: its route, and never its path, which may contain a secret.

use std::{
    io,
    sync::{Arc, Mutex},
};

use poem::http::Method;

use crate::harness::{TestMarket, demo};

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

async fn log_of(market: &TestMarket, method: &str, path: &str) -> String {
    let output = Output::default();
    let writer = output.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_ansi(false)
        .with_writer(move || writer.clone())
        .finish();
    let guard = tracing::subscriber::set_default(subscriber);
    let method = Method::from_bytes(method.as_bytes()).unwrap();
    market.send(method, path, &[("authorization", &format!("Bearer {TOKEN}"))]).await;
    drop(guard);
    String::from_utf8(output.0.lock().unwrap().clone()).unwrap()
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
