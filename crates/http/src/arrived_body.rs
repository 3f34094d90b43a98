//! Receives the bodies of requests before the requests are admitted, so a client that sends slowly does not delay the others.

use std::{
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use bytes::Bytes;
use http_body::{Body as _, Frame, SizeHint};
use http_body_util::combinators::BoxBody;
use poem::{Body, Request, http::header};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::{
    ConnectionSettings, Refusal,
    chunks::Chunks,
    request_coding::{DECODER_BYTES, IsDecoded},
};

/// Memory for the bodies of all requests that are not admitted yet, in units of [`UNIT_BYTES`]: 64 MB. Bodies that do not fit
/// are received after the admission.
const MAX_UNITS: usize = 64 << 10;

/// Unit in which memory is counted.
const UNIT_BYTES: usize = 1 << 10;

type InnerBody = BoxBody<Bytes, io::Error>;

/// Receives the bodies of requests, in a memory that they share.
pub struct EarlyReceiver {
    units: Arc<Semaphore>,
}

impl Default for EarlyReceiver {
    fn default() -> EarlyReceiver {
        EarlyReceiver { units: Arc::new(Semaphore::new(MAX_UNITS)) }
    }
}

impl EarlyReceiver {
    /// Waits until the body of a request has arrived or the memory for it is full, but not longer than the settings permit. If
    /// the body does not arrive, reading it fails with the reason. A body over `server.max_body_bytes` is left unread. Returns
    /// the number of bytes of the body, as far as it is known.
    pub async fn receive(&self, request: &mut Request, settings: &ConnectionSettings) -> u64 {
        let stated = stated_length(request);
        let body: InnerBody = request.take_body().into();
        let is_received = !body.is_end_stream() && body.size_hint().lower() <= settings.max_body_bytes;
        let decoder = if request.data::<IsDecoded>().is_some() { DECODER_BYTES } else { 0 };
        let body = if is_received { self.receive_body(body, settings, decoder).await } else { body };
        let length = body.size_hint().lower().max(stated);
        request.set_body(Body::from(body));
        length
    }

    /// Receives a body that takes `overhead` bytes of memory besides its own.
    async fn receive_body(
        &self,
        body: InnerBody,
        settings: &ConnectionSettings,
        overhead: usize,
    ) -> InnerBody {
        let mut memory: Option<OwnedSemaphorePermit> = None;
        if !self.reserve(&mut memory, overhead) {
            return body;
        }
        let mut chunks = Chunks::new(body, settings, Some(settings.body_seconds));
        let mut first = Bytes::new();
        let mut others = Vec::new();
        let failure = loop {
            match chunks.next().await {
                Ok(Some(chunk)) if first.is_empty() => first = chunk,
                Ok(Some(chunk)) => others.extend_from_slice(&chunk),
                Ok(None) => break None,
                Err(error) => break Some(error),
            }
            let length = first.len() + others.len();
            if length as u64 > settings.max_body_bytes || !self.reserve(&mut memory, overhead + length) {
                break None;
            }
        };
        BoxBody::new(ArrivedBody {
            arrived: [first, others.into()],
            failure,
            rest: chunks.into_body(),
            _memory: memory,
        })
    }

    /// Reserves memory for a body of this length. Returns whether there is enough.
    fn reserve(&self, memory: &mut Option<OwnedSemaphorePermit>, length: usize) -> bool {
        let reserved = memory.as_ref().map_or(0, OwnedSemaphorePermit::num_permits);
        let missing = length.div_ceil(UNIT_BYTES).saturating_sub(reserved);
        let Ok(more) = Arc::clone(&self.units).try_acquire_many_owned(missing as u32) else { return false };
        match memory {
            Some(memory) => memory.merge(more),
            None => *memory = Some(more),
        }
        true
    }
}

/// Returns the length of the body of a request in bytes, as its header states it; 0 if it does not.
pub fn stated_length(request: &Request) -> u64 {
    request.header(header::CONTENT_LENGTH).and_then(|length| length.parse().ok()).unwrap_or(0)
}

/// A body, the first part of which has arrived.
struct ArrivedBody {
    arrived: [Bytes; 2],
    /// Why nothing follows.
    failure: Option<Refusal>,
    rest: InnerBody,
    _memory: Option<OwnedSemaphorePermit>,
}

impl http_body::Body for ArrivedBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        if let Some(bytes) = self.arrived.iter_mut().find(|bytes| !bytes.is_empty()) {
            return Poll::Ready(Some(Ok(Frame::data(std::mem::take(bytes)))));
        }
        match self.failure.take() {
            Some(failure) => Poll::Ready(Some(Err(io::Error::other(failure)))),
            None => Pin::new(&mut self.rest).poll_frame(context),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.failure.is_none() && self.arrived.iter().all(Bytes::is_empty) && self.rest.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let arrived: u64 = self.arrived.iter().map(|bytes| bytes.len() as u64).sum();
        let rest = self.rest.size_hint();
        let mut hint = SizeHint::new();
        hint.set_lower(rest.lower() + arrived);
        if let Some(upper) = rest.upper() {
            hint.set_upper(upper + arrived);
        }
        hint
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::{BodyExt, Full};

    use super::*;

    fn body_of(length: usize) -> InnerBody {
        BoxBody::new(Full::new(Bytes::from(vec![b'x'; length])).map_err(|never| match never {}))
    }

    #[tokio::test]
    async fn body_beyond_the_memory_of_all_is_not_kept() {
        let receiver = EarlyReceiver { units: Arc::new(Semaphore::new(4)) };
        let settings = ConnectionSettings::default();
        let kept = receiver.receive_body(body_of(3 * UNIT_BYTES), &settings, 0).await;
        assert_eq!(receiver.units.available_permits(), 1);
        let other = receiver.receive_body(body_of(2 * UNIT_BYTES), &settings, 0).await;
        assert_eq!(other.size_hint().exact(), Some(2 * UNIT_BYTES as u64));
        assert_eq!(other.collect().await.unwrap().to_bytes().len(), 2 * UNIT_BYTES);
        assert_eq!(kept.collect().await.unwrap().to_bytes().len(), 3 * UNIT_BYTES);
        assert_eq!(receiver.units.available_permits(), 4);
    }

    #[tokio::test]
    async fn decoders_count_as_memory_of_all() {
        let receiver = EarlyReceiver { units: Arc::new(Semaphore::new(DECODER_BYTES / UNIT_BYTES + 2)) };
        let settings = ConnectionSettings::default();
        let kept = receiver.receive_body(body_of(UNIT_BYTES), &settings, DECODER_BYTES).await;
        assert_eq!(receiver.units.available_permits(), 1);
        let other = receiver.receive_body(body_of(UNIT_BYTES), &settings, DECODER_BYTES).await;
        assert_eq!(receiver.units.available_permits(), 1);
        assert_eq!(other.collect().await.unwrap().to_bytes().len(), UNIT_BYTES);
        drop(kept);
        assert_eq!(receiver.units.available_permits(), DECODER_BYTES / UNIT_BYTES + 2);
    }

    #[tokio::test(start_paused = true)]
    async fn reader_of_a_body_that_does_not_arrive_gets_the_reason() {
        let body =
            http_body_util::StreamBody::new(futures_util::stream::pending::<io::Result<Frame<Bytes>>>());
        let settings = ConnectionSettings::default();
        let body = EarlyReceiver::default().receive_body(BoxBody::new(body), &settings, 0).await;
        let error = Chunks::new(body, &settings, None).next().await.unwrap_err();
        assert!(matches!(error, Refusal::TooSlow(_)), "{error:?}");
    }
}
