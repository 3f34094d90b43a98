//! The outermost layer of every request: its id, its log line, and the one place where failures become answers.

use std::{panic::AssertUnwindSafe, sync::Arc, time::Instant};

use futures_util::FutureExt;
use poem::{Endpoint, Middleware, Request, Response, Result, http::HeaderValue};
use uuid::Uuid;

use super::{
    methods::Methods,
    problem::{self, Failure},
};
use crate::error::Error;

/// The header that carries the id, both ways.
pub const HEADER: &str = "x-request-id";

/// Ids that callers may choose: this long at most.
const MAX_LENGTH: usize = 128;

/// Gives every request an id, logs it, and answers failures.
pub struct Surface {
    /// Which methods paths take, for the failure that says so.
    pub methods: Arc<Methods>,
}

impl<E: Endpoint<Output = Response>> Middleware<E> for Surface {
    type Output = SurfaceEndpoint<E>;

    fn transform(&self, inner: E) -> SurfaceEndpoint<E> {
        SurfaceEndpoint { inner, methods: Arc::clone(&self.methods) }
    }
}

/// An endpoint with that layer.
pub struct SurfaceEndpoint<E> {
    inner: E,
    methods: Arc<Methods>,
}

impl<E: Endpoint<Output = Response>> Endpoint for SurfaceEndpoint<E> {
    type Output = Response;

    async fn call(&self, request: Request) -> Result<Response> {
        let begun = Instant::now();
        let id = id_of(&request);
        let method = request.method().clone();
        let path = request.uri().path().to_owned();
        // A panic's own message went to stderr with its place; the caller learns nothing of it.
        let outcome = AssertUnwindSafe(self.inner.call(request)).catch_unwind().await;
        let outcome = outcome.unwrap_or_else(|_| Err(Failure(Error::internal("a handler panicked")).into()));
        let mut response = match outcome {
            Ok(response) => response,
            Err(error) => {
                let error = problem::understand(error, || self.methods.of(&path));
                problem::respond(&error, &id)
            }
        };
        if method == poem::http::Method::HEAD {
            response.set_body(());
        }
        if let Ok(value) = HeaderValue::from_str(&id) {
            response.headers_mut().insert(HEADER, value);
        }
        // Neither the query nor a header: they may hold what nobody should find in a log.
        tracing::info!(
            request_id = id,
            %method,
            path,
            status = response.status().as_u16(),
            micros = begun.elapsed().as_micros() as u64,
            "request"
        );
        Ok(response)
    }
}

/// The caller's id, where it may stand in a header and a log line; else a fresh one.
fn id_of(request: &Request) -> String {
    let sent = request.headers().get(HEADER).and_then(|value| value.to_str().ok());
    let is_fine = |id: &&str| {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
        !id.is_empty() && id.len() <= MAX_LENGTH && id.bytes().all(is_plain)
    };
    sent.filter(is_fine).map_or_else(|| Uuid::new_v4().to_string(), str::to_owned)
}
