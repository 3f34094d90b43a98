//! Uploads in an S3-compatible store. Clients send parts directly to the store with presigned URLs; this
//! module starts, checks and completes the uploads.

pub(super) mod objects;
mod part_lists;

use std::{
    collections::HashMap,
    fmt,
    fs::File,
    io::{self, Read, Write},
    time::Duration,
};

use futures_util::StreamExt;
use object_store::{
    ClientOptions, ObjectStore, ObjectStoreExt, PutPayload, RetryConfig,
    aws::{AmazonS3, AmazonS3Builder},
    client::{HttpClient, HttpConnector},
    multipart::{MultipartStore, PartId},
    path::Path,
    signer::{Method, SignedUrlOptions, Signer},
};
use sha2::{Digest, Sha256};
use tokio::runtime::Runtime;
use uuid::Uuid;

use self::part_lists::{parse_part_list, unquote};
use super::{CompletionOutcome, StoredFile, UploadedPart};
use crate::{
    config::BlobSettings,
    domain::uploads::{SIGNED_URL_SECONDS, Upload},
    error::ObjectStoreFailed,
    http_client, private_files,
};

/// Size in bytes of the parts that this server sends itself.
const PART_BYTES: usize = 16 << 20;

/// Maximum size in bytes of a response to `ListParts`. A list of a thousand parts is smaller.
const MAX_PART_LIST_BYTES: u64 = 4 << 20;

/// How long the store may take to accept a connection, to begin its response, and to send the next bytes of it. The total time
/// for a large object is not limited.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(30);

/// How long the store may take to receive a part from this server.
const PART_TIMEOUT: Duration = Duration::from_mins(5);

/// Name of what a download is written to, in errors.
const A_FILE: &str = "a file";

/// A bucket in an S3-compatible store.
pub struct S3 {
    store: AmazonS3,
    prefix: String,
    /// Runs the asynchronous store library for synchronous callers. `None` only while dropping.
    runtime: Option<Runtime>,
}

/// Gives the store's library a client with our TLS configuration.
#[derive(Debug)]
struct Connector {
    allows_http: bool,
    /// How long a request may take in all, if that is limited.
    timeout: Option<Duration>,
}

impl HttpConnector for Connector {
    fn connect(&self, _: &ClientOptions) -> object_store::Result<HttpClient> {
        let failed = |source| object_store::Error::Generic { store: "S3", source };
        let client = http_client::asynchronous()
            .map_err(|error| failed(error.into()))?
            .connect_timeout(CONNECT_TIMEOUT)
            .read_timeout(RESPONSE_TIMEOUT)
            .http1_only()
            .https_only(!self.allows_http);
        let client = self.timeout.into_iter().fold(client, reqwest::ClientBuilder::timeout);
        Ok(HttpClient::new(client.build().map_err(|error| failed(error.into()))?))
    }
}

impl fmt::Debug for S3 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "S3({}{})", self.store, self.prefix)
    }
}

