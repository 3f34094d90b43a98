//! Response bodies that end early, or are sent slowly, which worlds do on demand.

use std::{
    future::Future,
    io,
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};

use bytes::Bytes;
use http_body::{Body as _, Frame, SizeHint};
use http_body_util::combinators::BoxBody;
use poem::{Body, Response, http::header};
use tokio::time::{Instant, Sleep, sleep_until};

/// Number of pieces per second in which a slow body is sent.
const PIECES_PER_SECOND: u32 = 10;

/// Maximum time for which a body is sent slowly. After that, the rest is sent at once.
const MAX_SLOW_TIME: Duration = Duration::from_mins(1);

type InnerBody = BoxBody<Bytes, io::Error>;

/// What is waited for before a body fails.
type Wait = Pin<Box<dyn Future<Output = ()> + Send + Sync>>;

/// Whether a response has a body.
pub fn has_body(response: &mut Response) -> bool {
    let body: InnerBody = response.take_body().into();
    let length = body.size_hint().exact();
    response.set_body(Body::from(body));
    length != Some(0)
}

/// Makes the body of a response fail after its first half, or, if its length is unknown, after its first part. If `wait` is
/// given, nothing is sent until it resolves.
pub fn end_early(response: &mut Response, wait: Option<Wait>) {
    let stated = response.headers().get(header::CONTENT_LENGTH);
    let stated: Option<u64> = stated.and_then(|length| length.to_str().ok()?.parse().ok());
    let inner: InnerBody = response.take_body().into();
    let length = inner.size_hint().exact();
    let remaining = length.or(stated).map(|length| length / 2);
    response.set_body(Body::from(BoxBody::new(ShortBody { inner, length, remaining, wait })));
}

/// Limits the rate at which the body of a response is sent.
pub fn slow_down(response: &mut Response, bytes_per_second: u32) {
    let inner: InnerBody = response.take_body().into();
    let (now, piece) = (Instant::now(), bytes_per_second.div_ceil(PIECES_PER_SECOND).max(1));
    let pause = Duration::from_secs_f64(f64::from(piece) / f64::from(bytes_per_second.max(1)));
    let body = SlowBody {
        inner,
        pending: Bytes::new(),
        piece: piece as usize,
        pause,
        ends_at: now + MAX_SLOW_TIME,
        next: Box::pin(sleep_until(now)),
    };
    response.set_body(Body::from(BoxBody::new(body)));
}

/// A body that fails before its end.
struct ShortBody {
    inner: InnerBody,
    /// Length of the whole body; none if it is unknown.
    length: Option<u64>,
    /// Number of bytes until the failure; none before the first part of a body of unknown length.
    remaining: Option<u64>,
    /// What is waited for before the failure.
    wait: Option<Wait>,
}

impl ShortBody {
    /// Takes what is still sent of some bytes.
    fn take(&mut self, mut bytes: Bytes) -> Bytes {
        match &mut self.remaining {
            Some(remaining) => {
                bytes.truncate(usize::try_from(*remaining).unwrap_or(usize::MAX));
                *remaining -= bytes.len() as u64;
            }
            None => self.remaining = Some(0),
        }
        if let Some(length) = &mut self.length {
            *length -= bytes.len() as u64;
        }
        bytes
    }
}

impl http_body::Body for ShortBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        while self.remaining != Some(0) {
            match ready!(Pin::new(&mut self.inner).poll_frame(context)) {
                Some(Ok(frame)) => {
                    let Ok(bytes) = frame.into_data() else { continue };
                    let bytes = self.take(bytes);
                    return Poll::Ready(Some(Ok(Frame::data(bytes))));
                }
                Some(Err(error)) => return Poll::Ready(Some(Err(error))),
                None => self.remaining = Some(0),
            }
        }
        if let Some(wait) = &mut self.wait {
            ready!(wait.as_mut().poll(context));
        }
        Poll::Ready(Some(Err(io::ErrorKind::ConnectionAborted.into())))
    }

    fn size_hint(&self) -> SizeHint {
        self.length.map_or_else(SizeHint::default, SizeHint::with_exact)
    }
}

