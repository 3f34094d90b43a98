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

use super::{App, capacity::Place, problem::Failure, router};
use crate::{
    blobs::{self, PartWriter, signatures},
    error::{Error, Result},
    operations::grants,
};

/// The route of an upload part.
pub const PART: &str = "/v2/blobs/uploads/:upload/:part";

/// Maximum number of body chunks that wait to be written to disk.
const WAITING: usize = 4;

/// Returns the endpoint that accepts upload parts.
pub fn part(app: Arc<App>) -> impl Endpoint<Output = Response> + 'static {
    router::place(make(move |request| {
        let app = Arc::clone(&app);
        async move { put(&app, request).await.map_err(|error| poem::Error::from(Failure(error))) }
    }))
}

/// The query of a signed URL: part size in bytes, time of expiry in Unix seconds, and signature over both and
/// the path.
#[derive(serde::Deserialize)]
struct Signed {
    size: u64,
    expires: i64,
    signature: String,
}

async fn put(app: &App, mut request: Request) -> Result<Response> {
    let (id, number): (Uuid, u32) = request.path_params().map_err(|_| Error::UnknownPath)?;
    let size = check(app, &request, id, number)?;
    let body = request.take_body();
    let split = app.market().read(move |reader| grants::split_of(reader, id)).await?;
    if split.part(number).is_none_or(|(_, length)| length != size) {
        return Err(Error::not_found("part of this upload"));
    }
    let market = app.market().clone();
    let begun = app
        .market()
        .work(move |market| market.blobs().write_part(id, split, number).map_err(Error::internal));
    let Some(writer) = begun.await? else {
        return Err(Error::Conflict(
            "Another request is sending this part. Send it again when that request has finished.".to_owned(),
        ));
    };
    let idle = Duration::from_secs(market.settings().server.body_seconds.into());
    let (send, receive) = mpsc::channel(WAITING);
    let written = tokio::task::spawn_blocking(move || write(writer, receive));
    // The request gives up its in-flight slot while the body is being received.
    let received = Place::receive(&request, forward(body, send, idle)).await?;
    let etag = written.await.map_err(Error::internal)?.map_err(Error::internal)?;
    received?;
    let etag = etag.ok_or_else(|| size_differs(size))?;
    Ok(Response::builder().status(StatusCode::OK).header(header::ETAG, format!("\"{etag}\"")).finish())
}

/// Verifies the signature of a URL, its expiry, and the `Content-Length`. Returns the part size that the URL
/// allows.
fn check(app: &App, request: &Request, id: Uuid, number: u32) -> Result<u64> {
    let forged = || {
        Error::Forbidden("The URL was not signed by this server. Request a new URL for the part.".to_owned())
    };
    let signed: Signed = request.params().map_err(|_| forged())?;
    let Signed { size, expires, signature } = signed;
    let parts = ["PUT", &blobs::part_path(id, number), &size.to_string(), &expires.to_string()];
    if !signatures::is_right(app.market().blob_secret(), &parts, &signature) {
        return Err(forged());
    }
    if app.market().clock().now().seconds() > expires {
        let what = "The URL has expired. Request a new one with `POST .../parts`.";
        return Err(Error::Forbidden(what.to_owned()));
    }
    let length = request.header(header::CONTENT_LENGTH).and_then(|length| length.parse::<u64>().ok());
    if length.is_some_and(|length| length != size) {
        return Err(size_differs(size));
    }
    Ok(size)
}

fn size_differs(size: u64) -> Error {
    Error::Malformed(format!(
        "This part must have exactly {size} bytes. Send the whole part, with that `Content-Length`."
    ))
}

/// Forwards the chunks of a body to the writer, and fails if no chunk arrives for `idle`.
async fn forward(body: poem::Body, to: mpsc::Sender<Bytes>, idle: Duration) -> Result<()> {
    use futures_util::StreamExt;
    let mut pieces = std::pin::pin!(body.into_bytes_stream());
    loop {
        let piece = tokio::time::timeout(idle, pieces.next()).await.map_err(|_| {
            Error::Malformed(format!("No data arrived for {} seconds. Send the part again.", idle.as_secs()))
        })?;
        match piece {
            None => return Ok(()),
            Some(Err(_)) => {
                return Err(Error::Malformed("The part ended early. Send it again.".to_owned()));
            }
            // The writer has stopped, because the part is too long or the disk failed. It reports the cause.
            Some(Ok(piece)) => {
                if to.send(piece).await.is_err() {
                    return Ok(());
                }
            }
        }
    }
}

/// Writes the chunks of a part. Returns its ETag, or none if the part does not have the expected bytes.
fn write(mut writer: PartWriter, mut pieces: mpsc::Receiver<Bytes>) -> io::Result<Option<String>> {
    while let Some(piece) = pieces.blocking_recv() {
        if !writer.write(&piece)? {
            return Ok(None);
        }
    }
    writer.finish()
}