impl Drop for S3 {
    fn drop(&mut self) {
        // The value may be dropped on a thread of the server's runtime, which must not block.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl S3 {
    /// Creates a client from the settings. It does not connect yet.
    pub fn new(settings: &BlobSettings) -> io::Result<S3> {
        S3::with_retries(settings, RetryConfig::default(), None)
    }

    /// Like [`S3::new`], with requests that are not repeated and have a time limit.
    pub fn impatient(settings: &BlobSettings, timeout: Duration) -> io::Result<S3> {
        S3::with_retries(settings, RetryConfig { max_retries: 0, ..RetryConfig::default() }, Some(timeout))
    }

    fn with_retries(
        settings: &BlobSettings,
        retries: RetryConfig,
        timeout: Option<Duration>,
    ) -> io::Result<S3> {
        let allows_http = settings.endpoint.starts_with("http:");
        let mut builder = AmazonS3Builder::new()
            .with_http_connector(Connector { allows_http, timeout })
            .with_retry(retries)
            .with_region(&settings.region)
            .with_bucket_name(&settings.bucket)
            .with_access_key_id(&settings.access_key_id)
            .with_secret_access_key(settings.secret_access_key.reveal().unwrap_or_default());
        if !settings.endpoint.is_empty() {
            builder = builder.with_endpoint(&settings.endpoint).with_allow_http(allows_http);
        }
        // Has no thread of its own: connections make progress while a call waits.
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let s3 = S3 { store: builder.build()?, prefix: settings.prefix.clone(), runtime: Some(runtime) };
        // The library uses some settings only for requests. Signing is one without the network.
        let path = s3.staging_path(Uuid::nil());
        s3.block_on(s3.store.signed_url(Method::PUT, &path, Duration::from_secs(1)))?;
        Ok(s3)
    }

    /// Requests the list of the staged uploads once, as a server does regularly.
    pub fn check_access(settings: &BlobSettings) -> io::Result<()> {
        let s3 = S3::impatient(settings, RESPONSE_TIMEOUT)?;
        s3.block_on(async { s3.store.list(Some(&s3.staged_prefix())).next().await.transpose() })?;
        Ok(())
    }

    fn staged_prefix(&self) -> Path {
        Path::from(format!("{}staged", self.prefix))
    }

    /// Waits for a future on a separate thread, because the caller may itself be in an asynchronous runtime.
    fn block_on<T: Send>(&self, work: impl Future<Output = object_store::Result<T>> + Send) -> io::Result<T> {
        let runtime = self.runtime.as_ref().ok_or(io::ErrorKind::BrokenPipe)?;
        let result = std::thread::scope(|scope| scope.spawn(|| runtime.block_on(work)).join());
        result.map_err(|_| io::Error::other("the store's library panicked"))?.map_err(into_io_error)
    }

    /// Returns the key of the object of an upload.
    pub(super) fn upload_key(&self, id: Uuid) -> String {
        self.object_path(id).to_string()
    }

    fn object_path(&self, id: Uuid) -> Path {
        Path::from(format!("{}uploads/{id}.zip", self.prefix))
    }

    pub(super) fn start_upload(&self, id: Uuid) -> io::Result<String> {
        self.block_on(self.store.create_multipart(&self.object_path(id)))
    }

    /// Returns presigned URLs for parts. An upload of a single part is sent to a staging path, because its
    /// URL stays valid after completion, and only the server may write to the final path.
    pub(super) fn presign_parts(&self, upload: &Upload, numbers: &[u32]) -> io::Result<Vec<String>> {
        let path = match upload.store_upload_id {
            Some(_) => self.object_path(upload.id),
            None => self.staging_path(upload.id),
        };
        let validity = Duration::from_secs(SIGNED_URL_SECONDS.unsigned_abs());
        self.block_on(async {
            let mut urls = Vec::with_capacity(numbers.len());
            for number in numbers {
                let mut options = SignedUrlOptions::new();
                if let Some(store_upload_id) = &upload.store_upload_id {
                    let query = [("partNumber", number.to_string()), ("uploadId", store_upload_id.clone())];
                    options = options.with_query(query);
                }
                urls.push(self.store.signed_url_opts(Method::PUT, &path, validity, &options).await?.into());
            }
            Ok(urls)
        })
    }

    /// Sends a part that this server has received, without keeping it in memory. Returns its entity tag, or `None` if the
    /// upload no longer exists.
    pub(super) fn put_part(
        &self,
        upload: &Upload,
        number: u32,
        part: File,
        size: u64,
    ) -> io::Result<Option<String>> {
        let url = self.presign_parts(upload, &[number])?.pop().ok_or(io::ErrorKind::InvalidInput)?;
        send_file(url, part, size)
    }

    /// Returns the path of a single-part upload before it is completed.
    fn staging_path(&self, id: Uuid) -> Path {
        Path::from(format!("{}staged/{id}.zip", self.prefix))
    }

    /// Returns the received parts, or `None` if the store does not have the upload: its parts were joined, or it was aborted.
    /// The library does not support `ListParts`, so this requests a presigned URL.
    pub(super) fn received_parts(&self, upload: &Upload) -> io::Result<Option<Vec<UploadedPart>>> {
        let Some(store_upload_id) = &upload.store_upload_id else {
            let size = self.head_object(&self.staging_path(upload.id))?;
            let etag = |(size_bytes, etag)| UploadedPart { part_number: 1, etag, size_bytes };
            return Ok(Some(size.map(etag).into_iter().collect()));
        };
        let (mut parts, mut after) = (Vec::new(), 0);
        loop {
            let query = [("part-number-marker", after.to_string()), ("uploadId", store_upload_id.clone())];
            let options = SignedUrlOptions::new().with_query(query);
            let validity = Duration::from_secs(SIGNED_URL_SECONDS.unsigned_abs());
            let path = self.object_path(upload.id);
            let url = self.block_on(self.store.signed_url_opts(Method::GET, &path, validity, &options))?;
            let Some(text) = fetch_text(url.into())? else { return Ok(None) };
            let page = parse_part_list(&text);
            let last = page.last().map_or(0, |part| part.part_number);
            parts.extend(page);
            // Stores that ignore the marker return the same page again.
            if last <= after || parts.len() as u32 >= upload.layout.part_count() {
                parts.sort_by_key(|part: &UploadedPart| part.part_number);
                parts.dedup_by_key(|part| part.part_number);
                return Ok(Some(parts));
            }
            after = last;
        }
    }

    pub(super) fn complete_upload(
        &self,
        upload: &Upload,
        received: &[UploadedPart],
        parts: &[(u32, String)],
    ) -> io::Result<CompletionOutcome> {
        let received: HashMap<u32, &UploadedPart> =
            received.iter().map(|part| (part.part_number, part)).collect();
        let requested: HashMap<u32, &str> =
            parts.iter().map(|(number, etag)| (*number, etag.as_str())).collect();
        // The entity tag of a part if it was received completely and matches the requested one.
        let matching_etag = |number: u32| {
            let (_, size) = upload.layout.part(number)?;
            let part = received.get(&number).filter(|part| part.size_bytes == size)?;
            match requested.get(&number) {
                Some(etag) if part.etag.is_empty() || part.etag == *etag => Some(*etag),
                None if upload.layout.is_single() => Some(part.etag.as_str()).filter(|etag| !etag.is_empty()),
                _ => None,
            }
        };
        let missing: Vec<u32> =
            (1..=upload.layout.part_count()).filter(|number| matching_etag(*number).is_none()).collect();
        if !missing.is_empty() {
            return Ok(CompletionOutcome::Missing(missing));
        }
        if let Some(store_upload_id) = &upload.store_upload_id {
            let quoted = |number: u32| PartId {
                content_id: format!("\"{}\"", matching_etag(number).unwrap_or_default()),
            };
            let parts = (1..=upload.layout.part_count()).map(quoted).collect();
            let size = upload.layout.size_bytes;
            self.join(&self.object_path(upload.id), (store_upload_id, parts), size, None)?;
        } else {
            // The presigned URL of the staging path is still valid, so copy to a path that clients cannot
            // write to.
            self.block_on(self.store.copy(&self.staging_path(upload.id), &self.object_path(upload.id)))?;
            self.block_on(self.store.delete(&self.staging_path(upload.id)))?;
        }
        let written = self.download(upload.id, &mut io::sink())?;
        Ok(CompletionOutcome::Complete(written))
    }

    /// Joins the parts of a multipart upload, with its ID in the store, to an object of this size. The library repeats the request if
    /// its response is lost. The repeated request finds no upload, but the first one has created the object. `earlier` is the entity
    /// tag of an object that had the path before.
    fn join(
        &self,
        path: &Path,
        (store_upload_id, parts): (&str, Vec<PartId>),
        size: u64,
        earlier: Option<&str>,
    ) -> io::Result<()> {
        let joined = self.block_on(self.store.complete_multipart(path, &store_upload_id.to_owned(), parts));
        match joined {
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => match self.head_object(path)? {
                Some((found, tag)) if found == size && earlier != Some(tag.as_str()) => Ok(()),
                _ => Err(cause),
            },
            other => other.map(drop),
        }
    }

    pub(super) fn abort_upload(&self, upload: &Upload) -> io::Result<()> {
        let aborted = match &upload.store_upload_id {
            Some(store_upload_id) => {
                self.block_on(self.store.abort_multipart(&self.object_path(upload.id), store_upload_id))
            }
            None => self.block_on(self.store.delete(&self.staging_path(upload.id))),
        };
        private_files::if_found(aborted).map(drop)
    }

    /// Returns the IDs of the single-part uploads that were sent and not completed. A signed URL accepts them
    /// as long as it is valid, even after completion.
    pub(super) fn list_staged(&self) -> io::Result<Vec<Uuid>> {
        self.block_on(async {
            let mut objects = self.store.list(Some(&self.staged_prefix()));
            let mut ids = Vec::new();
            while let Some(object) = objects.next().await.transpose()? {
                let name = object.location.filename().and_then(|name| name.strip_suffix(".zip"));
                ids.extend(name.and_then(|name| name.parse::<Uuid>().ok()));
            }
            Ok(ids)
        })
    }

    /// Deletes a single-part upload that was not completed.
    pub(super) fn delete_staged(&self, id: Uuid) -> io::Result<()> {
        self.block_on(self.store.delete(&self.staging_path(id)))
    }

    pub(super) fn remove_upload(&self, id: Uuid) -> io::Result<()> {
        self.block_on(self.store.delete(&self.object_path(id)))
    }

    pub(super) fn head_upload(&self, id: Uuid) -> io::Result<Option<(u64, String)>> {
        self.head_object(&self.object_path(id))
    }

    fn head_object(&self, path: &Path) -> io::Result<Option<(u64, String)>> {
        let object = private_files::if_found(self.block_on(self.store.head(path)))?;
        Ok(object.map(|object| (object.size, unquote(&object.e_tag.unwrap_or_default()))))
    }

    /// Uploads the data of a reader in parts. If that fails, the store keeps none of them.
    pub(super) fn put_upload(&self, id: Uuid, source: &mut dyn Read) -> io::Result<StoredFile> {
        let store_upload_id = self.start_upload(id)?;
        let stored = self.put_parts(&self.object_path(id), &store_upload_id, source);
        if stored.is_err() {
            // The error of the upload says more than one of this request.
            let _ = self.block_on(self.store.abort_multipart(&self.object_path(id), &store_upload_id));
        }
        stored
    }

    fn put_parts(
        &self,
        path: &Path,
        store_upload_id: &String,
        source: &mut dyn Read,
    ) -> io::Result<StoredFile> {
        let (mut digest, mut size_bytes, mut parts) = (Sha256::new(), 0, Vec::new());
        loop {
            let mut part = Vec::new();
            source.take(PART_BYTES as u64).read_to_end(&mut part)?;
            if part.is_empty() && !parts.is_empty() {
                break;
            }
            digest.update(&part);
            size_bytes += part.len() as u64;
            let is_last = part.len() < PART_BYTES;
            let payload = PutPayload::from(part);
            parts.push(self.block_on(self.store.put_part(path, store_upload_id, parts.len(), payload))?);
            if is_last {
                break;
            }
        }
        self.join(path, (store_upload_id, parts), size_bytes, None)?;
        Ok(StoredFile { size_bytes, sha256: format!("{:x}", digest.finalize()) })
    }

    /// Reads a range of an upload.
    pub(super) fn read_range(&self, id: Uuid, range: std::ops::Range<u64>) -> io::Result<Vec<u8>> {
        let path = self.object_path(id);
        let end = range.end;
        match self.block_on(self.store.get_range(&path, range)) {
            Ok(bytes) => Ok(bytes.into()),
            // The store works, but what it has is damaged.
            Err(_) if self.block_on(self.store.head(&path)).is_ok_and(|object| object.size < end) => {
                Err(io::ErrorKind::UnexpectedEof.into())
            }
            Err(cause) => Err(cause),
        }
    }

    /// Writes an object to `to`, and returns its size and digest.
    pub(super) fn download(&self, id: Uuid, to: &mut (dyn Write + Send)) -> io::Result<StoredFile> {
        let path = self.object_path(id);
        self.block_on(async move {
            let mut stream = self.store.get(&path).await?.into_stream();
            let (mut digest, mut size_bytes) = (Sha256::new(), 0);
            while let Some(bytes) = stream.next().await.transpose()? {
                digest.update(&bytes);
                size_bytes += bytes.len() as u64;
                to.write_all(&bytes).map_err(|cause| object_store::Error::Generic {
                    store: A_FILE,
                    source: Box::new(cause),
                })?;
            }
            Ok(StoredFile { size_bytes, sha256: format!("{:x}", digest.finalize()) })
        })
    }
}

/// Requests a presigned URL of an upload, and returns the body. Returns `None` if the upload does not exist.
fn fetch_text(url: String) -> io::Result<Option<String>> {
    // The blocking client has its own runtime, which must not be created or dropped inside another one.
    let read = std::thread::spawn(move || {
        let client = http_client::blocking().map_err(io::Error::other)?;
        let failed = |error: reqwest::Error| io::Error::other(ObjectStoreFailed(error.without_url().into()));
        let response = client.build().and_then(|client| client.get(url).send()).map_err(failed)?;
        let (status, refused) = (response.status(), response.error_for_status_ref().err());
        let mut text = String::new();
        response
            .take(MAX_PART_LIST_BYTES)
            .read_to_string(&mut text)
            .map_err(|error| io::Error::other(ObjectStoreFailed(error.into())))?;
        // If the bucket does not exist, the response says nothing about the upload.
        if status == reqwest::StatusCode::NOT_FOUND && !text.contains("NoSuchBucket") {
            return Ok(None);
        }
        refused.map_or(Ok(Some(text)), |error| Err(failed(error)))
    });
    read.join().map_err(|_| io::Error::other("the HTTP client panicked"))?
}

/// Sends a file to a presigned URL. Returns the entity tag of the stored part, or `None` if its upload no longer exists.
fn send_file(url: String, file: File, size: u64) -> io::Result<Option<String>> {
    // Like in `fetch_text`.
    let send = std::thread::spawn(move || {
        let client = http_client::blocking().map_err(io::Error::other)?;
        let failed = |error: reqwest::Error| io::Error::other(ObjectStoreFailed(error.without_url().into()));
        let client = client.connect_timeout(CONNECT_TIMEOUT).timeout(PART_TIMEOUT).build().map_err(failed)?;
        let body = reqwest::blocking::Body::sized(file, size);
        let response = client.put(url).body(body).send().map_err(failed)?;
        if response.status() == reqwest::StatusCode::NOT_FOUND {
            return Ok(None);
        }
        let response = response.error_for_status().map_err(failed)?;
        let etag = response.headers().get(reqwest::header::ETAG).and_then(|etag| etag.to_str().ok());
        Ok(Some(unquote(etag.unwrap_or_default())))
    });
    send.join().map_err(|_| io::Error::other("the HTTP client panicked"))?
}

fn into_io_error(error: object_store::Error) -> io::Error {
    let kind = match error {
        object_store::Error::NotFound { .. } => io::ErrorKind::NotFound,
        object_store::Error::AlreadyExists { .. } | object_store::Error::Precondition { .. } => {
            io::ErrorKind::AlreadyExists
        }
        // What is read may be written elsewhere, and that may fail, too.
        object_store::Error::Generic { store: A_FILE, source } => return io::Error::other(source),
        _ => return io::Error::other(ObjectStoreFailed(error.into())),
    };
    io::Error::new(kind, error)
}
