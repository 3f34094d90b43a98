//! The built-in blob store: accepts the parts of uploads at signed URLs. The route is not in the OpenAPI
//! documents, because clients use the URLs as issued.

use std::sync::Arc;

use poem::{
    Endpoint, Request, Response,
    endpoint::make,
    http::{StatusCode, header},
};
use uuid::Uuid;

use crate::{
    blobs::{self, PartWriter, signatures},
    error::{Error, Result},
    http_server::chunks::Chunks,
    market::{Market, Reader},
    operations::grant_uploads,
    rest::router,
    web::{
        limits::RequestLimits,
        problem::ApiError,
        request_id,
        served_market::ServedMarket,
        shares,
        shares::{
            capacity::Slot,
            transfer_limits::{self, MemoryUse, RequestTransfers},
        },
    },
    worlds::Turn,
};

/// The route of an upload part.
pub const PART_ROUTE: &str = "/v2/blobs/uploads/:upload/:part";

/// Number of received bytes that are written to disk together.
const WRITE_BYTES: u64 = 256 * 1024;

/// Returns the endpoint that accepts upload parts.
pub fn part_endpoint() -> impl Endpoint<Output = Response> + 'static {
    router::put_only(make(async |request| {
        let served = ServedMarket::shared(&request).map_err(ApiError)?;
        put_part(&served, request).await.map_err(|error| poem::Error::from(ApiError(error)))
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

async fn put_part(served: &ServedMarket, mut request: Request) -> Result<Response> {
    // A part may take as long as its size requires, while data keeps arriving.
    // The next request of a world does not wait for the transfer.
    if let Some(turn) = request.data::<Turn>() {
        turn.release();
    }
    Slot::remove_deadline(&request);
    let (id, number): (Uuid, u32) = request.path_params().map_err(|_| Error::UnknownPath(String::new()))?;
    let size = verify_url(served, &request, id, number)?;
    let body = request.take_body();
    let requester = RequestLimits::client_requester(&request, served.market().settings());
    let find_team = move |reader: &Reader| grant_uploads::find_team(reader, id);
    let team = served.market().read(requester.clone(), find_team).await?;
    request_id::set_caller(&request, Some(Arc::new(team.clone())), None);
    shares::count_for(served.market(), &request, team.row_id.into()).await?;
    let transfers = transfer_limits::of_request(&request);
    let slot = transfers.map(RequestTransfers::body_slot).transpose()?;
    let (market, requester) =
        (served.market(), requester.into_principal(served.market().id(), team.row_id.into()));
    let starter = requester.clone();
    let opening =
        market.spawn_blocking(move |market| grant_uploads::start_part(market, starter, id, number, size));
    let writer = opening.await?;
    let chunks = Chunks::new(body.into(), &market.settings().server.connections(), None);
    let received = receive_part(market, chunks, writer, size, transfers.map(RequestTransfers::memory));
    // The request gives up its in-flight slot, since nothing follows that needs one.
    let etag = Slot::release_for_rest(&request, received).await?;
    drop(slot);
    let Some(etag) = etag else {
        // If the upload ended meanwhile, that is the reason, and another attempt is useless.
        market.read(requester, find_team).await?;
        return Err(wrong_size_error(size));
    };
    Ok(Response::builder().status(StatusCode::OK).header(header::ETAG, format!("\"{etag}\"")).finish())
}

/// Verifies the signature of a URL, its expiry, and the `Content-Length`. Returns the part size that the URL
/// allows.
fn verify_url(served: &ServedMarket, request: &Request, id: Uuid, number: u32) -> Result<u64> {
    let not_signed = || {
        Error::Forbidden("The URL was not signed by this server. Request a new URL for the part.".to_owned())
    };
    let signed: SignedQuery = request.params().map_err(|_| not_signed())?;
    let SignedQuery { size, expires, signature } = signed;
    let parts = ["PUT", &blobs::part_path(id, number), &size.to_string(), &expires.to_string()];
    if !signatures::verify(served.market().blob_secret(), &parts, &signature) {
        return Err(not_signed());
    }
    if served.market().clock().now().seconds() > expires {
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

/// Receives the chunks of a part and writes them. Returns the ETag of the part, or none if it does not have
/// the expected bytes.
///
/// Waiting for chunks holds no thread: they are collected, and then written together on a blocking thread.
/// They are copied into one buffer, since each chunk takes memory of its own, however short it is.
async fn receive_part(
    market: &Market,
    mut chunks: Chunks,
    mut writer: PartWriter,
    size: u64,
    mut memory: Option<MemoryUse>,
) -> Result<Option<String>> {
    let capacity = size.clamp(1, WRITE_BYTES) as usize;
    let mut buffer = Vec::new();
    while let Some(mut chunk) = chunks.next().await? {
        if buffer.capacity() == 0 {
            if let Some(memory) = &mut memory {
                memory.grow(capacity as u64).await?;
            }
            buffer.reserve_exact(capacity);
        }
        while !chunk.is_empty() {
            let count = chunk.len().min(capacity - buffer.len());
            buffer.extend_from_slice(&chunk.split_to(count));
            if buffer.len() == capacity {
                let Some(written) = write_buffer(market, writer, buffer).await? else { return Ok(None) };
                (writer, buffer) = written;
                chunks.resume();
            }
        }
    }
    let finish = move |mut writer: PartWriter| {
        if writer.write(&buffer)? { writer.finish() } else { Ok(None) }
    };
    market.spawn_blocking(move |_| finish(writer).map_err(Error::internal)).await
}

/// Writes a buffer, and returns it empty. Returns none if the part is too long.
async fn write_buffer(
    market: &Market,
    mut writer: PartWriter,
    mut buffer: Vec<u8>,
) -> Result<Option<(PartWriter, Vec<u8>)>> {
    let write = move |_: &Market| {
        if !writer.write(&buffer).map_err(Error::internal)? {
            return Ok(None);
        }
        buffer.clear();
        Ok(Some((writer, buffer)))
    };
    market.spawn_blocking(write).await
}
