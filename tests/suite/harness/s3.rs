//! An S3-compatible store that checks signatures, on a port of its own, for as long as a test runs.

use hyper_util::{
    rt::{TokioExecutor, TokioIo},
    server::conn::auto::Builder,
};
use marketplace::config::{BlobKind, Settings};
use s3s::{auth::SimpleAuth, service::S3ServiceBuilder};
use s3s_fs::FileSystem;
use serde_json::json;
use tempfile::TempDir;
use tokio::{net::TcpListener, runtime::Runtime};

const BUCKET: &str = "market";

/// A store. Dropping it ends it.
pub struct Store {
    /// Where it answers.
    pub endpoint: String,
    folder: TempDir,
    runtime: Option<Runtime>,
}

impl Store {
    /// Starts one with an empty bucket.
    pub fn start() -> Store {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join(BUCKET)).unwrap();
        let mut service = S3ServiceBuilder::new(FileSystem::new(folder.path()).unwrap());
        service.set_auth(SimpleAuth::from_single("market-key", "market-secret"));
        let service = service.build();
        let runtime = Runtime::new().unwrap();
        // A test stands in a runtime of its own, in which another must not be waited for.
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        runtime.spawn(async move {
            let listener = TcpListener::from_std(listener).unwrap();
            while let Ok((stream, _)) = listener.accept().await {
                let service = service.clone();
                tokio::spawn(async move {
                    // A caller that hangs up is no fault of a test.
                    let _ = Builder::new(TokioExecutor::new())
                        .serve_connection(TokioIo::new(stream), service)
                        .await;
                });
            }
        });
        Store { endpoint, folder, runtime: Some(runtime) }
    }

    /// Has a market keep its uploads here.
    pub fn configure(&self, settings: &mut Settings) {
        settings.blobs.kind = BlobKind::S3;
        settings.blobs.endpoint.clone_from(&self.endpoint);
        BUCKET.clone_into(&mut settings.blobs.bucket);
        "test/".clone_into(&mut settings.blobs.prefix);
        "market-key".clone_into(&mut settings.blobs.access_key_id);
        settings.blobs.secret_access_key = serde_json::from_value(json!("market-secret")).unwrap();
    }

    /// The names of what it holds.
    pub fn objects(&self) -> Vec<String> {
        let mut names = Vec::new();
        let mut folders = vec![self.folder.path().join(BUCKET)];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
                if entry.path().is_dir() {
                    folders.push(entry.path());
                } else if !entry.file_name().to_string_lossy().starts_with('.') {
                    names.push(entry.file_name().to_string_lossy().into_owned());
                }
            }
        }
        names
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// Sends bytes to an address, with what the answer is: its status and its `ETag`.
pub async fn put(url: &str, bytes: Vec<u8>) -> (u16, String) {
    let answer = reqwest::Client::new().put(url).body(bytes).send().await.unwrap();
    let etag = answer.headers().get("etag").map(|etag| etag.to_str().unwrap().to_owned());
    (answer.status().as_u16(), etag.unwrap_or_default())
}
