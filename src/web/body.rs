//! Receives request bodies, within limits on size, time, rate, number, and memory.

use std::io::Write;

use bytes::{Bytes, BytesMut};
use http_body::Body as _;
use http_body_util::combinators::BoxBody;
use poem::Request;

use crate::{
    config::ServerSettings,
    error::{Error, Result},
    http_server::chunks::Chunks,
    market::Market,
    web::shares::{
        capacity::Slot,
        transfer_limits::{self, MemoryUse},
    },
};

/// Memory that is counted for each byte of a body: the byte, the parsed value, and the struct.
const MEMORY_PER_BYTE: u64 = 3;

/// Number of received bytes that are written to disk together.
pub const WRITE_BYTES: u64 = 256 << 10;

/// Receives a body of at most `max_bytes`.
///
/// Call this only after everything was checked that does not need the body.
pub async fn receive(
    request: &Request,
    body: poem::Body,
    settings: &ServerSettings,
    max_bytes: u64,
) -> Result<Bytes> {
    let body: BoxBody<Bytes, std::io::Error> = body.into();
    if body.size_hint().lower() > max_bytes {
        return Err(Error::PayloadTooLarge { max_bytes });
    }
    let transfers = transfer_limits::of_request(request);
    let slot = transfers.map(transfer_limits::RequestTransfers::body_slot).transpose()?;
    let mut memory = transfers.map(transfer_limits::RequestTransfers::memory);
    let received = collect(body, settings, max_bytes, memory.as_mut());
    let bytes = Slot::release_during(request, received).await??;
    drop(slot);
    if let (Some(transfers), Some(memory)) = (transfers, memory) {
        transfers.keep(memory);
    }
    Ok(bytes)
}

async fn collect(
    body: BoxBody<Bytes, std::io::Error>,
    settings: &ServerSettings,
    max_bytes: u64,
    mut memory: Option<&mut MemoryUse>,
) -> Result<Bytes> {
    // Reserves memory for the known length at once. Otherwise, several large bodies could each get a part of
    // their memory, and all of them would fail.
    let mut counted = body.size_hint().exact().unwrap_or(0);
    if let Some(memory) = &mut memory {
        memory.grow(counted.saturating_mul(MEMORY_PER_BYTE)).await?;
    }
    let mut chunks = Chunks::new(body, &settings.connections(), Some(settings.body_seconds));
    let mut first = Bytes::new();
    let mut all = Vec::new();
    while let Some(chunk) = chunks.next().await? {
        let length = (first.len() + all.len() + chunk.len()) as u64;
        if length > max_bytes {
            return Err(Error::PayloadTooLarge { max_bytes });
        }
        if let Some(memory) = &mut memory {
            memory.grow(length.saturating_sub(counted) * MEMORY_PER_BYTE).await?;
            counted = counted.max(length);
        }
        // A body in one piece, like most of them, is not copied.
        if first.is_empty() && all.is_empty() {
            first = chunk;
        } else {
            if all.is_empty() {
                all.reserve(chunks.remaining_bytes().min(max_bytes) as usize + chunk.len() + first.len());
                all.extend_from_slice(&std::mem::take(&mut first));
            }
            all.extend_from_slice(&chunk);
        }
    }
    Ok(if all.is_empty() { first } else { all.into() })
}

/// Receives a body of at most `max_bytes` into a file, before each write to which `check` is called.
///
/// Waiting for bytes holds no thread: they are collected, and then written together.
pub async fn receive_into<F: Write + Send + 'static>(
    market: &Market,
    mut chunks: Chunks,
    mut file: F,
    max_bytes: u64,
    check: fn(&Market) -> Result<()>,
) -> Result<F> {
    let (mut buffer, mut length) = (BytesMut::with_capacity(WRITE_BYTES as usize), 0);
    loop {
        let chunk = chunks.next().await?;
        let is_last = chunk.is_none();
        let chunk = chunk.unwrap_or_default();
        length += chunk.len() as u64;
        if length > max_bytes {
            return Err(Error::PayloadTooLarge { max_bytes });
        }
        if (buffer.len() + chunk.len()) as u64 > WRITE_BYTES || is_last {
            let bytes = buffer.split().freeze();
            let write = move |market: &Market| {
                check(market)?;
                file.write_all(&bytes).and_then(|()| file.write_all(&chunk)).map_err(Error::internal)?;
                Ok(file)
            };
            file = market.spawn_blocking(write).await?;
            chunks.resume();
        } else {
            buffer.extend_from_slice(&chunk);
        }
        if is_last {
            return Ok(file);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{
        io,
        pin::Pin,
        task::{Context, Poll},
    };

    use http_body::{Frame, SizeHint};

    use super::*;
    use crate::{
        config::Settings,
        domain::teams::TeamRowId,
        market::CostMeter,
        web::shares::transfer_limits::{RequestTransfers, tests::with_memory},
    };

    /// A body of known length, whose chunks take turns with those of other bodies.
    struct Interleaved {
        remaining: usize,
        is_ready: bool,
    }

    impl http_body::Body for Interleaved {
        type Data = Bytes;
        type Error = io::Error;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            context: &mut Context<'_>,
        ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
            if self.remaining == 0 {
                return Poll::Ready(None);
            }
            self.is_ready = !self.is_ready;
            if self.is_ready {
                context.waker().wake_by_ref();
                return Poll::Pending;
            }
            let count = self.remaining.min(16 << 10);
            self.remaining -= count;
            Poll::Ready(Some(Ok(Frame::data(vec![b' '; count].into()))))
        }

        fn size_hint(&self) -> SizeHint {
            SizeHint::with_exact(self.remaining as u64)
        }
    }

    #[tokio::test(start_paused = true)]
    async fn one_of_two_large_bodies_of_a_team_is_received() {
        // Of 1 MB, a team has 256 KB. A body takes 192 KB, so two have no room.
        let (_, transfers) = with_memory(1);
        let transfers = RequestTransfers::for_team(&transfers, TeamRowId(1), CostMeter::default());
        let settings = Settings::default().server;
        let receive = async |memory: &mut MemoryUse| {
            let body = BoxBody::new(Interleaved { remaining: 64 << 10, is_ready: false });
            collect(body, &settings, 1 << 20, Some(memory)).await.map(|bytes| bytes.len())
        };
        let (mut first, mut second) = (transfers.memory(), transfers.memory());
        let (first, second) = tokio::join!(receive(&mut first), receive(&mut second));
        assert_eq!(first.unwrap(), 64 << 10);
        assert!(second.is_err());
    }
}
