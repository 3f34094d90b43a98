//! Receives the parts of uploads: their bytes go to the store as they arrive, and only a few of them are in memory.

use http_body_util::combinators::BoxBody;
use poem::{Request, http::header};

use crate::{
    blobs::PartReceiver,
    error::{Error, Result},
    http_server::chunks::Chunks,
    market::Market,
    web::{
        body::WRITE_BYTES,
        shares::{
            capacity::Slot,
            transfer_limits::{self, MemoryUse, RequestTransfers},
        },
    },
    worlds::Turn,
};

/// Lets a request take as long as its size requires, while data keeps arriving. The next request of a world does not wait for the
/// transfer.
pub fn allow_any_time(request: &Request) {
    if let Some(turn) = request.data::<Turn>() {
        turn.release();
    }
    Slot::remove_deadline(request);
}

/// Fails if a request is for a range of what it replaces, as RFC 9110 demands: its content would be taken for the whole.
pub fn refuse_range(request: &Request) -> Result<()> {
    if request.headers().contains_key(header::CONTENT_RANGE) {
        let message = "What is sent replaces all that is there. Send it whole, without `Content-Range`.";
        return Err(Error::Malformed(message.to_owned()));
    }
    Ok(())
}

/// Fails if a request states a range, or another length than its part has.
pub fn check_length(request: &Request, size: u64) -> Result<()> {
    refuse_range(request)?;
    let length = request.header(header::CONTENT_LENGTH).and_then(|length| length.parse::<u64>().ok());
    if length.is_some_and(|length| length != size) { Err(wrong_size_error(size)) } else { Ok(()) }
}

/// Returns the error for a part that does not have the expected bytes.
pub fn wrong_size_error(size: u64) -> Error {
    Error::Malformed(format!(
        "This part must have exactly {size} bytes. Send the whole part, with that `Content-Length`."
    ))
}

/// Receives a part of `size` bytes into what `open` returns. Returns the entity tag of the part, or none if it does not have the
/// expected bytes. The request gives up its in-flight slot, so nothing may follow that needs one.
pub async fn receive(
    market: &Market,
    request: &Request,
    body: poem::Body,
    size: u64,
    open: impl FnOnce(&Market) -> Result<PartReceiver> + Send + 'static,
) -> Result<Option<String>> {
    let transfers = transfer_limits::of_request(request);
    let slot = transfers.map(RequestTransfers::body_slot).transpose()?;
    let receiver = market.spawn_blocking(open).await?;
    let body: BoxBody<bytes::Bytes, std::io::Error> = body.into();
    let chunks = Chunks::new(body, &market.settings().server.connections(), None);
    let received = receive_chunks(market, chunks, receiver, size, transfers.map(RequestTransfers::memory));
    let etag = Slot::release_for_rest(request, received).await?;
    drop(slot);
    Ok(etag)
}

/// Receives the chunks of a part and writes them.
///
/// Waiting for chunks holds no thread: they are collected, and then written together on a blocking thread.
/// They are copied into one buffer, since each chunk takes memory of its own, however short it is.
async fn receive_chunks(
    market: &Market,
    mut chunks: Chunks,
    mut receiver: PartReceiver,
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
                let Some(written) = write_buffer(market, receiver, buffer).await? else { return Ok(None) };
                (receiver, buffer) = written;
                chunks.resume();
            }
        }
    }
    let finish = move |mut receiver: PartReceiver| {
        if receiver.write(&buffer)? { receiver.finish() } else { Ok(None) }
    };
    market.spawn_blocking(move |_| finish(receiver).map_err(Error::internal)).await
}

/// Writes a buffer, and returns it empty. Returns none if the part is too long.
async fn write_buffer(
    market: &Market,
    mut receiver: PartReceiver,
    mut buffer: Vec<u8>,
) -> Result<Option<(PartReceiver, Vec<u8>)>> {
    let write = move |_: &Market| {
        if !receiver.write(&buffer).map_err(Error::internal)? {
            return Ok(None);
        }
        buffer.clear();
        Ok(Some((receiver, buffer)))
    };
    market.spawn_blocking(write).await
}
