//! An S3-compatible server that verifies signatures, on its own port, for the duration of a test.

use std::{
    fs::{self, DirEntry},
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use http_body_util::BodyExt;
use hyper::{Method, Request, StatusCode, body::Incoming, service::service_fn};
use hyper_util::{
    rt::{TokioExecutor, TokioIo},
    server::conn::auto::Builder,
};
use marketplace::config::{BlobKind, Settings};
use s3s::{
    Body, HttpResponse,
    auth::SimpleAuth,
    service::{S3Service, S3ServiceBuilder},
};
use s3s_fs::FileSystem;
use serde_json::json;
use tempfile::TempDir;
use tokio::{net::TcpListener, runtime::Runtime};

const BUCKET: &str = "market";

/// Prefix of the names of the files that the server keeps for multipart uploads.
const UPLOAD_PREFIX: &str = ".upload";

/// A running S3 server. It stops when dropped.
pub struct S3Server {
    /// URL of the server.
    pub endpoint: String,
    /// Whether the next multipart upload is completed without the client learning of it.
    loses_completion: Arc<AtomicBool>,
    directory: TempDir,
    runtime: Option<Runtime>,
}

impl S3Server {
    /// Starts a server with an empty bucket.
    pub fn start() -> S3Server {
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir(directory.path().join(BUCKET)).unwrap();
        let mut service = S3ServiceBuilder::new(FileSystem::new(directory.path()).unwrap());
        service.set_auth(SimpleAuth::from_single("market-key", "market-secret"));
        let service = service.build();
        let runtime = Runtime::new().unwrap();
        // Tests already run in a tokio runtime, which must not block on another one, so bind with the
        // standard library.
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        let root = directory.path().to_owned();
        let loses_completion = Arc::<AtomicBool>::default();
        let loses = Arc::clone(&loses_completion);
        runtime.spawn(async move {
            let listener = TcpListener::from_std(listener).unwrap();
            while let Ok((stream, _)) = listener.accept().await {
                let (service, root, loses) = (service.clone(), root.clone(), Arc::clone(&loses));
                tokio::spawn(async move {
                    let answer = service_fn(move |request| {
                        let (service, root, loses) = (service.clone(), root.clone(), Arc::clone(&loses));
                        async move { answer(&service, (&root, &loses), request).await }
                    });
                    // A client that closes the connection does not fail the test.
                    let _ = Builder::new(TokioExecutor::new())
                        .serve_connection(TokioIo::new(stream), answer)
                        .await;
                });
            }
        });
        S3Server { endpoint, loses_completion, directory, runtime: Some(runtime) }
    }

    /// Makes the server complete the next multipart upload, and respond with an error.
    pub fn lose_completion(&self) {
        self.loses_completion.store(true, Ordering::SeqCst);
    }

    /// Configures a market to store its uploads on this server.
    pub fn configure(&self, settings: &mut Settings) {
        settings.blobs.kind = BlobKind::S3;
        settings.blobs.endpoint.clone_from(&self.endpoint);
        BUCKET.clone_into(&mut settings.blobs.bucket);
        "test/".clone_into(&mut settings.blobs.prefix);
        "market-key".clone_into(&mut settings.blobs.access_key_id);
        settings.blobs.secret_access_key = serde_json::from_value(json!("market-secret")).unwrap();
    }

    /// Returns the variables with which a process stores its uploads on this server.
    pub fn variables(&self) -> [(&'static str, String); 5] {
        [
            ("MARKETPLACE_BLOBS_KIND", "s3".to_owned()),
            ("MARKETPLACE_BLOBS_ENDPOINT", self.endpoint.clone()),
            ("MARKETPLACE_BLOBS_BUCKET", BUCKET.to_owned()),
            ("MARKETPLACE_BLOBS_ACCESS_KEY_ID", "market-key".to_owned()),
            ("MARKETPLACE_BLOBS_SECRET_ACCESS_KEY", "market-secret".to_owned()),
        ]
    }

    /// Aborts all multipart uploads, as buckets do with uploads that are incomplete after some days. Returns how many files of
    /// uploads and parts it has deleted.
    pub fn abort_uploads(&self) -> usize {
        let entries = fs::read_dir(self.directory.path()).unwrap().map(Result::unwrap);
        let is_of_upload = |entry: &DirEntry| entry.file_name().to_string_lossy().starts_with(UPLOAD_PREFIX);
        let files: Vec<DirEntry> = entries.filter(is_of_upload).collect();
        for file in &files {
            fs::remove_file(file.path()).unwrap();
        }
        files.len()
    }

    /// Returns the file names of the stored objects, without prefixes.
    pub fn object_names(&self) -> Vec<String> {
        let mut names = Vec::new();
        let mut directories = vec![self.directory.path().join(BUCKET)];
        while let Some(directory) = directories.pop() {
            for entry in fs::read_dir(directory).unwrap().map(Result::unwrap) {
                if entry.path().is_dir() {
                    directories.push(entry.path());
                } else if !entry.file_name().to_string_lossy().starts_with('.') {
                    names.push(entry.file_name().to_string_lossy().into_owned());
                }
            }
        }
        names
    }
}

/// Responds to a request. The response for an unknown multipart upload is 404 `NoSuchUpload`, as from Amazon S3. The server of
/// `s3s-fs` returns an empty list of parts instead.
async fn answer(
    service: &S3Service,
    (root, loses_completion): (&Path, &AtomicBool),
    request: Request<Incoming>,
) -> Result<HttpResponse, s3s::HttpError> {
    let mut query = request.uri().query().unwrap_or_default().split('&');
    let upload = query.find_map(|parameter| parameter.strip_prefix("uploadId="));
    if upload.is_none_or(|id| root.join(format!("{UPLOAD_PREFIX}-{id}.json")).exists()) {
        let is_completion = upload.is_some() && *request.method() == Method::POST;
        let mut response = service.call(request.map(Body::from)).await?;
        if is_completion && loses_completion.swap(false, Ordering::SeqCst) {
            *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
        }
        return Ok(response);
    }
    // A client that has not sent its whole request might not read the response.
    let _ = request.into_body().collect().await;
    let mut response = HttpResponse::new(Body::from("<Error><Code>NoSuchUpload</Code></Error>".to_owned()));
    *response.status_mut() = StatusCode::NOT_FOUND;
    Ok(response)
}

impl Drop for S3Server {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// Sends bytes with PUT to a URL. Returns the status and the `ETag` of the response, empty if there is none.
pub async fn put(url: &str, bytes: Vec<u8>) -> (u16, String) {
    let response = marketplace::http_client::asynchronous()
        .unwrap()
        .build()
        .unwrap()
        .put(url)
        .body(bytes)
        .send()
        .await
        .unwrap();
    let etag = response.headers().get("etag").map(|etag| etag.to_str().unwrap().to_owned());
    (response.status().as_u16(), etag.unwrap_or_default())
}
