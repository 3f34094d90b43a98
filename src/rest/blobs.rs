//! The built-in blob store: accepts the parts of uploads at signed URLs. The route is not in the OpenAPI
//! documents, because clients use the URLs as issued.

use std::{io, sync::Arc, time::Duration};

use bytes::Bytes;
use poem::{
    Endpoint, Request, Response,
    endpoint::make,
    http::{StatusCode, header},
};
use tokio::sync::mpsc;
use uuid::Uuid;

use super::{app::App, capacity::Slot, problem::ApiError, router};
use crate::{
    blobs::{self, PartWriter, signatures},
    error::{Error, Result},
    operations::grant_uploads,
};

/// The route of an upload part.
pub const PART_ROUTE: &str = "/v2/blobs/uploads/:upload/:part";

/// Maximum number of body chunks that wait to be written to disk.
const MAX_QUEUED_CHUNKS: usize = 4;

/// Returns the endpoint that accepts upload parts.
pub fn part_endpoint(app: Arc<App>) -> impl Endpoint<Output = Response> + 'static {
    router::put_only(make(move |request| {
        let app = Arc::clone(&app);
        async move { put_part(&app, request).await.map_err(|error| poem::Error::from(ApiError(error))) }
    }))
}

/// The query of a signed URL: part size in bytes, time of expiry in Unix seconds, and signature over both and
/// the path.
#[derive(serde::Deserialize)]
struct SignedQuery {
    size: u64,
    expires: i64,
    signature: String,
}

async fn put_part(app: &App, mut request: Request) -> Result<Response> {
    let (id, number): (Uuid, u32) = request.path_params().map_err(|_| Error::UnknownPath)?;
    let size = verify_url(app, &request, id, number)?;
    let body = request.take_body();
    let market = app.market().clone();
    let writer =
        market.spawn_blocking(move |market| grant_uploads::start_part(market, id, number, size)).await?;
    let idle = Duration::from_secs(market.settings().server.body_seconds.into());
    let (send, receive) = mpsc::channel(MAX_QUEUED_CHUNKS);
    let written = tokio::task::spawn_blocking(move || write_chunks(writer, receive));
    // The request gives up its in-flight slot while the body is being received.
    let received = Slot::receive_body(&request, forward_chunks(body, send, idle)).await?;
    let etag = written.await.map_err(Error::internal)?.map_err(Error::internal)?;
    received?;
    let etag = etag.ok_or_else(|| wrong_size_error(size))?;
    Ok(Response::builder().status(StatusCode::OK).header(header::ETAG, format!("\"{etag}\"")).finish())
}

/// Verifies the signature of a URL, its expiry, and the `Content-Length`. Returns the part size that the URL
/// allows.
fn verify_url(app: &App, request: &Request, id: Uuid, number: u32) -> Result<u64> {
    let not_signed = || {
        Error::Forbidden("The URL was not signed by this server. Request a new URL for the part.".to_owned())
    };
    let signed: SignedQuery = request.params().map_err(|_| not_signed())?;
    let SignedQuery { size, expires, signature } = signed;
    let parts = ["PUT", &blobs::part_path(id, number), &size.to_string(), &expires.to_string()];
    if !signatures::verify(app.market().blob_secret(), &parts, &signature) {
        return Err(not_signed());
    }
    if app.market().clock().now().seconds() > expires {
        let message = "The URL has expired. Request a new one with `POST .../parts`.";
        return Err(Error::Forbidden(message.to_owned()));
    }
    let length = request.header(header::CONTENT_LENGTH).and_then(|length| length.parse::<u64>().ok());
    if length.is_some_and(|length| length != size) {
        return Err(wrong_size_error(size));
    }
    Ok(size)
}

fn wrong_size_error(size: u64) -> Error {
    Error::Malformed(format!(
        "This part must have exactly {size} bytes. Send the whole part, with that `Content-Length`."
    ))
}

/// Forwards the chunks of a body to the writer, and fails if no chunk arrives for `idle`.
async fn forward_chunks(body: poem::Body, sender: mpsc::Sender<Bytes>, idle: Duration) -> Result<()> {
    use futures_util::StreamExt;
    let mut chunks = std::pin::pin!(body.into_bytes_stream());
    loop {
        let chunk = tokio::time::timeout(idle, chunks.next()).await.map_err(|_| {
            Error::Malformed(format!("No data arrived for {} seconds. Send the part again.", idle.as_secs()))
        })?;
        match chunk {
            None => return Ok(()),
            Some(Err(_)) => {
                return Err(Error::Malformed("The part ended early. Send it again.".to_owned()));
            }
            // The writer has stopped, because the part is too long or the disk failed. It reports the cause.
            Some(Ok(chunk)) => {
                if sender.send(chunk).await.is_err() {
                    return Ok(());
                }
            }
        }
    }
}

/// Writes the chunks of a part. Returns its ETag, or none if the part does not have the expected bytes.
fn write_chunks(mut writer: PartWriter, mut chunks: mpsc::Receiver<Bytes>) -> io::Result<Option<String>> {
    while let Some(chunk) = chunks.blocking_recv() {
        if !writer.write(&chunk)? {
            return Ok(None);
        }
    }
    writer.finish()
}
