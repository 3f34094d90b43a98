//! Distinguishes response bodies that are in memory from streamed bodies.

use bytes::Bytes;
use http_body::Body as _;
use http_body_util::{BodyExt, combinators::BoxBody};
use poem::{Body, Response};

/// Marks a response whose body, in any encoding, is shared with other responses, so that it takes no memory of its
/// own.
#[derive(Clone, Copy, Debug)]
pub struct SharedBody;

/// Returns the length of the body of a response if it is in memory.
pub fn in_memory_length(response: &mut Response) -> Option<usize> {
    let body: BoxBody<Bytes, std::io::Error> = response.take_body().into();
    let length = body.size_hint().exact();
    response.set_body(Body::from(body));
    length.and_then(|length| usize::try_from(length).ok())
}

/// Takes the body out of a response if it is in memory. A streamed body stays in the response.
pub async fn take_in_memory(response: &mut Response) -> Option<Bytes> {
    let body: BoxBody<Bytes, std::io::Error> = response.take_body().into();
    if body.size_hint().exact().is_none() {
        response.set_body(Body::from(body));
        return None;
    }
    // The exact size is known only if the bytes are in memory, so this neither waits nor fails.
    body.collect().await.ok().map(http_body_util::Collected::to_bytes)
}