/// A body that is sent in small pieces.
struct SlowBody {
    inner: InnerBody,
    /// Bytes that were taken from the body but are not yet sent.
    pending: Bytes,
    /// Size in bytes of a piece.
    piece: usize,
    /// Time between two pieces.
    pause: Duration,
    /// Time from which everything is sent at once.
    ends_at: Instant,
    /// Time of the next piece.
    next: Pin<Box<Sleep>>,
}

impl http_body::Body for SlowBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        if self.pending.is_empty() {
            match ready!(Pin::new(&mut self.inner).poll_frame(context)) {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(bytes) => self.pending = bytes,
                    Err(frame) => return Poll::Ready(Some(Ok(frame))),
                },
                end => return Poll::Ready(end),
            }
        }
        ready!(self.next.as_mut().poll(context));
        let now = Instant::now();
        let (length, next) = if now < self.ends_at {
            (self.piece.min(self.pending.len()), (now + self.pause).min(self.ends_at))
        } else {
            (self.pending.len(), now)
        };
        self.next.as_mut().reset(next);
        let bytes = self.pending.split_to(length);
        Poll::Ready(Some(Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        self.pending.is_empty() && self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let pending = self.pending.len() as u64;
        self.inner
            .size_hint()
            .exact()
            .map_or_else(SizeHint::default, |rest| SizeHint::with_exact(rest + pending))
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt;

    use super::*;

    /// Returns the frames of a body, with the milliseconds at which they arrive, and whether it failed.
    async fn read(response: Response) -> (Vec<(u128, usize)>, bool) {
        let (mut body, start): (InnerBody, _) = (response.into_body().into(), Instant::now());
        let mut frames = Vec::new();
        while let Some(frame) = body.frame().await {
            match frame {
                Ok(frame) => frames.push((start.elapsed().as_millis(), frame.into_data().unwrap().len())),
                Err(_) => return (frames, true),
            }
        }
        (frames, false)
    }

    fn stream() -> Body {
        let parts = ["first", "second"].map(|part| Ok::<_, io::Error>(Bytes::from(part)));
        Body::from_bytes_stream(futures_util::stream::iter(parts))
    }

    #[tokio::test(start_paused = true)]
    async fn body_ends_in_the_middle_or_after_its_first_part() {
        let mut response = Response::builder().body("twelve bytes");
        assert!(has_body(&mut response) && !has_body(&mut Response::builder().finish()));
        end_early(&mut response, None);
        let body: InnerBody = response.take_body().into();
        assert_eq!(body.size_hint().exact(), Some(12), "the head states the whole length");
        response.set_body(Body::from(body));
        assert_eq!(read(response).await, (vec![(0, 6)], true));
        let mut response = Response::builder().body(stream());
        end_early(&mut response, Some(Box::pin(tokio::time::sleep(Duration::from_secs(3)))));
        let start = Instant::now();
        assert_eq!(read(response).await, (vec![(0, 5)], true));
        assert_eq!(start.elapsed(), Duration::from_secs(3));
    }

    #[tokio::test(start_paused = true)]
    async fn slow_body_is_sent_in_pieces_and_bounded() {
        let mut response = Response::builder().body(vec![b'x'; 250]);
        slow_down(&mut response, 1_000);
        assert_eq!(read(response).await, (vec![(0, 100), (100, 100), (200, 50)], false));
        let mut response = Response::builder().body(vec![b'x'; 250]);
        slow_down(&mut response, 1);
        let (frames, has_failed) = read(response).await;
        assert_eq!((frames.last(), has_failed), (Some(&(60_000, 190)), false));
        let mut response = Response::builder().body(stream());
        slow_down(&mut response, 1_000);
        assert_eq!(read(response).await, (vec![(0, 5), (100, 6)], false));
    }
}
