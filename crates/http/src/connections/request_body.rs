//! The body of a request, of which the rest is received after a response that did not need it, so that the
//! next request on the connection can follow.

use std::{
    io,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
    time::Duration,
};

use bytes::Bytes;
use http_body::{Body as _, Frame, SizeHint};
use http_body_util::{BodyExt, combinators::BoxBody};
use hyper::body::Incoming;
use poem::http::StatusCode;

/// Maximum number of bytes of the rest that are received after the response.
const MAX_REST_BYTES: u64 = 65_536;

/// Maximum time to receive the rest.
const MAX_REST_TIME: Duration = Duration::from_secs(1);

/// A request body that the application reads, and whose rest is received after its response.
#[derive(Clone, Debug)]
pub struct RequestBody(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    /// None when the body has ended or failed, or is no longer the application's.
    incoming: Option<Incoming>,
    has_ended: bool,
    /// Whether the client waits for `100 Continue`, which is sent when the body is first read.
    is_awaiting_continue: bool,
    /// The task of the application that waits for the next frame.
    reader: Option<Waker>,
}

impl RequestBody {
    /// Wraps a body. `expects_continue` is whether the client sends it only after `100 Continue`.
    pub fn new(incoming: Incoming, expects_continue: bool) -> RequestBody {
        let is_awaiting_continue = expects_continue;
        let state = State { incoming: Some(incoming), has_ended: false, is_awaiting_continue, reader: None };
        RequestBody(Arc::new(Mutex::new(state)))
    }

    /// Returns the body for the application.
    pub fn to_body(&self) -> poem::Body {
        poem::Body::from(BoxBody::new(self.clone()))
    }

    /// Receives the rest of the body after the application has responded with this status. Returns whether the
    /// body has ended. Otherwise the connection must be closed after the response.
    ///
    /// Reading the body fails for the application from now on, in case its work continues.
    pub async fn receive_rest(&self, status: StatusCode) -> bool {
        let mut incoming = {
            let mut state = self.lock();
            if state.has_ended {
                return true;
            }
            let incoming = state.incoming.take();
            if let Some(reader) = state.reader.take() {
                reader.wake();
            }
            match incoming {
                Some(incoming) if !state.is_awaiting_continue => incoming,
                _ => return false,
            }
        };
        // A body that is too slow or too long is not worth the wait.
        if status == StatusCode::REQUEST_TIMEOUT || incoming.size_hint().lower() > MAX_REST_BYTES {
            return false;
        }
        let mut received = 0;
        let rest = async {
            while let Some(frame) = incoming.frame().await {
                let Ok(frame) = frame else { return false };
                received += frame.data_ref().map_or(0, |data| data.len() as u64);
                if received > MAX_REST_BYTES {
                    return false;
                }
            }
            true
        };
        tokio::time::timeout(MAX_REST_TIME, rest).await.unwrap_or(false)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl http_body::Body for RequestBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let mut state = self.lock();
        if state.has_ended {
            return Poll::Ready(None);
        }
        let State { incoming: Some(incoming), .. } = &mut *state else {
            let cause = "the response was sent before the body was read";
            return Poll::Ready(Some(Err(io::Error::other(cause))));
        };
        let frame = Pin::new(incoming).poll_frame(context).map_err(io::Error::other);
        state.is_awaiting_continue = false;
        match frame {
            Poll::Ready(None) => (state.has_ended, state.incoming) = (true, None),
            // It ends now, but where the next request begins is unknown.
            Poll::Ready(Some(Err(_))) => state.incoming = None,
            Poll::Ready(Some(Ok(_))) => {}
            Poll::Pending => state.reader = Some(context.waker().clone()),
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        let state = self.lock();
        state.has_ended || state.incoming.as_ref().is_some_and(Incoming::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        let state = self.lock();
        match &state.incoming {
            Some(incoming) => incoming.size_hint(),
            None if state.has_ended => SizeHint::with_exact(0),
            None => SizeHint::default(),
        }
    }
}
